//! Counts what readers do: for profiles of queries and for tests that plans touch what they should.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters shared by the clones of a snapshot. Scans add to them when they end, or once per batch.
#[derive(Debug, Default)]
pub struct Activity {
    scans: AtomicU64,
    rows: AtomicU64,
    seeks: AtomicU64,
    counts: AtomicU64,
    term_lookups: AtomicU64,
    terms_read: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ActivitySample {
    /// Scans opened.
    pub scans: u64,
    /// Rows delivered by scans.
    pub rows: u64,
    /// Times a scan skipped forward.
    pub seeks: u64,
    /// Ranges counted.
    pub counts: u64,
    /// Terms looked up in dictionaries.
    pub term_lookups: u64,
    /// Ids turned into terms or keys through dictionaries.
    pub terms_read: u64,
}

impl Activity {
    /// Reads all counters.
    pub fn sample(&self) -> ActivitySample {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ActivitySample {
            scans: get(&self.scans),
            rows: get(&self.rows),
            seeks: get(&self.seeks),
            counts: get(&self.counts),
            term_lookups: get(&self.term_lookups),
            terms_read: get(&self.terms_read),
        }
    }

    pub(crate) fn add_scan(&self, rows: u64, seeks: u64) {
        self.scans.fetch_add(1, Ordering::Relaxed);
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.seeks.fetch_add(seeks, Ordering::Relaxed);
    }

    pub(crate) fn add_count(&self) {
        self.counts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_term_lookup(&self) {
        self.term_lookups.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_terms_read(&self, terms: u64) {
        self.terms_read.fetch_add(terms, Ordering::Relaxed);
    }
}
