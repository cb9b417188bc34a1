//! Workers: the commands and options are here, and who does the work is handed in by the program of the crate `cluster`. So this crate needs no other
//! engine, and no wire.

pub use crate::args::{WorkerArgs, WorkersArgs};
use crate::exit::{Done, wrong_usage};
use crate::memory::SharedMemory;
use crate::published;
use crate::signals::Signals;
use crate::talk::say;
use anyhow::Context;
use lode_engine::{Elsewhere, MemoryBudget, OpenOptions};
use lode_remote::CacheOptions;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How often a worker that ends looks whether it may.
const LOOK: Duration = Duration::from_millis(20);

/// What a worker has to work with.
#[derive(Debug)]
pub struct WorkerMemory {
    /// How databases are opened.
    pub open: OpenOptions,
    /// What parts of queries may hold, all together.
    pub pool: MemoryBudget,
    /// Where what is read of published databases is kept.
    pub cache: Option<CacheOptions>,
}

/// A worker that runs.
pub trait RunningWorker: Send {
    /// Where it listens.
    fn address(&self) -> SocketAddr;

    /// Where it tells Prometheus what it does, if it does.
    fn metrics(&self) -> Option<SocketAddr>;

    /// Takes no more, and waits for what runs.
    ///
    /// # Errors
    /// Where serving failed.
    fn drain(self: Box<Self>) -> anyhow::Result<()>;
}

/// Who does the work.
pub trait Cluster: Sync {
    /// Begins to work for heads.
    ///
    /// # Errors
    /// Where it cannot listen, or what the options name is not there.
    fn work(&self, args: &WorkerArgs, memory: WorkerMemory) -> anyhow::Result<Box<dyn RunningWorker>>;

    /// Has workers.
    ///
    /// # Errors
    /// Where what the options name is not there, or wrong.
    fn elsewhere(&self, args: &WorkersArgs) -> anyhow::Result<Arc<dyn Elsewhere>>;
}

/// Says what is the matter, on standard error.
pub fn warn(text: &str) {
    say!("warning: {text}");
}

static HANDED_IN: OnceLock<&'static dyn Cluster> = OnceLock::new();

/// Hands in who does the work: once, before the command line is read.
pub fn hand_in(cluster: &'static dyn Cluster) {
    let _ = HANDED_IN.set(cluster);
}

fn handed_in() -> anyhow::Result<&'static dyn Cluster> {
    HANDED_IN
        .get()
        .copied()
        .context("this program was built without workers: the folder cluster makes one with them")
}

/// Who has parts of long queries run, if there are to be workers.
pub fn elsewhere(args: &WorkersArgs) -> anyhow::Result<Option<Arc<dyn Elsewhere>>> {
    if args.workers.is_empty() && args.workers_file.is_none() {
        return Ok(None);
    }
    Ok(Some(handed_in()?.elsewhere(args)?))
}

/// `lode worker`.
pub fn run(args: &WorkerArgs) -> anyhow::Result<Done> {
    let cluster = handed_in()?;
    let shared = SharedMemory::of(args.memory, args.cache_bytes);
    let cache = published::cache_of_any(&args.databases, &args.cache)?;
    let memory = WorkerMemory { open: shared.open_options(), pool: shared.pool(), cache };
    for place in &args.databases {
        let is_folder = published::database_address(place.as_ref())?.is_none();
        if is_folder && !Path::new(place).is_dir() {
            return Err(wrong_usage(format!("there is no folder {place}")));
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::new()?
    };
    let worker = cluster.work(args, memory)?;
    if let Some(metrics) = worker.metrics() {
        say!("metrics at http://{metrics}/metrics");
    }
    say!("worker at {}", worker.address());
    runtime.block_on(signals.next());
    say!("stopping: what runs is waited for; Ctrl+C again ends at once");
    let drained = std::thread::spawn(move || worker.drain());
    runtime.block_on(async {
        while !drained.is_finished() {
            tokio::select! {
                () = signals.next() => break,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    });
    match drained.is_finished().then(|| drained.join()) {
        Some(Ok(outcome)) => outcome.map(|()| Done::Ok),
        Some(Err(_)) | None => Ok(Done::Ok),
    }
}
