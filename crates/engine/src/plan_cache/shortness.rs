//! How long the runs of a plan took: whether the next one is worth a thread of its own.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A run is short that takes at most so long: ten times what it costs to hand a query to another thread and its answer back.
const SHORT: Duration = Duration::from_micros(500);
/// After so many short runs one after the other the next is expected to be short.
const ENOUGH: u32 = 3;

/// Counts the short runs since the last that was not short.
#[derive(Debug, Default)]
pub(crate) struct Shortness {
    runs: AtomicU32,
}

impl Shortness {
    /// Whether the next run is likely short.
    pub fn is_short(&self) -> bool {
        self.runs.load(Ordering::Relaxed) >= ENOUGH
    }

    /// A run took so long; one that was given up too, from then on.
    pub fn ran(&self, took: Duration) {
        let runs = self.runs.load(Ordering::Relaxed);
        let now = if took <= SHORT { runs.saturating_add(1) } else { 0 };
        if now == 0 || runs < ENOUGH {
            // Threads that count at once may lose a run: one more is needed then.
            self.runs.store(now, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    //! Some short runs make the next likely short, a long one does not.
    use super::{SHORT, Shortness};

    #[test]
    fn the_runs_since_the_last_long_one_count() {
        let shortness = Shortness::default();
        for expected in [false, false, false, true, true] {
            assert_eq!(shortness.is_short(), expected);
            shortness.ran(SHORT / 2);
        }
        shortness.ran(SHORT * 2);
        assert!(!shortness.is_short());
        (0..3).for_each(|_| shortness.ran(SHORT / 2));
        assert!(shortness.is_short());
    }
}
