//! `min-version=N`: an answer of that version or a later one. So a client that has written somewhere else, and was told the version, reads what it wrote.

use crate::error::HttpError;
use crate::state::AppState;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use std::time::Duration;
use tokio::time::Instant;

/// The version of the database that an answer is of.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("x-lode-version");
/// The longest a request waits for a version to come.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// A version that is waited for is looked for so often.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Waits until the database has the version; 409 where it does not come in time, or cannot come.
pub(crate) async fn wait(state: &AppState, version: Option<u64>, limit: Duration) -> Result<(), HttpError> {
    let Some(wanted) = version else { return Ok(()) };
    let (began, limit) = (Instant::now(), limit.min(WAIT_MAX));
    loop {
        let found = state.database.snapshot().version_number();
        if found >= wanted {
            return Ok(());
        }
        let waits = state.link.as_ref().is_some_and(|link| link.follows()) && !*state.stopping.borrow();
        if !waits || began.elapsed() >= limit {
            let message = match waits {
                true => format!(
                    "version {wanted} has not come here within {} seconds: this is version {found} still. Ask again, or where it was written",
                    limit.as_secs_f64()
                ),
                false => format!(
                    "this is version {found}, and version {wanted} will only come here when somebody writes here"
                ),
            };
            return Err(HttpError::new(StatusCode::CONFLICT, message));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Says in an answer which version it is of.
pub(crate) fn tell(version: Option<u64>, response: &mut Response) {
    if let Some(version) = version {
        response.headers_mut().insert(VERSION, HeaderValue::from(version));
    }
}
