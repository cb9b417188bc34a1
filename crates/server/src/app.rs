//! The server: its routes, and its life.

use crate::body::Incoming;
use crate::error::{HttpError, ServerError};
use crate::request::{self, Asked};
use crate::state::{AppState, ServerOptions};
use crate::{admin, data, page, query, update};
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, post};
use axum::serve::ListenerExt;
use lode_engine::Database;
use lode_rdf::NamedNode;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// A bound endpoint.
pub struct Server {
    listener: TcpListener,
    router: Router,
    stop: watch::Sender<bool>,
}

impl Server {
    /// Binds the address; port 0 takes a free one.
    pub async fn bind(
        database: Arc<Database>,
        address: SocketAddr,
        options: ServerOptions,
    ) -> Result<Self, ServerError> {
        let listener =
            TcpListener::bind(address).await.map_err(|source| ServerError::Bind { address, source })?;
        let (stop, stopping) = watch::channel(false);
        let router = router(Arc::new(AppState::new(database, options, stopping)));
        Ok(Self { listener, router, stop })
    }

    /// The address it listens on.
    pub fn address(&self) -> Result<SocketAddr, ServerError> {
        Ok(self.listener.local_addr()?)
    }

    /// Serves until `stop` is ready, then lets running answers and updates end. Uploads that have not come in whole are given up.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServerError> {
        // Header and body are small packets: without this, Nagle's algorithm and delayed ACKs cost 40 ms an answer.
        // A socket that refuses the option still works.
        let listener = self.listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let sender = self.stop;
        let stop = async move {
            stop.await;
            sender.send_replace(true);
        };
        let service = self.router.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, service).with_graceful_shutdown(stop).await?;
        Ok(())
    }
}

fn router(state: Arc<AppState>) -> Router {
    let public = Router::new()
        .route("/", get(page::form))
        .route("/sparql", any(both))
        .route("/query", any(queries))
        .route("/update", any(updates))
        .route("/data", any(data::serve))
        .route("/data/", any(data::serve))
        .route("/data/{*path}", any(data::serve))
        .layer(from_fn(cors));
    // Pages of other origins have no business there.
    let snapshots = get(admin::snapshots).post(admin::create_snapshot).delete(admin::drop_snapshot);
    let admin = Router::new()
        .route("/admin/stats", get(admin::stats))
        .route("/admin/queries", get(admin::queries))
        .route("/admin/queries/{id}", delete(admin::cancel_query))
        .route("/admin/compact", post(admin::compact))
        .route("/admin/snapshots", snapshots)
        .route("/admin/backup", post(admin::backup));
    public.merge(admin).with_state(state)
}

/// Lets pages of any origin (YASGUI, notebooks) use the endpoint.
async fn cors(request: Request, next: Next) -> Response {
    let mut response = if request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, DELETE, OPTIONS"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Accept, Content-Type, Content-Encoding"),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "Location"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What an address of the protocol takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Queries,
    Updates,
    Both,
}

async fn both(state: State<Arc<AppState>>, request: Request) -> Result<Response, HttpError> {
    protocol(state.0, request, Takes::Both).await
}

async fn queries(state: State<Arc<AppState>>, request: Request) -> Result<Response, HttpError> {
    protocol(state.0, request, Takes::Queries).await
}

async fn updates(state: State<Arc<AppState>>, request: Request) -> Result<Response, HttpError> {
    protocol(state.0, request, Takes::Updates).await
}

/// The two operations of the SPARQL 1.1 Protocol.
async fn protocol(state: Arc<AppState>, request: Request, takes: Takes) -> Result<Response, HttpError> {
    let (parts, body) = request.into_parts();
    let body = Incoming::new(body, &state);
    let client = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0);
    let client = client.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
    let method = if parts.method == Method::HEAD { Method::GET } else { parts.method };
    if let Err(error) = check(&state, &method, takes) {
        return body.refuse(&parts.headers, error).await;
    }
    let mut text = Vec::new();
    if method == Method::POST {
        let max = request::body_bytes_max(&parts.headers, state.options.update_bytes_max);
        text = body.collect(max).await?;
    }
    let base = own_iri(&parts.uri, &parts.headers).map(NamedNode::into_string);
    match request::parse(&method, parts.uri.query(), &parts.headers, text)? {
        Asked::Description => {
            let union = state.options.query.default_graph == lode_engine::DefaultGraph::Union;
            Ok(page::service_description(union, state.database.store().is_writable()))
        }
        Asked::Query(_) if takes == Takes::Updates => {
            Err(HttpError::bad_request("this address takes updates (update=...): send queries to /query"))
        }
        Asked::Update(_) if takes == Takes::Queries => {
            Err(HttpError::bad_request("this address takes queries (query=...): send updates to /update"))
        }
        Asked::Query(request) => {
            let accept = accept(&parts.headers);
            query::answer(state, request, query::Asker { client, accept, base }).await
        }
        Asked::Update(request) => update::answer(state, request, client, base).await,
    }
}

/// What can be told before the body is read.
fn check(state: &AppState, method: &Method, takes: Takes) -> Result<(), HttpError> {
    if takes == Takes::Updates {
        if method != Method::POST {
            return Err(HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "use POST"));
        }
        return state.check_writable();
    }
    if ![Method::GET, Method::POST].contains(method) {
        return Err(HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "use GET or POST"));
    }
    Ok(())
}

/// The `Accept` headers as one.
pub(crate) fn accept(headers: &HeaderMap) -> String {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.collect::<Vec<_>>().join(",")
}

/// The request's own IRI without its query, as the client knows it.
pub(crate) fn own_iri(uri: &Uri, headers: &HeaderMap) -> Option<NamedNode> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = uri.authority().map(|authority| authority.as_str()).or(host)?;
    NamedNode::new(format!("http://{host}{}", uri.path())).ok()
}
