//! A worker: takes stages from heads that know the token, and runs them.

use crate::VERSION;
use crate::call::Calls;
use crate::channels::{Channels, Here, KEEP_ALIVE, KEEP_ALIVE_PATIENCE, is_of_this_machine};
use crate::codec::{Codec, check};
use crate::gate::{Gate, Notice};
use crate::leaf::Site;
use crate::pool::Pool;
use crate::session::bare;
use crate::token::Token;
use crate::watch;
use datafusion::error::DataFusionError;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion_distributed::{DistributedExt, Worker as StageWorker, WorkerQueryContext};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};

/// Heads that are there have asked not longer ago,
const HEADS_ASK_WITHIN: Duration = Duration::from_secs(5);
/// and know after so long that a worker ends: they ask every second.
const NOTICE: Duration = Duration::from_millis(2500);
/// A version that nobody asks for is closed after so long.
const IDLE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_secs(5);

/// Why a worker does not begin.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// It would take plans in the open.
    #[error(
        "{0} can be reached from other machines: a worker needs a certificate there (--tls-cert, --tls-key), since the token goes over the wire"
    )]
    Plain(SocketAddr),
    /// The address is taken, or not of this machine.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Threads or memory cannot be had.
    #[error(transparent)]
    Start(#[from] DataFusionError),
    /// The certificate or the key is none.
    #[error("the certificate: {0}")]
    Certificate(#[from] tonic::transport::Error),
    /// The system refuses something else.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A certificate with its chain, and its key, as PEM.
#[derive(Clone)]
pub struct Tls {
    /// The certificate.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
}

/// How a worker works.
pub struct WorkerOptions {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The secret that heads, and other workers, know.
    pub token: Token,
    /// What it shows who connects.
    pub tls: Option<Tls>,
    /// Whose certificates it believes of other workers, as PEM.
    pub authority: Option<Arc<[u8]>>,
    /// What it reads, and with how much memory.
    pub site: Site,
    /// Where it tells Prometheus what it does, if anywhere.
    pub metrics: Option<SocketAddr>,
}

/// A worker that runs.
pub struct Worker {
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it tells what it does.
    pub metrics: Option<SocketAddr>,
    notice: Arc<Notice>,
    /// Who runs tasks holds on to it, and it to who runs tasks.
    here: Here,
    stop: Option<oneshot::Sender<()>>,
    runtime: Option<Runtime>,
    serving: tokio::task::JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Worker {
    /// Listens, and serves on threads of its own.
    ///
    /// # Errors
    /// Where it cannot listen, or would do so in the open.
    pub fn start(options: WorkerOptions) -> Result<Self, WorkerError> {
        let address = options.listen;
        if options.tls.is_none() && !is_of_this_machine(address.ip()) {
            return Err(WorkerError::Plain(address));
        }
        let runtime = Builder::new_multi_thread().thread_name("lode-worker").enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(address));
        let listener = listener.map_err(|source| WorkerError::Listen { address, source })?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let site = Arc::new(options.site);
        let metrics = match options.metrics {
            Some(at) => {
                let listen = |source| WorkerError::Listen { address: at, source };
                let (listener, address) = runtime.block_on(watch::listen(at)).map_err(listen)?;
                let site = Arc::clone(&site);
                let page = move || site.work.exposition(&site.databases, &site.memory);
                runtime.spawn(watch::serve(listener, Arc::new(page)));
                Some(address)
            }
            None => None,
        };
        runtime.spawn(close_idle(Arc::downgrade(&site)));
        let (notice, here) = (Arc::new(Notice::default()), Here::default());
        let serving = {
            let _entered = runtime.enter();
            let gate = (options.token, Arc::clone(&notice));
            let server = server(site, gate, options.tls, options.authority, Arc::clone(&here))?;
            let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
            runtime.spawn(server.serve_with_incoming_shutdown(incoming, async {
                let _ = stopped.await;
            }))
        };
        let (stop, runtime) = (Some(stop), Some(runtime));
        Ok(Self { address, metrics, notice, here, stop, runtime, serving })
    }

    /// Tells heads that it ends, takes no more once they know, and waits until what runs has ended.
    ///
    /// # Errors
    /// Where serving failed.
    pub fn drain(mut self) -> Result<(), WorkerError> {
        self.notice.end();
        if self.notice.has_heads(HEADS_ASK_WITHIN) {
            std::thread::sleep(NOTICE);
        }
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        let Some(runtime) = self.runtime.take() else { return Ok(()) };
        let served = runtime.block_on(&mut self.serving);
        runtime.shutdown_background();
        Ok(served.map_err(io::Error::other)??)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.here.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

type Router = tonic::transport::server::Router;

/// Closes versions that nobody has asked for in a while, as long as there is the worker.
async fn close_idle(site: Weak<Site>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(site) = site.upgrade() else { return };
        // Files are closed there.
        let _ = tokio::task::spawn_blocking(move || site.databases.close_idle(IDLE)).await;
    }
}

fn server(
    site: Arc<Site>,
    (token, notice): (Token, Arc<Notice>),
    tls: Option<Tls>,
    authority: Option<Arc<[u8]>>,
    here: Here,
) -> Result<Router, WorkerError> {
    // Groups and joins of DataFusion cannot have more than the fragments leave.
    let memory = Arc::new(Pool::new(site.memory.clone()));
    let memory = RuntimeEnvBuilder::new().with_memory_pool(memory).build_arc()?;
    let (channels, codec) = (Channels::new(token.clone(), authority), Codec(Some(site)));
    let calls = Arc::new(Calls::default());
    let of_session = Arc::clone(&calls);
    let own = Arc::clone(&here);
    let session = move |context: WorkerQueryContext| {
        let (channels, call) = (channels.of_task(&context.headers, &own), of_session.of(&context.headers));
        let codec = codec.clone();
        async move {
            let mut builder = bare(context.builder);
            builder.config().get_or_insert_default().set_extension(call);
            let builder = builder
                .with_distributed_channel_resolver(channels)
                .with_distributed_user_codec(codec)
                .with_distributed_worker_plan_rewrite_handler(check);
            Ok::<_, DataFusionError>(builder.build())
        }
    };
    let worker = StageWorker::from_session_builder(session).with_runtime_env(memory).with_version(VERSION);
    *here.lock().unwrap_or_else(PoisonError::into_inner) = Some(worker.clone());
    let mut server = Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE_PATIENCE));
    if let Some(Tls { certificate, key }) = tls {
        let identity = Identity::from_pem(certificate, key);
        server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
    }
    Ok(server.add_service(Gate { inner: worker.into_worker_server(), token, notice, calls }))
}
