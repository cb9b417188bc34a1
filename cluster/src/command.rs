//! What the program has more than `lode`: `lode worker`, and `--workers`.

use crate::address::Address;
use crate::databases::Databases;
use crate::head::{Head, HeadOptions};
use crate::leaf::Site;
use crate::token::Token;
use crate::worker::{Tls, Worker, WorkerOptions};
use anyhow::Context;
use lode_cli::{Cluster, RunningWorker, WorkerArgs, WorkerMemory, WorkersArgs};
use lode_engine::Elsewhere;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// Hands in who does the work.
#[derive(Debug)]
pub struct Program;

impl Cluster for Program {
    fn work(&self, args: &WorkerArgs, memory: WorkerMemory) -> anyhow::Result<Box<dyn RunningWorker>> {
        let WorkerMemory { open, pool, cache } = memory;
        let databases = Arc::new(Databases::new(&args.databases, cache, open)?);
        let tls = match (&args.tls_cert, &args.tls_key) {
            (Some(certificate), Some(key)) => Some(Tls { certificate: read(certificate)?, key: read(key)? }),
            _ => None,
        };
        let site = Site {
            databases,
            memory: pool,
            spill_dir: std::env::temp_dir(),
            time_max: args.timeout_max,
            work: Arc::default(),
        };
        let options = WorkerOptions {
            listen: args.listen,
            token: Token::read(&args.token_file)?,
            tls,
            authority: authority(args.tls_ca.as_deref())?,
            site,
            metrics: args.metrics,
        };
        Ok(Box::new(Running(Worker::start(options)?)))
    }

    fn elsewhere(&self, args: &WorkersArgs) -> anyhow::Result<Arc<dyn Elsewhere>> {
        let file = args.workers_token_file.as_deref().context("workers need --workers-token-file")?;
        let options = HeadOptions {
            workers: args.workers.iter().map(|text| Address::of(text)).collect::<Result<_, _>>()?,
            workers_file: args.workers_file.clone(),
            warn: lode_cli::warn,
            authority: authority(args.workers_ca.as_deref())?,
            cost_min: args.workers_from,
            ..HeadOptions::new(Vec::new(), Token::read(file)?)
        };
        Ok(Arc::new(Head::new(options)?))
    }
}

struct Running(Worker);

impl RunningWorker for Running {
    fn address(&self) -> SocketAddr {
        self.0.address
    }

    fn metrics(&self) -> Option<SocketAddr> {
        self.0.metrics
    }

    fn drain(self: Box<Self>) -> anyhow::Result<()> {
        Ok(self.0.drain()?)
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("reading {}", path.display()))
}

fn authority(path: Option<&Path>) -> anyhow::Result<Option<Arc<[u8]>>> {
    path.map(|path| Ok(read(path)?.into())).transpose()
}
