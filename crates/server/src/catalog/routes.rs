//! The addresses of several databases: those of each below its name, as users of Fuseki know them, and the server's own.
//!
//! `/NAME` alone is queries, updates and graphs at one address; `/NAME/sparql`, `/query`, `/update`, `/data` and all others are those of a
//! server with one database, and `/NAME/get` is `/data` for who only reads.

use super::index::{Listed, page};
use super::one_address::{is_for_page, with_path};
use super::root::Root;
use super::{Catalog, Entry, admin, unknown};
use crate::access::{Identity, Operation, Role};
use crate::addresses::{OF_DATABASE, OF_ONE_OF_SEVERAL, OF_SERVER, listed, methods};
use crate::error::HttpError;
use crate::guard::{self, Guard};
use crate::negotiate::accept;
use crate::state::Shared;
use crate::{health, rdf4j};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, post};
use std::sync::Arc;
use tower_service::Service;

/// What there is, for those who ask for something else.
fn all_listed() -> String {
    let below = "\n/NAME/...                  all others of a server with one database";
    listed("", OF_SERVER) + &listed("/NAME", OF_ONE_OF_SEVERAL) + below
}

/// All addresses.
pub(crate) fn router(shared: &Arc<Shared>, catalog: &Arc<Catalog>) -> Router {
    let root = Arc::new(Root { shared: Arc::clone(shared), catalog: Arc::clone(catalog) });
    let own = Router::new()
        .route("/", get(index))
        .route("/health/live", get(health::live))
        .route("/$/ping", get(health::live))
        .route("/health/ready", get(ready))
        .route("/protocol", get(async || rdf4j::VERSION))
        .route("/repositories", get(repositories))
        .route("/admin/databases", get(admin::list).post(admin::create))
        .route("/admin/databases/{name}", get(admin::one).delete(admin::remove))
        .route("/admin/databases/{name}/open", post(admin::open))
        .route("/admin/databases/{name}/close", post(admin::close))
        .route("/admin/databases/{name}/rename", post(admin::rename))
        .route("/metrics", get(admin::metrics))
        .route("/admin/queries", get(admin::queries))
        .route("/admin/queries/{id}", delete(admin::cancel))
        .route("/admin/workers", get(admin::workers))
        .route("/admin", any(not_found))
        .route("/admin/{*path}", any(not_found))
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(Arc::clone(shared), guard::let_in_server));
    let guard = Guard { shared: Arc::clone(shared), allowed, not_found: absent };
    own.fallback(dispatch).layer(from_fn_with_state(guard, guard::guard)).with_state(root)
}

/// The methods that an address takes; none where there is nothing. Whether there is a database of its name is not told.
fn allowed(path: &str) -> Option<&'static str> {
    let is_admin = path.strip_prefix("/admin").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let own = methods(OF_SERVER, path);
    if is_admin || own.is_some() {
        return own;
    }
    match split(path) {
        ("protocol", _) | ("repositories", "/") => None,
        ("repositories", rest) => methods(OF_ONE_OF_SEVERAL, &format!("/rdf4j{}", split(rest).1)),
        (_, "/") => methods(OF_ONE_OF_SEVERAL, ""),
        (_, rest) => methods(OF_ONE_OF_SEVERAL, rest).or_else(|| methods(OF_DATABASE, rest)),
    }
}

/// The name of the database, and the rest of the address.
fn split(path: &str) -> (&str, &str) {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.find('/').map_or((path, ""), |slash| path.split_at(slash))
}

fn absent(uri: &Uri) -> HttpError {
    HttpError::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {}; this server has:{}", uri.path(), all_listed()),
    )
}

/// What clients ask a server for that has one database.
const OF_ONE: [&str; 5] = ["sparql", "query", "update", "data", "get"];
/// Names that are listed at most.
const NAMES_MAX: usize = 20;

