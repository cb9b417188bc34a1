//! All of a database at one address, as Fuseki has it: queries, updates, graphs, and a page for people.

use crate::access::{Identity, Operation};
use crate::body::Incoming;
use crate::error::HttpError;
use crate::negotiate::accept;
use crate::protocol::{Takes, protocol};
use crate::request::{content_type, is_protocol};
use crate::state::AppState;
use crate::{data, guard, page_files, rdf4j};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, Uri};
use axum::response::Response;
use axum::routing::any;
use lode_rdf::RdfFormat;
use std::sync::Arc;

/// The addresses that only a database among several has.
pub(super) fn routes() -> Router<Arc<AppState>> {
    Router::new().route("/", any(whole)).route("/get", any(read_only)).merge(rdf4j::routes())
}

/// Whether a browser asks for a page.
pub(super) fn is_for_page(request: &Request) -> bool {
    [Method::GET, Method::HEAD].contains(request.method())
        && request.uri().query().is_none_or(|query| query.is_empty() || query.starts_with("resource="))
        && accept(request.headers()).split(',').any(|one| one.trim().starts_with("text/html"))
}

/// Queries, updates and graphs at one address; a page for a browser that asks for nothing else.
async fn whole(state: State<Arc<AppState>>, mut request: Request) -> Result<Response, HttpError> {
    if is_for_page(&request) {
        return Ok(page_files::index(request.headers().clone()).await);
    }
    if is_protocol(request.method(), request.uri().query(), request.headers()) {
        return protocol(state.0, request, Takes::Both).await;
    }
    let is_bare = request.uri().query().is_none_or(str::is_empty);
    let has_triples = content_type(request.headers())
        .and_then(|kind| RdfFormat::from_media_type(&kind))
        .is_some_and(|format| !format.supports_datasets());
    let writes = [Method::POST, Method::PUT].contains(request.method());
    if writes && has_triples && is_bare {
        // Here, as Fuseki has it, triples without a graph are for the default graph.
        *request.uri_mut() = with_path(request.uri(), "/?default");
    }
    as_data(state, request).await
}

/// Graphs, to be read only.
async fn read_only(state: State<Arc<AppState>>, request: Request) -> Result<Response, HttpError> {
    if [Method::GET, Method::HEAD].contains(request.method()) {
        return as_data(state, request).await;
    }
    let (parts, body) = request.into_parts();
    Incoming::new(body, state.shared()).refuse(&parts.headers, HttpError::method("GET, HEAD, OPTIONS")).await
}

/// The same request of `/data`.
async fn as_data(state: State<Arc<AppState>>, mut request: Request) -> Result<Response, HttpError> {
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    *request.uri_mut() = with_path(request.uri(), &format!("/data{query}"));
    let identity = request.extensions().get::<Identity>().cloned().unwrap_or_default();
    let operation = Operation::of(request.method(), request.uri().path());
    if let Err(error) = state.access.check(&identity, operation) {
        return Ok(guard::refuse(state.shared(), request, error).await);
    }
    data::serve(state, request).await
}

/// The same address with another path and query.
pub(super) fn with_path(uri: &Uri, path_and_query: &str) -> Uri {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = path_and_query.parse().ok();
    Uri::from_parts(parts).unwrap_or_default()
}
