//! The HTTP endpoint over a database that is open here, in threads of its own.

use crate::failure;
use crate::held::Held;
use crate::interruptible;
use crate::open::Open;
use crate::settings::duration;
use lode_engine::CancelToken;
use lode_server::{Anonymous, Bind, CorsOrigin, Role, Served, Server, ServerError, ServerOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// What still runs on other threads when the server has stopped has so long to notice.
const LAST_WAIT: Duration = Duration::from_millis(300);
/// Threads of requests end when there was nothing to do for them for so long.
const THREADS_KEPT: Duration = Duration::from_secs(1);

/// How it is served.
#[derive(FromPyObject)]
pub struct ServeSettings {
    bind: String,
    timeout: Option<f64>,
    /// What those may do who send no name: `read`, `update`, `admin`, `none`, or what is usual.
    anonymous: Option<String>,
    users: Option<PathBuf>,
    hosts: Vec<String>,
    cors: Vec<String>,
}

impl ServeSettings {
    fn address(&self) -> PyResult<SocketAddr> {
        if let Ok(address) = self.bind.parse() {
            return Ok(address);
        }
        let port = self.bind.strip_prefix("localhost:").unwrap_or(&self.bind);
        let wrong = || {
            let message = "bind: expected an address and a port, such as '127.0.0.1:7878' or '127.0.0.1:0' (any port that is free)";
            PyValueError::new_err(message)
        };
        port.parse::<u16>().map(|port| (Ipv4Addr::LOCALHOST, port).into()).map_err(|_| wrong())
    }

    fn options(&self, py: Python<'_>, open: &Open) -> PyResult<ServerOptions> {
        let role = |name: &str| match name {
            "none" => Ok(Anonymous(None)),
            name => name.parse::<Role>().map(|role| Anonymous(Some(role))),
        };
        let anonymous = self.anonymous.as_deref().map(role).transpose();
        let cors = self.cors.iter().map(|origin| CorsOrigin::parse(origin)).collect::<Result<_, _>>();
        let default = ServerOptions::default();
        let memory = open.memory.pool().limit();
        Ok(ServerOptions {
            query: open.memory.query_options(),
            timeout: duration(py, "timeout", self.timeout)?.unwrap_or(default.timeout),
            anonymous: anonymous
                .map_err(|error| PyValueError::new_err(format!("anonymous: {error}, or none")))?,
            cors: cors.map_err(|error| PyValueError::new_err(format!("cors: {error}")))?,
            hosts: self.hosts.clone(),
            users: self.users.clone(),
            update_bytes_max: default.update_bytes_max.min(memory / 8),
            bodies_bytes_max: default.bodies_bytes_max.min(memory / 4),
            ..default
        })
    }
}

/// A server that runs.
#[pyclass(frozen, module = "lodestore._lodestore")]
pub struct NativeServer {
    address: SocketAddr,
    running: Held<Running>,
}

struct Running {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl NativeServer {
    /// Begins to serve.
    ///
    /// # Errors
    /// Where the address is taken, or is none of this machine, or a setting is wrong.
    pub fn start(py: Python<'_>, open: &Open, settings: ServeSettings) -> PyResult<Self> {
        let (bind, options) = (settings.address()?, settings.options(py, open)?);
        let served = Served {
            database: open.database.clone(),
            compactor: open.compactor.clone(),
            upkeeper: open.upkeeper.clone(),
            maintenance: open.maintenance.clone(),
            warmer: None,
            link: None,
        };
        let (stop, stopped) = oneshot::channel();
        let (bound, is_bound) = channel();
        let thread = std::thread::Builder::new().name("lodestore-serve".to_owned());
        let thread = thread.spawn(move || run(served, bind, options, stopped, &bound))?;
        let bound = interruptible::run(py, &CancelToken::default(), move || is_bound.recv())?;
        let failed = |message: &str| failure::new(py, "ServerError", message);
        let address = bound.map_err(|_| failed("the server has not started"))?;
        let address = address.map_err(|error| failed(&error))?;
        let running = Held::new(Running { stop, thread }, "the server");
        Ok(Self { address, running })
    }
}

#[pymethods]
impl NativeServer {
    #[getter]
    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops it: what runs has a second to end, and is cancelled then.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let Some(Running { stop, thread }) = self.running.end(py)? else { return Ok(()) };
        py.detach(move || {
            // Then it has stopped by itself.
            let _ = stop.send(());
            let _ = thread.join();
        });
        Ok(())
    }
}

/// Serves until it is told to stop; says where, or why not.
fn run(
    served: Served,
    bind: SocketAddr,
    options: ServerOptions,
    stopped: oneshot::Receiver<()>,
    told: &Sender<Result<SocketAddr, String>>,
) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_keep_alive(THREADS_KEPT).build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = told.send(Err(error.to_string()));
            return;
        }
    };
    runtime.block_on(async {
        let server = match bound(served, bind, options).await {
            Ok((server, address)) => {
                let _ = told.send(Ok(address));
                server
            }
            Err(error) => {
                let _ = told.send(Err(error));
                return;
            }
        };
        let stop = async {
            // Told, or nobody is there any more who could.
            let _ = stopped.await;
        };
        server.serve(stop).await;
    });
    runtime.shutdown_timeout(LAST_WAIT);
}

async fn bound(
    served: Served,
    bind: SocketAddr,
    options: ServerOptions,
) -> Result<(Server, SocketAddr), String> {
    let told = |error: ServerError| match error {
        ServerError::Bind { address, source } => {
            format!("cannot listen on {address}: {source}; bind='127.0.0.1:0' takes any port that is free")
        }
        other => other.to_string(),
    };
    let server = Server::bind(served, bind, options).await.map_err(told)?;
    match server.bound().map_err(told)? {
        Bind::Tcp(address) => Ok((server, address)),
        Bind::Unix(_) => Err("a socket of the file system has no address".to_owned()),
    }
}
