//! `lode stripe`: the folders that the files of a database are spread over.

use crate::args::StripeArgs;
use crate::exit::Done;
use crate::number;
use crate::talk::say;
use anyhow::bail;
use lode_engine::{StripeState, move_stripe, stripe_database, stripe_folders, stripe_states};
use std::io::Write;
use std::path::{Path, PathBuf};

pub fn run(args: &StripeArgs) -> anyhow::Result<Done> {
    if let [old, new] = &*args.moved {
        move_stripe(&args.database, old, new)?;
        say!("{} is {} now", old.display(), new.display());
    } else {
        check_places(&args.folders, Named::Arguments)?;
        if !args.database.exists() {
            let database = args.database.display();
            bail!(
                "there is no database at {database}: lode load {database} FILES --stripe DIR makes one that is spread over folders"
            );
        }
        ask_for(&args.database, &args.folders, Named::Arguments, false)?;
    }
    let states = stripe_states(&args.database)?;
    let mut out = std::io::stdout().lock();
    for StripeState { folder, problem } in &states {
        match problem {
            None => writeln!(out, "{}", folder.display())?,
            Some(problem) => writeln!(out, "{}: {problem}", folder.display())?,
        }
    }
    if states.is_empty() {
        say!("{} has no stripe folders: its files are in its own", args.database.display());
    }
    let problems = states.iter().filter(|state| state.problem.is_some()).count();
    if problems > 0 {
        bail!("the database cannot be opened: {} not there", number::of(problems as u64, "stripe folder"));
    }
    Ok(Done::Ok)
}

/// How stripe folders are named on a command line.
#[derive(Debug, Clone, Copy)]
pub enum Named {
    /// By `--stripe`.
    Options,
    Arguments,
}

/// Has a database spread over folders, if there are any. Says which folders it makes for that, unless it is to be `quiet`: one that is made may be a
/// slip of who meant another.
pub fn ask_for(database: &Path, folders: &[PathBuf], named: Named, quiet: bool) -> anyhow::Result<()> {
    check_places(folders, named)?;
    if folders.is_empty() {
        return Ok(());
    }
    let new: Vec<&PathBuf> = folders.iter().filter(|folder| !folder.exists()).collect();
    let was_whole =
        database.join("MANIFEST").exists() && stripe_folders(database).is_ok_and(|old| old.is_empty());
    stripe_database(database, folders)?;
    if !quiet {
        new.iter().for_each(|folder| say!("made the stripe folder {}", folder.display()));
    }
    if was_whole && !quiet {
        let database = database.display();
        say!(
            "what {database} has stays in its own folder until it is written anew: lode compact {database} --force spreads all of it"
        );
    }
    Ok(())
}

fn check_places(folders: &[PathBuf], named: Named) -> anyhow::Result<()> {
    folders.iter().try_for_each(|folder| check_place(folder, named))
}

/// A folder may be made, but not the one that it is in: that is most often a disk that is not mounted, or a slip.
fn check_place(folder: &Path, named: Named) -> anyhow::Result<()> {
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        bail!("the stripe folder {shown} is a file");
    }
    if let Some(several) = folder.to_str().filter(|name| !folder.exists() && name.contains(',')) {
        let names = several.split(',').filter(|name| !name.is_empty());
        let advice: Vec<String> = match named {
            Named::Options => names.map(|name| format!("--stripe {name}")).collect(),
            Named::Arguments => names.map(str::to_owned).collect(),
        };
        bail!("there is no folder {shown}; several folders are named one by one: {}", advice.join(" "));
    }
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    match above.filter(|above| !above.is_dir()) {
        Some(above) => bail!(
            "the stripe folder {shown} cannot be made: there is no folder {} (is its disk mounted?)",
            above.display()
        ),
        None => Ok(()),
    }
}
