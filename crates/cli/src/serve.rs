//! `lode serve`.

use crate::args::{Command, LogFormatArg, LogLevelArg, ServeArgs};
use crate::exit::{Done, wrong_usage};
use crate::memory::SharedMemory;
use crate::serve_config::{self, Setting};
use crate::serve_log::{Teller, logs};
use crate::server_client::secret;
use crate::talk::{say, say_found_log, tell_damaged_snapshots};
use anyhow::{Context, anyhow, bail};
use lode_engine::store::{Compactor, Maintenance, StoreError, WriteOptions};
use lode_engine::{Database, EngineError, LoadAllow};
use lode_rdf::parse::StatementLimit;
use lode_server::{Bind, Control, Limits, Role, Server, ServerError, ServerOptions, Users};
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
    // Of a database: once it is there.
    let users_file = || args.users.clone().unwrap_or_else(|| Users::file_of(&args.database));
    check(args)?;
    let admin_token = match (&args.admin_token, &args.admin_token_file) {
        (Some(token), _) => Some(token.clone()),
        (None, Some(path)) => Some(secret(path).context("--admin-token-file")?),
        (None, None) => None,
    };
    if args.check_config {
        Users::read_or_empty(&users_file())?;
        #[cfg(feature = "tls")]
        if let Some(tls) = tls(args) {
            tls.check()?;
        }
        say!("the configuration is good");
        return Ok(Done::Ok);
    }
    let teller = Teller::start(args.log_format, args.log_level);
    let logs = lode_server::Logs { program: Some(teller.log()), ..logs(args)? };
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
        logs,
        trusted_proxies: args.trusted_proxy.clone(),
        compression: !args.no_compression,
        cors: args.cors.clone(),
        users: Some(users_file()),
        anonymous: args.anonymous,
        admin_token,
        backup_folder,
        compactor,
        maintenance,
        ..ServerOptions::default()
    };
    let reload = Reload { settings: serve_config::settings(), memory: Some(memory) };
    run_server(database, args.bind.clone(), options, &teller, reload)?;
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
    let tell = Box::new(|line: &str| tracing::warn!("{line}"));
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

/// Serves without a command line of its own.
pub fn serve(database: Database, bind: impl Into<Bind>, options: ServerOptions) -> anyhow::Result<()> {
    let teller = Teller::start(LogFormatArg::Text, LogLevelArg::Info);
    run_server(database, bind.into(), options, &teller, Reload::default())
}

/// Serves until Ctrl+C or a termination signal; says where. A second one ends the process at once.
fn run_server(
    database: Database,
    bind: Bind,
    options: ServerOptions,
    teller: &Teller,
    reload: Reload,
) -> anyhow::Result<()> {
    let writable = database.store().is_writable();
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
        greet(&server, &bound, writable, teller);
        let stop = async move {
            signals.next().await;
            let running = requests.running();
            if running > 0 {
                let what = if running == 1 { "request is" } else { "requests are" };
                tracing::info!("stopping: {running} {what} being answered, and cancelled after a second; Ctrl+C again ends at once");
            }
            tokio::spawn(async move {
                signals.next().await;
                say!("ended at once; what was confirmed is in the database");
                std::process::exit(INTERRUPTED);
            });
        };
        let control = server.control();
        tokio::select! {
            () = server.serve(stop) => {}
            () = reload.whenever_asked(control.clone()) => {}
        }
        control.logs().flush();
        anyhow::Ok(())
    })?;
    // Drops what still serves, which cancels what it waits for.
    runtime.shutdown_timeout(LAST_WAIT);
    teller.tell("stopped");
    teller.log().flush();
    Ok(())
}

/// Says where the server is, and who may what.
fn greet(server: &Server, bound: &Bind, writable: bool, teller: &Teller) {
    let fingerprint = server.fingerprint();
    let scheme = if fingerprint.is_some() { "https" } else { "http" };
    let base = match bound {
        Bind::Tcp(address) => format!("{scheme}://{address}"),
        Bind::Unix(_) => format!("{scheme}://localhost"),
    };
    if let Some(fingerprint) = fingerprint {
        teller.tell(&format!("Certificate      SHA-256 {fingerprint}"));
    }
    if matches!(bound, Bind::Unix(_)) {
        teller.tell(&format!("Socket           {bound}"));
    }
    teller.tell(&format!("SPARQL endpoint  {base}/sparql"));
    if writable {
        teller.tell(&format!("Graphs           {base}/data"));
    }
    teller.tell(&format!("Query page       {base}/"));
    if let Some(line) = of_users(bound, server.users()) {
        teller.tell(&line);
    }
    teller.tell("Ctrl+C stops.");
}