/// The answer where a database is asked for, but not which.
fn absent_of_several(uri: &Uri) -> HttpError {
    let path = uri.path();
    let message =
        format!("there is nothing at {path}: this server has several databases, each at /NAME{path}");
    HttpError::new(StatusCode::NOT_FOUND, message)
}

/// The same error with the names of the databases that one may read.
fn with_names(error: HttpError, root: &Root, identity: &Identity) -> HttpError {
    let names: Vec<String> =
        readable(root, Some(identity)).unwrap_or_default().into_iter().map(|(name, ..)| name).collect();
    let told = match names.len() {
        0 => "there are none that you may read".to_owned(),
        count if count > NAMES_MAX => {
            format!("there are {}, and {} more", names[..NAMES_MAX].join(", "), count - NAMES_MAX)
        }
        _ => format!("there are {}", names.join(", ")),
    };
    HttpError { message: format!("{}; {told}", error.message), ..error }
}

async fn not_found(uri: Uri) -> HttpError {
    absent(&uri)
}

async fn other_method(method: Method, uri: Uri) -> HttpError {
    let message = format!("{} does not take {method}; this server has:{}", uri.path(), all_listed());
    let error = HttpError::new(StatusCode::METHOD_NOT_ALLOWED, message);
    HttpError { field: allowed(uri.path()).map(|methods| (header::ALLOW, methods)), ..error }
}

/// The databases that one may read, with who one is in each.
fn readable(root: &Root, identity: Option<&Identity>) -> Result<Vec<(String, Entry, Identity)>, HttpError> {
    let identity = identity.cloned().unwrap_or_default();
    let within = |(name, entry): (String, Entry)| {
        let identity = identity.clone().within(Some(&name));
        (identity.role >= Some(Role::Read)).then_some((name, entry, identity))
    };
    let found: Vec<_> = root.catalog.all().into_iter().filter_map(within).collect();
    if found.is_empty() {
        // Who may read nothing is asked who it is.
        root.shared.access.check(&identity, Operation::Read)?;
    }
    Ok(found)
}

/// The databases that one may read, for people.
async fn index(State(root): State<Arc<Root>>, request: Request) -> Result<Response, HttpError> {
    let found = readable(&root, request.extensions().get())?;
    let listed: Vec<Listed> =
        found.into_iter().map(|(name, entry, identity)| Listed::new(name, &entry, &identity)).collect();
    Ok(page(&listed))
}

/// Whether all databases that are open can do their work.
async fn ready(State(root): State<Arc<Root>>) -> Response {
    for (_, entry) in root.catalog.all() {
        if let Entry::Open(mounted) = entry {
            let told = health::ready(State(Arc::clone(&mounted.state))).await;
            if !told.status().is_success() {
                return told;
            }
        }
    }
    health::told(StatusCode::OK, "ready")
}

/// The databases that one may read, for RDF4J.
async fn repositories(State(root): State<Arc<Root>>, request: Request) -> Result<Response, HttpError> {
    let found = readable(&root, request.extensions().get())?;
    let names: Vec<String> = found.into_iter().map(|(name, ..)| name).collect();
    let base = root.shared.origins.own_iri(None, request.uri(), request.headers());
    let base = base.as_ref().map_or("/repositories", |base| base.as_str());
    let is_writable = !root.catalog.is_read_only();
    rdf4j::list(&names, base, is_writable, &accept(request.headers()))
}

