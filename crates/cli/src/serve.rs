//! `lode serve`.

use crate::args::ServeArgs;
use crate::exit::Done;
use crate::memory::SharedMemory;
use crate::talk::{say, say_found_log, tell_damaged_snapshots};
use anyhow::{Context, anyhow, bail};
use lode_engine::store::{Compactor, Maintenance, StoreError, WriteOptions};
use lode_engine::{Database, EngineError, LoadAllow};
use lode_rdf::parse::StatementLimit;
use lode_server::{Bind, Role, Server, ServerError, ServerOptions, Users};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub fn run(args: &ServeArgs) -> anyhow::Result<Done> {
    let load = LoadAllow::new(&args.allow_load).map_err(anyhow::Error::msg).context("--allow-load")?;
    let backup_folder = args.backup_dir.as_deref().map(|folder| backup_folder(folder, &args.database));
    let backup_folder = backup_folder.transpose()?;
    if let Some(users) = args.users.as_deref().filter(|users| !users.exists()) {
        bail!("--users: there is no file {} (lode user add makes it)", users.display());
    }
    let memory = SharedMemory::new(&args.evaluation);
    let database = open(args, &memory)?;
    say_found_log(&database);
    let maintenance = maintenance(&database)?;
    let compactor = compactor(&database, &memory, args.no_compaction)?;
    let update_bytes_max = args.update_bytes_max.unwrap_or_else(|| memory.update_bytes_max());
    let bodies_bytes_max = args.bodies_bytes_max.unwrap_or_else(|| memory.bodies_bytes_max());
    let options = ServerOptions {
        query: memory.query_options(&args.evaluation)?,
        timeout: args.timeout,
        update_timeout: args.update_timeout,
        update_bytes_max,
        bodies_bytes_max: bodies_bytes_max.max(update_bytes_max),
        download_timeout: args.download_timeout,
        statement_limit: StatementLimit::new(
            args.statement_bytes_max.unwrap_or_else(|| memory.statement_bytes_max()),
        ),
        transaction_quads_max: args.transaction_quads_max,
        load,
        connections_max: args.connections_max,
        // Who waits holds a connection: others must find one.
        waiting_max: (args.connections_max / 2).max(1),
        hosts: args.host.clone(),
        #[cfg(feature = "tls")]
        tls: tls(args),
        tell: |line| say!("{line}"),
        compression: !args.no_compression,
        cors: args.cors.clone(),
        users: Some(args.users.clone().unwrap_or_else(|| Users::file_of(&args.database))),
        anonymous: args.anonymous,
        admin_token: args.admin_token.clone(),
        backup_folder,
        compactor,
        maintenance,
        ..ServerOptions::default()
    };
    serve(database, args.bind.clone(), options)?;
    Ok(Done::Ok)
}

/// The folder for backups: one that is there, so that nothing is written where a disk should be mounted; and not that of the database,
/// where backups would lie between its files.
fn backup_folder(folder: &Path, database: &Path) -> anyhow::Result<PathBuf> {
    let whole = folder.canonicalize().ok().filter(|whole| whole.is_dir());
    let Some(whole) = whole else { bail!("--backup-dir: there is no folder {}", folder.display()) };
    if database.canonicalize().is_ok_and(|database| whole.starts_with(database)) {
        bail!("--backup-dir: {} is in the folder of the database: choose another one", folder.display());
    }
    Ok(whole)
}

/// Where the certificate comes from.
#[cfg(feature = "tls")]
fn tls(args: &ServeArgs) -> Option<lode_server::Tls> {
    match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            Some(lode_server::Tls::Files { certificate: certificate.clone(), key: key.clone() })
        }
        _ => args.tls_self_signed.then_some(lode_server::Tls::SelfSigned),
    }
}

/// What makes changes segments and the log durable beside requests.
fn maintenance(database: &Database) -> anyhow::Result<Option<Arc<Maintenance>>> {
    if !database.store().is_writable() {
        return Ok(None);
    }
    let tell = Box::new(|line: &str| say!("{line}"));
    Ok(Some(Arc::new(Maintenance::start(database.store(), tell)?)))
}

/// What compacts in the background.
fn compactor(
    database: &Database,
    memory: &SharedMemory,
    is_paused: bool,
) -> anyhow::Result<Option<Arc<Compactor>>> {
    if !database.store().is_writable() {
        return Ok(None);
    }
    let compactor = Compactor::start(database.store(), memory.background_options())?;
    if is_paused {
        compactor.pause();
    }
    Ok(Some(Arc::new(compactor)))
}

