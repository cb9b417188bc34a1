//! Whether the server runs, and whether it can do its work: for those who send it requests, or start it anew.

use crate::deadline::after;
use crate::error::HttpError;
use crate::state::{AppState, CancelOnDrop, blocking};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::{CancelToken, GraphRules, OutputFormat, write_results};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Reading something takes no longer than this, or the server is not ready.
const READ_MAX: Duration = Duration::from_secs(5);
/// What is read.
const QUERY: &str = "ASK { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }";

/// It answers: it runs.
pub(crate) async fn live() -> Response {
    told(StatusCode::OK, "live")
}

/// Whether it can do its work.
pub(crate) async fn ready(State(state): State<Arc<AppState>>) -> Response {
    let hindered = match hindrance(&state) {
        Some(reason) => Some(reason),
        None => read(&state).await.err(),
    };
    match hindered {
        // It answers as well as before: others behind the same balancer have the same problem.
        None => match state.link.as_ref().and_then(|link| link.problem()) {
            None => told(StatusCode::OK, "ready"),
            Some(problem) => told(StatusCode::OK, &format!("ready, but {problem}")),
        },
        Some(reason) => told(StatusCode::SERVICE_UNAVAILABLE, &format!("not ready: {reason}")),
    }
}

/// A short answer, which nobody keeps.
pub(crate) fn told(status: StatusCode, text: &str) -> Response {
    let head = [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
    (status, head, format!("{text}\n")).into_response()
}

/// What the server knows without asking the disk.
pub(crate) fn hindrance(state: &AppState) -> Option<String> {
    let store = state.database.store();
    if *state.stopping.borrow() {
        return Some("the server is stopping".to_owned());
    }
    if let Some(reason) = state.link.as_ref().and_then(|link| link.fence()) {
        return Some(reason);
    }
    if store.is_disk_full() {
        return Some("the disk of the database is full: only deletions and compactions are done".to_owned());
    }
    if !store.is_writable() {
        return None;
    }
    let flush = store.flush_status();
    let is_behind = flush.failing.is_some() && flush.fullness >= FULL_PERCENT;
    is_behind.then(|| {
        "changes cannot be written to segments (the server's log says why), so that updates are refused"
            .to_owned()
    })
}

/// From so much on a delta that cannot be written has updates refused.
const FULL_PERCENT: u64 = 200;

/// Reads something of the database, as a query does.
async fn read(state: &Arc<AppState>) -> Result<(), String> {
    let cancel = CancelToken::new(Some(READ_MAX));
    let _left = CancelOnDrop(cancel.clone());
    let at = Arc::clone(state);
    let work = blocking(move || {
        let mut options = at.query_options(&GraphRules::default());
        options.cancel = cancel;
        options.threads = 1;
        let query = at.database.prepare(QUERY, &options)?;
        let format = OutputFormat::default_for(query.kind());
        write_results(&mut query.run()?, format, &mut io::sink())?;
        Ok::<_, HttpError>(())
    });
    match tokio::time::timeout_at(after(READ_MAX).into(), work).await {
        Ok(done) => done.map_err(|error| format!("the database cannot be read: {}", error.message)),
        Err(_) => Err(format!("nothing could be read within {} seconds", READ_MAX.as_secs())),
    }
}
