//! The SPARQL 1.1 Graph Store HTTP Protocol at `/data`: graphs are read, replaced, added to and removed by their IRIs.
//!
//! A graph is named by `?graph=IRI`, by `?default`, or by the address below `/data/` itself. `/data` alone is the whole dataset, in
//! formats that have graphs; a POST of triples there makes a new graph, as the protocol says. `at=NAME` reads a named snapshot.

mod download;
mod multipart;
mod notes;
mod target;
mod upload;

use crate::access::{graph_rules, with_version};
use crate::body::Incoming;
use crate::deadline::after;
use crate::error::HttpError;
use crate::observe::Record;
use crate::request::SNAPSHOTS_STAY;
use crate::state::{AppState, CancelOnDrop, blocking};
use crate::update::json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use lode_engine::{CancelToken, UploadTarget};
pub(crate) use notes::changed;
use std::sync::Arc;
pub(crate) use upload::answer as upload;

use target::{Selected, no_such_graph, select};

/// Every request to `/data` and below.
pub(crate) async fn serve(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, HttpError> {
    let (parts, body) = request.into_parts();
    let body = Incoming::new(body, state.shared());
    let own = state.own_iri(&parts.uri, &parts.headers);
    let Selected { target, at } = match select(&parts.uri, own.as_ref()) {
        Ok(selected) => selected,
        Err(error) => return body.refuse(&parts.headers, error).await,
    };
    if let Some(record) = Record::current() {
        record.note_work(notes::kind(&parts.method), "");
    }
    match parts.method {
        Method::GET => download::answer(state, target, at, &parts, false).await,
        Method::HEAD => download::answer(state, target, at, &parts, true).await,
        Method::PUT | Method::POST | Method::DELETE if at.is_some() => {
            body.refuse(&parts.headers, HttpError::bad_request(SNAPSHOTS_STAY)).await
        }
        Method::PUT | Method::POST => upload::answer(state, target, own, &parts, body).await,
        Method::DELETE => delete(state, target, &parts.headers).await,
        _ => {
            let error = HttpError::method("GET, HEAD, PUT, POST, DELETE, OPTIONS");
            body.refuse(&parts.headers, error).await
        }
    }
}

async fn delete(
    state: Arc<AppState>,
    target: UploadTarget,
    headers: &HeaderMap,
) -> Result<Response, HttpError> {
    state.check_writable()?;
    let UploadTarget::Graph(graph) = target else {
        let message =
            "name the graph to remove: ?graph=IRI or ?default (for all of them, the update CLEAR ALL)";
        return Err(HttpError::bad_request(message));
    };
    let condition = state.validators.condition(headers)?;
    let limit = state.limits.get().update_timeout;
    let cancel = CancelToken::new(Some(limit));
    let permit = state.updates.enter(after(limit)).await?;
    notes::begun();
    let _left = CancelOnDrop(cancel.clone());
    let rules = graph_rules();
    let commit = blocking(move || {
        let commit = state.database.delete_graph(graph.as_ref(), condition.as_ref(), &rules, &cancel)?;
        drop(permit);
        Ok(commit.ok_or_else(|| no_such_graph(&UploadTarget::Graph(graph))))
    })
    .await??;
    notes::changed(0, commit.deleted, commit.version);
    Ok(json(&format!("{{\"deleted\":{}{}}}\n", commit.deleted, with_version(commit.version))))
}
