//! What the store knows of the named snapshots: which there are, what they need, and which of them are open.

pub(crate) mod folders;
mod names;

use crate::error::StoreError;
use crate::manifest::Manifest;
use crate::version::{OpenSegment, SegmentMark, Version};
use lode_base::vfs::Vfs;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

pub(crate) use folders::{folder_of, names, read as read_manifest, settle};
pub(crate) use names::{check_name, problem};

/// Snapshots that stay open after they were asked for. Each holds the files of its segments open, eight of each.
pub(crate) const OPEN_MAX: usize = 8;

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

impl NamedSnapshot {
    pub(crate) fn new(name: &str, manifest: &Manifest) -> Self {
        Self {
            name: name.to_owned(),
            version: manifest.version,
            quads: manifest.quads(),
            segments: manifest.segments.len() as u64,
        }
    }
}

/// What is known of the snapshots.
#[derive(Debug, Default)]
pub(crate) struct SnapshotCatalog {
    /// By name. Empty where the database was opened for reading: another process may make and drop them.
    pub manifests: BTreeMap<String, Manifest>,
    /// Those whose manifest is damaged or missing. Nobody knows what they need, so of the segments that there were then all stay.
    pub damaged: BTreeSet<String>,
    /// The segments that there were then have numbers below this.
    pub damaged_need_below: u64,
    /// Those that were asked for last, the latest at the end.
    pub opened: VecDeque<(String, Arc<Version>)>,
    /// Segments that only snapshots name and that somebody may have open.
    pub marks: Vec<SegmentMark>,
}

impl SnapshotCatalog {
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
    pub fn opened(&mut self, name: &str, manifest: &Manifest) -> Option<Arc<Version>> {
        let (name, version) = self.forget(name)?;
        if version.manifest != *manifest {
            return None;
        }
        self.opened.push_back((name, Arc::clone(&version)));
        Some(version)
    }

    pub fn remember(&mut self, name: &str, version: &Arc<Version>) {
        if self.opened.len() >= OPEN_MAX {
            self.opened.pop_front();
        }
        self.opened.push_back((name.to_owned(), Arc::clone(version)));
    }

    pub fn forget(&mut self, name: &str) -> Option<(String, Arc<Version>)> {
        let at = self.opened.iter().position(|(opened, _)| opened == name)?;
        self.opened.remove(at)
    }

    /// Whether a snapshot needs a segment, or may.
    pub fn names(&self, number: u64) -> bool {
        self.may_name(number) || self.manifests.values().any(|manifest| has_segment(manifest, number))
    }
}

/// Whether a snapshot is there and its manifest is none that can be read.
pub(crate) fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Corruption { .. } | StoreError::Version { .. })
}

pub(crate) fn has_segment(manifest: &Manifest, number: u64) -> bool {
    manifest.segments.iter().any(|entry| entry.number == number)
}
