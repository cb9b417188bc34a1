//! `lode bench hostile` on the command line.

use super::quantity::parse_seconds;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `lode bench hostile`.
#[derive(Debug, Args)]
#[command(
    after_help = "Asks a server queries that ask for trouble: texts that grow, products, regular expressions, plans that are hard to make, and \
queries that are as deep, as long and as wide as is allowed; first one after the other, then many at once. Meanwhile one client sends light queries. \
Told are, for both rounds, what became of the queries, by how much they were late, the times of the light answers, and the most memory that \
the server ever had."
)]
pub struct BenchHostileArgs {
    /// The endpoint's address, such as http://127.0.0.1:7878/sparql
    #[arg(value_name = "URL", required_unless_present = "write")]
    pub url: Option<String>,
    /// The time-out of each query
    #[arg(long, default_value = "5", value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// Clients of the second round; 0 leaves it out
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub at_once: usize,
    /// Only queries whose names contain this; repeatable
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// A light query; repeatable, all of them in turns. %n% is a number that is another one each time
    #[arg(long, value_name = "QUERY", default_value = "SELECT * { ?s ?p ?o } LIMIT 10")]
    pub light: Vec<String>,
    /// Pause between two light queries
    #[arg(long, default_value = "0.02", value_name = "SECONDS", value_parser = parse_seconds)]
    pub pause: Duration,
    /// The server's process, to tell of its memory (Linux)
    #[arg(long, value_name = "PID")]
    pub server_pid: Option<u32>,
    /// Tell of each query, too
    #[arg(long)]
    pub each: bool,
    /// Ask nothing, write the queries into this folder, a file each
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub write: Option<PathBuf>,
}
