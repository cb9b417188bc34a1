//! The end: the segments of all parts become those of a database without any, in one step. It may be begun again after a kill at any place, also behind
//! that step.

use super::board::Board;
use super::context::TaskContext;
use super::numbering::Numbering;
use super::plan::Plan;
use super::read::ShardRuns;
use super::task::{Phase, Task};
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::manifest::{Manifest, SegmentEntry, segment_folder};
use crate::segment_builder::{Class, copy_file};
use crate::store::Store;
use crate::version::Version;
use lode_base::vfs::Vfs;
use lode_packed::SegmentMeta;
use lode_packed::segment::META_FILE;
use lode_rdf::value_id::Section;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a load in tasks did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartsReport {
    /// Quads read.
    pub quads: u64,
    /// Quads that the database has now.
    pub added: u64,
    /// Terms of its dictionaries, by section.
    pub terms: [u64; Section::COUNT],
    /// Blank nodes.
    pub blank_nodes: u64,
    /// Distinct inline values.
    pub inline_values: u64,
    /// Segments.
    pub segments: usize,
    /// Whether it was published before, by one who was killed then.
    pub was_published: bool,
}

/// Publishes what all tasks have made.
///
/// # Errors
/// Where a task is not done, the database holds anything else, or a file cannot be written.
pub fn publish(store: &Store, context: &TaskContext<'_>) -> Result<PartsReport, LoadError> {
    let numbering = Numbering::read(context)?;
    let (mut report, prefixes) = of_shards(&numbering, context)?;
    store.write(context.cancel, |version| {
        if is_published(version, context.plan) {
            report.was_published = true;
        } else {
            refuse_full(store, version)?;
            add_segments(store, version, &numbering, context)?;
        }
        Ok::<_, LoadError>(())
    })?;
    let manifest = &store.version().manifest;
    (report.added, report.segments) = (manifest.quads(), manifest.segments.len());
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

/// Makes sure that a load in tasks may go into a database: that there is nothing in it, or what this load has put there.
///
/// # Errors
/// Where there is anything else.
pub fn check_target(store: &Store, plan: Option<&Plan>) -> Result<(), StoreError> {
    let version = store.version();
    match plan.is_some_and(|plan| is_published(&version, plan)) {
        true => Ok(()),
        false => refuse_full(store, &version),
    }
}

fn refuse_full(store: &Store, version: &Version) -> Result<(), StoreError> {
    let is_empty =
        version.manifest.segments.is_empty() && version.delta.is_empty() && store.next_blank() == 0;
    if is_empty {
        return Ok(());
    }
    Err(StoreError::Refused(format!(
        "{} holds data already: a load with workers makes new databases only; load into this one without --workers",
        store.folder().display()
    )))
}

/// The random number of the segment of a part.
pub fn identity(plan: &Plan, part: usize) -> u128 {
    plan.identity.wrapping_add(part as u128 + 1)
}

fn is_published(version: &Version, plan: &Plan) -> bool {
    let is_of_plan =
        |entry: &SegmentEntry| (0..plan.parts).any(|part| identity(plan, part) == entry.identity);
    version.manifest.segments.iter().any(is_of_plan)
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
    for part in 0..context.plan.parts {
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
    let manifest = Manifest { version: before.version + 1, segments: entries, ..before.clone() };
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
    for name in names.iter().filter(|name| name.as_os_str() != META_FILE) {
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
