//! How fast a compaction may go: it stops when it is told to, and in the background it leaves time to others.

use lode_base::cancel::{CancelToken, Cancelled};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Asked every few thousand rows or terms: says whether to go on, and does not return before it is time to.
pub struct Throttle {
    cancel: CancelToken,
    duty: Option<DutyCycle>,
}

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttle").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

/// Called between stretches of work.
pub type Between = Box<dyn Fn() + Send + Sync>;

/// Lets work go on for a while, then rest for a while.
struct DutyCycle {
    busy: Duration,
    rest: Duration,
    /// What to do before each rest.
    between: Between,
    /// When the last rest ended. Held while resting, so that all threads rest.
    since: Mutex<Instant>,
}

impl Throttle {
    /// As fast as possible.
    pub fn full(cancel: &CancelToken) -> Self {
        Self { cancel: cancel.clone(), duty: None }
    }

    /// Work for `busy`, then nothing for `rest`, again and again.
    pub fn throttled(cancel: &CancelToken, busy: Duration, rest: Duration, between: Between) -> Self {
        let duty = DutyCycle { busy, rest, between, since: Mutex::new(Instant::now()) };
        Self { cancel: cancel.clone(), duty: Some(duty) }
    }

    /// What stops the work.
    pub fn cancel(&self) -> &CancelToken {
        &self.cancel
    }

    /// Whether to go on.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.cancel.check()?;
        if let Some(duty) = &self.duty {
            let mut since = duty.since.lock().unwrap_or_else(PoisonError::into_inner);
            if since.elapsed() >= duty.busy {
                (duty.between)();
                std::thread::sleep(duty.rest);
                *since = Instant::now();
                drop(since);
                self.cancel.check()?;
            }
        }
        Ok(())
    }
}
