//! `lode serve`.

use crate::args::ServeArgs;
use crate::exit::Done;
use crate::query::{open_options, query_options};
use crate::talk::say;
use anyhow::{Context, bail};
use lode_engine::store::{BackgroundOptions, Compactor, StoreError, WriteOptions};
use lode_engine::{Database, EngineError, LoadAllow};
use lode_server::{Server, ServerOptions};
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn run(args: &ServeArgs) -> anyhow::Result<Done> {
    let load = LoadAllow::new(&args.allow_load).map_err(anyhow::Error::msg).context("--allow-load")?;
    let backup_folder = args.backup_dir.as_deref().map(|folder| backup_folder(folder, &args.database));
    let backup_folder = backup_folder.transpose()?;
    let database = open(args)?;
    let compactor = compactor(&database, args.no_compaction)?;
    let options = ServerOptions {
        query: query_options(&args.evaluation),
        timeout: args.timeout,
        update_timeout: args.update_timeout,
        update_bytes_max: args.update_bytes_max,
        transaction_quads_max: args.transaction_quads_max,
        load,
        admin_token: args.admin_token.clone(),
        backup_folder,
        compactor,
        ..ServerOptions::default()
    };
    serve(database, args.bind, options)?;
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

/// What compacts in the background, and makes durable what an idle log holds back: also where it is not to compact.
fn compactor(database: &Database, is_paused: bool) -> anyhow::Result<Option<Arc<Compactor>>> {
    if !database.store().is_writable() {
        return Ok(None);
    }
    let compactor = Compactor::start(database.store(), BackgroundOptions::default())?;
    if is_paused {
        compactor.pause();
    }
    Ok(Some(Arc::new(compactor)))
}

fn open(args: &ServeArgs) -> anyhow::Result<Database> {
    let options = open_options(&args.evaluation);
    if args.read_only {
        return Ok(Database::open(&args.database, &options)?);
    }
    let write = WriteOptions { durability: args.durability, ..WriteOptions::default() };
    match Database::open_for_writing(&args.database, &options, write) {
        Err(error @ EngineError::Store(StoreError::Locked { .. })) => {
            bail!("{error}; to answer queries meanwhile, use --read-only")
        }
        opened => Ok(opened?),
    }
}

/// Serves until Ctrl+C or a termination signal; says where.
pub fn serve(database: Database, address: SocketAddr, options: ServerOptions) -> anyhow::Result<()> {
    let writable = database.store().is_writable();
    // Dropped last: with it goes what makes durable what waits for that.
    let database = Arc::new(database);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = stop_signal()?;
        let server = Server::bind(Arc::clone(&database), address, options).await?;
        let address = server.address()?;
        say!("SPARQL endpoint  http://{address}/sparql");
        if writable {
            say!("Graphs           http://{address}/data");
        }
        say!("Query page       http://{address}/");
        say!("Ctrl+C stops.");
        server.serve(stop).await?;
        anyhow::Ok(())
    })?;
    // Ends what still runs on blocking threads.
    drop(runtime);
    say!("stopped");
    Ok(())
}

/// Ready once the process is asked to end. From when this returns such a request is not the end at once.
fn stop_signal() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    // Without a handler the default action ends the process.
    #[cfg(not(unix))]
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}
