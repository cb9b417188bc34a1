//! Makes segments of the delta while others go on committing, and keeps commits from getting too far ahead of it.
//!
//! The delta is *frozen*: its segments are written without the write lock, and what is committed meanwhile stays apart. Then the lock
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
use crate::store::Store;
use crate::write_guard::WriteGuard;
use crate::writer::FlushStatus;
use crate::writer::flush_state::{FULL, FlushState, SLOW, STOP};
use lode_base::cancel::CancelToken;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The first pause of a commit that is slowed down; the last is [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(1);
/// The longest pause of a commit that is slowed down.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// So long a commit waits for a flush that is on its way before it is refused.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The right to flush. Given back when dropped.
struct FlushGuard<'a>(&'a FlushState);

impl Drop for FlushGuard<'_> {
    fn drop(&mut self) {
        self.0.flush_lock.unlock();
    }
}

impl Store {
    /// How the delta becomes segments; nothing to tell of a store that was opened for reading.
    pub fn flush_status(&self) -> FlushStatus {
        self.writer().map(|writer| writer.flush_state.status()).unwrap_or_default()
    }

    /// Sees to it that a full delta becomes segments: by whoever does such work for the store, else at once. Tells nobody of failures but
    /// the status.
    pub(crate) fn flush_if_full(&self) {
        let Ok(writer) = self.writer() else { return };
        if writer.flush_state.fullness() >= FULL && !writer.chores.look() {
            self.flush_now(&CancelToken::default());
        }
    }

    /// Flushes a full delta, unless somebody does already, or the last attempt failed a short while ago.
    pub(crate) fn flush_now(&self, cancel: &CancelToken) {
        let Ok(writer) = self.writer() else { return };
        let flusher = &writer.flush_state;
        while flusher.due_in().is_some_and(|due| due.is_zero()) {
            if !flusher.flush_lock.try_lock() {
                return;
            }
            let _guard = FlushGuard(flusher);
            flusher.state().is_running = true;
            let result = self.with_room(|| flush(self, cancel, &mut || {}));
            flusher.note(&result);
            if result.is_err() {
                return;
            }
        }
    }

    /// Makes segments of what is in the delta, however little that is: for indexes, which are of segments. How many quads these were.
    ///
    /// # Errors
    ///
    /// Where the store is open for reading, they cannot be written, or it was cancelled.
    pub fn flush_all(&self, cancel: &CancelToken) -> Result<u64, StoreError> {
        let flusher = &self.writer()?.flush_state;
        flusher.flush_lock.lock(cancel)?;
        let _guard = FlushGuard(flusher);
        if self.version().delta.is_empty() {
            return Ok(0);
        }
        flusher.state().is_running = true;
        let result = self.with_room(|| flush(self, cancel, &mut || {}));
        flusher.note(&result);
        result
    }

    /// Lets a commit come, after a pause if segments are written too slowly; refuses it where too much waits for that.
    pub(crate) fn admit(&self, cancel: &CancelToken) -> Result<(), StoreError> {
        let flusher = &self.writer()?.flush_state;
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
            let guard = match WriteGuard::lock(store, cancel) {
                Ok(guard) => guard,
                Err(error) => {
                    remove_segments(store, &flushed.entries);
                    return Err(error);
                }
            };
            Ok(guard.publish_flushed(&frozen, &flushed)?.then_some(net.len() as u64))
        })();
        match published {
            Ok(Some(quads)) => return Ok(quads),
            // Somebody has written or replaced the delta: there may be nothing left to do.
            Ok(None) if writer.flush_state.fullness() < FULL => return Ok(0),
            Ok(None) => {}
            Err(error) => {
                writer.thaw();
                return Err(error);
            }
        }
    }
}
