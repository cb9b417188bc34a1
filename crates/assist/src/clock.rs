//! The time of a call: who works for it looks whether there is some left.

use lode_engine::{CancelToken, Cancelled};
use std::time::{Duration, Instant};

/// A call has so long, unless more or less is said: with the way over the network, and what cannot be stopped at once, its answer comes within 50 ms.
pub(crate) const TIME: Duration = Duration::from_millis(40);
/// So much of it is kept to put the answer together.
const KEPT: Duration = Duration::from_millis(5);

/// The time of a call.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    cancel: CancelToken,
    end: Instant,
}

impl Clock {
    /// Begins now, and ends after `time`, or with the token, or rather some time before.
    pub fn new(cancel: &CancelToken, time: Duration) -> Self {
        let left = cancel.time_left().unwrap_or(time).min(time);
        let left = left.saturating_sub(KEPT.min(left / 4));
        Self { cancel: cancel.clone(), end: Instant::now() + left }
    }

    /// The time left; none where the call was cancelled.
    pub fn left(&self) -> Duration {
        match self.cancel.check() {
            Ok(()) => self.end.saturating_duration_since(Instant::now()),
            Err(_) => Duration::ZERO,
        }
    }

    /// Whether there is no time left.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// The same with a part of what is left.
    pub fn part(&self, parts: u32) -> Self {
        Self { cancel: self.cancel.clone(), end: Instant::now() + self.left() / parts.max(1) }
    }

    /// A token that ends with it, and after `most` at the latest.
    pub fn token(&self, most: Duration) -> CancelToken {
        CancelToken::new(Some(self.left().min(most)))
    }

    /// An error where somebody has cancelled the call.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.cancel.check() {
            Err(Cancelled::ByRequest) => Err(Cancelled::ByRequest),
            _ => Ok(()),
        }
    }
}
