//! The end: the segments of all parts become some of the database, in one step. It may be begun again after a kill at any place, also behind
//! that step.

use super::board::Board;
use super::context::TaskContext;
use super::numbering::Numbering;
use super::plan::{Base, Plan};
use super::read::ShardRuns;
use super::record::RecordReader;
use super::task::{Phase, Task};
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::manifest::{Inferences, Manifest, SegmentEntry, segment_folder};
use crate::segment_builder::{Class, copy_file};
use crate::store::Store;
use crate::version::Version;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::SegmentMeta;
use lode_packed::segment::META_FILE;
use lode_rdf::value_id::Section;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that tells how many quads of a part the database had already; none of a new database.
pub const EXISTING_FILE: &str = "existing";

/// What a load in tasks did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartsReport {
    /// Quads read.
    pub quads: u64,
    /// Quads that the database did not have before.
    pub added: u64,
    /// New terms of dictionaries, by section.
    pub terms: [u64; Section::COUNT],
    /// New blank nodes.
    pub blank_nodes: u64,
    /// Distinct inline values.
    pub inline_values: u64,
    /// Quads that the database had already.
    pub existing: u64,
    /// New segments.
    pub segments: usize,
    /// Whether the database held data before.
    pub had_data: bool,
    /// Whether it was published before, by one who was killed then.
    pub was_published: bool,
}

/// Publishes what all tasks have made.
///
/// # Errors
/// Where a task is not done, the database holds other data than when the load began, or a file cannot be written.
pub fn publish(store: &Store, context: &TaskContext<'_>) -> Result<PartsReport, LoadError> {
    let numbering = Numbering::read(context)?;
    let (mut report, prefixes) = of_shards(&numbering, context)?;
    store.write(context.cancel, |version| {
        if is_published(version, context.plan) {
            report.was_published = true;
        } else {
            refuse_changed(store, version, context.plan)?;
            add_segments(store, version, &numbering, context)?;
        }
        Ok::<_, LoadError>(())
    })?;
    let version = store.version();
    let made = || version.manifest.segments.iter().filter(|entry| is_of(context.plan, entry));
    (report.added, report.segments) = (made().map(|entry| entry.quads).sum(), made().count());
    if context.plan.base.is_some() {
        (report.had_data, report.existing) = (true, existing(context)?);
    }
    store.keep_prefixes(prefixes.iter().map(|(name, iri)| (name.as_str(), iri.as_str())));
    Ok(report)
}

/// What is known of the database once its rows have codes, and the prefixes that its files declare.
pub fn of_shards(
    numbering: &Numbering,
    context: &TaskContext<'_>,
) -> Result<(PartsReport, Vec<(String, String)>), LoadError> {
    let mut report = PartsReport {
        terms: Section::ALL.map(|section| numbering.all(Class::of(section))),
        blank_nodes: numbering.all(Class::Blank),
        inline_values: numbering.all(Class::Inline),
        ..PartsReport::default()
    };
    let mut prefixes = Vec::new();
    for number in 0..context.plan.shards.len() {
        let shard = context.board.input(Task::new(Phase::Read, number))?;
        let shard = ShardRuns::read(&shard, context)?;
        report.quads += shard.quads;
        prefixes.extend(shard.prefixes);
    }
    Ok((report, prefixes))
}

/// Quads of all parts that the database had already.
fn existing(context: &TaskContext<'_>) -> Result<u64, StoreError> {
    let of_part = |part| {
        let path = context.board.input(Task::new(Phase::Orders, part))?.join(EXISTING_FILE);
        RecordReader::open(&**context.vfs(), &path)?.number()
    };
    (0..context.plan.parts).map(of_part).sum()
}

/// What a database holds that a new load may go into; none where it is new. One that has begun may go on where that is as it was, or has its segments already.
///
/// # Errors
/// Where it has changed since, or cannot be written.
pub fn check_target(store: &Store, plan: Option<&Plan>) -> Result<Option<Base>, StoreError> {
    store.refuse_unchecked()?;
    store.check_room()?;
    // All that was committed comes into segments.
    store.write(&CancelToken::default(), |version| {
        let Some(plan) = plan else { return base_of(store, version) };
        if !is_published(version, plan) {
            refuse_changed(store, version, plan)?;
        }
        Ok(None)
    })
}

