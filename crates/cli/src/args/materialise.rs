//! Options of `lode materialise`.

use super::evaluation::DefaultGraphArg;
use super::folder;
use super::quantity::{parse_memory, parse_seconds};
use clap::Args;
use std::path::PathBuf;

/// `lode materialise`.
#[derive(Debug, Args)]
#[command(
    after_help = "What follows is added in one transaction, in a graph of its own, <urn:lodestore:inferred>: queries see it in the default graph, \
unless they say --asserted (infer=false of a server); GRAPH ?g does not find it, and dumps leave it out. The rules stay with the database: after \
changes, `lode materialise DB` applies them again, and lode stats tells whether that is needed.\n\n\
A file of rules has CONSTRUCT { ... } WHERE { ... } several times, with ; between them; `# rule NAME` before one names it. NOT EXISTS, MINUS, OPTIONAL \
and aggregates may ask for what rules add that do not depend on the rule itself. ASK { ... } is a rule that says what must not be: where it has a solution the data are \
contradictory, which is told (lode why DB false tells why), and nothing is changed for it. owl2-rl and skos have such rules.\n\n\
Where there is no memory for all that follows, or it is stopped, the database is as it was.\n\n\
Exit codes: 0 done; 1 failed, the database is as it was; 2 wrong command line; 4 the rules have a mistake; 5 time-out; 7 the \
data are contradictory (--check)."
)]
pub struct MaterialiseArgs {
    /// The database folder
    #[arg(value_parser = folder::folder())]
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
}
