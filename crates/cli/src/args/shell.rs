//! Arguments of the shell.

use super::evaluation::EvaluationArgs;
use super::output::OutputArgs;
use super::quantity::parse_seconds;
use super::top::LoginArgs;
use clap::Args;

/// `lode shell`.
#[derive(Debug, Args)]
#[command(
    after_help = "Enter runs a query or an update that is whole; one that is not goes on in the next line. ; at the end of a line runs what is whole without \
it, two empty lines run what there is, and Alt-Enter makes a new line. Tab completes by what gives answers in the data. Ctrl-C cancels what runs, or what is typed; \
Ctrl-D ends the shell. Lines that begin with a dot are commands: .help shows them.\n\n\
Prefixes that are usual, or that .prefix or an earlier query has declared, need not be declared; they are kept for each database, and the history for all, \
in XDG_STATE_HOME/lode (~/.local/state/lode), which only its owner can read.\n\n\
Where standard input is no terminal, statements and commands are read from it: a statement ends with a ; at the end of a line, with an empty line, before a \
command, or at the end. The first that fails ends the shell with its exit code."
)]
pub struct ShellArgs {
    /// The database folder, or the address of a server
    #[arg(value_name = "DB|URL")]
    pub database: std::path::PathBuf,
    /// Run this statement or command, and end; repeatable
    #[arg(short = 'c', long = "command", value_name = "TEXT")]
    pub commands: Vec<String>,
    /// Give up a query or an update after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<std::time::Duration>,
    /// Keep no history, and no prefixes
    #[arg(long)]
    pub no_history: bool,
    /// Only read: updates and .load are refused
    #[arg(long)]
    pub read_only: bool,
    /// How answers are shown.
    #[command(flatten)]
    pub output: OutputArgs,
    /// How to be let in, of a server.
    #[command(flatten, next_help_heading = "With a URL")]
    pub login: LoginArgs,
    /// Evaluation.
    #[command(flatten, next_help_heading = "Evaluation")]
    pub evaluation: EvaluationArgs,
}
