//! `lode shell`.

mod arguments;
mod command;
mod describe;
mod edit;
mod menu;
mod names;
mod session;
mod state;
mod statement;
mod target;
mod words;

use crate::args::ShellArgs;
use crate::exit::{self, Done, wrong_usage};
use crate::talk::say;
use anyhow::Context;
use reedline::Signal;
use session::{Next, Session};
use state::KeptPrefixes;
use statement::{Statements, is_command};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use target::Target;

/// Files that read each other, at most.
const SCRIPTS_MAX: usize = 16;

pub fn run(args: &ShellArgs) -> anyhow::Result<Done> {
    let target = Target::open(args)?;
    let is_interactive = args.commands.is_empty() && io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut session = Session {
        args,
        evaluation: args.evaluation.clone(),
        prefixes: KeptPrefixes::read(&target.name(), !args.no_history),
        target,
        asks_prefixes: true,
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
            if run_line(&mut session, command)? == Next::Quit {
                break;
            }
        }
    }
    Ok(Done::Ok)
}

/// Runs a statement or a command. A script may read others, but not for ever.
fn run_line(session: &mut Session<'_>, text: &str) -> anyhow::Result<Next> {
    if !is_command(text) {
        session.run(text)?;
        return Ok(Next::GoOn);
    }
    session.look_at_prefixes();
    let path = match command::run(session, text.trim())? {
        Next::Read(path) => path,
        next => return Ok(next),
    };
    if session.scripts == SCRIPTS_MAX {
        return Err(wrong_usage(format!("more than {SCRIPTS_MAX} files that read each other")));
    }
    let file = File::open(&path).with_context(|| format!("reading {}", path.display()))?;
    session.scripts += 1;
    let next = script(session, &mut BufReader::new(file));
    session.scripts -= 1;
    next
}

/// Runs what a script says, up to the first error.
fn script(session: &mut Session<'_>, lines: &mut dyn BufRead) -> anyhow::Result<Next> {
    let mut statements = Statements::default();
    for line in lines.lines() {
        for statement in statements.push(&line.context("reading the script")?) {
            if run_line(session, &statement)? == Next::Quit {
                return Ok(Next::Quit);
            }
        }
    }
    statements.end().map_or(Ok(Next::GoOn), |statement| run_line(session, &statement))
}

/// Runs what a person types. An error is told, and the shell goes on.
fn interactive(session: &mut Session<'_>) -> anyhow::Result<()> {
    let help = edit::Help::open(session.args, &session.prefixes)?;
    let mut editor = edit::editor(&help, session.args)?;
    session.completes = Some(help);
    say!("lode {}: {}; .help shows commands", env!("CARGO_PKG_VERSION"), session.target.name());
    loop {
        match editor.read_line(&edit::Question)? {
            Signal::Success(text) => match run_line(session, &text) {
                Ok(Next::Quit) => return Ok(()),
                Ok(_) => {}
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
