//! The server: routes, and the way of a query through it.

use crate::admission::Admission;
use crate::error::{HttpError, ServerError};
use crate::negotiate::{negotiate, offered};
use crate::request::QueryRequest;
use crate::stream::{ChunkWriter, chunks};
use crate::{page, request};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::serve::ListenerExt;
use lode_engine::{CancelToken, Database, OutputFormat, QueryOptions, write_results};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::oneshot;

/// The longest query text and form.
const BODY_BYTES_MAX: usize = 16 << 20;

/// How the endpoint behaves.
#[derive(Clone)]
pub struct ServerOptions {
    /// Defaults of every query; its `cancel` is replaced for each.
    pub query: QueryOptions,
    /// The longest a query may take; a client can ask for less.
    pub timeout: Duration,
    /// Queries that run at once.
    pub running_max: usize,
    /// Queries that may wait for their turn; more are refused with 503.
    pub waiting_max: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            query: QueryOptions::default(),
            timeout: Duration::from_secs(60),
            running_max: cores * 4,
            waiting_max: 1024,
        }
    }
}

struct AppState {
    database: Arc<Database>,
    options: ServerOptions,
    admission: Admission,
}

/// A bound endpoint.
pub struct Server {
    listener: TcpListener,
    router: Router,
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
        let admission = Admission::new(options.running_max, options.waiting_max);
        let router = router(Arc::new(AppState { database, options, admission }));
        Ok(Self { listener, router })
    }

    /// The address it listens on.
    pub fn address(&self) -> Result<SocketAddr, ServerError> {
        Ok(self.listener.local_addr()?)
    }

    /// Serves until `stop` is ready, then lets running answers end.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServerError> {
        // Header and body are small packets: without this, Nagle's algorithm and delayed ACKs cost 40 ms an answer.
        // A socket that refuses the option still works.
        let listener = self.listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, self.router).with_graceful_shutdown(stop).await?;
        Ok(())
    }
}

fn router(state: Arc<AppState>) -> Router {
    Router::new()
        .route("/", get(page::form))
        .route("/sparql", any(sparql))
        .route("/query", any(sparql))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn(cors))
        .with_state(state)
}

/// Lets pages of any origin (YASGUI, notebooks) use the endpoint.
async fn cors(request: Request, next: Next) -> Response {
    let mut response = if request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers
        .insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, HEAD, OPTIONS"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("Accept, Content-Type"));
    response
}

async fn sparql(
    State(state): State<Arc<AppState>>,
    method: Method,
    RawQuery(uri_query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, HttpError> {
    if ![Method::GET, Method::HEAD, Method::POST].contains(&method) {
        return Err(HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "use GET or POST"));
    }
    let method = if method == Method::HEAD { Method::GET } else { method };
    let Some(request) = request::parse(&method, uri_query.as_deref(), &headers, &body)? else {
        let union = state.options.query.default_graph == lode_engine::DefaultGraph::Union;
        return Ok(page::service_description(union));
    };
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accept = accept.collect::<Vec<_>>().join(",");
    let permit = state.admission.enter().await?;
    answer(state, request, accept, permit).await
}

/// Runs the query on a blocking thread. The status is known once the first chunk, the end, or an error is there.
async fn answer(
    state: Arc<AppState>,
    request: QueryRequest,
    accept: String,
    permit: OwnedSemaphorePermit,
) -> Result<Response, HttpError> {
    let limit = state.options.timeout;
    let cancel = CancelToken::new(Some(request.timeout.map_or(limit, |asked| asked.min(limit))));
    let (writer, mut body) = chunks(cancel.clone());
    let (head_sender, head) = oneshot::channel();
    let work = move || {
        let job = Job { state: &state, request: &request, accept: &accept, cancel };
        job.run(head_sender, writer);
        drop(permit);
    };
    drop(tokio::task::spawn_blocking(work));
    let failed =
        |_| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the query's thread ended without an answer");
    let head = head.await.map_err(failed)??;
    if !body.wait().await {
        // Nothing was written: the error, if any, comes in the second half of the head.
        head.end.await.map_err(failed)??;
        return Ok(respond(head.format, Body::empty()));
    }
    Ok(respond(head.format, Body::new(body)))
}

fn respond(format: OutputFormat, body: Body) -> Response {
    ([(header::CONTENT_TYPE, format.media_type()), (header::VARY, "Accept")], body).into_response()
}

/// What is known before the first byte: the format; and where to hear of an error that came before any byte.
struct Head {
    format: OutputFormat,
    end: oneshot::Receiver<Result<(), HttpError>>,
}

type HeadSender = oneshot::Sender<Result<Head, HttpError>>;

/// One query, on its blocking thread.
struct Job<'a> {
    state: &'a AppState,
    request: &'a QueryRequest,
    accept: &'a str,
    cancel: CancelToken,
}

impl Job<'_> {
    fn run(self, head: HeadSender, mut writer: ChunkWriter) {
        let (query, format) = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => return drop(head.send(Err(error))),
        };
        let (end_sender, end) = oneshot::channel();
        if head.send(Ok(Head { format, end })).is_err() {
            return; // the client has left
        }
        let result = query.run().and_then(|mut results| write_results(&mut results, format, &mut writer));
        match result.map_err(HttpError::from) {
            Ok(_) => {
                let _ = end_sender.send(Ok(()));
                drop(writer.finish()); // a client that left needs no more
            }
            Err(error) if writer.is_untouched() => drop(end_sender.send(Err(error))),
            Err(error) => writer.abort(error.message),
        }
    }

    fn prepare(&self) -> Result<(lode_engine::PreparedQuery, OutputFormat), HttpError> {
        let mut options = self.state.options.query.clone();
        options.cancel = self.cancel.clone();
        options.set_dataset(&self.request.default_graphs, &self.request.named_graphs)?;
        let query = self.state.database.prepare(&self.request.query, &options)?;
        let kind = query.kind();
        let format = self.request.format.or_else(|| negotiate(Some(self.accept), kind)).ok_or_else(|| {
            let message = format!("none of the accepted media types fits: offered are {}", offered(kind));
            HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
        })?;
        Ok((query, format))
    }
}
