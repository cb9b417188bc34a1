//! Whom a benchmark asks: the options that `lode bench` commands of queries share.

use super::quantity::{parse_bytes, parse_seconds};
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use std::time::Duration;

/// A database in this process, or an endpoint.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").required(true).args(["database", "db", "endpoint"]))]
pub struct TargetArgs {
    /// The database folder, to be queried in this process
    pub database: Option<PathBuf>,
    /// The same, by name
    #[arg(long, value_name = "DATABASE")]
    pub db: Option<PathBuf>,
    /// Ask this SPARQL endpoint instead, over HTTP
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// Send updates here (with --endpoint, where there are any)
    #[arg(long, value_name = "URL", requires = "endpoint")]
    pub update_endpoint: Option<String>,
    /// Believe any certificate of an endpoint (lode serve --tls-self-signed)
    #[arg(long)]
    pub insecure: bool,
    /// Send queries as forms by POST instead of GET
    #[arg(long)]
    pub post: bool,
    /// Also ask this endpoint, and tell where its answers are others
    #[arg(long, value_name = "URL")]
    pub compare: Option<String>,
    /// Seconds after which a query is given up and counted as failed
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// Tell the processor seconds (user and system) of this process; repeatable, Linux only (default without an endpoint: of this
    /// process)
    #[arg(long, value_name = "PID")]
    pub server_pid: Vec<u32>,
    /// Threads of a query in this process (default: as many as cores)
    #[arg(long, value_name = "N", conflicts_with = "endpoint")]
    pub threads: Option<usize>,
    /// Rows of a batch in this process: 1 shows what working on many at once is worth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "endpoint")]
    pub batch_rows: Option<u16>,
    /// Memory that a query in this process may take
    #[arg(long, value_parser = parse_bytes, value_name = "SIZE", conflicts_with = "endpoint")]
    pub memory: Option<usize>,
    /// Memory for the block cache in this process
    #[arg(long, default_value = "1GiB", value_parser = parse_bytes, value_name = "SIZE")]
    pub cache: usize,
    /// Write the figures as JSON
    #[arg(long)]
    pub json: bool,
}
