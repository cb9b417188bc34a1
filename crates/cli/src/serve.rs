//! `lode serve`.

use crate::args::{Place, ServeArgs};
use crate::exit::Done;
use crate::memory::SharedMemory;
use crate::opening::Opening;
use crate::talk::say;
use anyhow::{Context, anyhow, bail};
use lode_engine::LoadAllow;
use lode_rdf::parse::StatementLimit;
use lode_server::{Bind, Databases, Role, Served, Server, ServerError, ServerOptions, Users};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub fn run(args: &ServeArgs) -> anyhow::Result<Done> {
    let load = LoadAllow::new(&args.allow_load).map_err(anyhow::Error::msg).context("--allow-load")?;
    let place = args.place();
    if let Place::Several(folder) = place {
        check_folder(folder, !args.must_exist && !args.read_only)?;
    }
    let backup_folder = args.backup_dir.as_deref().map(|folder| backup_folder(folder, place.path()));
    let backup_folder = backup_folder.transpose()?;
    if let Some(users) = args.users.as_deref().filter(|users| !users.exists()) {
        bail!("--users: there is no file {} (lode user add makes it)", users.display());
    }
    let memory = SharedMemory::new(&args.evaluation);
    let update_bytes_max = args.update_bytes_max.unwrap_or_else(|| memory.update_bytes_max());
    let bodies_bytes_max = args.bodies_bytes_max.unwrap_or_else(|| memory.bodies_bytes_max());
    let options = ServerOptions {
        query: memory.query_options(&args.evaluation)?,
        timeout: args.timeout,
        update_timeout: args.update_timeout,
        transaction_idle_max: args.transaction_idle,
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
        users: Some(args.users.clone().unwrap_or_else(|| Users::file_of(place.path()))),
        anonymous: args.anonymous,
        admin_token: args.admin_token.clone(),
        backup_folder,
        ..ServerOptions::default()
    };
    let opening = Opening::new(args, &memory);
    let content = match place {
        Place::One(path) => Content::One(opening.one(path)?),
        Place::Several(folder) => Content::Several(opening.all(folder)),
    };
    serve(content, args.bind.clone(), options)?;
    Ok(Done::Ok)
}

/// The folder of several databases, made where it may be. A database's own is none.
fn check_folder(folder: &Path, makes_one: bool) -> anyhow::Result<()> {
    if folder.join("MANIFEST").exists() {
        bail!("{0} is a database: lode serve {0} serves it", folder.display());
    }
    if !folder.exists() && makes_one {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        say!("{} was not there: made it, without a database", folder.display());
    }
    if !folder.is_dir() {
        bail!("--databases: there is no folder {}", folder.display());
    }
    Ok(())
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

/// What still runs on other threads when the server has stopped has so long to notice.
const LAST_WAIT: Duration = Duration::from_millis(300);
/// The exit code of a process that Ctrl+C has ended.
const INTERRUPTED: i32 = 130;

/// What is served.
pub enum Content {
    One(Served),
    Several(Databases),
}

/// Serves until Ctrl+C or a termination signal; says where. A second one ends the process at once.
pub fn serve(content: Content, bind: impl Into<Bind>, options: ServerOptions) -> anyhow::Result<()> {
    let bind = bind.into();
    // Dropped last: with it goes what makes durable what waits for that.
    let served = match &content {
        Content::One(served) => Some(served.clone()),
        Content::Several(_) => None,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut signals = Signals::new()?;
        let bound = match content {
            Content::One(served) => Server::bind(served, bind, options).await,
            Content::Several(databases) => Server::bind_all(databases, bind, options).await,
        };
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
        say_addresses(&server, &base, served.as_ref());
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

/// Tells where is what.
fn say_addresses(server: &Server, base: &str, served: Option<&Served>) {
    if let Some((open, closed)) = server.databases() {
        let those_closed = if closed == 0 { String::new() } else { format!(", {closed} of them closed") };
        say!("Databases        {}{those_closed}, listed at {base}/", open + closed);
        say!("Each of them     {base}/NAME, with /sparql, /data and a page below");
        return;
    }
    say!("SPARQL endpoint  {base}/sparql");
    if served.is_some_and(|served| served.database.store().is_writable()) {
        say!("Graphs           {base}/data");
    }
    say!("Query page       {base}/");
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
