//! `lode bench lubm` on the command line.

use super::QuerySetArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `lode bench lubm`.
#[derive(Debug, Subcommand)]
pub enum LubmCommand {
    /// Write universities; the same seed gives the same bytes
    Generate(LubmGenerateArgs),
    /// Write the ontology, as Turtle: what --asserted leaves out follows by it (--reason rdfs-plus)
    Ontology(LubmOntologyArgs),
    /// Run the 14 queries on an endpoint, or on a database in this process
    Run(QuerySetArgs),
}

/// `lode bench lubm generate`.
#[derive(Debug, Args)]
#[command(
    after_help = "The profile is that of the published generator (UBA), its random numbers are not. The 14 queries ask for what the univ-bench ontology \
implies: super-classes and super-properties, inverses, sub-organisations of sub-organisations, and the classes that are defined by a property. These \
triples are written beside the others, so that stores answer without reasoning; --asserted leaves them out."
)]
pub struct LubmGenerateArgs {
    /// Size, in universities; one makes about 185,000 triples
    #[arg(long, value_name = "N")]
    pub universities: u64,
    /// Syntax: nt
    #[arg(long, default_value = "nt", value_name = "NAME")]
    pub format: String,
    /// Only what is asserted, about 135,000 triples a university
    #[arg(long)]
    pub asserted: bool,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Write here (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No summary
    #[arg(long, short)]
    pub quiet: bool,
}

/// `lode bench lubm ontology`.
#[derive(Debug, Args)]
pub struct LubmOntologyArgs {
    /// Write here (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
