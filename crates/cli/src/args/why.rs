//! `lode why`, on the command line.

use super::quantity::parse_seconds;
use super::{CacheArgs, EvaluationArgs, LoginArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `lode why`.
#[derive(Debug, Args)]
#[command(
    after_help = "A proof is a tree: what follows, and below it what it follows from, down to triples that are asserted. Rules are those that lode materialise \
has applied and, with --reason, those by which queries reason at run time. IRIs in the triple may have the prefixes of loaded documents and the usual ones; \
a blank node has the label that queries show.\n\n\
In place of a folder, the address of a lode serve may stand (with /NAME behind it where it has several databases), or that of a published database.\n\n\
Exit codes: 0 told; 1 failed; 2 wrong command line; 4 the triple has a syntax error; 5 time-out."
)]
pub struct WhyArgs {
    /// The database folder, the address of a server, or that of a published database
    #[arg(value_name = "DB|URL")]
    pub database: PathBuf,
    /// A triple, as in Turtle: ':tom a :Cat'. Or false: why the data are contradictory
    #[arg(value_name = "TRIPLE")]
    pub triple: String,
    /// Where it is asked for: default (the default graph), union (all graphs as one), or the IRI of a named graph
    #[arg(long, value_name = "GRAPH", default_value = "default")]
    pub graph: String,
    /// How it is told
    #[arg(long, value_enum, value_name = "text|json", default_value = "text", hide_possible_values = true)]
    pub format: WhyFormat,
    /// Tell so many proofs, the shortest first (of false: so many contradictions)
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub proofs: u16,
    /// Steps of a proof that may be above each other
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u16).range(1..))]
    pub depth: u16,
    /// Triples that are looked at for a proof
    #[arg(long, value_name = "N", default_value = "20000", value_parser = clap::value_parser!(u32).range(1..))]
    pub facts: u32,
    /// The database as this snapshot has kept it (see lode snapshot), or the published version of this number or name
    #[arg(long, value_name = "NAME")]
    pub at: Option<String>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<std::time::Duration>,
    /// Write to a terminal at once, and not through a pager (PAGER, or less -FRX)
    #[arg(long)]
    pub no_pager: bool,
    /// What is kept of a published database.
    #[command(flatten, next_help_heading = "With a published database")]
    pub published: CacheArgs,
    /// How to be let in, of a server.
    #[command(flatten, next_help_heading = "With a URL")]
    pub login: LoginArgs,
    /// Evaluation.
    #[command(flatten, next_help_heading = "Evaluation")]
    pub evaluation: EvaluationArgs,
}

/// How an explanation is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WhyFormat {
    /// For people
    Text,
    /// For programs
    Json,
}
