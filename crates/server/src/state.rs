//! What requests share: those of all databases the options and how much runs at once, those of one its data.

#[cfg(feature = "tls")]
use crate::access::Oidc;
use crate::access::{Access, Anonymous};
use crate::admission::Admission;
use crate::body_memory::Bodies;
use crate::coding::Compression;
use crate::connections::Connections;
use crate::error::HttpError;
use crate::figures::Described;
use crate::kept::Kept;
use crate::lane::Lane;
use crate::limits::{Limits, LimitsNow, LimitsOfRoles, Quotas};
use crate::link::Link;
use crate::network::Network;
use crate::observe::{Counters, Logs, Watch};
use crate::open_transactions::Transactions;
use crate::origin::{CorsOrigin, Origins};
use crate::running::Running;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::validator::Validators;
use axum::http::{HeaderMap, StatusCode, Uri};
use lode_assist::Assist;
use lode_engine::store::{Compactor, Maintenance, Warmer};
use lode_engine::{CancelToken, Database, GraphRules, LoadAllow, MemoryBudget, QueryOptions, Upkeeper};
use lode_rdf::NamedNode;
use lode_rdf::parse::StatementLimit;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// How the endpoint behaves.
#[derive(Clone)]
pub struct ServerOptions {
    /// Defaults of every query and of every update's WHERE; its `cancel` is replaced for each.
    pub query: QueryOptions,
    /// The longest a query may take; a client can ask for less.
    pub timeout: Duration,
    /// Connections that may be open at once; one more takes the place of one that is not being answered.
    pub connections_max: usize,
    /// Long queries that run at once: each may take as much memory as a query may.
    pub running_max: usize,
    /// Queries that run besides for so short a time that it does not matter whether they are long.
    pub short_running_max: usize,
    /// Queries that may wait for their turn; more are refused with 503. The same for updates, and for downloads.
    pub waiting_max: usize,
    /// The longest an update may take; a client can ask for less.
    pub update_timeout: Duration,
    /// Updates and uploads that run at once, besides the queries. They change the database one after the other, but share its syncs.
    pub updates_running_max: usize,
    /// A transaction over several requests that nobody has asked for in so long is rolled back: it holds the write lock.
    pub transaction_idle_max: Duration,
    /// So is one that is older, whoever asks for it still.
    pub transaction_age_max: Duration,
    /// The longest text of an update, in bytes.
    pub update_bytes_max: usize,
    /// Bytes of requests' bodies that may be in memory at once, of all requests together; who sends more waits until there is room, or is
    /// refused with 503.
    pub bodies_bytes_max: usize,
    /// Bytes that a compressed body may have once it is decoded: a few may stand for any number.
    pub decoded_bytes_max: u64,
    /// A client that sends nothing of a body, or takes nothing of an answer, is given up after so long.
    pub stall_max: Duration,
    /// The longest a download of graphs may take.
    pub download_timeout: Duration,
    /// How long a statement may be in what is uploaded, and in what LOAD reads.
    pub statement_limit: StatementLimit,
    /// What LOAD may read.
    pub load: LoadAllow,
    /// Uploads of more quads become a segment of their own at once.
    pub transaction_quads_max: u64,
    /// Bulk loads that run at once: each has as much memory as a query, and threads of its own.
    pub bulk_loads_max: usize,
    /// Downloads of graphs that run at once.
    pub downloads_max: usize,
    /// Names that the server has besides `localhost` and its numbers. Requests to other names are refused where there are any, or where it
    /// listens on this machine only.
    pub hosts: Vec<String>,
    /// Whether answers are compressed for clients that take them so.
    pub compression: bool,
    /// Web pages of elsewhere that may use the server as its own page does.
    pub cors: Vec<CorsOrigin>,
    /// The file of users and tokens; it need not be there.
    pub users: Option<PathBuf>,
    /// What those may do who send no name. Unless chosen: nothing where there are users, else all on this machine, and reading elsewhere.
    pub anonymous: Option<Anonymous>,
    /// What clients of the administration must know; without it they must be on this machine.
    pub admin_token: Option<String>,
    /// Whose tokens are believed besides ours.
    #[cfg(feature = "tls")]
    pub oidc: Option<Oidc>,
    /// Folder below which the administration may write backups.
    pub backup_folder: Option<PathBuf>,
    /// Where the certificate comes from; without one connections are plain.
    #[cfg(feature = "tls")]
    pub tls: Option<Tls>,
    /// The logs.
    pub logs: Logs,
    /// What each role may take.
    pub roles: LimitsOfRoles,
    /// Proxies that are believed.
    pub trusted_proxies: Vec<Network>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            query: QueryOptions::default(),
            timeout: Duration::from_secs(60),
            connections_max: 1024,
            running_max: cores * 4,
            short_running_max: cores * 32,
            waiting_max: 512,
            update_timeout: Duration::from_secs(60),
            transaction_idle_max: Duration::from_secs(60),
            transaction_age_max: Duration::from_secs(3600),
            updates_running_max: 64,
            update_bytes_max: 64 << 20,
            bodies_bytes_max: 256 << 20,
            decoded_bytes_max: 16 << 30,
            stall_max: Duration::from_secs(30),
            download_timeout: Duration::from_secs(3600),
            statement_limit: StatementLimit::default(),
            load: LoadAllow::default(),
            transaction_quads_max: 100_000,
            bulk_loads_max: 2,
            downloads_max: cores * 4,
            hosts: Vec::new(),
            compression: true,
            cors: Vec::new(),
            users: None,
            anonymous: None,
            admin_token: None,
            #[cfg(feature = "tls")]
            oidc: None,
            backup_folder: None,
            #[cfg(feature = "tls")]
            tls: None,
            logs: Logs::default(),
            roles: LimitsOfRoles::default(),
            trusted_proxies: Vec::new(),
        }
    }
}

