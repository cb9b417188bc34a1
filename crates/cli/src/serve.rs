//! `lode serve`.

use crate::args::ServeArgs;
use crate::exit::Done;
use crate::query::{open_options, query_options};
use crate::talk::say;
use lode_engine::Database;
use lode_server::{Server, ServerOptions};
use std::net::SocketAddr;
use std::sync::Arc;

pub fn run(args: &ServeArgs) -> anyhow::Result<Done> {
    let database = Database::open(&args.database, &open_options(&args.evaluation))?;
    let query = query_options(&args.evaluation);
    serve(database, args.bind, ServerOptions { query, timeout: args.timeout, ..ServerOptions::default() })?;
    Ok(Done::Ok)
}

/// Serves until Ctrl+C or a termination signal; says where.
pub fn serve(database: Database, address: SocketAddr, options: ServerOptions) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = Server::bind(Arc::new(database), address, options).await?;
        let address = server.address()?;
        say!("SPARQL endpoint  http://{address}/sparql");
        say!("Query page       http://{address}/");
        say!("Ctrl+C stops.");
        server.serve(stop_signal()).await?;
        say!("stopped");
        Ok(())
    })
}

/// Ready once the process is asked to end.
async fn stop_signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without a handler the default action ends the process.
    drop(interrupt.await);
}
