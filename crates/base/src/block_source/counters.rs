//! What a block source did.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers that only grow.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub requests: AtomicU64,
    pub bytes: AtomicU64,
    pub merged: AtomicU64,
    pub ahead_blocks: AtomicU64,
    pub ahead_hits: AtomicU64,
    pub ahead_bytes: AtomicU64,
    pub wasted_bytes: AtomicU64,
    pub dropped: AtomicU64,
    pub turns: AtomicU64,
}

/// What happened so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceCounters {
    /// Requests to devices.
    pub requests: u64,
    /// Bytes that they read.
    pub bytes: u64,
    /// Blocks that came with a request that another block needed, too.
    pub merged: u64,
    /// Blocks that were asked for before they were wanted.
    pub ahead_blocks: u64,
    /// Of these, blocks that were wanted then.
    pub ahead_hits: u64,
    /// Bytes read ahead, with what lies between blocks.
    pub ahead_bytes: u64,
    /// Of these, bytes that nobody wanted.
    pub wasted_bytes: u64,
    /// Requests that were given up before they were begun: nobody wanted them any more.
    pub dropped: u64,
    /// The longest chain of requests each of which was made when the one before had come: what a single reader waits for is so many times the
    /// latency of its device, however many requests there are.
    pub turns: u64,
}

impl Counters {
    pub fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }

    /// The turn in which a request that is made now is.
    pub fn turn(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Somebody goes on with what was asked for in that turn: what is asked for from now on is in a later one.
    pub fn end_turn(&self, asked_in: u64) {
        self.turns.fetch_max(asked_in + 1, Ordering::Relaxed);
    }

    pub fn sample(&self) -> SourceCounters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SourceCounters {
            requests: get(&self.requests),
            bytes: get(&self.bytes),
            merged: get(&self.merged),
            ahead_blocks: get(&self.ahead_blocks),
            ahead_hits: get(&self.ahead_hits),
            ahead_bytes: get(&self.ahead_bytes),
            wasted_bytes: get(&self.wasted_bytes),
            dropped: get(&self.dropped),
            turns: get(&self.turns),
        }
    }
}
