//! What was asked of a store, and what the cache on local disk had of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What happened so far. Shared by all files of a published database.
#[derive(Debug, Default)]
pub struct RemoteCounters {
    requests: AtomicU64,
    bytes: AtomicU64,
    wait_micros: AtomicU64,
    retries: AtomicU64,
    cache_reads: AtomicU64,
    cache_bytes: AtomicU64,
    cache_damaged: AtomicU64,
    cache_unwritten: AtomicU64,
}

/// What had happened at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RemoteSample {
    /// Requests to the store.
    pub requests: u64,
    /// Bytes that came.
    pub bytes: u64,
    /// How long threads waited for them, all added up.
    pub wait: Duration,
    /// Requests that were sent again.
    pub retries: u64,
    /// Reads that the cache on local disk answered.
    pub cache_reads: u64,
    /// Bytes that were read of it.
    pub cache_bytes: u64,
    /// Copies in it that were damaged: they were fetched again.
    pub cache_damaged: u64,
    /// Copies that could not be written to it.
    pub cache_unwritten: u64,
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl RemoteCounters {
    /// What has happened so far.
    pub fn sample(&self) -> RemoteSample {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RemoteSample {
            requests: get(&self.requests),
            bytes: get(&self.bytes),
            wait: Duration::from_micros(get(&self.wait_micros)),
            retries: get(&self.retries),
            cache_reads: get(&self.cache_reads),
            cache_bytes: get(&self.cache_bytes),
            cache_damaged: get(&self.cache_damaged),
            cache_unwritten: get(&self.cache_unwritten),
        }
    }

    pub(crate) fn count_request(&self, bytes: usize, wait: Duration) {
        add(&self.requests, 1);
        add(&self.bytes, bytes as u64);
        add(&self.wait_micros, u64::try_from(wait.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn count_retry(&self) {
        add(&self.retries, 1);
    }

    pub(crate) fn count_cached(&self, bytes: usize) {
        add(&self.cache_reads, 1);
        add(&self.cache_bytes, bytes as u64);
    }

    pub(crate) fn count_damaged(&self) {
        add(&self.cache_damaged, 1);
    }

    pub(crate) fn count_unwritten(&self) {
        add(&self.cache_unwritten, 1);
    }
}
