//! Options of `lode materialise`.

use super::evaluation::DefaultGraphArg;
use super::quantity::{parse_memory, parse_seconds};
use super::top::LoginArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// When what follows from changes is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MaintainArg {
    /// By each commit, in the same transaction
    Sync,
    /// By a server, in the background; or by the next `lode materialise`: until then it is stale
    Async,
}

/// `lode materialise`.
#[derive(Debug, Args)]
#[command(
    after_help = "What follows is added in one transaction, in a graph of its own, <urn:lodestore:inferred>: queries see it in the default graph, \
unless they say --asserted (infer=false of a server); GRAPH ?g does not find it, and dumps leave it out. The rules stay with the database, and each \
commit brings what follows up to date (--maintain sync). A bulk load does not, nor a commit of which too much follows: then, and with --maintain \
async, a server brings it up to date in the background, or `lode materialise DB` applies the rules again; lode stats tells whether that is needed.\n\n\
A file of rules has CONSTRUCT { ... } WHERE { ... } several times, with ; between them; `# rule NAME` before one names it. NOT EXISTS, MINUS, OPTIONAL \
and aggregates may ask for what rules add that do not depend on the rule itself. ASK { ... } is a rule that says what must not be: where it has a solution the data are \
contradictory, which is told (lode why DB false tells why), and nothing is changed for it. owl2-rl and skos have such rules.\n\n\
Where there is no memory for all that follows, or it is stopped, the database is as it was.\n\n\
In place of a folder, the address of a lode serve may stand (with /NAME behind it where it has several databases), for those who may administer it: then memory and \
threads are the server's.\n\n\
Exit codes: 0 done; 1 failed, the database is as it was; 2 wrong command line; 4 the rules have a mistake; 5 time-out; 7 the \
data are contradictory (--check)."
)]
pub struct MaterialiseArgs {
    /// The database folder, or the address of a server
    #[arg(value_name = "DB|URL", value_parser = super::folder::folder_or_server())]
    pub database: PathBuf,
    /// Apply these rules: rdfs, rdfs-plus, owl2-rl, skos, or a file with rules (.n3: in N3, else in SPARQL); repeatable (default: those that
    /// were applied before)
    #[arg(long, value_name = "SET|FILE")]
    pub rules: Vec<String>,
    /// Change nothing: tell what of the data is contradictory, by the rules that were applied before
    #[arg(long, conflicts_with_all = ["rules", "default_graph", "drop"])]
    pub check: bool,
    /// Tell so many contradictions
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u16).range(1..))]
    pub contradictions: u16,
    /// Remove all that was inferred, and the rules
    #[arg(long, conflicts_with_all = ["rules", "default_graph"])]
    pub drop: bool,
    /// What rules read, besides what follows (default: as before, or else separate)
    #[arg(long, value_enum, value_name = "WHICH")]
    pub default_graph: Option<DefaultGraphArg>,
    /// When what follows from later changes is added (default: as before, or else sync)
    #[arg(long, value_enum, value_name = "WHEN", conflicts_with = "drop")]
    pub maintain: Option<MaintainArg>,
    /// Threads (default: one a core)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Memory that it may use, such as 512MiB or 2GiB, at least 64MiB: what is inferred is there until it is written, with 100 to 300 bytes a triple
    /// (default: half of the machine's)
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    pub memory: Option<usize>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<std::time::Duration>,
    /// Write what was done as JSON to standard output: for each rule how many triples it found, and how long that took
    #[arg(long)]
    pub json: bool,
    /// No progress line and no summary: errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// How to be let in, of a server.
    #[command(flatten, next_help_heading = "With a URL")]
    pub login: LoginArgs,
}
