//! How far the reading of sources is: counters that its threads add to now and then and that anybody may read at any time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one reading.
#[derive(Debug, Default)]
pub struct ReadProgress {
    quads: AtomicU64,
    quarantined: AtomicU64,
    bytes_read: AtomicU64,
    bytes_total: AtomicU64,
    memory: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadSample {
    /// Quads read.
    pub quads: u64,
    /// Statements set aside.
    pub quarantined: u64,
    /// Bytes of the sources read, as they are stored (compressed bytes of compressed files).
    pub bytes_read: u64,
    /// Bytes of all sources, where all are known.
    pub bytes_total: Option<u64>,
    /// Bytes that those who take the quads hold.
    pub memory: u64,
}

impl ReadProgress {
    /// Reads all counters.
    pub fn sample(&self) -> ReadSample {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ReadSample {
            quads: get(&self.quads),
            quarantined: get(&self.quarantined),
            bytes_read: get(&self.bytes_read),
            bytes_total: Some(get(&self.bytes_total)).filter(|total| *total != 0),
            memory: get(&self.memory),
        }
    }

    /// Adds quads that were read.
    pub fn add_quads(&self, quads: u64) {
        self.quads.fetch_add(quads, Ordering::Relaxed);
    }

    /// Says how many bytes all sources have; 0 where that is not known.
    pub fn set_bytes_total(&self, bytes: u64) {
        self.bytes_total.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_quarantined(&self, statements: u64) {
        self.quarantined.fetch_add(statements, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes_read(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Says how many bytes those who take the quads hold.
    pub fn set_memory(&self, bytes: u64) {
        self.memory.store(bytes, Ordering::Relaxed);
    }
}
