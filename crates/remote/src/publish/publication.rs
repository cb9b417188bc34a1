//! What a publication is told, what it works on, and what it tells.

use crate::object::ObjectStore;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_store::KeptPrefixes;
use std::sync::atomic::{AtomicU64, Ordering};

/// How to publish.
#[derive(Debug, Clone, Default)]
pub struct PublishOptions {
    /// Go on where another copy of the database has published, which from then on is refused.
    pub take_over: bool,
    /// A name by which the version is kept.
    pub name: Option<String>,
}

/// How far a publication is. Anybody may read it at any time.
#[derive(Debug, Default)]
pub struct PublishProgress {
    pub(super) done: AtomicU64,
    pub(super) total: AtomicU64,
}

impl PublishProgress {
    /// Bytes that are where they are to be, and bytes of all new objects; 0 before that is known.
    pub fn bytes(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    pub(super) fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// What a publication did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishReport {
    /// The number of the published version.
    pub number: u64,
    /// How often the right to publish has gone over.
    pub epoch: u64,
    /// The version of the database.
    pub version: u64,
    /// Quads in it.
    pub quads: u64,
    /// Its segments.
    pub segments: u64,
    /// Of which were there before.
    pub segments_kept: u64,
    /// Objects that were written, without the manifest.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of objects that an attempt which did not end had left.
    pub bytes_found: u64,
    /// Bytes of the log that went along, since another process has the database open.
    pub log_bytes: u64,
    /// Whether this was published already: then nothing was written.
    pub was_there: bool,
}

/// A publication that is under way.
pub struct Publication<'a> {
    pub vfs: &'a dyn Vfs,
    pub store: &'a dyn ObjectStore,
    pub options: &'a PublishOptions,
    pub cancel: &'a CancelToken,
    pub progress: &'a PublishProgress,
    pub publisher: u128,
    /// Those of the database.
    pub prefixes: KeptPrefixes,
}
