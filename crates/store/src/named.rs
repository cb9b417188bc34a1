//! Named snapshots: versions that stay in the database, whatever comes after, until somebody drops them.
//!
//! A snapshot is a manifest of its own, `snapshots/NAME/MANIFEST`. The segments that it names are kept when the current version
//! does not need them any more. Whoever writes knows all snapshots, and makes and drops them in the writer's place, where no
//! segment can go meanwhile.

mod folders;

pub(crate) use folders::{folder_of, names, read as read_manifest, settle};

use crate::error::{SnapshotProblem, StoreError};
use crate::manifest::{Manifest, segment_folder, segment_number};
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::version::{OpenSegment, SegmentMark, Version};
use crate::writer::WriterPlace;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::segment::META_FILE;
use lode_packed::{PackedError, SegmentMeta};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};

/// The folder of the snapshots in that of the database.
pub const SNAPSHOTS: &str = "snapshots";
/// The longest name.
const NAME_BYTES_MAX: usize = 64;
/// Snapshots that stay open after they were asked for. Each holds the files of its segments open, eight of each.
const OPEN_MAX: usize = 8;

/// A named snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSnapshot {
    /// Its name.
    pub name: String,
    /// Number of the version.
    pub version: u64,
    /// Quads in it.
    pub quads: u64,
    /// Segments in it.
    pub segments: u64,
}

/// What is known of the snapshots.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// By name. Empty where the database was opened for reading: another process may make and drop them.
    pub manifests: BTreeMap<String, Manifest>,
    /// Those whose manifest is damaged or missing. Nobody knows what they need, so of the segments that there were then all stay.
    pub damaged: BTreeSet<String>,
    /// The segments that there were then have numbers below this.
    damaged_need_below: u64,
    /// Those that were asked for last, the latest at the end.
    opened: VecDeque<(String, Arc<Version>)>,
    /// Segments that only snapshots name and that somebody may have open.
    marks: Vec<SegmentMark>,
}

impl Named {
    /// The snapshots of the database that has this manifest.
    pub fn of(vfs: &dyn Vfs, database: &Path, manifest: &Manifest) -> Result<Self, StoreError> {
        Self::read(vfs, database, manifest.next_segment, Some(manifest.database))
    }

    /// The snapshots in the folder of a database whose segments have numbers below `next_segment`; `of_database` where it is known which
    /// one it is.
    pub fn read(
        vfs: &dyn Vfs,
        database: &Path,
        next_segment: u64,
        of_database: Option<u128>,
    ) -> Result<Self, StoreError> {
        let mut named = Self { damaged_need_below: next_segment, ..Self::default() };
        for name in names(vfs, database)? {
            match read_manifest(vfs, database, &name, of_database) {
                Ok(Some(manifest)) => drop(named.manifests.insert(name, manifest)),
                Ok(None) => {}
                Err(error) if is_damage(&error) => drop(named.damaged.insert(name)),
                Err(error) => return Err(error),
            }
        }
        Ok(named)
    }

    /// Whether a snapshot whose manifest is damaged may need a segment.
    pub fn may_name(&self, number: u64) -> bool {
        !self.damaged.is_empty() && number < self.damaged_need_below
    }

    /// Remembers that somebody has a segment open that only snapshots name.
    pub fn mark(&mut self, open: &OpenSegment) {
        self.marks.retain(SegmentMark::is_open);
        self.marks.push(open.mark());
    }

    /// The version of a name, if it is open, and still the one that the manifest describes. It is then the latest.
    fn opened(&mut self, name: &str, manifest: &Manifest) -> Option<Arc<Version>> {
        let (name, version) = self.forget(name)?;
        if version.manifest != *manifest {
            return None;
        }
        self.opened.push_back((name, Arc::clone(&version)));
        Some(version)
    }

    fn remember(&mut self, name: &str, version: &Arc<Version>) {
        if self.opened.len() >= OPEN_MAX {
            self.opened.pop_front();
        }
        self.opened.push_back((name.to_owned(), Arc::clone(version)));
    }

    fn forget(&mut self, name: &str) -> Option<(String, Arc<Version>)> {
        let at = self.opened.iter().position(|(opened, _)| opened == name)?;
        self.opened.remove(at)
    }

    /// Whether a snapshot needs a segment, or may.
    pub fn names(&self, number: u64) -> bool {
        self.may_name(number) || self.manifests.values().any(|manifest| has_segment(manifest, number))
    }
}

/// Whether a snapshot is there and its manifest is none that can be read.
fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Corruption { .. } | StoreError::Version { .. })
}

