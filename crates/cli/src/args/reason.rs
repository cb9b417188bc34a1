//! `lode bench reason` on the command line.

use super::quantity::{parse_bytes, parse_seconds};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `lode bench reason`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each reasoner reads the same N-Triples in a process of its own and infers once. Told are the seconds that inferring took as the reasoner tells them, \
those of the whole process (reading, and for Lodestore also loading, writing and committing), and the most memory that it had resident (Linux only; for Lodestore the larger \
one of loading and inferring).\n\n\
Beside Lodestore are run, where they are found: reasonable and owlrl, if Python has them (pip install reasonable owlrl), and Jena's rules (OWL Mini), where java and a class path of \
Jena 4 or later are there. Their sets of rules differ somewhat, and some count axioms of the vocabulary as inferred: compare numbers of triples before times.\n\n\
A size of 0 leaves the data out. Nothing is kept, unless --folder says where."
)]
pub struct BenchReasonArgs {
    /// Links of a chain of a transitive property: of n follow n(n-1)/2
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub chain: u64,
    /// Classes of a hierarchy with a hundred below one, ten instances of each
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub wide: u64,
    /// Classes of a hierarchy that is 30 deep, ten instances of each
    #[arg(long, default_value_t = 300, value_name = "N")]
    pub deep: u64,
    /// Groups of eight names for the same thing (owl:sameAs)
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub equal: u64,
    /// People of a family: a property chain, an inverse, a domain and a range
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub joins: u64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Rules that Lodestore applies, as lode materialise --rules; the others have their own
    #[arg(long, default_value = "owl2-rl", value_name = "RULES")]
    pub rules: String,
    /// Runs of each; told is the median one
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub runs: usize,
    /// Seconds after which a reasoner is ended and counted as failed
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub limit: Duration,
    /// Memory for Lodestore, as --memory of lode load and lode materialise
    #[arg(long, value_parser = parse_bytes, value_name = "SIZE")]
    pub memory: Option<usize>,
    /// Threads of Lodestore (default: as many as cores)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Only Lodestore
    #[arg(long)]
    pub alone: bool,
    /// Python that may have reasonable and owlrl
    #[arg(long, default_value = "python3", value_name = "PROGRAM")]
    pub python: PathBuf,
    /// Java, with its compiler
    #[arg(long, default_value = "java", value_name = "PROGRAM")]
    pub java: PathBuf,
    /// Class path of Jena (default: $JENA_HOME/lib/*)
    #[arg(long, value_name = "PATH")]
    pub jena: Option<String>,
    /// Keep data and databases in this folder, which is made anew
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Write the figures as JSON
    #[arg(long)]
    pub json: bool,
}
