//! Named snapshots: listed, made and dropped.

use super::{Client, parameter, work};
use crate::error::HttpError;
use crate::state::{AppState, blocking};
use crate::update::json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use lode_engine::EngineError;
use lode_engine::store::NamedSnapshot;
use std::sync::Arc;

/// All of them; of those that are damaged only the name.
pub(crate) async fn list(State(state): State<Arc<AppState>>, client: Client) -> Result<Response, HttpError> {
    client.check(&state)?;
    let (snapshots, damaged) = blocking(move || {
        let store = state.database.store();
        let all = store.snapshots().and_then(|snapshots| Ok((snapshots, store.damaged_snapshots()?)));
        all.map_err(|error| EngineError::from(error).into())
    })
    .await?;
    let damaged = damaged.iter().map(|name| format!("{{\"name\":\"{name}\",\"damaged\":true}}"));
    let snapshots: Vec<String> = snapshots.iter().map(described).chain(damaged).collect();
    Ok(json(&format!("[{}]\n", snapshots.join(","))))
}

/// Gives the current version a name; durable when it is answered.
pub(crate) async fn create(
    State(state): State<Arc<AppState>>,
    client: Client,
    uri: Uri,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    state.check_writable()?;
    let name = parameter(&uri, "name")?;
    let made =
        work(state, move |state, cancel| state.database.store().create_snapshot(&name, cancel)).await?;
    let mut response = json(&format!("{}\n", described(&made)));
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

/// Forgets a name.
pub(crate) async fn remove(
    State(state): State<Arc<AppState>>,
    client: Client,
    uri: Uri,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    state.check_writable()?;
    let name = parameter(&uri, "name")?;
    let dropped = name.clone();
    work(state, move |state, cancel| state.database.store().drop_snapshot(&name, cancel)).await?;
    Ok(json(&format!("{{\"dropped\":\"{dropped}\"}}\n")))
}

/// A name has no character that JSON would have to escape.
fn described(snapshot: &NamedSnapshot) -> String {
    let NamedSnapshot { name, version, quads, segments } = snapshot;
    format!("{{\"name\":\"{name}\",\"version\":{version},\"quads\":{quads},\"segments\":{segments}}}")
}
