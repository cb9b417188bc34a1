//! Workers on the command line: how to be one, and how to have some.

use super::cache::CacheArgs;
use super::quantity::{parse_bytes, parse_memory, parse_seconds};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// `lode worker`.
#[derive(Debug, Args)]
#[command(
    after_help = "A worker runs parts of long queries for heads: lode serve --workers, lode query --workers. Heads and workers have to be of one version \
and need the same versions of the same databases: folders of one file system, or what lode publish has put where all of them can read it. A worker \
opens nothing but what its command line names.\n\n\
On SIGTERM it tells heads that it ends, so that new queries are run without it, and ends some seconds later, with the last part that runs."
)]
pub struct WorkerArgs {
    /// The databases: folders, or addresses of published ones
    #[arg(required = true, value_name = "DB|URL")]
    pub databases: Vec<String>,
    /// Address and port to listen on; others than those of this machine need --tls-cert
    #[arg(long, default_value = "127.0.0.1:7979", value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// Take plans only from who has the secret in this file (16 characters or more)
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,
    /// Use TLS: this certificate with its chain (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// With --tls-cert: its key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Believe certificates of other workers that this authority has signed (PEM)
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// What is kept of published databases.
    #[command(flatten, next_help_heading = "With a published database")]
    pub cache: CacheArgs,
    /// Memory that the process may use in all, at least 64MiB (default: half of the machine's)
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    pub memory: Option<usize>,
    /// The most of it for the cache of decompressed blocks (default: half)
    #[arg(long = "cache", value_name = "BYTES", value_parser = parse_bytes)]
    pub cache_bytes: Option<usize>,
    /// Tell Prometheus there what the worker does: http://ADDRESS/metrics, plain and to whoever asks
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// No part of a query runs longer, in seconds
    #[arg(long, default_value = "3600", value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout_max: Duration,
}

/// Workers of a head.
#[derive(Debug, Args)]
pub struct WorkersArgs {
    /// Have long queries run by these workers (lode worker), with commas between them: 127.0.0.1:7979, https://worker1.example.org:7979, or
    /// dns:workers.example.org:7979 for one at each address that a name has, which is asked for again every 5 seconds
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', requires = "workers_token_file")]
    pub workers: Vec<String>,
    /// The same in a file, one a line, which is read again when it changes; # begins a comment
    #[arg(long, value_name = "FILE", requires = "workers_token_file")]
    pub workers_file: Option<PathBuf>,
    /// The secret that the workers know
    #[arg(long, value_name = "FILE")]
    pub workers_token_file: Option<PathBuf>,
    /// Believe certificates of workers that this authority has signed (PEM)
    #[arg(long, value_name = "FILE")]
    pub workers_ca: Option<PathBuf>,
    /// What takes less, by the planner's estimate in seconds, is run here
    #[arg(long, default_value = "0.2", value_name = "SECONDS", value_parser = parse_seconds)]
    pub workers_from: Duration,
}
