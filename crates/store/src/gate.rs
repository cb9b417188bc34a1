//! The place of the one writer: taken by whoever makes the next version, waited for with an ear to cancellation.

use lode_base::cancel::{CancelToken, Cancelled};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often somebody who waits asks whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// A lock that is not bound to a thread or a scope. Those who wait get it in the order in which they came.
#[derive(Debug, Default)]
pub struct Gate {
    line: Mutex<Line>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    is_taken: bool,
    /// Number of the next to come, and those that wait.
    next: u64,
    waiting: std::collections::VecDeque<u64>,
}

impl Gate {
    /// Waits for the place. It is left when the guard is dropped.
    pub fn enter(&self, cancel: &CancelToken) -> Result<(), Cancelled> {
        if self.try_enter() {
            return Ok(());
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let number = line.next;
        line.next += 1;
        line.waiting.push_back(number);
        while line.is_taken || line.waiting.front() != Some(&number) {
            if let Err(cancelled) = cancel.check() {
                line.waiting.retain(|waiting| *waiting != number);
                self.moved.notify_all();
                return Err(cancelled);
            }
            line = self.moved.wait_timeout(line, ASK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
        line.waiting.pop_front();
        line.is_taken = true;
        Ok(())
    }

    /// Takes the place if nobody has it or waits for it.
    pub fn try_enter(&self) -> bool {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = !line.is_taken && line.waiting.is_empty();
        line.is_taken |= is_free;
        is_free
    }

    /// Whether somebody waits.
    pub fn is_waited_for(&self) -> bool {
        !self.line.lock().unwrap_or_else(PoisonError::into_inner).waiting.is_empty()
    }

    /// Whether somebody has the place.
    pub fn is_taken(&self) -> bool {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).is_taken
    }

    /// Leaves the place to the next.
    pub fn leave(&self) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).is_taken = false;
        self.moved.notify_all();
    }
}
