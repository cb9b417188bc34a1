//! Workers of a server that has parts of long queries run elsewhere: who they are, whether they are there, what they have done.

use super::Client;
use crate::error::HttpError;
use crate::state::{AppState, Shared};
use crate::update::json_of;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::Arc;

/// What is known of them; none where the server has none.
pub(super) fn status(shared: &Shared) -> Option<Value> {
    shared.options.query.elsewhere.as_ref()?.status()
}

/// The same for who asks; an empty list where there are none.
pub(crate) fn told(shared: &Shared, client: &Client) -> Result<Response, HttpError> {
    client.check(shared)?;
    json_of(&status(shared).unwrap_or_else(|| json!({ "workers": [], "trouble": null })))
}

/// `GET /admin/workers` of a database.
pub(crate) async fn workers(
    State(state): State<Arc<AppState>>,
    client: Client,
) -> Result<Response, HttpError> {
    told(state.shared(), &client)
}
