//! A lock that is given to those who wait in the order in which they came, and whose wait can be cancelled.

use lode_base::cancel::{CancelToken, Cancelled};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often somebody who waits asks whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// Not bound to a thread or a scope: whoever has locked it unlocks it.
#[derive(Debug, Default)]
pub struct FairLock {
    line: Mutex<Line>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    is_locked: bool,
    /// Number of the next to come, and those that wait.
    next: u64,
    waiting: std::collections::VecDeque<u64>,
}

impl FairLock {
    /// Waits for the lock.
    pub fn lock(&self, cancel: &CancelToken) -> Result<(), Cancelled> {
        if self.try_lock() {
            return Ok(());
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let number = line.next;
        line.next += 1;
        line.waiting.push_back(number);
        while line.is_locked || line.waiting.front() != Some(&number) {
            if let Err(cancelled) = cancel.check() {
                line.waiting.retain(|waiting| *waiting != number);
                self.moved.notify_all();
                return Err(cancelled);
            }
            line = self.moved.wait_timeout(line, ASK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
        line.waiting.pop_front();
        line.is_locked = true;
        Ok(())
    }

    /// Takes the lock if nobody has it or waits for it.
    pub fn try_lock(&self) -> bool {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = !line.is_locked && line.waiting.is_empty();
        line.is_locked |= is_free;
        is_free
    }

    /// Whether somebody waits.
    pub fn is_waited_for(&self) -> bool {
        !self.line.lock().unwrap_or_else(PoisonError::into_inner).waiting.is_empty()
    }

    /// Whether somebody has the lock.
    pub fn is_locked(&self) -> bool {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).is_locked
    }

    /// Gives the lock to the next.
    pub fn unlock(&self) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).is_locked = false;
        self.moved.notify_all();
    }
}
