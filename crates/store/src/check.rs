//! Reads a database wholly and says everything that is wrong with it: damaged blocks, wrong order, counts that differ, orders
//! that hold different quads, ids without a term, quads or terms that are there twice.

use crate::delta::{Delta, is_delta_term};
use crate::dump::is_plain;
use crate::error::StoreError;
use crate::index_files::PLACES;
use crate::log::mark_file;
use crate::manifest::{BACKUP, MANIFEST_COPY, Manifest, log_file, segment_folder};
use crate::recovery::{FoundLog, apply_log};
use crate::snapshot::Snapshot;
use crate::snapshot_catalog;
use crate::version::{OpenSegment, Version};
use crate::word_files::WORDS;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::fingerprint::quad_hash;
use lode_packed::segment::{DICTIONARY_FILE, STARS_FILE, permutation_file_name};
use lode_packed::{BlockCache, Order, PackedError};
use lode_rdf::key::{Encoded, decode, encode};
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, ValueId};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The check reads past the cache but for a few look-ups.
const CACHE_BYTES: usize = 64 << 20;
/// Rows read at once.
const BATCH_ROWS: usize = 1 << 14;
/// Problems of one kind in one file that are told one by one.
const PROBLEMS_TOLD_MAX: usize = 20;

/// Something wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// Byte at which the damage begins (0 where it concerns the whole file).
    pub offset: u64,
    /// What is wrong.
    pub what: String,
    /// What can be done about it.
    pub remedy: Remedy,
}

/// What can be done about a problem.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// A salvage.
    Salvage,
    /// To write to the database: that brings a sound file.
    Write,
    /// A compaction, which makes damaged orders again from sound ones.
    Compact,
    /// To drop the snapshot of this name.
    DropSnapshot(String),
    /// To make the indexes of words again.
    Words,
    /// To make the indexes of geometries again.
    Places,
    /// It is a backup: to make another.
    BackUp,
    /// To restore the database, or to load it again.
    Restore,
    /// To mount the disks of stripe folders, or to tell where these are.
    Stripes,
    /// To name the stripe folders again, which writes their list.
    StripeList,
    /// To write to the database: that makes marks of stripe folders again.
    WriteOwner,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Everything wrong; empty for a sound database.
    pub problems: Vec<Problem>,
    /// What is worth knowing, but no damage.
    pub notes: Vec<String>,
    /// Segments read.
    pub segments: u64,
    /// Quads that the manifest names.
    pub quads: u64,
    /// Terms that the manifest names.
    pub terms: u64,
}

/// Checks the database in `folder`, which another process may be writing to. `progress` hears the number of rows and terms done since
/// it was called last.
///
/// # Errors
/// Only where the check itself cannot go on (cancelled, no database there); damage is in the report.
pub fn check(
    vfs: &Arc<dyn Vfs>,
    folder: &Path,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(u64),
) -> Result<CheckReport, StoreError> {
    loop {
        let mut checker = Checker {
            cancel,
            progress: &mut *progress,
            report: CheckReport::default(),
            remedy: Remedy::Salvage,
        };
        let manifest = match Manifest::read(&**vfs, folder) {
            Ok(manifest) => manifest,
            Err(error @ (StoreError::Corruption { .. } | StoreError::NoManifest { .. })) => {
                checker.problem(error, folder)?;
                return Ok(checker.finish(&**vfs, folder));
            }
            Err(error) => return Err(error),
        };
        checker.version(vfs, folder, &manifest)?;
        let report = checker.finish(&**vfs, folder);
        // Another process may have put another version in place, and have removed files of this one.
        let is_other = || Manifest::read(&**vfs, folder).is_ok_and(|now| now != manifest);
        if report.problems.is_empty() || !is_other() {
            return Ok(report);
        }
    }
}

struct Checker<'a> {
    cancel: &'a CancelToken,
    progress: &'a mut dyn FnMut(u64),
    report: CheckReport,
    /// What can be done about the problems of what is being looked at.
    remedy: Remedy,
}

