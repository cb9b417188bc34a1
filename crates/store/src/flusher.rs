//! Makes segments of the delta while others go on committing, and keeps commits from getting too far ahead of it.
//!
//! The delta is *frozen*: its segments are written without the writer's place, and what is committed meanwhile stays apart. Then the place
//! is taken for as long as it takes to publish them, with what came meanwhile as the new delta and the beginning of a new log. Where
//! somebody has replaced or written the delta meanwhile (a load, a compaction that gave terms new ids, a large transaction), what was written
//! goes, and all begins again.
//!
//! Nothing here belongs to a client: a commit that finds the delta full has been acknowledged by then. Failures are kept for the status, and
//! tried again after a while. Meanwhile the delta grows: from twice its size on commits are slowed down, and at three times they are
//! refused. docs/design/022-flush.md says why so.

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

use crate::error::StoreError;
use crate::flush::{remove_segments, write_segments};
use crate::gate::Gate;
use crate::store::Store;
use crate::writer::WriterPlace;
use lode_base::cancel::CancelToken;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Percent of its size at which the delta becomes a segment,
const FULL: u64 = 100;
/// at which commits are slowed down,
const SLOW: u64 = 200;
/// and at which they are refused.
const STOP: u64 = 300;
/// Commits are not slowed down for less than so many bytes.
pub(crate) const PRESSURE_BYTES_MIN: u64 = 1 << 20;
/// The first pause of a commit that is slowed down; the last is [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(1);
/// The longest pause of a commit that is slowed down.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// So long a commit waits for a flush that is on its way before it is refused.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);
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
pub(crate) struct Flusher {
    /// The place of the one that flushes.
    turn: Gate,
    fullness: AtomicU64,
    /// The same where small limits do not count.
    pressure: AtomicU64,
    slowed: AtomicU64,
    refused: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_running: bool,
    flushes: u64,
    quads: u64,
    failures: u64,
    failing: Option<String>,
    /// When to try again after a failure, and how long was waited for that.
    retry: Option<(Instant, Duration)>,
}

impl Flusher {
    /// Says how full the delta and its log are: pairs of the bytes of each, and the most there may be before a segment is written.
    pub(crate) fn set_fullness(&self, sizes: [(u64, u64); 2]) {
        let percent = |least: u64| {
            let percents = sizes.map(|(bytes, most)| bytes.saturating_mul(100) / most.max(least));
            percents.into_iter().max().unwrap_or(0)
        };
        self.fullness.store(percent(1), Ordering::Relaxed);
        self.pressure.store(percent(PRESSURE_BYTES_MIN), Ordering::Relaxed);
    }

    fn fullness(&self) -> u64 {
        self.fullness.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
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

    fn note(&self, result: &Result<u64, StoreError>) {
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

/// The right to flush. Given back when dropped.
struct Turn<'a>(&'a Flusher);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.turn.leave();
    }
}

impl Store {
    /// How the delta becomes segments; nothing to tell of a store that was opened for reading.
    pub fn flush_status(&self) -> FlushStatus {
        self.writer().map(|writer| writer.flusher.status()).unwrap_or_default()
    }

    /// Sees to it that a full delta becomes segments: by whoever does such work for the store, else at once. Tells nobody of failures but
    /// the status.
    pub(crate) fn flush_if_full(&self) {
        let Ok(writer) = self.writer() else { return };
        if writer.flusher.fullness() >= FULL && !writer.chores.look() {
            self.flush_now(&CancelToken::default());
        }
    }

    /// Flushes a full delta, unless somebody does already, or the last attempt failed a short while ago.
    pub(crate) fn flush_now(&self, cancel: &CancelToken) {
        let Ok(writer) = self.writer() else { return };
        let flusher = &writer.flusher;
        while flusher.due_in().is_some_and(|due| due.is_zero()) {
            if !flusher.turn.try_enter() {
                return;
            }
            let _turn = Turn(flusher);
            flusher.state().is_running = true;
            let result = self.with_room(|| flush(self, cancel, &mut || {}));
            flusher.note(&result);
            if result.is_err() {
                return;
            }
        }
    }

    /// Lets a commit come, after a pause if segments are written too slowly; refuses it where too much waits for that.
    pub(crate) fn admit(&self, cancel: &CancelToken) -> Result<(), StoreError> {
        let flusher = &self.writer()?.flusher;
        let pressure = || flusher.pressure.load(Ordering::Relaxed);
        if pressure() < SLOW {
            return Ok(());
        }
        flusher.slowed.fetch_add(1, Ordering::Relaxed);
        if pressure() < STOP {
            std::thread::sleep(pause(pressure()));
            return Ok(cancel.check()?);
        }
        let start = Instant::now();
        while pressure() >= STOP {
            self.flush_if_full();
            let failing = flusher.state().failing.clone();
            if pressure() >= STOP && (failing.is_some() || start.elapsed() >= WAIT_MAX) {
                flusher.refused.fetch_add(1, Ordering::Relaxed);
                return Err(StoreError::Behind { cause: failing });
            }
            cancel.check()?;
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

/// How long a commit waits that finds the delta so full.
fn pause(fullness: u64) -> Duration {
    let above = u32::try_from(fullness.saturating_sub(SLOW)).unwrap_or(u32::MAX);
    (PAUSE_MIN + (PAUSE_MAX - PAUSE_MIN) * above / (STOP - SLOW) as u32).min(PAUSE_MAX)
}

/// Writes segments of the delta and publishes them; how many quads. Calls `between` before it publishes.
pub(crate) fn flush(
    store: &Store,
    cancel: &CancelToken,
    between: &mut dyn FnMut(),
) -> Result<u64, StoreError> {
    let writer = store.writer()?;
    loop {
        let frozen = writer.freeze();
        let published = (|| {
            let net = frozen.delta.net();
            let keys = frozen.delta.terms().first(frozen.delta.term_count());
            let flushed = write_segments(store, &frozen, &keys, &net, cancel)?;
            drop(keys);
            between();
            let place = match WriterPlace::enter(store, cancel) {
                Ok(place) => place,
                Err(error) => {
                    remove_segments(store, &flushed.entries);
                    return Err(error);
                }
            };
            Ok(place.publish_flushed(&frozen, &flushed)?.then_some(net.len() as u64))
        })();
        match published {
            Ok(Some(quads)) => return Ok(quads),
            // Somebody has written or replaced the delta: there may be nothing left to do.
            Ok(None) if writer.flusher.fullness() < FULL => return Ok(0),
            Ok(None) => {}
            Err(error) => {
                writer.thaw();
                return Err(error);
            }
        }
    }
}
