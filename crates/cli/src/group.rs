//! `lode group`: what roles and groups of an OpenID Connect provider may do.

use crate::args::GroupCommand;
use crate::exit::Done;
use crate::talk::say;
use crate::user::{file, graphs};
use lode_server::Users;
use std::io::{self, Write};

pub fn run(command: &GroupCommand) -> anyhow::Result<Done> {
    match command {
        GroupCommand::Grant(args) => {
            let graphs = graphs(&args.graphs)?;
            let all = Users::change(&file(&args.place)?, |users| {
                users.grant_group(&args.name, args.role, &args.database, &graphs)
            })?;
            say!("the group {} has the role {all}", args.name);
        }
        GroupCommand::List(place) => {
            let mut out = io::stdout().lock();
            for (name, rights) in Users::read_or_empty(&file(place)?)?.groups() {
                writeln!(out, "{name}\t{rights}")?;
            }
        }
        GroupCommand::Remove(args) => {
            Users::change(&file(&args.place)?, |users| users.remove_group(&args.name))?;
            say!("removed the group {}", args.name);
        }
    }
    Ok(Done::Ok)
}