fn open(args: &ServeArgs, memory: &SharedMemory) -> anyhow::Result<Database> {
    let options = memory.open_options();
    if args.read_only {
        return Ok(Database::open(&args.database, &options)?);
    }
    let write = WriteOptions { durability: args.durability, ..memory.write_options() };
    match Database::open_for_writing(&args.database, &options, write.clone()) {
        Err(error @ EngineError::Store(StoreError::Locked { .. })) => {
            bail!("{error}; to answer queries meanwhile, use --read-only")
        }
        // Only where there is nothing at all: what is left of a database, or belongs to others, is another error.
        Err(EngineError::Store(StoreError::Missing { .. })) if !args.must_exist => {
            let database = Database::create_or_open_for_writing(&args.database, &options, write)?;
            let path = args.database.display();
            say!("{path} was not there: made an empty database (--must-exist refuses to)");
            Ok(database)
        }
        opened => {
            let database = opened?;
            tell_damaged_snapshots(&database);
            Ok(database)
        }
    }
}

/// What still runs on other threads when the server has stopped has so long to notice.
const LAST_WAIT: Duration = Duration::from_millis(300);
/// The exit code of a process that Ctrl+C has ended.
const INTERRUPTED: i32 = 130;

/// Serves until Ctrl+C or a termination signal; says where. A second one ends the process at once.
pub fn serve(database: Database, bind: impl Into<Bind>, options: ServerOptions) -> anyhow::Result<()> {
    let (writable, bind) = (database.store().is_writable(), bind.into());
    // Dropped last: with it goes what makes durable what waits for that.
    let database = Arc::new(database);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut signals = Signals::new()?;
        let bound = Server::bind(Arc::clone(&database), bind, options).await;
        let server = bound.map_err(|error| match error {
            ServerError::Bind { address, source } => {
                anyhow!("cannot listen on {address}: {source}; --bind takes another one (ADDRESS:PORT with port 0: any that is free)")
            }
            other => other.into(),
        })?;
        let (bound, requests) = (server.bound()?, server.requests());
        let fingerprint = server.fingerprint();
        let scheme = if fingerprint.is_some() { "https" } else { "http" };
        let base = match &bound {
            Bind::Tcp(address) => format!("{scheme}://{address}"),
            Bind::Unix(_) => format!("{scheme}://localhost"),
        };
        if let Some(fingerprint) = fingerprint {
            say!("Certificate      SHA-256 {fingerprint}");
        }
        if matches!(bound, Bind::Unix(_)) {
            say!("Socket           {bound}");
        }
        say!("SPARQL endpoint  {base}/sparql");
        if writable {
            say!("Graphs           {base}/data");
        }
        say!("Query page       {base}/");
        say_users(&bound, server.users());
        say!("Ctrl+C stops.");
        let stop = async move {
            signals.next().await;
            let running = requests.running();
            if running > 0 {
                let what = if running == 1 { "request is" } else { "requests are" };
                say!("stopping: {running} {what} being answered, and cancelled after a second; Ctrl+C again ends at once");
            }
            tokio::spawn(async move {
                signals.next().await;
                say!("ended at once; what was confirmed is in the database");
                std::process::exit(INTERRUPTED);
            });
        };
        server.serve(stop).await;
        anyhow::Ok(())
    })?;
    // Drops what still serves, which cancels what it waits for.
    runtime.shutdown_timeout(LAST_WAIT);
    say!("stopped");
    Ok(())
}

/// Tells who may what, unless that is what it always was.
fn say_users(bound: &Bind, (users, tokens, anonymous): (usize, usize, Option<Role>)) {
    let role = match anonymous {
        None => "nothing".to_owned(),
        Some(role) => format!("the role {role}"),
    };
    if users + tokens > 0 {
        say!("Users            {users}, and {tokens} tokens; without a name: {role}");
    } else if !bound.is_local() {
        say!(
            "Users            none: everybody who can reach this address has {role} (lode user add, --anonymous)"
        );
    }
}

/// What asks the process to end: from when this is made that is not the end at once.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Ready at the next one.
    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        // Without a handler the default action ends the process.
        #[cfg(not(unix))]
        drop(tokio::signal::ctrl_c().await)
    }
}
