//! What this thread has done with blocks of files: plain numbers that readers of blocks add to, for profiles of queries.
//!
//! They belong to the thread, so counting is an addition without contention. Whoever wants to know what a piece of work did
//! compares the numbers before and after it; they are never set back.

use std::cell::Cell;

/// Blocks of permutations and dictionaries, and what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockWork {
    /// Blocks that were found in the cache.
    pub cached: u64,
    /// Blocks that were read from a file.
    pub read: u64,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Requests to devices: a block each, or several blocks that were asked for ahead.
    pub requests: u64,
    /// Blocks that were read from a file before they were wanted.
    pub ahead: u64,
    /// Blocks that a seek passed without opening them.
    pub skipped: u64,
    /// Mini-blocks (a column's values of up to 128 rows) that were decoded.
    pub decoded: u64,
}

impl BlockWork {
    /// Nothing done.
    pub const NONE: Self =
        Self { cached: 0, read: 0, bytes_read: 0, requests: 0, ahead: 0, skipped: 0, decoded: 0 };

    /// Blocks that were opened.
    pub fn touched(&self) -> u64 {
        self.cached + self.read
    }

    /// What has come since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        self.zip(before, u64::wrapping_sub)
    }

    /// Both together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, u64::wrapping_add)
    }

    fn zip(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            cached: with(self.cached, other.cached),
            read: with(self.read, other.read),
            bytes_read: with(self.bytes_read, other.bytes_read),
            requests: with(self.requests, other.requests),
            ahead: with(self.ahead, other.ahead),
            skipped: with(self.skipped, other.skipped),
            decoded: with(self.decoded, other.decoded),
        }
    }
}

struct Counters {
    cached: Cell<u64>,
    read: Cell<u64>,
    bytes_read: Cell<u64>,
    requests: Cell<u64>,
    ahead: Cell<u64>,
    skipped: Cell<u64>,
    decoded: Cell<u64>,
}

thread_local! {
    static COUNTERS: Counters = const {
        Counters {
            cached: Cell::new(0),
            read: Cell::new(0),
            bytes_read: Cell::new(0),
            requests: Cell::new(0),
            ahead: Cell::new(0),
            skipped: Cell::new(0),
            decoded: Cell::new(0),
        }
    };
}

fn add(counter: &Cell<u64>, count: u64) {
    counter.set(counter.get().wrapping_add(count));
}

/// All that this thread has done so far.
pub fn sample() -> BlockWork {
    COUNTERS.with(|counters| BlockWork {
        cached: counters.cached.get(),
        read: counters.read.get(),
        bytes_read: counters.bytes_read.get(),
        requests: counters.requests.get(),
        ahead: counters.ahead.get(),
        skipped: counters.skipped.get(),
        decoded: counters.decoded.get(),
    })
}

/// A block was looked for in the cache, and found there or not.
pub(crate) fn add_lookup(found: bool) {
    COUNTERS.with(|counters| add(if found { &counters.cached } else { &counters.read }, 1));
}

/// Bytes came from a file.
pub(crate) fn add_bytes_read(bytes: u64) {
    COUNTERS.with(|counters| add(&counters.bytes_read, bytes));
}

/// Requests went to a device.
pub(crate) fn add_requests(count: u64) {
    COUNTERS.with(|counters| add(&counters.requests, count));
}

/// Blocks that were wanted had been asked for ahead.
pub(crate) fn add_ahead(blocks: u64) {
    COUNTERS.with(|counters| add(&counters.ahead, blocks));
}

/// A seek passed blocks without opening them.
pub fn add_skipped(blocks: u64) {
    COUNTERS.with(|counters| add(&counters.skipped, blocks));
}

/// Mini-blocks were decoded.
#[inline]
pub fn add_decoded(minis: u64) {
    COUNTERS.with(|counters| add(&counters.decoded, minis));
}

#[cfg(test)]
mod tests {
    //! Samples are of one thread.
    use super::*;

    #[test]
    fn each_thread_counts_its_own() {
        let before = sample();
        add_lookup(true);
        add_lookup(false);
        add_bytes_read(100);
        add_decoded(4);
        let other = std::thread::spawn(|| {
            let before = sample();
            add_skipped(3);
            sample().since(&before)
        });
        let other = other.join().unwrap();
        let mine = sample().since(&before);
        assert_eq!(mine, BlockWork { cached: 1, read: 1, bytes_read: 100, decoded: 4, ..BlockWork::NONE });
        assert_eq!(other, BlockWork { skipped: 3, ..BlockWork::default() });
        assert_eq!((mine.touched(), mine.and(&other).skipped), (2, 3));
    }
}
