//! The server: its routes, and its life.

use crate::access::{Access, Identity, Operation, Role, Settings};
use crate::asker::Asker;
use crate::body::{Incoming, Whole};
use crate::coding::{ALL_NAMES, Coding};
use crate::compress::compress;
use crate::connections::{Connections, MaybeTls, Terms};
use crate::error::HttpError;
use crate::limits::Limits;
use crate::listener::{Bind, Listener};
use crate::negotiate::accept;
use crate::observe::{Logs, Record};
use crate::origin::Origins;
use crate::request::{self, Asked};
use crate::server_error::ServerError;
use crate::state::{AppState, ServerOptions};
use crate::{admin, connections, data, described, guard, health, page, query, update};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{any, delete, get, post};
use lode_engine::Database;
use lode_rdf::NamedNode;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Running answers and updates have so long to end by themselves once the server is to stop,
const GRACE: Duration = Duration::from_millis(1200);
/// and so long after they were cancelled.
const GRACE_CANCELLED: Duration = Duration::from_millis(500);

/// A bound endpoint.
pub struct Server {
    listener: Listener,
    router: Router,
    state: Arc<AppState>,
    acceptor: MaybeTls,
    stop: watch::Sender<bool>,
}

impl Server {
    /// Binds the address.
    ///
    /// # Errors
    /// [`ServerError::Bind`] where the address is taken or none of this machine.
    pub async fn bind(
        database: Arc<Database>,
        bind: impl Into<Bind>,
        options: ServerOptions,
    ) -> Result<Self, ServerError> {
        let bind = bind.into();
        let listener = Listener::bind(&bind).await;
        let listener = listener.map_err(|source| ServerError::Bind { address: bind.clone(), source })?;
        let (stop, stopping) = watch::channel(false);
        let origins = Origins::new(bind.is_local(), &options.hosts, &options.cors);
        let acceptor = acceptor(&bind, &options)?;
        let origins = origins.secure(is_secure(&acceptor));
        let access = Access::new(settings(&options), &bind)?;
        let state = Arc::new(AppState::new(database, options, origins, access, stopping));
        let router = router(Arc::clone(&state));
        Ok(Self { listener, router, state, acceptor, stop })
    }

    /// The SHA-256 fingerprint of the certificate, where connections are encrypted.
    pub fn fingerprint(&self) -> Option<String> {
        #[cfg(feature = "tls")]
        return self.acceptor.0.as_ref().map(crate::tls::Acceptor::fingerprint);
        #[cfg(not(feature = "tls"))]
        None
    }

    /// Where it listens, with its port.
    ///
    /// # Errors
    /// Where the operating system does not tell.
    pub fn bound(&self) -> Result<Bind, ServerError> {
        Ok(self.listener.bound()?)
    }

    /// How many users and tokens there are, and what those may do who send no name.
    pub fn users(&self) -> (usize, usize, Option<Role>) {
        self.state.access.figures()
    }

    /// What changes it while it runs.
    pub fn control(&self) -> Control {
        Control { state: Arc::clone(&self.state), acceptor: self.acceptor.clone() }
    }

    /// What tells how many requests are being answered.
    pub fn requests(&self) -> Requests {
        Requests(Arc::clone(&self.state.connections))
    }

    /// Serves until `stop` is ready. Then uploads that have not come in whole are given up at once, and queries and updates that have not
    /// ended within a second are cancelled; less than two seconds later this returns. What still runs then ends with the runtime, and what
    /// was not answered has changed nothing.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) {
        let (state, sender) = (Arc::clone(&self.state), self.stop);
        let stopping = state.stopping.clone();
        let terms = Terms {
            connections_max: state.options.connections_max.max(1),
            stall_max: state.options.stall_max,
            acceptor: self.acceptor.clone(),
            watch: Arc::clone(&state.watch),
            trusted: state.options.trusted_proxies.clone().into(),
        };
        let open = Arc::clone(&state.connections);
        let served = connections::serve(self.listener, self.router, open, terms, stopping);
        let watched = watch_certificate(self.acceptor);
        let users = Arc::clone(&state.access).watch();
        let ending = async move {
            stop.await;
            sender.send_replace(true);
            tokio::time::sleep(GRACE).await;
            state.running.cancel_all();
            tokio::time::sleep(GRACE_CANCELLED).await;
        };
        tokio::select! {
            () = served => {}
            () = ending => {}
            () = watched => {}
            () = users => {}
        }
    }
}

/// What decides who may what.
fn settings(options: &ServerOptions) -> Settings {
    Settings {
        users: options.users.clone(),
        anonymous: options.anonymous,
        admin_token: options.admin_token.clone(),
        memory: options.query.memory.clone(),
    }
}

