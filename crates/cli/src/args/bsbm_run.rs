//! `lode bench bsbm run` on the command line.

use super::{Mix, parse_bytes, parse_seconds};
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use std::time::Duration;

/// `lode bench bsbm run`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("target").required(true).args(["database", "db", "endpoint"]),
    after_help = "Whole mixes in the published order (25 Explore queries, 15 of Business Intelligence), each query with parameters of its \
own. Every client has a connection of its own, which is kept, and reads whole answers: JSON results of SELECT, N-Triples of CONSTRUCT \
and DESCRIBE. A query's time runs from the request to the end of its answer.\n\n\
QMpH: mixes of all clients in an hour. CQET: mean run time of a mix, which is the sum of its queries' times. AQET: mean time of a query. \
QPS: queries of one kind that are answered in a second that is spent on this kind.\n\n\
Exit codes: 0 all queries were answered; 1 some failed or took too long (they are told, and counted), or there was nobody to ask."
)]
pub struct BsbmRunArgs {
    /// The database folder, to be queried in this process
    pub database: Option<PathBuf>,
    /// The same, by name
    #[arg(long, value_name = "DATABASE")]
    pub db: Option<PathBuf>,
    /// Ask this SPARQL endpoint instead, over HTTP
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// Send queries as forms by POST instead of GET
    #[arg(long, requires = "endpoint")]
    pub post: bool,
    /// Size of the data set, in products
    #[arg(long, value_name = "N")]
    pub products: u64,
    /// Which mix
    #[arg(long, value_enum, default_value = "explore")]
    pub mix: Mix,
    /// Clients that ask at the same time
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub clients: usize,
    /// Mixes that are not counted, of all clients
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub warmup: u64,
    /// Mixes that are counted, of all clients
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub runs: u64,
    /// Seconds after which a query is given up and counted as failed
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// Seed of the data set
    #[arg(long, default_value_t = 808_080, value_name = "N")]
    pub data_seed: u64,
    /// Seed of the parameters; each client has one of its own that is made of it
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Tell the processor seconds (user and system) of this process for each mix; repeatable, Linux only (default without an endpoint: of
    /// this process)
    #[arg(long, value_name = "PID")]
    pub server_pid: Vec<u32>,
    /// Threads of a query in this process (default: as many as cores)
    #[arg(long, value_name = "N", conflicts_with = "endpoint")]
    pub threads: Option<usize>,
    /// Memory for the block cache in this process
    #[arg(long, default_value = "1GiB", value_parser = parse_bytes, value_name = "SIZE")]
    pub cache: usize,
    /// Write the figures as JSON
    #[arg(long)]
    pub json: bool,
}
