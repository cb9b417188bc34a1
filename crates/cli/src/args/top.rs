//! Arguments of the commands that look at a running server.

use super::quantity::parse_seconds;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Which server, and how to be let in.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// Address of a lode serve
    #[arg(long, default_value = "http://127.0.0.1:7878", value_name = "URL")]
    pub endpoint: String,
    /// How to be let in.
    #[command(flatten)]
    pub login: LoginArgs,
}

/// How to be let in, and whom to believe.
#[derive(Debug, Clone, Args)]
pub struct LoginArgs {
    /// A token whose role may do what is asked (lode token add; admin for lode status, top and cancel), or what the server was given as
    /// --admin-token. Others on this machine can see it in the list of processes: LODE_TOKEN or --token-file keeps it from them
    #[arg(long, value_name = "TOKEN", env = "LODE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// The same, from the first line of a file
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    pub token_file: Option<PathBuf>,
    /// Log in as this user (lode user add), with the password in LODE_PASSWORD or --password-file, or typed
    #[arg(long, value_name = "NAME", conflicts_with = "token_file")]
    pub user: Option<String>,
    /// Take the user's password from the first line of a file
    #[arg(long, value_name = "FILE", requires = "user")]
    pub password_file: Option<PathBuf>,
    /// Believe certificates of the authorities in this file, in PEM, and no others
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Believe any certificate: for trials (lode serve --tls-self-signed)
    #[cfg(feature = "tls")]
    #[arg(long, conflicts_with = "ca")]
    pub insecure: bool,
}

/// `lode status`.
#[derive(Debug, Args)]
#[command(
    after_help = "Shows what a server has in memory and on disk, how its cache does, what of the changes is not in segments yet, what runs, and whether it is \
well. Exit code 1 where it is not ready to do its work."
)]
pub struct StatusArgs {
    /// Address of a lode serve (also --endpoint; default: that of --endpoint)
    #[arg(value_name = "URL", conflicts_with = "endpoint")]
    pub url: Option<String>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Only ask whether it is ready to do its work; nobody has to log in for that
    #[arg(long, conflicts_with = "json")]
    pub ready: bool,
    /// Only wait until it is ready, so many seconds at most, as for one that was just started; nothing is written once it is
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, conflicts_with_all = ["json", "ready"])]
    pub wait: Option<Duration>,
    /// Write what the server tells, as JSON
    #[arg(long)]
    pub json: bool,
}

/// `lode top`.
#[derive(Debug, Args)]
#[command(
    after_help = "Shows each query and update: its number, how far it is (waiting: others run; planning; running; cancelling), its time and the \
time left, rows of the answer so far, memory that its operators hold, threads at work, index look-ups and blocks opened so far, of these read \
from disk, who asked, and its text. lode cancel ID stops one."
)]
pub struct TopArgs {
    /// Address of a lode serve (also --endpoint; default: that of --endpoint)
    #[arg(value_name = "URL", conflicts_with = "endpoint")]
    pub url: Option<String>,
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

/// What `lode cancel` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// A query or an update.
    Id(u64),
    /// A server.
    Server(String),
}

/// A number, or what looks like an address.
fn parse_named(text: &str) -> Result<Named, String> {
    match text.parse() {
        Ok(id) => Ok(Named::Id(id)),
        Err(_) if text.contains([':', '/', '.']) || text == "localhost" => Ok(Named::Server(text.to_owned())),
        Err(_) => Err("expected the number of a query or an update, or the address of a server".to_owned()),
    }
}

impl ServerArgs {
    /// The address, where one may be named besides.
    pub fn endpoint_or<'a>(&'a self, url: Option<&'a str>) -> &'a str {
        url.unwrap_or(&self.endpoint)
    }
}

/// `lode cancel`.
#[derive(Debug, Args)]
#[command(
    after_help = "Its client gets an error, or sees the answer break off. An update that is cancelled before its commit changes nothing."
)]
pub struct CancelArgs {
    /// Numbers of queries and updates, as lode top shows them; the address of a lode serve may stand among them (also --endpoint)
    #[arg(required = true, value_name = "ID", value_parser = parse_named)]
    pub named: Vec<Named>,
    /// The server.
    #[command(flatten)]
    pub server: ServerArgs,
}
