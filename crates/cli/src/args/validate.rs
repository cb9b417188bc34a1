//! `lode validate`, on the command line.

use super::evaluation::graph_name;
use super::quantity::parse_seconds;
use super::{CacheArgs, EvaluationArgs, LoginArgs, OutputArgs};
use clap::Args;
use lode_rdf::NamedNode;
use std::path::PathBuf;

/// `lode validate`.
#[derive(Debug, Args)]
#[command(
    after_help = "All of SHACL Core and SHACL-SPARQL is known. Each constraint is one query over all focus nodes; recursive shapes are refused.\n\n\
In place of a folder, the address of a lode serve may stand (with /NAME behind it where it has several databases). Then time, memory and what may be \
read are the server's. The address of a published database stands for one that is read here.\n\n\
Exit codes: 0 the data conform; 1 failed; 2 wrong command line; 4 the shapes have a syntax error, or are no shapes; 5 time-out; 7 the data \
do not conform."
)]
pub struct ValidateArgs {
    /// The database folder, the address of a server, or that of a published database
    #[arg(value_name = "DB|URL")]
    pub database: PathBuf,
    /// Files with shapes, in any RDF syntax, also compressed; all together are the shapes graph
    #[arg(value_name = "SHAPES")]
    pub shapes: Vec<PathBuf>,
    /// Take the shapes from this named graph of the database
    #[arg(long, value_name = "IRI", value_parser = graph_name, conflicts_with = "shapes")]
    pub shapes_graph: Option<NamedNode>,
    /// What is validated: default (the default graph), union (all graphs as one), or the IRI of a named graph
    #[arg(long, value_name = "GRAPH", default_value = "default")]
    pub graph: String,
    /// table, json; ttl, nt, rdf, jsonld and others for a report in the vocabulary of SHACL
    #[arg(long, value_name = "NAME", default_value = "table")]
    pub format: String,
    /// Tell so many results, and only count the others
    #[arg(long, value_name = "N", default_value = "1000")]
    pub limit: u64,
    /// Show the queries that the shapes become instead of running them
    #[arg(long)]
    pub explain: bool,
    /// The database as this snapshot has kept it (see lode snapshot), or the published version of this number or name
    #[arg(long, value_name = "NAME")]
    pub at: Option<String>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<std::time::Duration>,
    /// No summary on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// How the table is shown.
    #[command(flatten)]
    pub output: OutputArgs,
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