fn has_segment(manifest: &Manifest, number: u64) -> bool {
    manifest.segments.iter().any(|entry| entry.number == number)
}

/// A name is that of a folder, and never leads anywhere else.
fn check_name(name: &str) -> Result<(), StoreError> {
    let is_fit = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
    let fits = (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(is_fit)
        && name.bytes().any(|c| c != b'.');
    if fits { Ok(()) } else { Err(wrong(name, SnapshotProblem::Name)) }
}

fn wrong(name: &str, what: SnapshotProblem) -> StoreError {
    StoreError::Snapshot { name: name.to_owned(), what }
}

impl Store {
    /// Gives the current version a name by which it stays readable. Durable when it returns.
    ///
    /// # Errors
    /// [`StoreError::Snapshot`] where the text cannot be a name or is one already; where the store was opened for reading, a file cannot be written,
    /// or the wait was cancelled.
    pub fn create_snapshot(&self, name: &str, cancel: &CancelToken) -> Result<NamedSnapshot, StoreError> {
        check_name(name)?;
        let place = WriterPlace::enter(self, cancel)?;
        if self.named().manifests.contains_key(name) || self.named().damaged.contains(name) {
            return Err(wrong(name, SnapshotProblem::Exists));
        }
        place.settle(cancel)?;
        // All is in segments; the log is the database's.
        let manifest =
            Manifest { log: 0, snapshot: Some(name.to_owned()), ..self.version().manifest.clone() };
        let (vfs, folder) = (&**self.vfs(), self.folder());
        self.with_room(|| folders::make(vfs, folder, name, &manifest))?;
        if let Err(error) = self.with_room(|| folders::give_name(vfs, folder, name)) {
            if folders::remove(vfs, folder, name).is_err() {
                // It may be there after a power cut: then what it names must be there as well.
                self.named().manifests.insert(name.to_owned(), manifest);
            }
            return Err(error);
        }
        let snapshot = described(name, &manifest);
        self.named().manifests.insert(name.to_owned(), manifest);
        drop(place);
        Ok(snapshot)
    }

    /// All named snapshots.
    ///
    /// # Errors
    /// Where the folder or a file of the names cannot be read.
    pub fn snapshots(&self) -> Result<Vec<NamedSnapshot>, StoreError> {
        Ok(self.manifests()?.iter().map(|(name, manifest)| described(name, manifest)).collect())
    }

    /// Names of snapshots whose manifest is damaged or missing. As long as there are any, segments stay that nothing else needs.
    ///
    /// # Errors
    /// Like [`Store::snapshots`].
    pub fn damaged_snapshots(&self) -> Result<Vec<String>, StoreError> {
        let damaged =
            if self.is_writable() { self.named().damaged.clone() } else { self.read_named()?.damaged };
        Ok(damaged.into_iter().collect())
    }

    /// The version that has a name. It stays readable while this is held, also if the name is dropped.
    ///
    /// # Errors
    /// [`StoreError::Snapshot`] where nothing has the name or its manifest is damaged; where a file cannot be opened or is damaged.
    pub fn at(&self, name: &str) -> Result<Snapshot, StoreError> {
        check_name(name)?;
        // Nobody drops it before its segments are open.
        let mut named = self.named();
        let manifest = match self.manifest_of(&named, name) {
            Ok(manifest) => manifest,
            Err(error) => {
                // Another process may have dropped it.
                named.forget(name);
                return Err(error);
            }
        };
        if let Some(version) = named.opened(name, &manifest) {
            return Ok(Snapshot::new(version));
        }
        let mut known = self.version().segments.to_vec();
        known.extend(named.opened.iter().flat_map(|(_, version)| version.segments.iter().cloned()));
        let version = Arc::new(self.open_with(manifest, &known)?);
        for open in &*version.segments {
            if !known.iter().any(|known| known.entry.number == open.entry.number) {
                named.mark(open);
            }
        }
        named.remember(name, &version);
        Ok(Snapshot::new(version))
    }

    /// Forgets a name. Files that nothing else names go when nobody reads them any more.
    ///
    /// # Errors
    /// [`StoreError::Snapshot`] where nothing has the name; where the store was opened for reading, a file cannot be removed, or the wait was
    /// cancelled.
    pub fn drop_snapshot(&self, name: &str, cancel: &CancelToken) -> Result<(), StoreError> {
        check_name(name)?;
        let place = WriterPlace::enter(self, cancel)?;
        let manifest = match self.manifest_of(&self.named(), name) {
            Err(StoreError::Snapshot { what: SnapshotProblem::Damaged, .. }) => None,
            other => Some(other?),
        };
        // Until it is durable that it is gone, it may come back, and needs its segments.
        folders::remove(&**self.vfs(), self.folder(), name)?;
        let mut named = self.named();
        named.manifests.remove(name);
        named.damaged.remove(name);
        let opened = named.forget(name);
        let unneeded = match manifest {
            Some(manifest) => manifest.segments.iter().map(|entry| entry.number).collect(),
            None if named.damaged.is_empty() => self.old_segments(named.damaged_need_below),
            None => Vec::new(),
        };
        self.remove_unnamed(&named, &unneeded);
        drop(named);
        drop(opened);
        drop(place);
        Ok(())
    }

    /// Numbers of the segments on the disk that are below one.
    fn old_segments(&self, below: u64) -> Vec<u64> {
        // What cannot be removed now is removed when the database is next opened for writing.
        let names = self.vfs().list(self.folder()).unwrap_or_default();
        let numbers = names.iter().filter_map(|name| segment_number(&name.to_string_lossy()));
        numbers.filter(|number| *number < below).collect()
    }

    /// Removes those of some segments that neither the current version nor a snapshot names.
    fn remove_unnamed(&self, named: &Named, numbers: &[u64]) {
        let Ok(writer) = self.writer() else { return };
        let current = self.version();
        for number in numbers.iter().copied() {
            if has_segment(&current.manifest, number) || named.names(number) {
                continue;
            }
            let marks = named.marks.iter().filter(|mark| mark.number == number);
            let readers = marks.filter(|mark| mark.set_obsolete(&writer.chores)).count();
            if readers == 0 {
                // Nobody has it open. What cannot be removed now is removed when the database is next opened for writing.
                let _ = self.vfs().remove_dir_all(&self.folder().join(segment_folder(number)));
            }
        }
    }

    /// Bytes of the segments that only snapshots name.
    ///
    /// # Errors
    /// Like [`Store::snapshots`]; where the size of a file cannot be told.
    pub fn snapshot_bytes(&self) -> Result<u64, StoreError> {
        let current = self.version();
        let mut seen: BTreeSet<u64> = current.manifest.segments.iter().map(|entry| entry.number).collect();
        let mut bytes = 0;
        for entry in self.manifests()?.values().flat_map(|manifest| &manifest.segments) {
            if seen.insert(entry.number) {
                bytes += self.segment_bytes(&self.folder().join(entry.folder()))?;
            }
        }
        Ok(bytes)
    }

    /// Bytes of a segment, of which nothing is left if its snapshot has just been dropped.
    fn segment_bytes(&self, folder: &Path) -> Result<u64, StoreError> {
        let path = folder.join(META_FILE);
        let description = match self.vfs().open(&path) {
            Ok(file) => file.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(StoreError::io(&path)(error)),
        };
        match SegmentMeta::read(&**self.vfs(), folder) {
            Ok(meta) => Ok(description + meta.bytes()),
            Err(PackedError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    fn manifests(&self) -> Result<BTreeMap<String, Manifest>, StoreError> {
        if self.is_writable() {
            return Ok(self.named().manifests.clone());
        }
        Ok(self.read_named()?.manifests)
    }

    /// The snapshots that there are now, for a reader.
    fn read_named(&self) -> Result<Named, StoreError> {
        Named::read(&**self.vfs(), self.folder(), 0, Some(self.version().manifest.database))
    }

    fn manifest_of(&self, named: &Named, name: &str) -> Result<Manifest, StoreError> {
        let none = || wrong(name, SnapshotProblem::Missing);
        if self.is_writable() {
            if named.damaged.contains(name) {
                return Err(wrong(name, SnapshotProblem::Damaged));
            }
            return named.manifests.get(name).cloned().ok_or_else(none);
        }
        let database = self.version().manifest.database;
        match read_manifest(&**self.vfs(), self.folder(), name, Some(database)) {
            Err(error) if is_damage(&error) => Err(wrong(name, SnapshotProblem::Damaged)),
            found => found?.ok_or_else(none),
        }
    }

    pub(crate) fn named(&self) -> MutexGuard<'_, Named> {
        // Each change is one step.
        self.named_lock().lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn described(name: &str, manifest: &Manifest) -> NamedSnapshot {
    NamedSnapshot {
        name: name.to_owned(),
        version: manifest.version,
        quads: manifest.quads(),
        segments: manifest.segments.len() as u64,
    }
}

#[cfg(test)]
mod tests;
