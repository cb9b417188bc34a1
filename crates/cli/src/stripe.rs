//! `lode stripe`: the folders that the files of a database are spread over.

use crate::args::StripeArgs;
use crate::exit::Done;
use crate::number;
use crate::talk::say;
use anyhow::bail;
use lode_engine::{StripeState, move_stripe, stripe_database, stripe_states};
use std::io::Write;
use std::path::{Path, PathBuf};

pub fn run(args: &StripeArgs) -> anyhow::Result<Done> {
    if let [old, new] = &*args.moved {
        move_stripe(&args.database, old, new)?;
        say!("{} is {} now", old.display(), new.display());
    } else {
        ask_for(&args.database, &args.folders)?;
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

/// Has a database spread over folders, if there are any.
pub fn ask_for(database: &Path, folders: &[PathBuf]) -> anyhow::Result<()> {
    if !folders.is_empty() {
        stripe_database(database, folders)?;
    }
    Ok(())
}
