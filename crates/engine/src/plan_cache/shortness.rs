//! How long the runs of a plan took: whether the next one is worth a thread of its own.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

/// A run is short that takes at most so long: ten times what it costs to hand a query to another thread and its answer back.
const SHORT: Duration = Duration::from_micros(500);
/// A run is long that takes more.
const LONG: Duration = Duration::from_millis(100);
/// After so many short runs one after the other the next is expected to be short, to begin with,
const ENOUGH: u32 = 3;
/// and never after more.
const ENOUGH_MAX: u32 = 1 << 16;

/// Counts the short runs since the last that was not short. Threads that count at once may lose a run: one more is needed then.
#[derive(Debug)]
pub(crate) struct Shortness {
    runs: AtomicU32,
    enough: AtomicU32,
    /// Whether the last run was long: 0 before there was one, 1 no, 2 yes.
    last: AtomicU8,
}

impl Default for Shortness {
    fn default() -> Self {
        Self { runs: AtomicU32::new(0), enough: AtomicU32::new(ENOUGH), last: AtomicU8::new(0) }
    }
}

impl Shortness {
    /// Whether the next run is likely short.
    pub fn is_short(&self) -> bool {
        self.runs.load(Ordering::Relaxed) >= self.enough.load(Ordering::Relaxed)
    }

    /// Whether the last run was long; `None` where none has ended.
    pub fn was_long(&self) -> Option<bool> {
        match self.last.load(Ordering::Relaxed) {
            0 => None,
            last => Some(last == 2),
        }
    }

    /// A run took so long.
    pub fn ran(&self, took: Duration) {
        self.last.store(if took >= LONG { 2 } else { 1 }, Ordering::Relaxed);
        if took > SHORT {
            self.runs.store(0, Ordering::Relaxed);
        } else if !self.is_short() {
            self.runs.store(self.runs.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// A run expected to be short was given up. What fails for other reasons than the time of the run, as by the length of its answer,
    /// looks short again soon: each failure doubles the runs that are enough.
    pub fn failed(&self) {
        self.runs.store(0, Ordering::Relaxed);
        let enough = self.enough.load(Ordering::Relaxed);
        self.enough.store((2 * enough).min(ENOUGH_MAX), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    //! Some short runs make the next likely short, a long one does not.
    use super::{ENOUGH, LONG, SHORT, Shortness};

    #[test]
    fn the_last_run_tells_of_the_next() {
        let shortness = Shortness::default();
        assert_eq!(shortness.was_long(), None);
        for took in [LONG, SHORT, LONG * 10, LONG / 2] {
            shortness.ran(took);
            assert_eq!(shortness.was_long(), Some(took >= LONG));
        }
    }

    fn runs_needed(shortness: &Shortness) -> u32 {
        let needed = (0..).find(|_| {
            let is_short = shortness.is_short();
            shortness.ran(SHORT / 2);
            is_short
        });
        needed.unwrap()
    }

    #[test]
    fn the_runs_since_the_last_long_one_count() {
        let shortness = Shortness::default();
        assert_eq!(runs_needed(&shortness), ENOUGH);
        shortness.ran(SHORT * 2);
        assert!(!shortness.is_short());
        assert_eq!(runs_needed(&shortness), ENOUGH);
        shortness.failed();
        assert_eq!(runs_needed(&shortness), 2 * ENOUGH);
        shortness.failed();
        assert_eq!(runs_needed(&shortness), 4 * ENOUGH);
    }
}
