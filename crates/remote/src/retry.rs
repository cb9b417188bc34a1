//! What fails on its way is tried again, a few times and soon.

use crate::counters::RemoteCounters;
use crate::error::RemoteError;
use lode_base::cancel;
use std::time::{Duration, Instant};

/// Waits before each further try.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(250)];
/// A sleeper looks so often whether it was called off.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Does work that asks a store, and does it again where that may help.
pub fn retrying<T>(
    counters: &RemoteCounters,
    mut work: impl FnMut() -> Result<T, RemoteError>,
) -> Result<T, RemoteError> {
    for pause in PAUSES {
        match work() {
            Err(error) if error.is_transient() => {
                counters.count_retry();
                sleep(pause)?;
            }
            done => return done,
        }
    }
    work()
}

fn sleep(pause: Duration) -> Result<(), RemoteError> {
    let (token, end) = (cancel::current(), Instant::now() + pause);
    loop {
        if let Some(token) = &token {
            token.check()?;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK_EVERY));
    }
}
