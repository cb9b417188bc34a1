//! What is in the folder of a database that has lost its manifest.

use crate::error::StoreError;
use crate::log::header;
use crate::manifest::{Manifest, SegmentEntry, log_file, log_number, segment_folder, segment_number};
use crate::snapshot_catalog::SnapshotCatalog;
use lode_base::vfs::Vfs;
use lode_packed::segment::META_FILE;
use lode_packed::{PackedError, SegmentMeta};
use std::path::Path;

/// All that can be known without a manifest.
#[derive(Debug, Default)]
pub struct Found {
    /// The database, as segments and logs name it.
    pub database: Option<u128>,
    /// Those that logs and snapshots name.
    databases: Vec<u128>,
    /// Descriptions of the segments that are whole.
    pub segments: Vec<SegmentMeta>,
    /// Numbers of logs.
    pub logs: Vec<u64>,
    /// Segments that snapshots name.
    kept: Vec<u64>,
    /// Whether a snapshot's manifest is damaged, so that it may name any.
    keeps_all: bool,
    /// The newest version that has a name.
    pub snapshot_version: u64,
    /// First numbers that nothing has.
    pub next_segment: u64,
    /// The same of logs.
    pub next_log: u64,
    /// The same of blank nodes, as snapshots know it.
    pub next_blank: u64,
    /// What is wrong.
    pub doubts: Vec<String>,
}

impl Found {
    /// Looks at everything.
    pub fn read(vfs: &dyn Vfs, folder: &Path) -> Result<Self, StoreError> {
        let mut found = Self { next_segment: 1, next_log: 1, ..Self::default() };
        let names = vfs.list(folder).map_err(StoreError::io(folder))?;
        for name in names.iter().map(|name| name.to_string_lossy()) {
            if let Some(number) = segment_number(&name) {
                found.segment(vfs, folder, number)?;
            } else if let Some(number) = log_number(&name) {
                found.log(vfs, folder, number)?;
            }
        }
        found.snapshots(vfs, folder)?;
        let mut databases = std::mem::take(&mut found.databases);
        databases.extend(found.segments.iter().map(|meta| meta.origin.database));
        databases.sort_unstable();
        databases.dedup();
        if databases.len() > 1 {
            let what = "the folder holds files of several databases: move those of the others elsewhere";
            return Err(StoreError::corruption(folder, 0, what));
        }
        found.database = databases.pop();
        Ok(found)
    }

    /// The segments that count: not those whose second half was never written. That took effect with another log.
    pub fn counting(&self) -> Vec<SegmentMeta> {
        let is_there = |number| self.segments.iter().any(|meta| meta.origin.number == number);
        let next_log = self.segments.iter().map(|meta| meta.origin.next_log).fold(self.next_log, u64::max);
        let counts = |meta: &&SegmentMeta| {
            let origin = &meta.origin;
            !origin.is_followed || is_there(origin.number + 1) || next_log > origin.next_log
        };
        self.segments.iter().filter(counts).cloned().collect()
    }

    /// Whether a segment must stay where it is for a snapshot.
    pub fn is_kept(&self, number: u64) -> bool {
        self.keeps_all || self.kept.contains(&number)
    }

    fn segment(&mut self, vfs: &dyn Vfs, folder: &Path, number: u64) -> Result<(), StoreError> {
        self.next_segment = self.next_segment.max(number + 1);
        let path = folder.join(segment_folder(number));
        if !vfs.exists(&path.join(META_FILE)) {
            // It was never whole.
            return Ok(());
        }
        match SegmentMeta::read(vfs, &path) {
            Ok(meta) if meta.origin.number == number => {
                let origin = &meta.origin;
                let others = origin.replaces.iter().chain(&origin.empties);
                self.next_segment = others.map(|other| other + 1).fold(self.next_segment, u64::max);
                self.segments.push(meta);
            }
            Ok(meta) => {
                let what = format!("{} is segment {}", segment_folder(number), meta.origin.number);
                self.doubts.push(format!("{what}: it was renamed, and is not in the database"));
            }
            Err(PackedError::Io { path, source }) => {
                return Err(StoreError::Io { path: (&*path).into(), source });
            }
            Err(error) => self.doubts.push(format!("{error}; the segment is not in the database")),
        }
        Ok(())
    }

    fn log(&mut self, vfs: &dyn Vfs, folder: &Path, number: u64) -> Result<(), StoreError> {
        self.next_log = self.next_log.max(number + 1);
        match header(vfs, &folder.join(log_file(number))) {
            Ok((database, named)) if named == number => {
                self.logs.push(number);
                self.databases.push(database);
            }
            Ok((_, named)) => {
                self.doubts
                    .push(format!("{} is log {named}: it was renamed, and is of no use", log_file(number)));
            }
            Err(error @ StoreError::Io { .. }) => return Err(error),
            Err(error) => {
                // Its records can be read all the same, if it is the one.
                self.doubts.push(error.to_string());
                self.logs.push(number);
            }
        }
        Ok(())
    }

    fn snapshots(&mut self, vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
        let named = SnapshotCatalog::read(vfs, folder, u64::MAX, None)?;
        for name in &named.damaged {
            self.keeps_all = true;
            self.doubts.push(format!(
                "the manifest of snapshot {name} is damaged or missing: no segment is set aside"
            ));
        }
        for manifest in named.manifests.values() {
            self.note(manifest);
        }
        Ok(())
    }

    fn note(&mut self, manifest: &Manifest) {
        self.kept.extend(manifest.segments.iter().map(|entry: &SegmentEntry| entry.number));
        self.databases.push(manifest.database);
        self.snapshot_version = self.snapshot_version.max(manifest.version);
        self.next_segment = self.next_segment.max(manifest.next_segment);
        self.next_log = self.next_log.max(manifest.next_log);
        self.next_blank = self.next_blank.max(manifest.next_blank);
    }
}