/// A version without changes behind its segments, as what is loaded into; none where it is new.
fn base_of(store: &Store, version: &Version) -> Result<Option<Base>, StoreError> {
    let manifest = store.writer()?.numbered(version.manifest.clone());
    if manifest.segments.is_empty() && manifest.next_blank == 0 {
        return Ok(None);
    }
    let folder = std::path::absolute(store.folder()).map_err(StoreError::io(store.folder()))?;
    Ok(Some(Base { folder, manifest }))
}

fn refuse_changed(store: &Store, version: &Version, plan: &Plan) -> Result<(), StoreError> {
    let now = base_of(store, version)?;
    let holds = |base: &Base| {
        let Manifest { database, next_blank, segments, .. } = &base.manifest;
        (*database, *next_blank, segments.clone())
    };
    if now.as_ref().map(holds) == plan.base.as_ref().map(holds) {
        return Ok(());
    }
    Err(StoreError::Refused(format!(
        "{} holds other data than when the load began: remove the work of the load, and begin again",
        store.folder().display()
    )))
}

/// The random number of the segment of a part.
pub fn identity(plan: &Plan, part: usize) -> u128 {
    plan.identity.wrapping_add(part as u128 + 1)
}

/// Whether a load has made a segment.
fn is_of(plan: &Plan, entry: &SegmentEntry) -> bool {
    (0..=plan.parts).any(|part| identity(plan, part) == entry.identity)
}

fn is_published(version: &Version, plan: &Plan) -> bool {
    version.manifest.segments.iter().any(|entry| is_of(plan, entry))
}

fn add_segments(
    store: &Store,
    version: &Arc<Version>,
    numbering: &Numbering,
    context: &TaskContext<'_>,
) -> Result<(), LoadError> {
    let writer = store.writer()?;
    let mut entries = Vec::new();
    // None is given back where this fails: what was written is removed when the database is next opened for writing.
    writer.take_blanks(numbering.all(Class::Blank));
    for part in 0..numbering.parts.len() {
        context.cancel.check()?;
        let from = context.board.input(Task::new(Phase::Orders, part))?;
        let mut meta = SegmentMeta::read(&**context.vfs(), &from)?;
        if meta.quads() == 0 && meta.dictionary.is_none() {
            continue;
        }
        meta.origin.number = writer.take_segments(1);
        meta.origin.identity = identity(context.plan, part);
        meta.origin.database = version.manifest.database;
        (meta.origin.version, meta.origin.numbering) = (version.number, version.numbering());
        (meta.origin.next_blank, meta.origin.next_log) = (writer.next_blank(), writer.next_log());
        add_segment(store, context.board, &from, &meta)?;
        entries.push(SegmentEntry::of(&meta));
    }
    let (vfs, folder) = (store.vfs(), store.folder());
    vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    if entries.is_empty() {
        return Ok(());
    }
    let before = &version.manifest;
    let inferences = before.inferences.clone().map(Inferences::stale);
    let mut manifest = Manifest { version: before.version + 1, inferences, ..before.clone() };
    manifest.segments.extend(entries);
    Ok(store.publish(writer.numbered(manifest))?)
}

/// Makes a segment of the database of the files in a folder, durably. No manifest names it yet.
fn add_segment(store: &Store, board: &Board, from: &Path, meta: &SegmentMeta) -> Result<(), LoadError> {
    let vfs = store.vfs();
    let folder = store.folder().join(segment_folder(meta.origin.number));
    // It may be left over from one who was killed.
    match vfs.remove_dir_all(&folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::Io { path: folder, source }.into());
        }
        _ => vfs.create_dir_all(&folder).map_err(StoreError::io(&folder))?,
    }
    let names: Vec<PathBuf> = board.vfs().list(from).map_err(StoreError::io(from))?;
    let is_of_segment =
        |name: &&PathBuf| ![META_FILE, EXISTING_FILE].iter().any(|other| name.as_os_str() == *other);
    for name in names.iter().filter(is_of_segment) {
        link_or_copy(&**vfs, &from.join(name), &folder.join(name))?;
    }
    let mut description = meta.write(&**vfs, &folder)?;
    description.sync().map_err(StoreError::io(&folder))?;
    Ok(vfs.sync_dir(&folder).map_err(StoreError::io(&folder))?)
}

/// Gives a file that nobody changes a second name, or copies it where that cannot be, durably.
pub fn link_or_copy(vfs: &dyn Vfs, from: &Path, to: &Path) -> Result<(), StoreError> {
    match vfs.hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(_) => copy_file(vfs, from, to),
    }
}
