//! `lode serve`.

mod asked;
mod checks;
mod greeting;
mod reload;

use crate::args::{LogFormatArg, LogLevelArg, ServeArgs};
use crate::config_file;
use crate::exit::{Done, wrong_usage};
use crate::link_thread::LinkThread;
use crate::memory::SharedMemory;
use crate::notify::Notifier;
use crate::serve_config;
use crate::serve_log::{Teller, logs};
use crate::signals::{HangUps, Signals};
use crate::talk::say;
use asked::Asked;
pub use asked::Content;
use checks::cannot_listen;
use greeting::{base, greet};
use lode_server::{Bind, Server, ServerError, ServerOptions};
use reload::Reload;
use std::sync::Arc;
use std::time::Duration;

/// Serves what the options say.
pub fn run(args: &ServeArgs) -> anyhow::Result<Done> {
    for (name, meant) in serve_config::misspelt() {
        say!("warning: {name} in the environment is no option: {meant} is likely meant");
    }
    if let Some(name) = serve_config::of_workers().first() {
        return Err(wrong_usage(format!("{name} in the environment: {}", config_file::WITHOUT_WORKERS)));
    }
    let asked = Asked::of(args)?;
    if args.check_config {
        asked.check_all()?;
        say!("the configuration is good");
        return Ok(Done::Ok);
    }
    let teller = Teller::start(args.log_format, args.log_level);
    let memory = SharedMemory::new(&args.evaluation);
    let logs = lode_server::Logs { program: Some(teller.log()), ..logs(args)? };
    let (content, link) = asked.open(&memory)?;
    let options = asked.options(&memory, logs)?;
    let reload = Reload { settings: serve_config::settings(), memory: Some(memory) };
    run_server(content, args.bind.clone(), options, &teller, reload, link)?;
    Ok(Done::Ok)
}

/// What still runs on other threads when the server has stopped has so long to notice.
const LAST_WAIT: Duration = Duration::from_millis(300);
/// The exit code of a process that Ctrl+C has ended.
const INTERRUPTED: i32 = 130;

/// Serves without a command line of its own.
pub fn serve(content: Content, bind: impl Into<Bind>, options: ServerOptions) -> anyhow::Result<()> {
    let teller = Teller::start(LogFormatArg::Text, LogLevelArg::Info);
    run_server(content, bind.into(), options, &teller, Reload::default(), None)
}

/// Threads of requests end when there was nothing to do for them for so long: what is free in their pages is given back with them.
const THREADS_KEPT: Duration = Duration::from_secs(1);

/// Serves until Ctrl+C or a termination signal; says where. A second one ends the process at once.
fn run_server(
    content: Content,
    bind: Bind,
    options: ServerOptions,
    teller: &Teller,
    reload: Reload,
    link: Option<LinkThread>,
) -> anyhow::Result<()> {
    // Dropped last: with it goes what makes durable what waits for that.
    let served = match &content {
        Content::One(served) => Some(served.clone()),
        Content::Several(_) => None,
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_keep_alive(THREADS_KEPT).build()?;
    runtime.block_on(async {
        let (mut signals, hang_ups) = (Signals::new()?, HangUps::new()?);
        let bound = match content {
            Content::One(served) => Server::bind(served, bind, options).await,
            Content::Several(databases) => Server::bind_all(databases, bind, options).await,
        };
        let server = bound.map_err(|error| match error {
            ServerError::Bind { address, source } => cannot_listen(&address, &source),
            other => other.into(),
        })?;
        let (bound, requests) = (server.bound()?, server.requests());
        greet(&server, &bound, served.as_ref(), teller);
        let notifier = Arc::new(Notifier::of_environment());
        notifier.ready(&format!("serving at {}", base(&server, &bound)));
        let stops = Arc::clone(&notifier);
        let stop = async move {
            signals.next().await;
            stops.stopping();
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
            () = reload.whenever_asked(hang_ups, control.clone()) => {}
            () = notifier.live() => {}
        }
        control.logs().flush();
        anyhow::Ok(())
    })?;
    // Drops what still serves, which cancels what it waits for.
    runtime.shutdown_timeout(LAST_WAIT);
    // What was confirmed last is published, too.
    drop(link);
    teller.tell("stopped");
    teller.log().flush();
    Ok(())
}
