//! What the program has more than `lode`: `lode worker`, and `--workers`.

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
use url::Url;

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
        let site =
            Site { databases, memory: pool, spill_dir: std::env::temp_dir(), time_max: args.timeout_max };
        let options = WorkerOptions {
            listen: args.listen,
            token: Token::read(&args.token_file)?,
            tls,
            authority: authority(args.tls_ca.as_deref())?,
            site,
        };
        Ok(Box::new(Running(Worker::start(options)?)))
    }

    fn elsewhere(&self, args: &WorkersArgs) -> anyhow::Result<Arc<dyn Elsewhere>> {
        let file = args.workers_token_file.as_deref().context("--workers needs --workers-token-file")?;
        let workers = args.workers.iter().map(|address| worker_url(address)).collect::<Result<_, _>>()?;
        let options = HeadOptions {
            authority: authority(args.workers_ca.as_deref())?,
            cost_min: args.workers_from,
            ..HeadOptions::new(workers, Token::read(file)?)
        };
        Ok(Arc::new(Head::new(options)?))
    }
}

struct Running(Worker);

impl RunningWorker for Running {
    fn address(&self) -> SocketAddr {
        self.0.address
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

/// An address of this machine may stand without a scheme.
fn worker_url(address: &str) -> anyhow::Result<Url> {
    let text = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let url = Url::parse(&text).with_context(|| format!("{address} is no address of a worker"))?;
    anyhow::ensure!(
        matches!(url.scheme(), "http" | "https") && url.has_host() && url.path() == "/",
        "{address} is no address of a worker: 127.0.0.1:7979, or https://worker1.example.org:7979"
    );
    anyhow::ensure!(
        url.scheme() == "https" || crate::channels::may_be_plain(&url),
        "{address} is not on this machine: the token goes over https:// only"
    );
    Ok(url)
}

#[cfg(test)]
mod tests {
    //! What is an address.
    use super::*;

    #[test]
    fn addresses_of_workers() {
        assert_eq!(worker_url("127.0.0.1:7979").unwrap().as_str(), "http://127.0.0.1:7979/");
        for good in ["localhost:1", "[::1]:7979", "https://worker.example.org", "https://10.0.0.7:7979"] {
            assert!(worker_url(good).is_ok(), "{good}");
        }
        for bad in
            ["", "10.0.0.7:7979", "http://worker.example.org:1", "ftp://localhost", "http://localhost/x"]
        {
            assert!(worker_url(bad).is_err(), "{bad}");
        }
    }
}
