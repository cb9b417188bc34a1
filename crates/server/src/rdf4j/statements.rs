//! Statements by pattern: read, added, replaced and removed.

use super::asked::{Asked, asker, read};
use super::parameters::Parameters;
use super::{actions, document, download};
use crate::body::Incoming;
use crate::data;
use crate::error::HttpError;
use crate::limits::Granted;
use crate::observe::Record;
use crate::request::content_type;
use crate::state::AppState;
use crate::update;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use lode_engine::UploadTarget;
use lode_rdf::{GraphName, RdfFormat};
use std::sync::Arc;

pub(super) async fn serve(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, HttpError> {
    let parameters = Parameters::of_uri(request.uri())?;
    match *request.method() {
        Method::GET | Method::HEAD => {
            let (parts, _) = request.into_parts();
            let snapshot = state.database.snapshot();
            download::answer(state, snapshot, parameters.pattern()?, &parts).await
        }
        Method::DELETE => actions::remove(state, parameters.pattern()?, Granted::of_request(&request)).await,
        Method::POST if is_update(&parameters, &request) => {
            let Asked { parts, parameters, text } = read(&state, request).await?;
            let update = parameters.update()?;
            let asker = asker(&state, &parts, text, None);
            let record = Record::current().ok_or_else(HttpError::no_request)?;
            update::answer(state, update, &record, asker.base, asker.room.bytes(), asker.granted).await?;
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        Method::POST | Method::PUT => upload(state, &parameters, request).await,
        _ => Err(HttpError::method("GET, HEAD, PUT, POST, DELETE, OPTIONS")),
    }
}

fn is_update(parameters: &Parameters, request: &Request) -> bool {
    let is_text =
        |kind: &str| kind == "application/x-www-form-urlencoded" || kind == "application/sparql-update";
    parameters.has("update") || content_type(request.headers()).is_some_and(|kind| is_text(&kind))
}

/// A document: into the graphs that are named, or where none is into those that it names itself.
async fn upload(
    state: Arc<AppState>,
    parameters: &Parameters,
    request: Request,
) -> Result<Response, HttpError> {
    let (parts, body) = request.into_parts();
    let body = Incoming::new(body, state.shared());
    let (contexts, base) = match parameters.contexts().and_then(|contexts| Ok((contexts, parameters.base()?)))
    {
        Ok(read) => read,
        Err(error) => return body.refuse(&parts.headers, error).await,
    };
    let has_graphs = content_type(&parts.headers)
        .and_then(|kind| RdfFormat::from_media_type(&kind))
        .is_some_and(RdfFormat::supports_datasets);
    let is_replaced = parts.method == Method::PUT;
    let target = match contexts.as_slice() {
        // What is large goes into a load, which keeps no more of it in memory than it may, and resolves IRIs as the other protocol says.
        _ if base.is_some() || document::is_binary(&parts.headers) => None,
        [] if has_graphs => Some(UploadTarget::Dataset),
        // Triples take the place of all quads.
        [] if is_replaced => None,
        [] => Some(UploadTarget::Graph(None)),
        // Quads are put into the graph, whichever they name.
        _ if has_graphs => None,
        [GraphName::DefaultGraph] => Some(UploadTarget::Graph(None)),
        [GraphName::NamedNode(name)] => Some(UploadTarget::Graph(Some(name.clone()))),
        _ => None,
    };
    let Some(target) = target else {
        return actions::add(state, parameters, &parts, body, is_replaced).await;
    };
    data::upload(state, target, None, &parts, body).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
