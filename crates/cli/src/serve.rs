//! `lode serve`.

use crate::args::folder::meant_address;
use crate::args::{Command, LogFormatArg, LogLevelArg, Place, ServeArgs};
use crate::exit::{Done, wrong_usage};
use crate::link_thread::LinkThread;
use crate::memory::SharedMemory;
use crate::notify::Notifier;
use crate::number;
use crate::opening::Opening;
use crate::publish;
use crate::published;
use crate::serve_config::{self, Setting};
use crate::serve_log::{Teller, logs};
use crate::server_client::secret;
use crate::talk::say;
use anyhow::{Context, anyhow, bail};
use lode_engine::LoadAllow;
use lode_engine::web::is_url;
use lode_rdf::parse::StatementLimit;
use lode_remote::Address;
use lode_server::{
    Bind, Control, Databases, Limits, Role, Served, Server, ServerError, ServerOptions, Users,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Entries of a folder that are looked at for databases.
const ENTRIES_MAX: usize = 1_000;

pub fn run(args: &ServeArgs) -> anyhow::Result<Done> {
    for (name, meant) in serve_config::misspelt() {
        say!("warning: {name} in the environment is no option: {meant} is likely meant");
    }
    let load =
        LoadAllow::new(&args.allow_load).map_err(anyhow::Error::msg).with_context(|| told("allow-load"))?;
    let nothing = || {
        wrong_usage("what is to be served? Name the folder of a database (lode serve my.db), or that of several (lode serve --databases DIR)".to_owned())
    };
    let place = args.place().ok_or_else(nothing)?;
    let address = match place {
        Place::One(path) => published::address(path)?,
        Place::Several(_) => None,
    };
    if address.is_none() {
        check_kind(&place)?;
    }
    let publish_to = check_links(args, address.as_ref())?;
    if !args.check_config {
        check_address(place.path(), &args.bind)?;
    }
    if let Place::Several(folder) = place {
        check_folder(folder, !args.must_exist && !args.read_only && !args.check_config)?;
    }
    let backup_folder = args.backup_dir.as_deref().map(|folder| backup_folder(folder, place.path()));
    let backup_folder = backup_folder.transpose()?;
    if let Some(users) = args.users.as_deref().filter(|users| !users.exists()) {
        bail!("{}: there is no file {} (lode user add makes it)", told("users"), users.display());
    }
    // Of a database: once it is there.
    let users_file = || args.users.clone().unwrap_or_else(|| Users::file_of(place.path()));
    check(args)?;
    let admin_token = match (&args.admin_token, &args.admin_token_file) {
        (Some(token), _) => Some(token.clone()),
        (None, Some(path)) => Some(secret(path).with_context(|| told("admin-token-file"))?),
        (None, None) => None,
    };
    if args.check_config {
        if address.is_none() {
            check_place(&place, args)?;
        }
        Users::read_or_empty(&users_file()).with_context(|| told("users"))?;
        #[cfg(feature = "tls")]
        if let Some(tls) = tls(args) {
            tls.check().with_context(|| told("tls-cert"))?;
        }
        check_logs(args)?;
        SharedMemory::new(&args.evaluation).query_options(&args.evaluation)?;
        say!("the configuration is good");
        return Ok(Done::Ok);
    }
    let teller = Teller::start(args.log_format, args.log_level);
    let logs = lode_server::Logs { program: Some(teller.log()), ..logs(args)? };
    let memory = SharedMemory::new(&args.evaluation);
    let opening = Opening::new(args, &memory)?;
    let mut link = None;
    let content = match (&place, &address) {
        (Place::One(_), Some(address)) => {
            let (served, thread) = opening.published(address, &args.object_cache, args.follow)?;
            link = thread;
            Content::One(served)
        }
        (Place::One(path), None) => {
            let mut served = opening.one(path)?;
            if let Some(publish) = publish_to {
                let (told, thread) = LinkThread::publish(&served.database, &publish, args.publish_every)?;
                (served.link, link) = (Some(told), Some(thread));
            }
            Content::One(served)
        }
        (Place::Several(folder), _) => Content::Several(opening.all(folder)),
    };
    let update_bytes_max = args.update_bytes_max.unwrap_or_else(|| memory.update_bytes_max());
    let bodies_bytes_max = args.bodies_bytes_max.unwrap_or_else(|| memory.bodies_bytes_max());
    let options = ServerOptions {
        query: memory.query_options(&args.evaluation)?,
        timeout: args.timeout,
        update_timeout: args.update_timeout,
        transaction_idle_max: args.transaction_idle,
        transaction_age_max: args.transaction_age,
        decoded_bytes_max: args.decoded_bytes_max as u64,
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
        short_running_max: memory.short_running_max(),
        hosts: args.host.clone(),
        #[cfg(feature = "tls")]
        tls: tls(args),
        logs,
        roles: args.limits.roles(),
        trusted_proxies: args.trusted_proxy.clone(),
        compression: !args.no_compression,
        cors: args.cors.clone(),
        // A published database has no folder for them.
        users: (args.users.is_some() || address.is_none()).then(users_file),
        anonymous: args.anonymous,
        admin_token,
        #[cfg(feature = "tls")]
        oidc: args.oidc.provider().map_err(wrong_usage)?,
        backup_folder,
        ..ServerOptions::default()
    };
    let reload = Reload { settings: serve_config::settings(), memory: Some(memory) };
    run_server(content, args.bind.clone(), options, &teller, reload, link)?;
    Ok(Done::Ok)
}

/// Where the database is to be published; refuses what does not go with what is served.
fn check_links(args: &ServeArgs, address: Option<&Address>) -> anyhow::Result<Option<Address>> {
    if args.follow.is_some() && address.is_none() {
        let what = "--follow is for the address of a published database (file:///..., lode+https://...): a folder that is served changes by updates";
        return Err(wrong_usage(what));
    }
    let Some(url) = &args.publish else { return Ok(None) };
    if address.is_some() {
        return Err(wrong_usage(
            "--publish is for the folder of a database: what is published already can be read only",
        ));
    }
    publish::target(url).map(Some)
}

/// Refuses what is no folder of a database, though one could be made of that name; and one that holds several.
fn check_kind(place: &Place<'_>) -> anyhow::Result<()> {
    let path = place.path();
    let shown = path.display();
    if let Some(address) = path.to_str().filter(|text| is_url(text)) {
        return Err(wrong_usage(format!(
            "lode serve takes the folder of a database, and {address} is an address; --bind ADDRESS:PORT says where to listen, \
             lode shell {address} asks a server, and lode serve lode+{address} serves what lode publish has put there"
        )));
    }
    if meant_address(path).is_some() {
        return Err(wrong_usage(format!(
            "lode serve takes the folder of a database, and there is no folder {shown}; --bind {shown} listens there"
        )));
    }
    let Place::One(path) = place else { return Ok(()) };
    let is_database = |path: &Path| path.join("MANIFEST").exists();
    if is_database(path) {
        return Ok(());
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let mut below: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| is_database(path)).collect();
    below.sort();
    match below.first() {
        None => Ok(()),
        Some(first) => bail!(
            "{shown} is no database, but holds {}: lode serve --databases {shown} serves all in it, lode serve {} one",
            number::of(below.len() as u64, "database"),
            first.display()
        ),
    }
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
        bail!("{}: there is no folder {}", told("databases"), folder.display());
    }
    Ok(())
}

