//! `lode serve` on the command line.

use super::bind::parse_bind;
use super::cache::CacheArgs;
#[cfg(feature = "cluster")]
use super::cluster::WorkersArgs;
use super::evaluation::EvaluationArgs;
use super::guard::GuardArgs;
use super::limits::LimitArgs;
#[cfg(feature = "tls")]
use super::oidc::OidcArgs;
use super::quantity::{parse_bytes, parse_seconds};
use clap::{Args, ValueEnum};
use lode_engine::store::Durability;
use lode_server::{Anonymous, Bind, CorsOrigin, Network, Role};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `lode serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Addresses: /sparql takes queries and updates, /query and /update one of them, /data is the Graph Store Protocol (GET, PUT, \
POST, DELETE with ?graph=IRI or ?default; without either, all graphs), / is a page to try queries. at=NAME queries or downloads a named snapshot; \
explain=1 answers a query with its plan, profile=1 with what each operator did, as JSON.\n\n\
Administration: GET /admin/stats tells figures; GET /admin/queries lists what runs, DELETE /admin/queries/ID stops it (lode top, lode cancel); POST /admin/compact makes one segment of all; /admin/snapshots lists named snapshots (GET), \
makes one (POST ?name=NAME) or drops it (DELETE ?name=NAME); POST /admin/backup?to=NAME writes a backup into the folder NAME in that of \
--backup-dir, or brings the one there up to date (&copy: without links, &check: verified).\n\n\
Only one process can have a database open for writing; with --read-only any number can serve what was there when they started. On this machine \
everybody can change the data, and elsewhere everybody can read it, until there are users (lode user add) who log in. Web pages of elsewhere can do \
nothing, unless --cors lists them.\n\n\
Several databases (--databases DIR): each is at /NAME (queries, updates and graphs at one address), with all addresses above below it; /NAME/get is \
/data for who only reads. GET /admin/databases lists them, POST ?name=NAME makes one; DELETE /admin/databases/NAME drops it with its data; POST \
/admin/databases/NAME/close, /open and /rename?to=NAME do what they say. /repositories/NAME is the REST API of RDF4J. All share the memory, the places and the users (of DIR).\n\n\
Each option --some-name may also be in the file of --config, as some-name = VALUE (several as [VALUE, VALUE]; lode config example writes one with all of them), or in \
the environment, as LODE_SOME_NAME=VALUE; the command line goes before the environment, and that before the file. The database is \
database = FOLDER, or LODE_DATABASE. lode config show tells each value and where it comes from. On SIGHUP the file is read again: users, certificate and limits \
of time, size and roles change at once, logs are opened anew, and what waits for the next start is told.\n\n\
GET /health/live and /health/ready tell whether the server runs, and whether it can do its work (else 503 and why). GET /metrics is for Prometheus, and \
lode status for people. Each answer has a number (X-Request-Id), which is also in errors and logs; a client or a proxy may give one."
)]
pub struct ServeArgs {
    /// The database folder (where there is nothing, an empty database is made), or the address of a published database, which is read in place:
    /// file:///srv/published, lode+http://data.example.org/published
    #[arg(group = "place")]
    pub database: Option<PathBuf>,
    /// Serve several databases, each below its name: the folders in this one (a new folder, where there is none). /admin/databases lists them,
    /// makes, renames and drops them
    #[arg(long, value_name = "DIR", group = "place")]
    pub databases: Option<PathBuf>,
    /// Of a published database: go on to each newer version as it is published, and look for one so often, in seconds. Queries that run go on with the
    /// version that they began with; where a newer version is damaged or cannot be reached, the one before is served on (/health/ready tells)
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "0.5", value_parser = parse_pause)]
    pub follow: Option<Duration>,
    /// Publish the database to this address whenever it has changed, as lode publish does. A server whose place another writer has taken
    /// (lode publish --take-over) writes no more: updates are refused from then on
    #[arg(long, value_name = "URL", conflicts_with_all = ["read_only", "databases"])]
    pub publish: Option<String>,
    /// With --publish: so often at most, in seconds. What was confirmed here and is not published yet is what a fail-over may lose
    #[arg(long, default_value = "1", value_name = "SECONDS", value_parser = parse_pause)]
    pub publish_every: Duration,
    /// Address and port to listen on, or a port of 127.0.0.1 alone, or unix:PATH: a socket of the file system, for its owner and group
    #[arg(long, default_value = "127.0.0.1:7878", value_name = "ADDRESS", value_parser = parse_bind)]
    pub bind: Bind,
    /// Answer queries only, also while another process writes to the database (whose changes are not seen)
    #[arg(long)]
    pub read_only: bool,
    /// Make no database where there is none, nor a folder of several, but end with an error (as --read-only does)
    #[arg(long)]
    pub must_exist: bool,
    /// When an update is confirmed: sync: once it is on the disk; batch: once the system has it, the disk so many milliseconds later
    #[arg(long, default_value = "sync", value_name = "sync|batch[:MILLISECONDS]", value_parser = parse_durability)]
    pub durability: Durability,
    /// Let LOAD read this file, files in this folder and below, or addresses that begin so; repeatable, none by default
    #[arg(long, value_name = "PREFIX")]
    pub allow_load: Vec<String>,
    /// Shapes that changes must keep.
    #[command(flatten)]
    pub guard: GuardArgs,
    /// The longest a query may take from its coming, in seconds; a client can ask for less (timeout=SECONDS). One that would have to wait
    /// longer for others is refused (503 with Retry-After)
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// The longest an update may take, in seconds; large uploads take as long as they come
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub update_timeout: Duration,
    /// A transaction over several requests (RDF4J) that nobody has asked for in so many seconds is rolled back: others wait for it
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub transaction_idle: Duration,
    /// One that is older is rolled back whoever asks for it still, in seconds
    #[arg(long, default_value = "3600", value_name = "SECONDS", value_parser = parse_seconds)]
    pub transaction_age: Duration,
    /// The longest update text, and form of files; larger data go to /data as a file (default: 64MiB, or an eighth of --memory)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub update_bytes_max: Option<usize>,
    /// Bytes of request bodies (queries, updates, small uploads) that may be in memory at once, of all requests together; who sends more
    /// waits for room, and gets 503 after half a minute (default: 256MiB, or a quarter of --memory)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub bodies_bytes_max: Option<usize>,
    /// Bytes that a compressed body may have once it is unpacked: a few may stand for any number
    #[arg(long, default_value = "16GiB", value_name = "BYTES", value_parser = parse_bytes)]
    pub decoded_bytes_max: usize,
    /// The longest a download from /data may take, in seconds: so long it keeps the version that it reads
    #[arg(long, default_value = "3600", value_name = "SECONDS", value_parser = parse_seconds)]
    pub download_timeout: Duration,
    /// The longest statement (a line, or what is between two triples) in uploads and in what LOAD reads: some times as much memory is taken
    /// (default: 64MiB, or a sixteenth of --memory)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub statement_bytes_max: Option<usize>,
    /// Uploads of more quads, or of more than 64 MiB of new terms, are loaded as a segment of their own
    #[arg(long, default_value_t = 100_000, value_name = "QUADS")]
    pub transaction_quads_max: u64,
    /// Do not compact in the background
    #[arg(long)]
    pub no_compaction: bool,
    /// Do not read at the start, in the background, what was in memory when the server last ran, nor note each minute what is
    #[arg(long)]
    pub no_warm: bool,
    /// Encrypt connections (https) with this certificate, and those between it and its authority's, in PEM; read again when it changes
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key, in PEM
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Encrypt connections with a certificate made for this start, which no client believes without being told to: for trials
    #[cfg(feature = "tls")]
    #[arg(long)]
    pub tls_self_signed: bool,
    /// Do not compress answers, whatever clients take
    #[arg(long)]
    pub no_compression: bool,
    /// Answer to this host name, too (a proxy passes it on, say): on this machine only localhost and numbers are answered to without;
    /// repeatable
    #[arg(long, value_name = "NAME", value_parser = parse_host)]
    pub host: Vec<String>,
    /// Let web pages of this origin (https://example.org, or * for all) read and write here, as the server's own page does; repeatable, none
    /// by default
    #[arg(long, value_name = "ORIGIN", value_parser = CorsOrigin::parse)]
    pub cors: Vec<CorsOrigin>,
    /// Connections that may be open at once; one more takes the place of one that is not being answered
    #[arg(long, default_value_t = 1024, value_name = "CONNECTIONS")]
    pub connections_max: usize,
    /// The file of users and tokens (default: users.json in the database folder); made by lode user and lode token, read again when it
    /// changes. Where there are any, everybody must log in
    #[arg(long, value_name = "FILE")]
    pub users: Option<PathBuf>,
    /// What those may do who do not log in: none, read, or update (default: none where there are users; else update on this machine, and
    /// read elsewhere). Where the file of users has rules for them (lode user grant DB anonymous), these count, and no more than this
    #[arg(long, value_name = "none|read|update", value_parser = parse_anonymous)]
    pub anonymous: Option<Anonymous>,
    /// Let clients use /admin who send this (Authorization: Bearer TOKEN), instead of those on this machine. Others on this machine can see it
    /// in the list of processes: LODE_ADMIN_TOKEN or --admin-token-file keeps it from them, and lode token add --role admin makes one that can
    /// be revoked
    #[arg(long, value_name = "TOKEN")]
    pub admin_token: Option<String>,
    /// The same, from the first line of a file
    #[arg(long, value_name = "FILE")]
    pub admin_token_file: Option<PathBuf>,
    /// Whose tokens are believed besides.
    #[cfg(feature = "tls")]
    #[command(flatten)]
    pub oidc: OidcArgs,
    /// Believe what this proxy, or one in this network (10.0.0.0/8), says of its clients: X-Forwarded-For, X-Forwarded-Proto and
    /// X-Forwarded-Host; unix: those of the socket of --bind. Repeatable, none by default
    #[arg(long, value_name = "NETWORK", value_parser = Network::parse)]
    pub trusted_proxy: Vec<Network>,
    /// How to write what the server tells while it runs (standard error), and the access log; the other logs are always JSON
    #[arg(long, value_enum, default_value = "text", value_name = "text|json")]
    pub log_format: LogFormatArg,
    /// What to tell: nothing but errors, also what is not as it should be, also what happens, or each request
    #[arg(long, value_enum, default_value = "info", value_name = "error|warn|info|debug")]
    pub log_level: LogLevelArg,
    /// Write a line for each request to this file (-: standard output); opened anew on SIGHUP
    #[arg(long, value_name = "FILE|-")]
    pub access_log: Option<PathBuf>,
    /// Write a line of JSON for each query and update that takes long, with its text, its plan and what each operator did
    #[arg(long, value_name = "FILE|-")]
    pub slow_query_log: Option<PathBuf>,
    /// What is long for it, in seconds
    #[arg(long, default_value = "1", value_name = "SECONDS", value_parser = parse_seconds)]
    pub slow_query: Duration,
    /// Write a line of JSON for each change of the data, each act of the administration, and each login that failed
    #[arg(long, value_name = "FILE|-")]
    pub audit_log: Option<PathBuf>,
    /// Send traces of requests to this collector of OpenTelemetry (OTLP over HTTP, JSON), such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    pub otlp_endpoint: Option<String>,
    /// Of requests that come without a trace (traceparent) such a part is told, from 0 to 1
    #[arg(long, default_value = "1", value_name = "PART", value_parser = parse_part)]
    pub otlp_ratio: f64,
    /// Let /admin/backup write backups into folders in this one, which must be there
    #[arg(long, value_name = "DIR")]
    pub backup_dir: Option<PathBuf>,
    /// What each role may take.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// What is kept of a published database.
    #[command(flatten)]
    pub object_cache: CacheArgs,
    /// Who runs parts of long queries.
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub workers: WorkersArgs,
    /// Evaluation.
    #[command(flatten)]
    pub evaluation: EvaluationArgs,
    /// Read options from this file, in TOML (also LODE_CONFIG)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Look whether all options are right, and end
    #[arg(long)]
    pub check_config: bool,
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormatArg {
    /// For people
    Text,
    /// For programs: an object in each line
    Json,
}

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevelArg {
    /// What went wrong
    Error,
    /// Also what is not as it should be
    Warn,
    /// Also what happens
    Info,
    /// Also each request
    Debug,
}

/// Syncs of batches come so often unless told otherwise.
const BATCH: Duration = Duration::from_millis(200);

/// The shortest pause between two looks at a store.
const PAUSE_MIN: Duration = Duration::from_millis(50);

/// What is served.
pub enum Place<'a> {
    /// The folder of a database.
    One(&'a Path),
    /// A folder of such folders.
    Several(&'a Path),
}

impl<'a> Place<'a> {
    pub fn path(&self) -> &'a Path {
        match self {
            Self::One(path) | Self::Several(path) => path,
        }
    }
}

impl ServeArgs {
    /// What is served; none where nothing was named.
    pub fn place(&self) -> Option<Place<'_>> {
        match (&self.databases, &self.database) {
            (Some(folder), _) => Some(Place::Several(folder)),
            (None, Some(database)) => Some(Place::One(database)),
            (None, None) => None,
        }
    }
}

/// When commits are confirmed: `sync`, `batch`, `batch:500`.
pub fn parse_durability(text: &str) -> Result<Durability, String> {
    match text.split_once(':') {
        None if text == "sync" => Ok(Durability::Sync),
        None if text == "batch" => Ok(Durability::Batch(BATCH)),
        Some(("batch", delay)) => match delay.parse() {
            Ok(milliseconds) => Ok(Durability::Batch(Duration::from_millis(milliseconds))),
            Err(_) => Err(format!("batch:{delay}: expected a number of milliseconds")),
        },
        _ => Err("expected sync, batch or batch:MILLISECONDS".to_owned()),
    }
}

/// What those may do who do not log in. Nobody administers without a name.
fn parse_anonymous(text: &str) -> Result<Anonymous, String> {
    match text {
        "none" => Ok(Anonymous(None)),
        "read" => Ok(Anonymous(Some(Role::Read))),
        "update" => Ok(Anonymous(Some(Role::Update))),
        _ => Err("expected none, read or update".to_owned()),
    }
}

/// A pause between two looks or publications: one without would only make others wait.
fn parse_pause(text: &str) -> Result<Duration, String> {
    let pause = parse_seconds(text)?;
    if pause < PAUSE_MIN {
        return Err(format!("expected at least {} seconds", PAUSE_MIN.as_secs_f64()));
    }
    Ok(pause)
}

/// A part of all.
pub(super) fn parse_part(text: &str) -> Result<f64, String> {
    let part = text.parse().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// A host name as requests have it: with or without a port.
fn parse_host(text: &str) -> Result<String, String> {
    let is_fit = |c: char| c.is_alphanumeric() || "-._:[]".contains(c);
    if !text.is_empty() && text.chars().all(is_fit) {
        return Ok(text.to_owned());
    }
    Err("expected a host name, such as example.org or example.org:8080".to_owned())
}

#[cfg(test)]
mod tests {
    //! Durability as it is written.
    use super::*;

    #[test]
    fn durability() {
        assert_eq!(parse_durability("sync"), Ok(Durability::Sync));
        assert_eq!(parse_durability("batch"), Ok(Durability::Batch(BATCH)));
        assert_eq!(parse_durability("batch:5"), Ok(Durability::Batch(Duration::from_millis(5))));
        for bad in ["", "never", "batch:", "batch:soon", "sync:5"] {
            assert!(parse_durability(bad).is_err(), "{bad}");
        }
    }
}
