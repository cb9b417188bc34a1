//! What is refused before anything is opened or made: places, folders and options that do not go together.

use crate::args::folder::meant_address;
use crate::args::{Place, ServeArgs};
use crate::exit::wrong_usage;
use crate::number;
use crate::publish;
use crate::serve_config;
use crate::talk::say;
use anyhow::{Context, anyhow, bail};
use lode_engine::web::is_url;
use lode_remote::Address;
use lode_server::Bind;
use std::path::{Path, PathBuf};

/// Entries of a folder that are looked at for databases.
const ENTRIES_MAX: usize = 1_000;

/// Where the database is to be published; refuses what does not go with what is served.
pub fn check_links(args: &ServeArgs, address: Option<&Address>) -> anyhow::Result<Option<Address>> {
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
pub fn check_kind(place: &Place<'_>) -> anyhow::Result<()> {
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
pub fn check_folder(folder: &Path, makes_one: bool) -> anyhow::Result<()> {
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
pub fn backup_folder(folder: &Path, database: &Path) -> anyhow::Result<PathBuf> {
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
pub fn told(name: &str) -> String {
    let source = serve_config::settings().into_iter().find(|setting| setting.name == name);
    match source.map(|setting| setting.source).filter(|source| source.contains(':')) {
        Some(place) => format!("{place}: {name}"),
        None => format!("--{name}"),
    }
}

/// Refuses logs whose folders are not there.
pub fn check_logs(args: &ServeArgs) -> anyhow::Result<()> {
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
pub fn check_place(place: &Place<'_>, args: &ServeArgs) -> anyhow::Result<()> {
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
pub fn check_address(place: &Path, bind: &Bind) -> anyhow::Result<()> {
    match bind {
        Bind::Tcp(address) if !place.exists() => {
            std::net::TcpListener::bind(address).map(drop).map_err(|source| cannot_listen(bind, &source))
        }
        _ => Ok(()),
    }
}

pub fn cannot_listen(bind: &Bind, source: &std::io::Error) -> anyhow::Error {
    anyhow!(
        "cannot listen on {bind}: {source}; --bind takes another one (ADDRESS:PORT with port 0: any that is free)"
    )
}

/// What no option can say alone: where all come from, no parser looks at them together.
pub fn check_together(args: &ServeArgs) -> anyhow::Result<()> {
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