impl Checker<'_> {
    fn version(&mut self, vfs: &Arc<dyn Vfs>, folder: &Path, manifest: &Manifest) -> Result<(), StoreError> {
        self.remedy = Remedy::Write;
        match Manifest::read_copy(&**vfs, folder) {
            Err(error) => self.problem(error, folder)?,
            Ok(None) if manifest.version > 0 && !vfs.exists(&folder.join(BACKUP)) => {
                let copy = folder.join(MANIFEST_COPY);
                self.report
                    .notes
                    .push(format!("{}: it is missing; the next writer makes it again", copy.display()));
            }
            Ok(_) => {}
        }
        self.remedy = Remedy::Restore;
        self.report.quads = manifest.quads();
        self.report.terms = manifest.terms().iter().sum();
        let cache = Arc::new(BlockCache::new(CACHE_BYTES));
        let mut version = match Version::open(vfs, folder, manifest.clone(), &cache, &[]) {
            Ok(version) => version,
            Err(error) => {
                self.problem(error, folder)?;
                return self.find_others(vfs, folder, manifest, &cache);
            }
        };
        for open in &*version.segments {
            self.segment(&folder.join(open.entry.folder()), open, &version)?;
        }
        self.snapshots(vfs, folder, manifest, &cache)?;
        self.log(&**vfs, folder, &mut version)?;
        let layers = version.segments.len() + version.delta.change_sets().len();
        if self.report.problems.is_empty() && layers > 1 {
            self.layers(folder, &Arc::new(version))?;
        }
        Ok(())
    }

    fn finish(self, vfs: &dyn Vfs, folder: &Path) -> CheckReport {
        let mut report = self.report;
        if vfs.exists(&folder.join(BACKUP)) {
            report.problems.iter_mut().for_each(|problem| problem.remedy = Remedy::BackUp);
        }
        report
    }

    /// Notes an error as a problem; passes on the one that says to stop.
    fn problem(&mut self, error: StoreError, file: &Path) -> Result<(), StoreError> {
        let (file, offset, what) = match error {
            StoreError::Cancelled(_) => return Err(error),
            StoreError::Corruption { file, offset, what } => (file, offset, what),
            StoreError::Io { path, source } => (path.display().to_string(), 0, source.to_string()),
            other => (file.display().to_string(), 0, other.to_string()),
        };
        self.report.problems.push(Problem { file, offset, what, remedy: self.remedy.clone() });
        Ok(())
    }

    fn wrong(&mut self, file: &Path, what: impl Into<String>) {
        let (file, remedy) = (file.display().to_string(), self.remedy.clone());
        self.report.problems.push(Problem { file, offset: 0, what: what.into(), remedy });
    }

    /// The version does not open: says of every segment by itself whether it does.
    fn find_others(
        &mut self,
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
        manifest: &Manifest,
        cache: &Arc<BlockCache>,
    ) -> Result<(), StoreError> {
        for entry in &manifest.segments {
            let path = folder.join(segment_folder(entry.number));
            let opened = lode_packed::Segment::open(vfs, &path, cache);
            self.report.segments += 1;
            let outcome = opened.and_then(|segment| segment.verify(self.cancel, self.progress));
            if let Err(error) = outcome {
                self.problem(error.into(), &path)?;
            }
        }
        self.report.problems.dedup();
        Ok(())
    }

    fn segment(&mut self, path: &Path, open: &OpenSegment, version: &Version) -> Result<(), StoreError> {
        self.report.segments += 1;
        let (mut sound, first) = (true, self.report.problems.len());
        let mut damaged = Vec::new();
        for order in Order::ALL {
            let permutation = open.permutation(order);
            let file = path.join(permutation_file_name(order));
            match permutation.verify(self.cancel, self.progress) {
                Err(error) => {
                    self.problem(error.into(), &file)?;
                    damaged.push(order);
                    sound = false;
                }
                Ok(info) => {
                    let same = info.rows == open.entry.quads && info.fingerprint == open.entry.fingerprint;
                    if order != Order::Gspo && !same {
                        self.wrong(&file, "holds other quads than the manifest says");
                        sound = false;
                    }
                }
            }
        }
        let of_orders = first..self.report.problems.len();
        if let Some(dictionary) = open.dictionary() {
            let file = path.join(DICTIONARY_FILE);
            match dictionary.verify(self.cancel, self.progress) {
                Err(error) => {
                    self.problem(error.into(), &file)?;
                    sound = false;
                }
                Ok(_) => self.keys(&file, open)?,
            }
        }
        if !sound {
            self.let_compact(of_orders, &damaged);
            return Ok(());
        }
        if let Err(error) = open.segment.verify_stars(self.cancel) {
            let at = self.report.problems.len();
            self.problem(error.into(), &path.join(STARS_FILE))?;
            self.let_compact(at..at + 1, &[]);
        }
        self.rows(path, open, version)?;
        self.indexes(path, open)
    }

    /// The indexes of words and of geometries, if there are any.
    fn indexes(&mut self, path: &Path, open: &OpenSegment) -> Result<(), StoreError> {
        let words = open.words().and_then(|index| match index {
            Some(words) => words.verify(self.cancel, self.progress),
            None => Ok(()),
        });
        self.index(words, &WORDS.keys_file(path), &Remedy::Words)?;
        let places = open.places().and_then(|index| match index {
            Some(places) => places.verify(self.cancel, self.progress),
            None => Ok(()),
        });
        self.index(places, &PLACES.keys_file(path), &Remedy::Places)
    }

    fn index(
        &mut self,
        verified: Result<(), PackedError>,
        file: &Path,
        remedy: &Remedy,
    ) -> Result<(), StoreError> {
        let Err(error) = verified else { return Ok(()) };
        let at = self.report.problems.len();
        self.problem(error.into(), file)?;
        for problem in self.report.problems.get_mut(at..).unwrap_or_default() {
            problem.remedy = remedy.clone();
        }
        Ok(())
    }

    /// Says of problems of a segment of the database, with some damaged orders, that a compaction mends them, if it does: if nothing else is
    /// wrong with the segment, and of two orders that begin alike one is sound.
    fn let_compact(&mut self, problems: Range<usize>, damaged: &[Order]) {
        let is_sound = |order: Option<Order>| order.is_some_and(|order| !damaged.contains(&order));
        let can = problems.end == self.report.problems.len()
            && (damaged.len() == problems.len() || damaged.is_empty())
            && damaged.iter().all(|order| is_sound(order.twin()));
        if can && self.remedy == Remedy::Restore {
            for problem in self.report.problems.get_mut(problems).unwrap_or_default() {
                problem.remedy = Remedy::Compact;
            }
        }
    }

    /// Every key is that of a term.
    fn keys(&mut self, file: &Path, open: &OpenSegment) -> Result<(), StoreError> {
        let Some(dictionary) = open.dictionary() else { return Ok(()) };
        let mut told = 0;
        let mut again = Vec::new();
        for section in Section::ALL {
            let mut terms = dictionary.iter(section);
            let mut rank = 0_u64;
            while let Some(key) = terms.next()? {
                if rank.is_multiple_of(BATCH_ROWS as u64) {
                    self.cancel.check()?;
                }
                let wrong = match decode(section, key) {
                    Err(error) => Some(error.to_string()),
                    // Another key for the same term would give it two ids.
                    Ok(term)
                        if encode(term.as_ref(), &mut again) != Encoded::Key(section) || again != key =>
                    {
                        Some("its key is not the one that the term has".to_owned())
                    }
                    Ok(_) => None,
                };
                if let Some(what) = wrong
                    && told < PROBLEMS_TOLD_MAX
                {
                    told += 1;
                    self.wrong(file, format!("{section:?} {rank} is no term: {what}"));
                }
                rank += 1;
            }
        }
        Ok(())
    }

    /// Every id has a term and stands where such a term may; the named-graph order holds just the quads in named graphs.
    fn rows(&mut self, path: &Path, open: &OpenSegment, version: &Version) -> Result<(), StoreError> {
        let permutation = open.permutation(Order::Spog);
        let file = path.join(permutation_file_name(Order::Spog));
        let mut cursor = permutation.cursor(0..permutation.rows(), 0b1111);
        let mut columns: [Vec<u64>; 4] = Default::default();
        let known = KnownIds::new(version);
        let (mut named, mut named_sum, mut told) = (0_u64, 0_u64, 0);
        while cursor.next(BATCH_ROWS, &mut columns)? > 0 {
            self.cancel.check()?;
            for row in 0..columns[0].len() {
                let quad = columns.each_ref().map(|column| column[row]);
                if quad[3] != ValueId::DEFAULT_GRAPH.to_bits() {
                    named += 1;
                    named_sum = named_sum.wrapping_add(quad_hash(quad));
                }
                if told < PROBLEMS_TOLD_MAX && !known.is_quad(quad.map(ValueId::from_bits)) {
                    told += 1;
                    let ids = quad.map(ValueId::from_bits);
                    self.wrong(
                        &file,
                        format!("the quad {ids:?} has an id without a term, or one in the wrong place"),
                    );
                }
            }
            columns.iter_mut().for_each(Vec::clear);
        }
        let gspo = open.permutation(Order::Gspo).info();
        if (gspo.rows, gspo.fingerprint) != (named, named_sum) {
            let file = path.join(permutation_file_name(Order::Gspo));
            self.wrong(&file, format!("holds {} quads, not the {named} in named graphs", gspo.rows));
        }
        Ok(())
    }

    /// Every snapshot has a manifest that can be read, and the segments that it names; those that the current version does not name are read.
    fn snapshots(
        &mut self,
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
        current: &Manifest,
        cache: &Arc<BlockCache>,
    ) -> Result<(), StoreError> {
        let mut seen: BTreeSet<u64> = current.segments.iter().map(|entry| entry.number).collect();
        for name in snapshot_catalog::names(&**vfs, folder)? {
            let own = snapshot_catalog::folder_of(folder, &name);
            let found = snapshot_catalog::read_manifest(&**vfs, folder, &name, Some(current.database));
            let Some(found) = found.transpose() else { continue };
            self.remedy = Remedy::DropSnapshot(name.clone());
            let version = found.and_then(|manifest| Version::open(vfs, folder, manifest, cache, &[]));
            match version {
                Err(error) => self.problem(error, &own)?,
                Ok(version) => {
                    for open in version.segments.iter() {
                        if seen.insert(open.entry.number) {
                            self.segment(&folder.join(open.entry.folder()), open, &version)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The log can be read, and says only what can be.
    fn log(&mut self, vfs: &dyn Vfs, folder: &Path, version: &mut Version) -> Result<(), StoreError> {
        let file = folder.join(log_file(version.manifest.log));
        self.remedy = Remedy::Salvage;
        match apply_log(vfs, folder, version) {
            Err(error) => return self.problem(error, &file),
            Ok(None) => return Ok(()),
            Ok(Some(found)) => self.found_log(&found),
        }
        self.remedy = Remedy::Restore;
        self.report.quads = version.quads();
        let known = KnownIds::new(version);
        let net = version.delta.net();
        let mut told = 0;
        for set in [&net.inserts, &net.deletes] {
            for quad in set.rows(Order::Spog).iter() {
                let ids = quad.map(ValueId::from_bits);
                if told < PROBLEMS_TOLD_MAX && !known.is_quad(ids) {
                    told += 1;
                    let what = "has an id without a term, or one in the wrong place";
                    self.wrong(&file, format!("the quad {ids:?} {what}"));
                }
            }
        }
        Ok(())
    }

    /// A torn tail is no damage, but worth a word. Without an end mark it may be damage, and nothing tells whether it is.
    fn found_log(&mut self, found: &FoundLog) {
        self.report.notes.extend(found.unproved());
        let Some(note) = found.note() else { return };
        if found.mark_damage.is_some() {
            self.wrong(&mark_file(&found.path), note.to_string());
        } else {
            self.report.notes.push(note.to_string());
        }
    }

    /// Every quad is inserted as often as it is deleted, or once more; no term is in two segments.
    fn layers(&mut self, folder: &Path, version: &Arc<Version>) -> Result<(), StoreError> {
        for order in [Order::Spog, Order::Gspo] {
            if let Err(error) = self.scan(order, version) {
                self.problem(error, folder)?;
            }
        }
        self.terms_once(folder, &version.segments)
    }

    fn scan(&self, order: Order, version: &Arc<Version>) -> Result<(), StoreError> {
        let mut scan = Snapshot::new(Arc::clone(version)).scan(order, &[], 0)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        while scan.next(BATCH_ROWS, &mut columns)? > 0 {
            self.cancel.check()?;
        }
        Ok(())
    }

    fn terms_once(&mut self, folder: &Path, segments: &[OpenSegment]) -> Result<(), StoreError> {
        for (i, newer) in segments.iter().enumerate().skip(1) {
            let Some(dictionary) = newer.dictionary() else { continue };
            for section in Section::ALL {
                let mut terms = dictionary.iter(section);
                while let Some(key) = terms.next()? {
                    for older in &segments[..i] {
                        let Some(dictionary) = older.dictionary() else { continue };
                        if dictionary.find(section, key)?.is_some() {
                            let (a, b) = (older.entry.folder(), newer.entry.folder());
                            self.wrong(folder, format!("a term of {section:?} is in both {a} and {b}"));
                            return Ok(());
                        }
                    }
                }
                self.cancel.check()?;
            }
        }
        Ok(())
    }
}

/// The ids that a version can have given.
struct KnownIds {
    terms: [u64; Section::COUNT],
    blanks: u64,
    delta: Delta,
}

impl KnownIds {
    fn new(version: &Version) -> Self {
        Self { terms: version.manifest.terms(), blanks: version.next_blank, delta: version.delta.clone() }
    }

    fn is_known(&self, id: ValueId) -> bool {
        let Some(kind) = id.kind() else { return false };
        match kind.section() {
            Some(_) if is_delta_term(id) => self.delta.with_key(id, |_, _| ()).is_some(),
            Some(section) => id.payload() < self.terms[section as usize],
            None if kind == Kind::Blank => id.payload() < self.blanks,
            None => is_plain(id),
        }
    }

    fn is_quad(&self, [s, p, o, g]: [ValueId; 4]) -> bool {
        let is_node = |id: ValueId| matches!(id.kind(), Some(Kind::Iri | Kind::Blank));
        [s, p, o].iter().all(|id| self.is_known(*id))
            && is_node(s)
            && p.kind() == Some(Kind::Iri)
            && (g == ValueId::DEFAULT_GRAPH || (is_node(g) && self.is_known(g)))
    }
}
