//! The addresses that there are, for a person or a tool that finds one without a query.

use crate::error::HttpError;
use crate::kept;
use axum::http::{Method, StatusCode, Uri, header};

/// What there is, for those who ask for something else.
const ROUTES: &str = "\
/sparql                    queries and updates (SPARQL 1.1 Protocol): GET or POST, query=... or update=...
/query, /update            one of them each
/.well-known/void          what is in the data, graph by graph (GET; /sparql without a query tells it, too)
/api/complete, /api/hover, /api/format, /api/check  help for who writes queries (POST, JSON; docs/api.md)
/api/prefixes              the usual prefixes that the data uses (GET)
/data                      graphs (Graph Store Protocol): GET, PUT, POST, DELETE with ?graph=IRI or ?default
/queries                   kept queries (GET); /queries/ID runs one (GET, POST), keeps or removes it (PUT, DELETE)
/                          a page for people: queries, what is in the data, uploads (its parts are below /page)
/health/live, /health/ready whether the server runs, and whether it can do its work (GET)
/metrics                   figures for Prometheus (GET)
/admin/stats               figures of the moment (GET)
/admin/queries             what runs (GET); /admin/queries/ID is the plan of a query with what was done so far (GET), and stops it (DELETE)
/admin/compact             makes one segment of all (POST)
/admin/snapshots           named snapshots: GET, POST ?name=NAME, DELETE ?name=NAME
/admin/backup              writes a backup (POST ?to=NAME)";

/// The methods that an address takes; none where there is nothing.
pub(crate) fn allowed(path: &str) -> Option<&'static str> {
    let admin = path.strip_prefix("/admin/");
    Some(match path {
        "/" | "/.well-known/void" | "/api/prefixes" | "/admin/stats" | "/admin/queries" | "/metrics"
        | "/health/live" | "/health/ready" => "GET, HEAD, OPTIONS",
        _ if path.starts_with("/page/") => "GET, HEAD, OPTIONS",
        "/sparql" | "/query" => "GET, HEAD, POST, OPTIONS",
        "/update" | "/admin/compact" | "/admin/backup" | "/api/complete" | "/api/hover" | "/api/format"
        | "/api/check" => "POST, OPTIONS",
        "/admin/snapshots" => "GET, HEAD, POST, DELETE, OPTIONS",
        _ if path == "/data" || path.starts_with("/data/") => "GET, HEAD, PUT, POST, DELETE, OPTIONS",
        _ if admin.is_some_and(|path| path.starts_with("queries/")) => "GET, HEAD, DELETE, OPTIONS",
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
