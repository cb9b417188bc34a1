//! What a reader has asked for and not read yet, and how much it asks for at once.

use lode_base::block_source::{BlockFile, Flight, Priority};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The first window of a scan, and the largest.
const WINDOW_BYTES_MIN: u64 = 256 << 10;
const WINDOW_BYTES_MAX: u64 = 8 << 20;
/// A batch of look-ups asks for so much at once.
pub(crate) const BATCH_BYTES_MAX: u64 = 8 << 20;
/// And for so many blocks.
pub(crate) const BATCH_BLOCKS_MAX: usize = 2048;

/// Requests of a reader. Dropped with it, so that nobody reads what it does not want any more.
#[derive(Debug, Default)]
pub struct Flights(VecDeque<Arc<Flight>>);

impl Flights {
    /// Asks for parts of a file, in any order; equal ones are one.
    pub(crate) fn ask(&mut self, file: &BlockFile, mut parts: Vec<Range<u64>>, priority: Priority) {
        parts.retain(|part| !part.is_empty());
        parts.sort_unstable_by_key(|part| (part.start, part.end));
        parts.dedup();
        if !parts.is_empty() {
            file.ask(parts, priority, &mut self.0);
        }
    }

    /// Forgets what ends before a place in the file.
    pub(crate) fn forget_before(&mut self, offset: u64) {
        while self.0.front().is_some_and(|flight| flight.end() <= offset) {
            self.0.pop_front();
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What takes more.
    pub(crate) fn list(&mut self) -> &mut VecDeque<Arc<Flight>> {
        &mut self.0
    }
}

/// The windows of a scan: each is twice as large as the one before.
#[derive(Debug)]
pub(crate) struct Window {
    bytes: u64,
    bytes_max: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self::of(0)
    }
}

impl Window {
    /// Those of a file that several devices have between them: the first is on all of them, and so is half of the largest, which is what is under way
    /// when the next one is asked for.
    pub fn of(stripe_bytes: u64) -> Self {
        let bytes_max = WINDOW_BYTES_MAX.max(stripe_bytes.saturating_mul(2));
        Self { bytes: WINDOW_BYTES_MIN.max(stripe_bytes), bytes_max }
    }

    /// The bytes of the next window.
    pub fn next(&mut self) -> u64 {
        let bytes = self.bytes;
        self.bytes = (bytes * 2).min(self.bytes_max);
        bytes
    }

    /// Whether so little of the last window is left that the next should be on its way.
    pub fn is_due(&self, bytes_left: u64) -> bool {
        bytes_left <= self.bytes / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_to_a_limit() {
        let mut window = Window::default();
        let windows: Vec<u64> = (0..8).map(|_| window.next() >> 10).collect();
        assert_eq!(windows, [256, 512, 1024, 2048, 4096, 8192, 8192, 8192]);
        assert!(window.is_due(2 << 20) && !window.is_due((2 << 20) + 1));
        let firsts = |stripe_bytes| {
            let mut window = Window::of(stripe_bytes);
            (0..6).map(|_| window.next() >> 10).collect::<Vec<_>>()
        };
        assert_eq!(firsts(64 << 10), [256, 512, 1024, 2048, 4096, 8192]);
        assert_eq!(firsts(1 << 20), [1024, 2048, 4096, 8192, 8192, 8192]);
        assert_eq!(firsts(16 << 20), [16 << 10, 32 << 10, 32 << 10, 32 << 10, 32 << 10, 32 << 10]);
    }
}
