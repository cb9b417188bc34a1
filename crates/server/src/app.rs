//! The server: its routes, and its life.

#[cfg(feature = "tls")]
use crate::access::Oidc;
use crate::access::{Access, Role, Settings};
use crate::catalog::{Catalog, Databases, catalog_router};
use crate::connections::{self, Connections, MaybeTls, Terms};
use crate::database_routes::database_router;
use crate::guard::{self, Guard};
use crate::limits::Limits;
use crate::listener::{Bind, Listener};
use crate::observe::Logs;
use crate::origin::Origins;
use crate::server_error::ServerError;
use crate::state::{AppState, Served, ServerOptions, Shared};
use crate::{page, page_files};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
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
    shared: Arc<Shared>,
    content: Content,
    acceptor: MaybeTls,
    stop: watch::Sender<bool>,
}

/// What is served.
enum Content {
    One(Arc<AppState>),
    Several(Arc<Catalog>),
}

impl Content {
    /// Stops all requests, since the server ends.
    fn cancel_all(&self) {
        match self {
            Self::One(state) => state.running.cancel_all(),
            Self::Several(catalog) => catalog.cancel_all(),
        }
    }
}

impl Server {
    /// Binds the address, to serve one database.
    ///
    /// # Errors
    /// [`ServerError::Bind`] where the address is taken or none of this machine.
    pub async fn bind(
        served: impl Into<Served>,
        bind: impl Into<Bind>,
        options: ServerOptions,
    ) -> Result<Self, ServerError> {
        let served = served.into();
        Self::bound_to(bind.into(), options, |shared| {
            let state = Arc::new(AppState::new(shared, None, served));
            let guard = Guard { shared: Arc::clone(shared), allowed: page::allowed, not_found: page::absent };
            let own = Router::new().route("/", get(page_files::index));
            let router = database_router(&state, own).layer(from_fn_with_state(guard, guard::guard));
            Ok((router, Content::One(state)))
        })
        .await
    }

    /// Binds the address, to serve several databases, each below its name.
    ///
    /// # Errors
    /// [`ServerError::Bind`] where the address is taken or none of this machine; where the folder cannot be read.
    pub async fn bind_all(
        databases: Databases,
        bind: impl Into<Bind>,
        options: ServerOptions,
    ) -> Result<Self, ServerError> {
        Self::bound_to(bind.into(), options, |shared| {
            let catalog = Arc::new(Catalog::open(databases, shared)?);
            Ok((catalog_router(shared, &catalog), Content::Several(catalog)))
        })
        .await
    }

    async fn bound_to(
        bind: Bind,
        options: ServerOptions,
        content: impl FnOnce(&Arc<Shared>) -> Result<(Router, Content), ServerError>,
    ) -> Result<Self, ServerError> {
        let listener = Listener::bind(&bind).await;
        let listener = listener.map_err(|source| ServerError::Bind { address: bind.clone(), source })?;
        let (stop, stopping) = watch::channel(false);
        let origins = Origins::new(bind.is_local(), &options.hosts, &options.cors);
        let acceptor = acceptor(&bind, &options)?;
        let origins = origins.secure(is_secure(&acceptor));
        let access = Access::new(settings(&options), &bind)?;
        let shared = Arc::new(Shared::new(options, origins, access, stopping));
        let (router, content) = content(&shared)?;
        Ok(Self { listener, router, shared, content, acceptor, stop })
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
        self.shared.access.figures()
    }

    /// The issuer of tokens that are believed besides ours.
    pub fn issuer(&self) -> Option<String> {
        self.shared.access.issuer()
    }

    /// How many databases are open and closed, where there are several.
    pub fn databases(&self) -> Option<(usize, usize)> {
        match &self.content {
            Content::One(_) => None,
            Content::Several(catalog) => Some(catalog.figures()),
        }
    }

    /// What changes it while it runs.
    pub fn control(&self) -> Control {
        Control { shared: Arc::clone(&self.shared), acceptor: self.acceptor.clone() }
    }

    /// What tells how many requests are being answered.
    pub fn requests(&self) -> Requests {
        Requests(Arc::clone(&self.shared.connections))
    }

    /// Serves until `stop` is ready. Then uploads that have not come in whole are given up at once, and queries and updates that have not
    /// ended within a second are cancelled; less than two seconds later this returns. What still runs then ends with the runtime, and what
    /// was not answered has changed nothing.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) {
        let (shared, content, sender) = (self.shared, self.content, self.stop);
        let stopping = shared.stopping.clone();
        let terms = Terms {
            connections_max: shared.options.connections_max.max(1),
            stall_max: shared.options.stall_max,
            acceptor: self.acceptor.clone(),
            watch: Arc::clone(&shared.watch),
            trusted: shared.options.trusted_proxies.clone().into(),
        };
        let open = Arc::clone(&shared.connections);
        let served = connections::serve(self.listener, self.router, open, terms, stopping);
        let watched = watch_certificate(self.acceptor);
        let users = Arc::clone(&shared.access).watch();
        let ending = async move {
            stop.await;
            sender.send_replace(true);
            tokio::time::sleep(GRACE).await;
            content.cancel_all();
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
        #[cfg(feature = "tls")]
        oidc: options.oidc.clone(),
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
    shared: Arc<Shared>,
    acceptor: MaybeTls,
}

impl Control {
    /// Has other limits from now on, for requests that come.
    pub fn set_limits(&self, limits: Limits) {
        self.shared.limits.set(limits);
    }

    /// Believes tokens of this provider from now on, and of no other.
    ///
    /// # Errors
    /// Where its keys are in a file that cannot be used: then the one of before stays.
    #[cfg(feature = "tls")]
    pub fn set_oidc(&self, oidc: Option<Oidc>) -> Result<(), ServerError> {
        Ok(self.shared.access.set_oidc(oidc)?)
    }

    /// Reads the users again, the certificate, if their files have changed, and the keys of a provider; tells of it. These are looked at now
    /// and then, too.
    pub fn read_files(&self) {
        self.shared.access.look();
        self.shared.access.look_at_keys();
        #[cfg(feature = "tls")]
        if let Some(acceptor) = &self.acceptor.0 {
            acceptor.look();
        }
        #[cfg(not(feature = "tls"))]
        let _ = &self.acceptor;
    }

    /// The logs.
    pub fn logs(&self) -> &Logs {
        &self.shared.watch.logs
    }
}
