//! The REST API of RDF4J for a database: queries and updates with its parameters, statements by pattern, and transactions over several
//! requests. Its programs find it at `/repositories/NAME`; it is the same below `/NAME/rdf4j`.
//!
//! See <https://rdf4j.org/documentation/reference/rest-api/>. Namespaces are not kept: there are none.

mod actions;
mod asked;
mod binary;
mod document;
mod download;
mod parameters;
mod statements;

use crate::access::graph_rules;
use crate::asker::Asker;
use crate::error::HttpError;
use crate::limits::Granted;
use crate::negotiate::{accept, negotiate};
use crate::observe::Record;
use crate::query;
use crate::request::QueryRequest;
use crate::state::{AppState, blocking};
use crate::written::write_results;
use asked::{Asked, asker, read};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use lode_engine::{CancelToken, Database, OutputFormat, QueryOptions};
use lode_rdf::NamedNode;
use parameters::Parameters;
use std::sync::Arc;

/// What the protocol calls its version.
pub(crate) const VERSION: &str = "12";

/// The addresses of a database.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/rdf4j", any(queries))
        .route("/rdf4j/statements", any(statements::serve))
        .route("/rdf4j/size", get(size))
        .route("/rdf4j/contexts", get(contexts))
        .route("/rdf4j/namespaces", get(namespaces))
        .route("/rdf4j/transactions", post(actions::begin))
        .route("/rdf4j/transactions/{id}", any(actions::act))
}

/// Queries.
async fn queries(State(state): State<Arc<AppState>>, request: Request) -> Result<Response, HttpError> {
    if ![Method::GET, Method::HEAD, Method::POST].contains(request.method()) {
        return Err(HttpError::method("GET, HEAD, POST, OPTIONS"));
    }
    let Asked { parts, parameters, text } = read(&state, request).await?;
    let request = parameters.query()?;
    let asker = asker(&state, &parts, text, None);
    query::answer(state, request, asker).await
}

/// The answer to a query of our own.
async fn table(
    state: Arc<AppState>,
    query: &str,
    granted: Granted,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Response, HttpError> {
    let base = state.own_iri(uri, headers).map(NamedNode::into_string);
    let (record, room) = (Record::current(), Default::default());
    let graphs = graph_rules();
    let asker = Asker { record, accept: accept(headers), base, room, graphs, within: None, granted };
    query::answer(state, QueryRequest { query: query.to_owned(), ..QueryRequest::default() }, asker).await
}

/// The named graphs.
async fn contexts(
    state: State<Arc<AppState>>,
    granted: Granted,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    table(state.0, "SELECT ?contextID { GRAPH ?contextID {} }", granted, &uri, &headers).await
}

/// None.
async fn namespaces(
    state: State<Arc<AppState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    table(state.0, "SELECT ?prefix ?namespace {} LIMIT 0", Granted::default(), &uri, &headers).await
}

/// How many statements there are, in all graphs or in some.
async fn size(State(state): State<Arc<AppState>>, granted: Granted, uri: Uri) -> Result<Response, HttpError> {
    let pattern = Parameters::of_uri(&uri)?.pattern()?;
    let cancel = CancelToken::new(Some(granted.time(state.limits.get().timeout)));
    let rules = graph_rules();
    let count = blocking(move || Ok(pattern.count(&state.database.snapshot(), &rules, &cancel)?)).await?;
    Ok(count.to_string().into_response())
}

/// A table of databases, in the format that is asked for.
pub(crate) fn list(
    names: &[String],
    base: &str,
    is_writable: bool,
    accepted: &str,
) -> Result<Response, HttpError> {
    let rows: Vec<String> = names
        .iter()
        .map(|name| format!("(<{base}/{name}> \"{name}\" \"{name}\" true {is_writable})"))
        .collect();
    let query = format!(
        "SELECT * {{ VALUES (?uri ?id ?title ?readable ?writable) {{ {} }} }} ORDER BY ?id",
        rows.join(" ")
    );
    let options = QueryOptions { takes_turns: false, ..QueryOptions::default() };
    let prepared = Database::in_memory()?.prepare(&query, &options)?;
    let format =
        negotiate(Some(accepted), prepared.kind()).unwrap_or(OutputFormat::default_for(prepared.kind()));
    let mut text = Vec::new();
    write_results(prepared.run()?, &query, None, format, &mut text)?;
    Ok(([(header::CONTENT_TYPE, format.media_type())], text).into_response())
}
