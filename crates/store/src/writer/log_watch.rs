//! Wakes the thread that looks after the log.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Wakes the thread that looks after the log.
#[derive(Debug, Default)]
pub struct LogWatch {
    state: Mutex<WatchState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WatchState {
    is_served: bool,
    /// Nothing is to be done before something is written.
    is_idle: bool,
    failures: u64,
}

impl LogWatch {
    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that something was written.
    pub fn wake(&self) {
        if std::mem::replace(&mut self.lock().is_idle, false) {
            self.changed.notify_all();
        }
    }

    /// Syncs that failed.
    pub fn failures(&self) -> u64 {
        self.lock().failures
    }

    pub fn note_failure(&self) {
        self.lock().failures += 1;
    }

    pub fn begin(&self) {
        self.lock().is_served = true;
    }

    pub fn end(&self) {
        self.lock().is_served = false;
        self.changed.notify_all();
    }

    /// Says that there will be nothing to do, unless something is written from now on.
    pub fn rest(&self) {
        self.lock().is_idle = true;
    }

    /// Waits for so long: what is written meanwhile is due later. Without a time, until something is written after [`Self::rest`]. False
    /// at the end.
    pub fn next(&self, wait: Option<Duration>) -> bool {
        let state = self.lock();
        let state = match wait {
            Some(wait) => {
                let waited = self.changed.wait_timeout_while(state, wait, |state| state.is_served);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => {
                let waited = self.changed.wait_while(state, |state| state.is_served && state.is_idle);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        };
        state.is_served
    }
}
