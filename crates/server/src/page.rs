//! The pages a person or a tool finds without a query: a small query form, and what there is.

use crate::error::HttpError;
use crate::kept;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// What there is, for those who ask for something else.
const ROUTES: &str = "\
/sparql                    queries and updates (SPARQL 1.1 Protocol): GET or POST, query=... or update=...
/query, /update            one of them each
/.well-known/void          what is in the data, graph by graph (GET; /sparql without a query tells it, too)
/data                      graphs (Graph Store Protocol): GET, PUT, POST, DELETE with ?graph=IRI or ?default
/queries                   kept queries (GET); /queries/ID runs one (GET, POST), keeps or removes it (PUT, DELETE)
/                          a page to try queries
/health/live, /health/ready whether the server runs, and whether it can do its work (GET)
/metrics                   figures for Prometheus (GET)
/admin/stats               figures of the moment (GET)
/admin/queries             what runs (GET); /admin/queries/ID stops it (DELETE)
/admin/compact             makes one segment of all (POST)
/admin/snapshots           named snapshots: GET, POST ?name=NAME, DELETE ?name=NAME
/admin/backup              writes a backup (POST ?to=NAME)";

/// The methods that an address takes; none where there is nothing.
pub(crate) fn allowed(path: &str) -> Option<&'static str> {
    let admin = path.strip_prefix("/admin/");
    Some(match path {
        "/" | "/.well-known/void" | "/admin/stats" | "/admin/queries" | "/metrics" | "/health/live"
        | "/health/ready" => "GET, HEAD, OPTIONS",
        "/sparql" | "/query" => "GET, HEAD, POST, OPTIONS",
        "/update" | "/admin/compact" | "/admin/backup" => "POST, OPTIONS",
        "/admin/snapshots" => "GET, HEAD, POST, DELETE, OPTIONS",
        _ if path == "/data" || path.starts_with("/data/") => "GET, HEAD, PUT, POST, DELETE, OPTIONS",
        _ if admin.is_some_and(|path| path.starts_with("queries/")) => "DELETE, OPTIONS",
        _ => return kept::allowed(path),
    })
}

/// Another address.
pub(crate) async fn not_found(uri: Uri) -> HttpError {
    absent(&uri)
}

/// The answer where there is nothing.
pub(crate) fn absent(uri: &Uri) -> HttpError {
    HttpError::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {}; this server has:\n{ROUTES}", uri.path()),
    )
}

/// An address that is there, asked for by a method that it has not.
pub(crate) async fn other_method(method: Method, uri: Uri) -> HttpError {
    let message = format!("{} does not take {method}; this server has:\n{ROUTES}", uri.path());
    let error = HttpError::new(StatusCode::METHOD_NOT_ALLOWED, message);
    HttpError { field: allowed(uri.path()).map(|methods| (header::ALLOW, methods)), ..error }
}

/// The query form at `/`.
pub(crate) async fn form() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], include_str!("page.html")).into_response()
}
