//! What a backup may be told, and what it tells.

use std::sync::atomic::{AtomicU64, Ordering};

/// A file of a server in the folder of a database, with the queries that it keeps: it belongs to the database, as its quads do.
pub const KEPT_QUERIES: &str = "queries.json";
/// The prefixes that loaded documents have declared.
pub const KEPT_PREFIXES: &str = "prefixes.ttl";

/// How to copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackupOptions {
    /// Give files of segments a second name instead of copying them, where the file system can. Costs neither room nor time, and
    /// keeps nothing from being lost with the disk. Else the copy shares no file with the original when it is done, also where it did before.
    pub link: bool,
    /// Read all segments, also those that were there before, and verify them, before the copy counts.
    pub check: bool,
}

/// How far a backup is. Anybody may read it at any time.
#[derive(Debug, Default)]
pub struct BackupProgress {
    pub(super) done: AtomicU64,
    pub(super) total: AtomicU64,
    pub(super) checked: AtomicU64,
    pub(super) to_check: AtomicU64,
}

impl BackupProgress {
    /// Bytes that are where they are to be, and bytes of all files; 0 before that is known.
    pub fn bytes(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Rows and terms verified, and to be verified; 0 and 0 before that begins.
    pub fn checked(&self) -> (u64, u64) {
        (self.checked.load(Ordering::Relaxed), self.to_check.load(Ordering::Relaxed))
    }
}

/// What a backup or a restore did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// Number of the version that it holds.
    pub version: u64,
    /// Quads in it.
    pub quads: u64,
    /// Segments in it.
    pub segments: u64,
    /// Segments that were there before.
    pub segments_kept: u64,
    /// Bytes of all files but the manifest.
    pub bytes: u64,
    /// Of which were there before.
    pub bytes_kept: u64,
    /// Files that were copied, without the manifest.
    pub files_copied: u64,
    /// Their bytes.
    pub bytes_copied: u64,
    /// Files that were linked.
    pub files_linked: u64,
    /// Their bytes.
    pub bytes_linked: u64,
    /// What people should know about the log that was copied.
    pub note: Option<String>,
}
