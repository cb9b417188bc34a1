//! A run of a kept query.

use crate::access::{Identity, Operation, graph_rules};
use crate::asker::Asker;
use crate::body::{Incoming, Whole};
use crate::error::HttpError;
use crate::kept::{self, KeptQuery, Runner};
use crate::limits::Granted;
use crate::negotiate::accept;
use crate::observe::Record;
use crate::protocol::body_coding;
use crate::query::{answer, tag as tag_of};
use crate::request::content_type;
use crate::state::AppState;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use lode_engine::GraphRules;
use lode_rdf::NamedNode;
use std::sync::Arc;

/// The longest form of values.
const FORM_BYTES_MAX: usize = 1 << 20;

/// Runs one with the values of the address, or of a form.
pub(super) async fn run(
    State(state): State<Arc<AppState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, HttpError> {
    let (parts, body) = request.into_parts();
    let mut body = Incoming::new(body, state.shared());
    let query = match found(&state, &id, &parts).and_then(|query| Ok((query, form_coding(&parts)?))) {
        Ok((query, coding)) => {
            body = body.decoded(coding);
            query
        }
        Err(error) => return body.refuse(&parts.headers, error).await,
    };
    let text =
        if parts.method == Method::POST { body.collect(FORM_BYTES_MAX).await? } else { Whole::default() };
    let Whole { bytes, room } = text;
    let wanted = kept::read(&query, parts.uri.query().unwrap_or("").as_bytes(), &bytes)?;
    drop(bytes);
    let base = base(&state, &parts.headers);
    let accept = accept(&parts.headers);
    let graphs = graphs(&parts);
    // Who may not read all graphs would learn of changes to others.
    let is_tagged = parts.method != Method::POST && graphs.reads_all();
    let tag = is_tagged.then(|| tag_of(&state, &wanted, &accept, base.as_deref())).flatten();
    if let Some(tag) = tag.as_ref().filter(|tag| tag.is_known(&parts.headers)) {
        return Ok(tag.not_modified());
    }
    let granted = Granted::of(&parts).of_kept(query.role_limits());
    let asker = Asker { record: Record::current(), accept, base, room, graphs, within: None, granted };
    let mut response = answer(state, wanted, asker).await?;
    if let Some(tag) = tag {
        tag.tell(&mut response);
    }
    Ok(response)
}

/// The graphs that it is about: those of who asks. Who may do nothing else has its answers over all graphs, since an administrator has offered it
/// to anybody.
fn graphs(parts: &Parts) -> GraphRules {
    let has_role = parts.extensions.get::<Identity>().is_some_and(|identity| identity.role.is_some());
    if has_role { graph_rules() } else { GraphRules::default() }
}

/// The query, if it is there and may be run. Who may not read does not learn whether it is there.
fn found(state: &AppState, id: &str, parts: &Parts) -> Result<Arc<KeptQuery>, HttpError> {
    let identity = parts.extensions.get::<Identity>().cloned().unwrap_or_default();
    let kept = state.kept.now(state.database.store(), state.memory())?.get(id).cloned();
    if kept.as_ref().is_some_and(|kept| kept.role.includes(&identity)) {
        return kept.ok_or_else(|| absent(id));
    }
    state.access.check(&identity, Operation::Read)?;
    match kept.map(|kept| kept.role) {
        None | Some(Runner::Anybody | Runner::Read) => Err(absent(id)),
        Some(Runner::Update) => Err(refused(state, &identity, Operation::Update)),
        Some(Runner::Admin) => Err(refused(state, &identity, Operation::Administer)),
    }
}

fn refused(state: &AppState, identity: &Identity, operation: Operation) -> HttpError {
    let message = "running this query takes a role that you have not";
    let otherwise = || HttpError::new(StatusCode::FORBIDDEN, message);
    state.access.check(identity, operation).err().unwrap_or_else(otherwise)
}

pub(super) fn absent(id: &str) -> HttpError {
    let shown: String = id.chars().take(100).collect();
    let message = format!("there is no query '{}' (GET /queries lists them)", shown.escape_debug());
    HttpError::new(StatusCode::NOT_FOUND, message)
}

fn form_coding(parts: &Parts) -> Result<Option<crate::coding::Coding>, HttpError> {
    let kind = content_type(&parts.headers);
    let is_form = kind.as_deref().is_none_or(|kind| kind == "application/x-www-form-urlencoded");
    if parts.method == Method::POST && !is_form {
        let message =
            "values are sent as application/x-www-form-urlencoded, or in the address; PUT keeps a query";
        return Err(HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    body_coding(&parts.headers)
}

/// What relative IRIs in its text are resolved against: the endpoint, wherever it is asked for.
pub(super) fn base(state: &AppState, headers: &HeaderMap) -> Option<String> {
    state.own_iri(&Uri::from_static("/sparql"), headers).map(NamedNode::into_string)
}