/// Who may what, unless that is what it always was.
fn of_users(bound: &Bind, (users, tokens, anonymous): (usize, usize, Option<Role>)) -> Option<String> {
    let role = match anonymous {
        None => "nothing".to_owned(),
        Some(role) => format!("the role {role}"),
    };
    if users + tokens > 0 {
        return Some(format!("Users            {users}, and {tokens} tokens; without a name: {role}"));
    }
    (!bound.is_local()).then(|| {
        format!("Users            none: everybody who can reach this address has {role} (lode user add, --anonymous)")
    })
}

/// What no option can say alone: where all come from, no parser looks at them together.
fn check(args: &ServeArgs) -> anyhow::Result<()> {
    if args.admin_token.is_some() && args.admin_token_file.is_some() {
        return Err(wrong_usage("--admin-token and --admin-token-file say the same: give one of them"));
    }
    #[cfg(feature = "tls")]
    {
        if args.tls_cert.is_some() != args.tls_key.is_some() {
            return Err(wrong_usage("--tls-cert and --tls-key go together: give both, or none"));
        }
        if args.tls_cert.is_some() && args.tls_self_signed {
            return Err(wrong_usage("--tls-self-signed makes a certificate: it does not go with --tls-cert"));
        }
    }
    Ok(())
}

/// What is read again when somebody asks for it.
#[derive(Default)]
struct Reload {
    /// As they were when they were read last.
    settings: Vec<Setting>,
    memory: Option<SharedMemory>,
}

/// Options that change while the server runs.
const RELOADED: [&str; 6] = [
    "timeout",
    "update-timeout",
    "download-timeout",
    "update-bytes-max",
    "transaction-quads-max",
    "slow-query",
];

impl Reload {
    /// Never ends.
    async fn whenever_asked(mut self, control: Control) {
        #[cfg(unix)]
        if let Ok(mut hang_up) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()) {
            while hang_up.recv().await.is_some() {
                let at = control.clone();
                let done = tokio::task::spawn_blocking(move || {
                    self.once(&at);
                    self
                });
                match done.await {
                    Ok(reload) => self = reload,
                    Err(_) => break,
                }
            }
        }
        #[cfg(not(unix))]
        let _ = (&mut self, control);
        std::future::pending().await
    }

    /// Reads the configuration, users, and the certificate, and opens logs anew; tells what came of it.
    fn once(&mut self, control: &Control) {
        for (name, error) in control.logs().reopen() {
            tracing::error!("log {name}: {error}; the one of before is written to");
        }
        control.read_files();
        let Some(memory) = &self.memory else { return };
        let args = match serve_config::parse_again() {
            Ok(cli) => match cli.command {
                Command::Serve(args) => args,
                _ => return,
            },
            Err(error) => return tracing::error!("{error:#}; the configuration of before stays"),
        };
        control.set_limits(Limits {
            timeout: args.timeout,
            update_timeout: args.update_timeout,
            download_timeout: args.download_timeout,
            update_bytes_max: args.update_bytes_max.unwrap_or_else(|| memory.update_bytes_max()),
            transaction_quads_max: args.transaction_quads_max,
        });
        control.logs().slow_min.set(args.slow_query);
        let now = serve_config::settings();
        let (at_once, later): (Vec<String>, Vec<String>) = serve_config::changed(&self.settings, &now)
            .into_iter()
            .partition(|name| RELOADED.contains(&name.as_str()));
        let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        tracing::info!("read again: logs, users, certificate, configuration; changed: {}", list(&at_once));
        if !later.is_empty() {
            tracing::warn!("changed, but only from the next start on: {}", list(&later));
        }
        // What waits for the next start is told each time.
        let is_later = |setting: &Setting| later.contains(&setting.name);
        let kept = self.settings.iter().filter(|setting| is_later(setting)).cloned();
        self.settings = kept.chain(now.iter().filter(|setting| !is_later(setting)).cloned()).collect();
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
