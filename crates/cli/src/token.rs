//! `lode token`: what programs log in with.

use crate::args::TokenCommand;
use crate::exit::Done;
use crate::talk::say;
use crate::user::{file, rights};
use anyhow::Context;
use lode_server::Users;
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn run(command: &TokenCommand) -> anyhow::Result<Done> {
    match command {
        TokenCommand::Add(args) => {
            let expires =
                args.expires.0.map(|time| since_1970().map(|now| (now + time).as_secs())).transpose()?;
            let path = file(&args.place)?;
            let rights = rights(args.role, &args.database, &args.graphs)?;
            let told = rights.to_string();
            let token = Users::change(&path, |users| users.add_token(&args.name, rights, expires))?;
            writeln!(io::stdout().lock(), "{token}")?;
            say!("a token with the role {told} ({}); it cannot be shown again", path.display());
        }
        TokenCommand::List(place) => {
            let tokens = Users::read_or_empty(&file(place)?)?.tokens();
            let (mut out, now) = (io::stdout().lock(), since_1970()?.as_secs());
            for (name, rights, expires) in tokens {
                let left = match expires {
                    None => "never expires".to_owned(),
                    Some(expires) if expires <= now => "has expired".to_owned(),
                    Some(expires) => format!("expires in {}", time_left(expires - now)),
                };
                writeln!(out, "{name}\t{rights}\t{left}")?;
            }
        }
        TokenCommand::Revoke(args) => {
            Users::change(&file(&args.place)?, |users| users.revoke_token(&args.name))?;
            say!("revoked {}", args.name);
        }
    }
    Ok(Done::Ok)
}

fn since_1970() -> anyhow::Result<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")
}

/// In the largest unit that fits twice.
fn time_left(seconds: u64) -> String {
    let units = [(86_400, "days"), (3600, "hours"), (60, "minutes")];
    let unit = units.into_iter().find(|(length, _)| seconds >= 2 * length);
    unit.map_or_else(|| format!("{seconds} seconds"), |(length, name)| format!("{} {name}", seconds / length))
}