/// What encrypts connections. A certificate that is made is for all names that the server is known by.
#[cfg(feature = "tls")]
fn acceptor(bind: &Bind, options: &ServerOptions) -> Result<MaybeTls, ServerError> {
    let Some(tls) = &options.tls else { return Ok(MaybeTls::default()) };
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    if let Bind::Tcp(address) = bind {
        names.push(address.ip().to_string());
    }
    names.extend(options.hosts.iter().map(|host| crate::origin::without_port(host).to_owned()));
    names.sort();
    names.dedup();
    Ok(MaybeTls(Some(crate::tls::Acceptor::new(tls, &names)?)))
}

#[cfg(not(feature = "tls"))]
fn acceptor(_: &Bind, _: &ServerOptions) -> Result<MaybeTls, ServerError> {
    Ok(MaybeTls::default())
}

fn is_secure(acceptor: &MaybeTls) -> bool {
    #[cfg(feature = "tls")]
    return acceptor.0.is_some();
    #[cfg(not(feature = "tls"))]
    {
        let MaybeTls() = acceptor;
        false
    }
}

/// Never ends.
async fn watch_certificate(acceptor: MaybeTls) {
    #[cfg(feature = "tls")]
    if let Some(acceptor) = acceptor.0 {
        acceptor.watch().await;
    }
    #[cfg(not(feature = "tls"))]
    let _ = acceptor;
    std::future::pending().await
}

/// The requests of a server.
#[derive(Clone)]
pub struct Requests(Arc<Connections>);

impl Requests {
    /// How many are being answered at the moment.
    pub fn running(&self) -> usize {
        self.0.answering()
    }
}

/// Changes a server while it runs.
#[derive(Clone)]
pub struct Control {
    state: Arc<AppState>,
    acceptor: MaybeTls,
}

impl Control {
    /// Has other limits from now on, for requests that come.
    pub fn set_limits(&self, limits: Limits) {
        self.state.limits.set(limits);
    }

    /// Reads the users again, and the certificate, if their files have changed; tells of it. These are looked at now and then, too.
    pub fn read_files(&self) {
        self.state.access.look();
        #[cfg(feature = "tls")]
        if let Some(acceptor) = &self.acceptor.0 {
            acceptor.look();
        }
        #[cfg(not(feature = "tls"))]
        let _ = &self.acceptor;
    }

    /// The logs.
    pub fn logs(&self) -> &Logs {
        &self.state.watch.logs
    }
}

fn router(state: Arc<AppState>) -> Router {
    let public = Router::new()
        .route("/", get(page::form))
        .route("/.well-known/void", get(described::void))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/sparql", any(both))
        .route("/query", any(queries))
        .route("/update", any(updates))
        .route("/data", any(data::serve))
        .route("/data/", any(data::serve))
        .route("/data/{*path}", any(data::serve));
    let snapshots = get(admin::snapshots).post(admin::create_snapshot).delete(admin::drop_snapshot);
    let admin = Router::new()
        .route("/admin/stats", get(admin::stats))
        .route("/metrics", get(admin::metrics))
        .route("/admin/queries", get(admin::queries))
        .route("/admin/queries/{id}", delete(admin::cancel_query))
        .route("/admin/compact", post(admin::compact))
        .route("/admin/snapshots", snapshots)
        .route("/admin/backup", post(admin::backup));
    public
        .merge(admin)
        .fallback(page::not_found)
        .method_not_allowed_fallback(page::other_method)
        .layer(from_fn_with_state(Arc::clone(&state), compress))
        .layer(from_fn_with_state(Arc::clone(&state), guard::let_in))
        .layer(from_fn_with_state(Arc::clone(&state), guard::guard))
        .with_state(state)
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
    let mut body = Incoming::new(body, &state);
    let record = Record::current().ok_or_else(HttpError::no_request)?;
    let method = if parts.method == Method::HEAD { Method::GET } else { parts.method };
    let identity = parts.extensions.get::<Identity>().cloned().unwrap_or_default();
    let may_update = || state.access.check(&identity, Operation::Update);
    let early = || check(&state, &method, takes, request::is_update(&parts.headers).then(may_update));
    match early().and_then(|()| coding(&parts.headers)) {
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
    let base = state.origins.own_iri(&parts.uri, &parts.headers).map(NamedNode::into_string);
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
            let is_read = method == Method::GET;
            let tag = is_read.then(|| query::tag(&state, &request, &accept, base.as_deref())).flatten();
            if let Some(tag) = tag.as_ref().filter(|tag| tag.is_known(&parts.headers)) {
                return Ok(tag.not_modified());
            }
            let mut response =
                query::answer(state, request, Asker { record: Some(record), accept, base, room }).await?;
            if let Some(tag) = tag {
                tag.tell(&mut response);
            }
            Ok(response)
        }
        Asked::Update(request) => {
            may_update()?;
            // The text is in memory until the update has ended.
            let answer = update::answer(state, request, &record, base, room.bytes()).await;
            drop(room);
            answer
        }
    }
}

/// The coding of the body.
fn coding(headers: &HeaderMap) -> Result<Option<Coding>, HttpError> {
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
