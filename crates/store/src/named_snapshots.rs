//! Named snapshots: versions that stay in the database, whatever comes after, until somebody drops them.
//!
//! A snapshot is a manifest of its own, `snapshots/NAME/MANIFEST`. The segments that it names are kept when the current version
//! does not need them any more. Whoever writes knows all snapshots, and makes and drops them in the write lock, where no
//! segment can go meanwhile.

#[cfg(test)]
mod tests;

use crate::error::{SnapshotProblem, StoreError};
use crate::manifest::{Manifest, segment_folder, segment_number};
use crate::snapshot::Snapshot;
use crate::snapshot_catalog::{
    NamedSnapshot, SnapshotCatalog, check_name, folders, has_segment, is_damage, problem, read_manifest,
};
use crate::store::Store;
use crate::write_guard::WriteGuard;
use lode_base::cancel::CancelToken;
use lode_packed::segment::META_FILE;
use lode_packed::{PackedError, SegmentMeta};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

impl Store {
    /// Gives the current version a name by which it stays readable. Durable when it returns.
    ///
    /// # Errors
    /// [`StoreError::Snapshot`] where the text cannot be a name or is one already; where the store was opened for reading, a file cannot be written,
    /// or the wait was cancelled.
    pub fn create_snapshot(&self, name: &str, cancel: &CancelToken) -> Result<NamedSnapshot, StoreError> {
        check_name(name)?;
        let guard = WriteGuard::lock(self, cancel)?;
        if self.snapshot_catalog().manifests.contains_key(name)
            || self.snapshot_catalog().damaged.contains(name)
        {
            return Err(problem(name, SnapshotProblem::Exists));
        }
        guard.settle(cancel)?;
        // All is in segments; the log is the database's.
        let manifest =
            Manifest { log: 0, snapshot: Some(name.to_owned()), ..self.version().manifest.clone() };
        let (vfs, folder) = (&**self.vfs(), self.folder());
        self.with_room(|| folders::make(vfs, folder, name, &manifest))?;
        if let Err(error) = self.with_room(|| folders::give_name(vfs, folder, name)) {
            if folders::remove(vfs, folder, name).is_err() {
                // It may be there after a power cut: then what it names must be there as well.
                self.snapshot_catalog().manifests.insert(name.to_owned(), manifest);
            }
            return Err(error);
        }
        let snapshot = NamedSnapshot::new(name, &manifest);
        self.snapshot_catalog().manifests.insert(name.to_owned(), manifest);
        drop(guard);
        Ok(snapshot)
    }

    /// All named snapshots.
    ///
    /// # Errors
    /// Where the folder or a file of the names cannot be read.
    pub fn snapshots(&self) -> Result<Vec<NamedSnapshot>, StoreError> {
        Ok(self.manifests()?.iter().map(|(name, manifest)| NamedSnapshot::new(name, manifest)).collect())
    }

    /// Names of snapshots whose manifest is damaged or missing. As long as there are any, segments stay that nothing else needs.
    ///
    /// # Errors
    /// Like [`Store::snapshots`].
    pub fn damaged_snapshots(&self) -> Result<Vec<String>, StoreError> {
        let damaged = if self.is_writable() {
            self.snapshot_catalog().damaged.clone()
        } else {
            self.read_named()?.damaged
        };
        Ok(damaged.into_iter().collect())
    }

    /// The version that has a name. It stays readable while this is held, also if the name is dropped.
    ///
    /// # Errors
    /// [`StoreError::Snapshot`] where nothing has the name or its manifest is damaged; where a file cannot be opened or is damaged.
    pub fn at(&self, name: &str) -> Result<Snapshot, StoreError> {
        check_name(name)?;
        // Nobody drops it before its segments are open.
        let mut named = self.snapshot_catalog();
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
        let guard = WriteGuard::lock(self, cancel)?;
        let manifest = match self.manifest_of(&self.snapshot_catalog(), name) {
            Err(StoreError::Snapshot { what: SnapshotProblem::Damaged, .. }) => None,
            other => Some(other?),
        };
        // Until it is durable that it is gone, it may come back, and needs its segments.
        folders::remove(&**self.vfs(), self.folder(), name)?;
        let mut named = self.snapshot_catalog();
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
        drop(guard);
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
    fn remove_unnamed(&self, named: &SnapshotCatalog, numbers: &[u64]) {
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
            return Ok(self.snapshot_catalog().manifests.clone());
        }
        Ok(self.read_named()?.manifests)
    }

    /// The snapshots that there are now, for a reader.
    fn read_named(&self) -> Result<SnapshotCatalog, StoreError> {
        SnapshotCatalog::read(&**self.vfs(), self.folder(), 0, Some(self.version().manifest.database))
    }

    fn manifest_of(&self, named: &SnapshotCatalog, name: &str) -> Result<Manifest, StoreError> {
        let none = || problem(name, SnapshotProblem::Missing);
        if self.is_writable() {
            if named.damaged.contains(name) {
                return Err(problem(name, SnapshotProblem::Damaged));
            }
            return named.manifests.get(name).cloned().ok_or_else(none);
        }
        let database = self.version().manifest.database;
        match read_manifest(&**self.vfs(), self.folder(), name, Some(database)) {
            Err(error) if is_damage(&error) => Err(problem(name, SnapshotProblem::Damaged)),
            found => found?.ok_or_else(none),
        }
    }
}