impl ServerOptions {
    /// Those that may change while the server runs.
    fn limits(&self) -> Limits {
        let Self {
            timeout,
            update_timeout,
            download_timeout,
            update_bytes_max,
            transaction_quads_max,
            roles,
            ..
        } = *self;
        Limits { timeout, update_timeout, download_timeout, update_bytes_max, transaction_quads_max, roles }
    }
}

/// A database that is served, with what works on it beside requests.
#[derive(Clone)]
pub struct Served {
    /// The database.
    pub database: Arc<Database>,
    /// What compacts in the background, for the administration to tell.
    pub compactor: Option<Arc<Compactor>>,
    /// What brings inferences up to date in the background; ends with the last request.
    pub upkeeper: Option<Arc<Upkeeper>>,
    /// The store's own threads, which end with the last request.
    pub maintenance: Option<Arc<Maintenance>>,
    /// What keeps what is hot hot from one run to the next; ends with the last request.
    pub warmer: Option<Arc<Warmer>>,
    /// Where it is published, by this server or by another that it follows.
    pub link: Option<Arc<Link>>,
}

impl From<Arc<Database>> for Served {
    fn from(database: Arc<Database>) -> Self {
        Self { database, compactor: None, upkeeper: None, maintenance: None, warmer: None, link: None }
    }
}

/// What the requests to all databases share.
pub(crate) struct Shared {
    pub(crate) options: ServerOptions,
    /// Those of the options that may change: as they are now.
    pub(crate) limits: LimitsNow,
    /// The requests of each user and client.
    pub(crate) quotas: Arc<Quotas>,
    pub(crate) origins: Origins,
    pub(crate) access: Arc<Access>,
    pub(crate) queries: Arc<Lane>,
    pub(crate) short_queries: Admission,
    pub(crate) updates: Admission,
    pub(crate) bulk_loads: Admission,
    pub(crate) downloads: Admission,
    /// The memory for bodies of requests.
    pub(crate) bodies: Bodies,
    /// The encoders of answers.
    pub(crate) compression: Compression,
    /// Numbers of queries and updates.
    pub(crate) last_id: Arc<AtomicU64>,
    /// The connections that are open.
    pub(crate) connections: Arc<Connections>,
    /// What is noted of requests.
    pub(crate) watch: Arc<Watch>,
    /// One backup at a time: others would write the same files.
    pub(crate) backups: Arc<Semaphore>,
    /// When the server began.
    pub(crate) started: Instant,
    /// Becomes true when the server is to stop.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl Shared {
    pub(crate) fn new(
        options: ServerOptions,
        origins: Origins,
        access: Access,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let queries = Lane::new(options.running_max, options.waiting_max);
        // They do not wait long: it is the connections that limit how many there are.
        let short_queries = Admission::new(options.short_running_max.max(1), usize::MAX);
        let updates = Admission::new(options.updates_running_max, options.waiting_max);
        let downloads = Admission::new(options.downloads_max, options.waiting_max);
        let bulk_loads = Admission::new(options.bulk_loads_max, options.waiting_max);
        let bodies = Bodies::new(options.bodies_bytes_max, options.query.memory.clone());
        let backups = Arc::new(Semaphore::new(1));
        let compression = Compression::new(options.compression, options.query.memory.as_ref());
        let watch = Watch::new(options.logs.clone());
        // Whoever forgets to say for whom a query is run finds nothing: see [`AppState::query_options`].
        let mut options = options;
        options.query.graphs = GraphRules::nothing();
        Self {
            limits: LimitsNow::new(options.limits()),
            quotas: Arc::default(),
            options,
            origins,
            access: Arc::new(access),
            queries,
            short_queries,
            updates,
            bulk_loads,
            downloads,
            bodies,
            compression,
            last_id: Arc::default(),
            connections: Arc::default(),
            watch,
            backups,
            started: Instant::now(),
            stopping,
        }
    }
}

