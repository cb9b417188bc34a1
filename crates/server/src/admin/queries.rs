//! What runs at the moment, and an end to it.

use super::Client;
use crate::error::HttpError;
use crate::state::AppState;
use crate::update::{json, json_of};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use std::sync::Arc;

/// All queries and updates, oldest first.
pub(crate) async fn list(State(state): State<Arc<AppState>>, client: Client) -> Result<Response, HttpError> {
    client.check(&state)?;
    json_of(&state.running.list())
}

/// The plan of a query that runs, with what each operator did so far.
pub(crate) async fn plan(
    State(state): State<Arc<AppState>>,
    client: Client,
    Path(id): Path<u64>,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    let none = || HttpError::new(StatusCode::NOT_FOUND, format!("no query {id} is running"));
    json_of(&state.running.plan(id).ok_or_else(none)?)
}

/// Stops one of them; its client gets an error, or sees the answer break off.
pub(crate) async fn cancel(
    State(state): State<Arc<AppState>>,
    client: Client,
    Path(id): Path<u64>,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    if state.running.cancel(id) {
        return Ok(json(&format!("{{\"cancelled\":{id}}}\n")));
    }
    Err(HttpError::new(StatusCode::NOT_FOUND, format!("no request {id} is running")))
}
