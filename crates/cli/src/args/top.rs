//! Arguments of the commands that look at a running server.

use super::quantity::parse_seconds;
use clap::Args;
use std::time::Duration;

/// Which server, and how to be let in.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// Address of a lode serve
    #[arg(long, default_value = "http://127.0.0.1:7878", value_name = "URL")]
    pub endpoint: String,
    /// A token with the role admin (lode token add), or what the server was given as --admin-token
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
}

/// `lode top`.
#[derive(Debug, Args)]
#[command(
    after_help = "Shows each query and update: its number, how far it is (waiting: others run; planning; running; cancelling), its time and the \
time left, rows of the answer so far, memory that its operators hold, threads at work, index look-ups and blocks opened so far, of these read \
from disk, who asked, and its text. lode cancel ID stops one."
)]
pub struct TopArgs {
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Look again after so many seconds
    #[arg(long, default_value = "2", value_name = "SECONDS", value_parser = parse_seconds)]
    pub interval: Duration,
    /// Look once and end
    #[arg(long)]
    pub once: bool,
    /// Write what the server tells, a line of JSON each time
    #[arg(long)]
    pub json: bool,
}

/// `lode cancel`.
#[derive(Debug, Args)]
#[command(
    after_help = "Its client gets an error, or sees the answer break off. An update that is cancelled before its commit changes nothing."
)]
pub struct CancelArgs {
    /// Numbers of queries and updates, as lode top shows them
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<u64>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}