/// The folder for backups: one that is there, so that nothing is written where a disk should be mounted; and not that of the database,
/// where backups would lie between its files.
fn backup_folder(folder: &Path, database: &Path) -> anyhow::Result<PathBuf> {
    let whole = folder.canonicalize().ok().filter(|whole| whole.is_dir());
    let Some(whole) = whole else { bail!("{}: there is no folder {}", told("backup-dir"), folder.display()) };
    if database.canonicalize().is_ok_and(|database| whole.starts_with(database)) {
        bail!(
            "{}: {} is in the folder of the database: choose another one",
            told("backup-dir"),
            folder.display()
        );
    }
    Ok(whole)
}

/// An option as a message names it: with its line where a file has set it, else as the command line has it.
fn told(name: &str) -> String {
    let source = serve_config::settings().into_iter().find(|setting| setting.name == name);
    match source.map(|setting| setting.source).filter(|source| source.contains(':')) {
        Some(place) => format!("{place}: {name}"),
        None => format!("--{name}"),
    }
}

/// Refuses logs whose folders are not there.
fn check_logs(args: &ServeArgs) -> anyhow::Result<()> {
    let logs = [
        ("access-log", &args.access_log),
        ("slow-query-log", &args.slow_query_log),
        ("audit-log", &args.audit_log),
    ];
    for (name, path) in logs {
        let Some(path) = path.as_deref().filter(|path| *path != Path::new("-")) else { continue };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() {
            bail!("{}: {} is a folder, no file", told(name), path.display());
        }
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!("{}: there is no folder {}", told(name), folder.display());
        }
    }
    Ok(())
}

/// Refuses a place that would be refused later.
fn check_place(place: &Place<'_>, args: &ServeArgs) -> anyhow::Result<()> {
    let Place::One(path) = place else { return Ok(()) };
    if path.exists() && !path.is_dir() {
        bail!("{}: {} is no folder", told("database"), path.display());
    }
    if !path.exists() && (args.must_exist || args.read_only) {
        bail!("{}: there is no database {}", told("database"), path.display());
    }
    Ok(())
}

