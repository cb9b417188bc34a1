//! The end of a database: its last request, then its files.

use crate::state::AppState;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Requests on their way have so long to end by themselves,
const GRACE: Duration = Duration::from_millis(1200);
/// and so long after they were stopped: an update that has begun to commit ends.
const GRACE_STOPPED: Duration = Duration::from_secs(10);
/// So often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Waits for all others who have the database, and closes it; gives it back where they do not end.
pub(super) async fn end(mut state: Arc<AppState>) -> Result<(), Arc<AppState>> {
    let started = Instant::now();
    let mut is_stopped = false;
    let last = loop {
        state = match Arc::try_unwrap(state) {
            Ok(last) => break last,
            Err(state) => state,
        };
        // Those that waited for one to end begin now.
        state.transactions.end_all();
        if !is_stopped && started.elapsed() >= GRACE {
            is_stopped = true;
            state.running.cancel_all();
        }
        if started.elapsed() >= GRACE + GRACE_STOPPED {
            return Err(state);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    };
    // It waits for threads of its own.
    let _ = tokio::task::spawn_blocking(move || drop(last)).await;
    Ok(())
}
