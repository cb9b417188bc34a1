//! How full the delta is, and how its flushes went.

use crate::error::StoreError;
use crate::fair_lock::FairLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Percent of its size at which the delta becomes a segment,
pub(crate) const FULL: u64 = 100;
/// at which commits are slowed down,
pub(crate) const SLOW: u64 = 200;
/// and at which they are refused.
pub(crate) const STOP: u64 = 300;
/// Commits are not slowed down for less than so many bytes.
pub(crate) const PRESSURE_BYTES_MIN: u64 = 1 << 20;
/// After the first failure the next flush waits so long, then twice as long, and so on,
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// up to so long.
const RETRY_LAST: Duration = Duration::from_secs(60);

/// How the delta becomes segments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlushStatus {
    /// Whether segments are being written.
    pub is_running: bool,
    /// How full the delta and its log are, in percent of what makes them a segment.
    pub fullness: u64,
    /// Flushes that came to their end.
    pub flushes: u64,
    /// Quads, insertions and deletions, that they have written.
    pub quads: u64,
    /// Flushes that failed.
    pub failures: u64,
    /// Why the last flush failed; none if it did not.
    pub failing: Option<String>,
    /// Commits that were slowed down.
    pub slowed: u64,
    /// Commits that were refused.
    pub refused: u64,
}

/// What a store knows of its flushes.
#[derive(Debug, Default)]
pub(crate) struct FlushState {
    /// Held by the one that flushes.
    pub flush_lock: FairLock,
    fullness: AtomicU64,
    /// The same where small limits do not count.
    pub pressure: AtomicU64,
    pub slowed: AtomicU64,
    pub refused: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub is_running: bool,
    flushes: u64,
    quads: u64,
    failures: u64,
    pub failing: Option<String>,
    /// When to try again after a failure, and how long was waited for that.
    pub retry: Option<(Instant, Duration)>,
}

impl FlushState {
    /// Says how full the delta and its log are: pairs of the bytes of each, and the most there may be before a segment is written.
    pub(crate) fn set_fullness(&self, sizes: [(u64, u64); 2]) {
        let percent = |least: u64| {
            let percents = sizes.map(|(bytes, most)| bytes.saturating_mul(100) / most.max(least));
            percents.into_iter().max().unwrap_or(0)
        };
        self.fullness.store(percent(1), Ordering::Relaxed);
        self.pressure.store(percent(PRESSURE_BYTES_MIN), Ordering::Relaxed);
    }

    pub fn fullness(&self) -> u64 {
        self.fullness.load(Ordering::Relaxed)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn status(&self) -> FlushStatus {
        let state = self.state();
        FlushStatus {
            is_running: state.is_running,
            fullness: self.fullness(),
            flushes: state.flushes,
            quads: state.quads,
            failures: state.failures,
            failing: state.failing.clone(),
            slowed: self.slowed.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// Whatever made the last flush fail may have gone.
    pub(crate) fn retry_now(&self) {
        self.state().retry = None;
    }

    /// Whether there is something to flush, and in how long it may be tried.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        if self.fullness() < FULL {
            return None;
        }
        let retry = self.state().retry;
        Some(retry.map_or(Duration::ZERO, |(at, _)| at.saturating_duration_since(Instant::now())))
    }

    pub fn note(&self, result: &Result<u64, StoreError>) {
        let mut state = self.state();
        state.is_running = false;
        match result {
            Ok(quads) => {
                state.flushes += 1;
                state.quads += quads;
                (state.failing, state.retry) = (None, None);
            }
            Err(StoreError::Cancelled(_)) => {}
            Err(error) => {
                state.failures += 1;
                state.failing = Some(error.to_string());
                let delay = state.retry.map_or(RETRY_FIRST, |(_, delay)| (2 * delay).min(RETRY_LAST));
                state.retry = Some((Instant::now() + delay, delay));
            }
        }
    }
}