/// Refuses an address that is taken before something is made there for nothing.
fn check_address(place: &Path, bind: &Bind) -> anyhow::Result<()> {
    match bind {
        Bind::Tcp(address) if !place.exists() => {
            std::net::TcpListener::bind(address).map(drop).map_err(|source| cannot_listen(bind, &source))
        }
        _ => Ok(()),
    }
}

fn cannot_listen(bind: &Bind, source: &std::io::Error) -> anyhow::Error {
    anyhow!(
        "cannot listen on {bind}: {source}; --bind takes another one (ADDRESS:PORT with port 0: any that is free)"
    )
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

/// Says where the server is, and who may what.
fn greet(server: &Server, bound: &Bind, served: Option<&Served>, teller: &Teller) {
    if let Some(fingerprint) = server.fingerprint() {
        teller.tell(&format!("Certificate      SHA-256 {fingerprint}"));
    }
    if matches!(bound, Bind::Unix(_)) {
        teller.tell(&format!("Socket           {bound}"));
    }
    addresses(server, &base(server, bound), served).iter().for_each(|line| teller.tell(line));
    if let Some(line) = of_users(bound, server.users(), server.issuer().is_some()) {
        teller.tell(&line);
    }
    if let Some(issuer) = server.issuer() {
        teller.tell(&format!("Tokens           those of {issuer}, too"));
    }
    teller.tell("Ctrl+C stops.");
}

/// What all addresses begin with.
fn base(server: &Server, bound: &Bind) -> String {
    let scheme = if server.fingerprint().is_some() { "https" } else { "http" };
    match bound {
        Bind::Tcp(address) => format!("{scheme}://{address}"),
        Bind::Unix(_) => format!("{scheme}://localhost"),
    }
}

/// Where is what.
fn addresses(server: &Server, base: &str, served: Option<&Served>) -> Vec<String> {
    if let Some((open, closed)) = server.databases() {
        let those_closed = if closed == 0 { String::new() } else { format!(", {closed} of them closed") };
        return vec![
            format!("Databases        {}{those_closed}, listed at {base}/", open + closed),
            format!("Each of them     {base}/NAME, with /sparql, /data and a page below"),
        ];
    }
    let mut lines = vec![format!("SPARQL endpoint  {base}/sparql")];
    if served.is_some_and(|served| served.database.store().is_writable()) {
        lines.push(format!("Graphs           {base}/data"));
    }
    lines.push(format!("Query page       {base}/"));
    lines
}

/// Who may what, unless that is what it always was.
fn of_users(
    bound: &Bind,
    (users, tokens, anonymous): (usize, usize, Option<Role>),
    has_issuer: bool,
) -> Option<String> {
    let role = match anonymous {
        None => "nothing".to_owned(),
        Some(role) => format!("the role {role}"),
    };
    if has_issuer || users + tokens > 0 {
        let tokens = number::of(tokens as u64, "token");
        return Some(format!("Users            {users}, and {tokens}; without a name: {role}"));
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
        args.oidc.provider().map_err(wrong_usage)?;
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
const RELOADED: [&str; 16] = [
    "timeout",
    "update-timeout",
    "download-timeout",
    "update-bytes-max",
    "transaction-quads-max",
    "slow-query",
    "limits-anonymous",
    "limits-read",
    "limits-update",
    "limits-admin",
    "oidc-issuer",
    "oidc-audience",
    "oidc-jwks",
    "oidc-name-claim",
    "oidc-roles-claim",
    "oidc-role",
];

impl Reload {
    /// Never ends.
    async fn whenever_asked(mut self, mut hang_ups: HangUps, control: Control) {
        while hang_ups.next().await {
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
            roles: args.limits.roles(),
        });
        #[cfg(feature = "tls")]
        if let Err(error) = believe(&args, control) {
            tracing::error!("{error}; the tokens of before are believed");
        }
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

/// Believes tokens of the provider that the options name.
#[cfg(feature = "tls")]
fn believe(args: &ServeArgs, control: &Control) -> Result<(), String> {
    control.set_oidc(args.oidc.provider()?).map_err(|error| error.to_string())
}

/// What asks for the configuration to be read again: from when this is made that does not end the process, so it is made before anybody can
/// know that the server is there.
struct HangUps(#[cfg(unix)] tokio::signal::unix::Signal);

impl HangUps {
    fn new() -> std::io::Result<Self> {
        #[cfg(unix)]
        return Ok(Self(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?));
        #[cfg(not(unix))]
        Ok(Self())
    }

    /// Waits for the next one; whether there can be any.
    async fn next(&mut self) -> bool {
        #[cfg(unix)]
        return self.0.recv().await.is_some();
        #[cfg(not(unix))]
        false
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
