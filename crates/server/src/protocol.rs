//! The two operations of the SPARQL 1.1 Protocol at an address: who may ask, what is asked, and who answers.

use crate::access::{Identity, Operation, graph_rules};
use crate::asker::Asker;
use crate::body::{Incoming, Whole};
use crate::coding::{ALL_NAMES, Coding};
use crate::error::HttpError;
use crate::limits::Granted;
use crate::negotiate::accept;
use crate::observe::Record;
use crate::request::{self, Asked};
use crate::state::AppState;
use crate::{described, min_version, query, update};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use lode_rdf::NamedNode;
use std::sync::Arc;

/// What an address of the protocol takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Queries,
    Updates,
    Both,
}

/// The two operations of the SPARQL 1.1 Protocol.
pub(crate) async fn protocol(
    state: Arc<AppState>,
    request: Request,
    takes: Takes,
) -> Result<Response, HttpError> {
    let (parts, body) = request.into_parts();
    let mut body = Incoming::new(body, state.shared());
    let record = Record::current().ok_or_else(HttpError::no_request)?;
    let granted = Granted::of(&parts);
    let method = if parts.method == Method::HEAD { Method::GET } else { parts.method };
    let identity = parts.extensions.get::<Identity>().cloned().unwrap_or_default();
    let may_update = || state.access.check(&identity, Operation::Update);
    let early = || check(&state, &method, takes, request::is_update(&parts.headers).then(may_update));
    match early().and_then(|()| body_coding(&parts.headers)) {
        Ok(coding) => body = body.decoded(coding),
        Err(error) => return body.refuse(&parts.headers, error).await,
    }
    let mut text = Whole::default();
    if method == Method::POST {
        // Who may not update needs no room for one.
        let update_max = if may_update().is_ok() { state.limits.get().update_bytes_max } else { 0 };
        let max = request::body_bytes_max(&parts.headers, update_max);
        text = body.collect(max).await?;
    }
    let Whole { bytes: text, room } = text;
    let base = state.own_iri(&parts.uri, &parts.headers).map(NamedNode::into_string);
    match request::parse(&method, parts.uri.query(), &parts.headers, text)? {
        Asked::Description => described::service(state, &parts.uri, &parts.headers).await,
        Asked::Query(_) if takes == Takes::Updates => {
            Err(HttpError::bad_request("this address takes updates (update=...): send queries to /query"))
        }
        Asked::Update(_) if takes == Takes::Queries => {
            Err(HttpError::bad_request("this address takes queries (query=...): send updates to /update"))
        }
        Asked::Query(request) => {
            let accept = accept(&parts.headers);
            if request.min_version.is_some() && !graph_rules().reads_all() {
                let message =
                    "you may not: versions tell of changes to all graphs, and you may read some only";
                return Err(HttpError::new(StatusCode::FORBIDDEN, message));
            }
            let limit = request::time_limit(request.timeout, state.limits.get().timeout);
            min_version::wait(&state, request.min_version, limit).await?;
            let is_read = method == Method::GET;
            // Who may not read all graphs would learn of changes to others.
            let is_tagged = is_read && graph_rules().reads_all();
            let tag = is_tagged.then(|| query::tag(&state, &request, &accept, base.as_deref())).flatten();
            if let Some(tag) = tag.as_ref().filter(|tag| tag.is_known(&parts.headers)) {
                return Ok(tag.not_modified());
            }
            let mut response = query::answer(
                state,
                request,
                Asker {
                    record: Some(record),
                    accept,
                    base,
                    room,
                    graphs: graph_rules(),
                    within: None,
                    granted,
                },
            )
            .await?;
            if let Some(tag) = tag {
                tag.tell(&mut response);
            }
            Ok(response)
        }
        Asked::Update(request) => {
            may_update()?;
            // The text is in memory until the update has ended.
            let answer = update::answer(state, request, &record, base, room.bytes(), granted).await;
            drop(room);
            answer
        }
    }
}

/// The coding of the body.
pub(crate) fn body_coding(headers: &HeaderMap) -> Result<Option<Coding>, HttpError> {
    Coding::of_body(headers).map_err(|name| HttpError::coding(&name, ALL_NAMES))
}

/// What can be told before the body is read; `may_update` of a body that is an update for sure.
fn check(
    state: &AppState,
    method: &Method,
    takes: Takes,
    may_update: Option<Result<(), HttpError>>,
) -> Result<(), HttpError> {
    if takes == Takes::Updates {
        if method != Method::POST {
            return Err(HttpError::method("POST, OPTIONS"));
        }
        return state.check_writable();
    }
    if ![Method::GET, Method::POST].contains(method) {
        return Err(HttpError::method("GET, HEAD, POST, OPTIONS"));
    }
    may_update.unwrap_or(Ok(()))
}
