//! Waiting for others.

use crate::frame::off_the_clock;
use crate::turns;

/// Waits for others, threads or endpoints, while other threads may work: no node takes the time, and the thread's turn goes to another.
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    off_the_clock(|| turns::paused(wait))
}
