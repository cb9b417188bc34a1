//! `lode bench connections` on the command line.

use super::quantity::parse_seconds;
use clap::Args;
use std::time::Duration;

/// `lode bench connections`.
#[derive(Debug, Args)]
#[command(
    after_help = "Opens connections to a server that ask for nothing, that ask for a long answer and take it byte by byte, that send an update byte by byte, \
and that send half a request; each comes again when it is cut off. Meanwhile one client sends light queries. Told are the times of the light \
answers, what became of the connections, and the most memory that the server ever had. The server needs --connections-max for so many."
)]
pub struct BenchConnectionsArgs {
    /// The endpoint's address, such as http://127.0.0.1:7878/sparql
    #[arg(value_name = "URL")]
    pub url: String,
    /// Connections that ask for nothing
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub open: usize,
    /// Connections that take a long answer slowly
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub readers: usize,
    /// Connections that send an update slowly
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub writers: usize,
    /// Connections that send half a request
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub halves: usize,
    /// What the slow readers ask
    #[arg(long, value_name = "QUERY", default_value = "SELECT * { ?s ?p ?o }")]
    pub query: String,
    /// A light query; repeatable, all of them in turns. %n% is a number that is another one each time
    #[arg(long, value_name = "QUERY", default_value = "SELECT * { ?s ?p ?o } LIMIT 10")]
    pub light: Vec<String>,
    /// Pause between two light queries
    #[arg(long, default_value = "0.02", value_name = "SECONDS", value_parser = parse_seconds)]
    pub pause: Duration,
    /// How long, in seconds
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Duration,
    /// The server's process, to tell of its memory (Linux)
    #[arg(long, value_name = "PID")]
    pub server_pid: Option<u32>,
}