/// Hands a request to its database.
async fn dispatch(State(root): State<Arc<Root>>, mut request: Request) -> Response {
    let asked = request.uri().clone();
    if let Some(uri) = of_rdf4j(&asked) {
        *request.uri_mut() = uri;
    }
    let (name, rest) = split(request.uri().path());
    let (name, is_bare) = (name.to_owned(), rest.is_empty());
    // Of an address of RDF4J its own form is told, not that of this server.
    let is_known = !rest.starts_with("/rdf4j") || methods(OF_ONE_OF_SEVERAL, rest).is_some();
    let operation = match guard::operation_of_one(request.method(), rest) {
        // Whether there is a query of this name is for nobody to learn who may not read.
        Operation::Ask if request.method() != Method::OPTIONS => Operation::Read,
        other => other,
    };
    let entry = match root.catalog.get(&name) {
        Some(Entry::Open(mounted)) if is_known => {
            if is_bare && is_for_page(&request) {
                let location = [(header::LOCATION, format!("/{name}/"))];
                return (StatusCode::SEE_OTHER, location).into_response();
            }
            *request.uri_mut() = without_name(request.uri(), &name);
            let mut router = mounted.router.clone();
            drop(mounted);
            return match router.call(request).await {
                Ok(mut response) => {
                    if [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&response.status()) {
                        // It would tell that there is something.
                        guard::drop_field(response.headers_mut(), &header::ALLOW);
                    }
                    response
                }
                Err(never) => match never {},
            };
        }
        other => other,
    };
    // Who may not do this does not learn whether it is there: it is told what it would be told there.
    let refused = match root.shared.access.identify(guard::peer(&request), request.headers()).await {
        Err(error) => error,
        Ok(identity) => match root.shared.access.check(&identity.clone().within(Some(&name)), operation) {
            Err(error) => error,
            Ok(()) => match entry {
                _ if !is_known => absent(&asked),
                // Why may tell of the machine, and is for the administration.
                Some(Entry::Closed(_)) => HttpError::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    format!(
                        "the database {name} is closed: its administrator can see why, and open it (/admin/databases)"
                    ),
                ),
                _ if super::name::is_fit(&name) => with_names(unknown(&name), &root, &identity),
                _ if OF_ONE.contains(&name.as_str()) => {
                    with_names(absent_of_several(&asked), &root, &identity)
                }
                _ => absent(request.uri()),
            },
        },
    };
    guard::refuse(&root.shared, request, refused).await
}

/// The address of a repository of RDF4J as one of its database.
fn of_rdf4j(uri: &Uri) -> Option<Uri> {
    let whole = uri.path_and_query()?.as_str().strip_prefix("/repositories/")?;
    let end = whole.find(['/', '?']).unwrap_or(whole.len());
    let (name, rest) = whole.split_at(end);
    Some(with_path(uri, &format!("/{name}/rdf4j{rest}")))
}

/// The address within the database.
fn without_name(uri: &Uri, name: &str) -> Uri {
    let whole = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let rest = whole.strip_prefix('/').and_then(|path| path.strip_prefix(name)).unwrap_or(whole);
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    with_path(uri, &rest)
}

#[cfg(test)]
mod tests {
    //! Addresses and their parts.
    use super::{allowed, split, without_name};

    #[test]
    fn addresses_without_the_name() {
        for (whole, name, rest) in [
            ("/a", "a", "/"),
            ("/a/", "a", "/"),
            ("/a?query=x", "a", "/?query=x"),
            ("/a/data/b/c?x=/a", "a", "/data/b/c?x=/a"),
            ("/a/a/a", "a", "/a/a"),
            ("http://h/a/sparql?query=x", "a", "/sparql?query=x"),
        ] {
            let uri = whole.parse().unwrap();
            let within = without_name(&uri, name);
            assert_eq!(within.path_and_query().unwrap().as_str(), rest, "{whole}");
            assert_eq!(within.authority(), uri.authority());
        }
        assert_eq!((split("/a/b/c"), split("/a"), split("//a")), (("a", "/b/c"), ("a", ""), ("", "/a")));
    }

    #[test]
    fn methods_of_addresses() {
        for (path, methods) in [
            ("/", Some("GET, HEAD, OPTIONS")),
            ("/admin/databases/a", Some("GET, HEAD, DELETE, OPTIONS")),
            ("/admin/compact", None),
            ("/a/update", Some("POST, OPTIONS")),
            ("/a/admin/compact", Some("POST, OPTIONS")),
            ("/a/get", Some("GET, HEAD, OPTIONS")),
            ("/a/nothing", None),
        ] {
            assert_eq!(allowed(path), methods, "{path}");
        }
    }
}
