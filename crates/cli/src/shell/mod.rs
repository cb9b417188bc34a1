//! `lode shell`.

mod command;
mod edit;
mod session;
mod state;
mod statement;
mod target;

use crate::args::ShellArgs;
use crate::exit::{self, Done};
use crate::talk::say;
use anyhow::Context;
use reedline::Signal;
use session::{Next, Session};
use state::KeptPrefixes;
use statement::Statements;
use std::io::{self, BufRead, IsTerminal};
use target::Target;

pub fn run(args: &ShellArgs) -> anyhow::Result<Done> {
    let target = Target::open(args)?;
    let is_interactive = args.commands.is_empty() && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut session = Session {
        args,
        prefixes: KeptPrefixes::read(&target.name(), !args.no_history),
        target,
        format: None,
        timer: is_interactive,
        explains: false,
        output: None,
        completes: None,
        scripts: 0,
        is_interactive,
    };
    if is_interactive {
        interactive(&mut session)?;
    } else if args.commands.is_empty() {
        script(&mut session, &mut io::stdin().lock())?;
    } else {
        for command in &args.commands {
            if session.run(command)? == Next::Quit {
                break;
            }
        }
    }
    Ok(Done::Ok)
}

/// Runs what a script says, up to the first error.
fn script(session: &mut Session<'_>, lines: &mut dyn BufRead) -> anyhow::Result<Next> {
    let mut statements = Statements::default();
    for line in lines.lines() {
        for statement in statements.push(&line.context("reading the script")?) {
            if session.run(&statement)? == Next::Quit {
                return Ok(Next::Quit);
            }
        }
    }
    statements.end().map_or(Ok(Next::GoOn), |statement| session.run(&statement))
}

/// Runs what a person types. An error is told, and the shell goes on.
fn interactive(session: &mut Session<'_>) -> anyhow::Result<()> {
    let help = edit::Help::open(session.args, &session.prefixes)?;
    let mut editor = edit::editor(&help, session.args)?;
    session.completes = Some(help);
    say!("lode {}: {}; .help shows commands", env!("CARGO_PKG_VERSION"), session.target.name());
    loop {
        match editor.read_line(&edit::Question)? {
            Signal::Success(text) => match session.run(&text) {
                Ok(Next::Quit) => return Ok(()),
                Ok(Next::GoOn) => {}
                Err(error) if exit::is_broken_pipe(&error) => {}
                Err(error) => say!("error: {}", exit::text(&error)),
            },
            Signal::CtrlD => return Ok(()),
            _ => {}
        }
        // What cannot be kept now is tried again at the end.
        let _ = editor.sync_history();
        if let Some(help) = &session.completes {
            help.keep(&session.prefixes);
        }
    }
}
