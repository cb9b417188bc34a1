//! Until when a request may take.

use std::time::{Duration, Instant};

/// The moment that is so much later than now.
pub(crate) fn after(time: Duration) -> Instant {
    let now = Instant::now();
    // What no clock can hold is for ever.
    now.checked_add(time).unwrap_or(now + Duration::from_secs(100 * 365 * 86_400))
}