/// What the requests to one database share, and through it what those to all do.
pub(crate) struct AppState {
    shared: Arc<Shared>,
    /// Its name among several.
    pub(crate) name: Option<String>,
    pub(crate) database: Arc<Database>,
    pub(crate) compactor: Option<Arc<Compactor>>,
    pub(crate) upkeeper: Option<Arc<Upkeeper>>,
    _maintenance: Option<Arc<Maintenance>>,
    _warmer: Option<Arc<Warmer>>,
    /// Where it is published.
    pub(crate) link: Option<Arc<Link>>,
    /// What tells clients that an answer is still the same.
    pub(crate) validators: Validators,
    /// What is told of the database.
    pub(crate) described: Described,
    /// Help for who writes queries.
    pub(crate) assist: Assist,
    /// Queries and updates on their way.
    pub(crate) running: Arc<Running>,
    /// Transactions over several requests.
    pub(crate) transactions: Transactions,
    /// Queries that are run by their names.
    pub(crate) kept: Kept,
    /// Its requests.
    pub(crate) counters: Arc<Counters>,
}

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl AppState {
    pub(crate) fn new(shared: &Arc<Shared>, name: Option<String>, served: Served) -> Self {
        let Served { database, compactor, upkeeper, maintenance, warmer, link } = served;
        let counters = if name.is_some() { Arc::default() } else { Arc::clone(&shared.watch.counters) };
        let kept = Kept::of(database.store(), shared.options.query.memory.as_ref());
        Self {
            shared: Arc::clone(shared),
            name,
            assist: Assist::new(Arc::clone(&database)),
            database,
            compactor,
            upkeeper,
            _maintenance: maintenance,
            _warmer: warmer,
            link,
            validators: Validators::default(),
            described: Described::default(),
            running: Arc::new(Running::new(&shared.last_id)),
            transactions: Transactions::default(),
            kept,
            counters,
        }
    }

    /// The options of a query, and of an update's WHERE, for who has these rules.
    pub(crate) fn query_options(&self, rules: &GraphRules) -> QueryOptions {
        QueryOptions { graphs: rules.clone(), ..self.options.query.clone() }
    }

    /// The memory of the process, if it has a limit.
    pub(crate) fn memory(&self) -> Option<&MemoryBudget> {
        self.options.query.memory.as_ref()
    }

    /// What it shares with other databases.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The IRI of an address of this database, as the client knows it; none where it names a host that the server is not known by.
    pub(crate) fn own_iri(&self, uri: &Uri, headers: &HeaderMap) -> Option<NamedNode> {
        self.origins.own_iri(self.name.as_deref(), uri, headers)
    }

    /// Refuses what would write where nothing may be written: before a body is read.
    pub(crate) fn check_writable(&self) -> Result<(), HttpError> {
        if let Some(reason) = self.link.as_ref().and_then(|link| link.fence()) {
            let message = format!("nothing may be written here any more: {reason}");
            return Err(HttpError::new(StatusCode::SERVICE_UNAVAILABLE, message));
        }
        if self.database.store().is_writable() {
            return Ok(());
        }
        let message = "this server is read-only: it answers queries and changes nothing";
        Err(HttpError::new(StatusCode::FORBIDDEN, message))
    }
}

/// Cancels work whose client has left: then what waits for it is dropped.
pub(crate) struct CancelOnDrop(pub(crate) CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs work on a blocking thread.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HttpError> + Send + 'static,
) -> Result<T, HttpError> {
    let failed =
        |_| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the thread of this request has failed");
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}
