//! `lode user`: those who may log in to a server.

use crate::args::{GraphArgs, PlaceArgs, UserCommand};
use crate::exit::Done;
use crate::talk::say;
use anyhow::{Context, bail};
use lode_server::{Graphs, Rights, Role, Users};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The longest line that is taken for a password.
const LINE_BYTES_MAX: u64 = 4096;

pub fn run(command: &UserCommand) -> anyhow::Result<Done> {
    match command {
        UserCommand::Add(args) => {
            let path = file(&args.place)?;
            let rights = rights(args.role, &args.database, &args.graphs)?;
            Users::check_new(&args.name)?;
            let password = password(&args.name)?;
            let told = rights.to_string();
            Users::change(&path, |users| users.add(&args.name, rights, &password))?;
            say!("added {} with the role {told} ({})", args.name, path.display());
        }
        UserCommand::List(place) => {
            let users = Users::read_or_empty(&file(place)?)?;
            let mut out = io::stdout().lock();
            for (name, rights, _) in users.users() {
                writeln!(out, "{name}\t{rights}")?;
            }
            if let Some(rights) = users.anonymous() {
                writeln!(out, "anonymous\t{rights}")?;
            }
        }
        UserCommand::Grant(args) => {
            let graphs = graphs(&args.graphs)?;
            let all = Users::change(&file(&args.place)?, |users| {
                users.grant(&args.name, args.role, &args.database, &graphs)
            })?;
            say!("{} has the role {all}", args.name);
        }
        UserCommand::Remove(args) => {
            Users::change(&file(&args.place)?, |users| users.remove(&args.name))?;
            say!("removed {}", args.name);
        }
        UserCommand::Passwd(args) => {
            let path = file(&args.place)?;
            if !Users::read_or_empty(&path)?.users().iter().any(|(name, ..)| *name == args.name) {
                bail!("there is no user {}", args.name);
            }
            let password = password(&args.name)?;
            Users::change(&path, |users| users.change_password(&args.name, &password))?;
            say!("changed the password of {}", args.name);
        }
    }
    Ok(Done::Ok)
}

/// The graphs that are asked for.
pub fn graphs(args: &GraphArgs) -> anyhow::Result<Graphs> {
    let [read, write] = args.patterns();
    Graphs::parse(&read, &write).map_err(anyhow::Error::msg)
}

/// A role in these databases, for these graphs.
pub fn rights(role: Role, databases: &[String], args: &GraphArgs) -> anyhow::Result<Rights> {
    let mut rights = Rights::default();
    rights.give(role, databases, &graphs(args)?);
    Ok(rights)
}

/// The file of users: of a database, or one of its own, which may be made where its name says what it is. A mistyped path must not make
/// users that no server knows.
pub fn file(place: &PlaceArgs) -> anyhow::Result<PathBuf> {
    let place = &place.place;
    let path = Users::file_of(place);
    if place.is_dir() {
        if !path.exists() && !place.join("MANIFEST").exists() && !has_databases(place) {
            bail!(
                "{} is no database, nor a folder of some: lode load or lode serve makes one",
                place.display()
            );
        }
        return Ok(path);
    }
    if path.exists() {
        return Ok(path);
    }
    if path.extension().is_none_or(|ending| ending != "json") {
        bail!(
            "there is no database {} (a new file of users needs a name that ends in .json)",
            place.display()
        );
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("there is no folder {}", folder.display());
    }
    Ok(path)
}

/// Whether a folder has one in it that is a database.
fn has_databases(folder: &Path) -> bool {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    found.into_iter().any(|entry| entry.path().join("MANIFEST").exists())
}

/// A new password: typed twice and not shown, or the first line of standard input.
fn password(name: &str) -> anyhow::Result<String> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        let mut line = String::new();
        io::Read::take(stdin.lock(), LINE_BYTES_MAX).read_line(&mut line).context("reading the password")?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let first = rpassword::prompt_password(format!("Password of {name}: "))?;
    if rpassword::prompt_password("Once more: ")? != first {
        bail!("the two are not the same: nothing was changed");
    }
    Ok(first)
}
