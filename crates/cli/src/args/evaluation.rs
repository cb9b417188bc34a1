//! How queries are evaluated, on the command line.

use super::quantity::{parse_bytes, parse_memory, parse_seconds};
use clap::{Args, ValueEnum};
use lode_engine::SchemaRules;
use lode_rdf::NamedNode;

/// Options that queries share, on the command line and served.
#[derive(Debug, Clone, Args)]
pub struct EvaluationArgs {
    /// What patterns outside GRAPH see
    #[arg(long, value_enum, default_value = "separate", value_name = "WHICH")]
    pub default_graph: DefaultGraphArg,
    /// Queries also find what follows from the data by these rules, though nothing of it is stored: none; hierarchies (of classes and
    /// properties), rdfs (with domains and ranges), rdfs-plus (with inverse, symmetric and transitive properties), or single rules with commas
    /// between them (default: none; of a server, its own)
    #[arg(long, value_name = "RULES")]
    pub reason: Option<SchemaRules>,
    /// A named graph that has the schema for --reason; repeatable (default: all graphs, the default graph among them)
    #[arg(long, value_name = "IRI", value_parser = graph_name)]
    pub schema_graph: Vec<NamedNode>,
    /// Queries find only what was stated, and not what lode materialise has added
    #[arg(long)]
    pub asserted: bool,
    /// Threads for a query (default: one a core)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Memory that the process may use in all, such as 512MiB or 2GiB, at least 64MiB: queries, updates, uploads, compaction and the cache
    /// share it, and work on disk beyond it (default: half of the machine's)
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    pub memory: Option<usize>,
    /// The most of it for the cache of decompressed blocks, which gives it back where others need it (default: half)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub cache: Option<usize>,
    /// Read and write the files of databases past the memory of the system (O_DIRECT): what is read is kept in --cache alone. Where the file
    /// system refuses, that is told, and all goes on as without
    #[arg(long)]
    pub direct: bool,
    /// Let SERVICE ask this endpoint (its IRI, or what that begins with and *: scheme, host and port count wholly), also over https;
    /// repeatable, none by default
    #[arg(long, value_name = "IRI")]
    pub allow_service: Vec<String>,
    /// Requests to endpoints that SERVICE of a query may have on their way at once
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub service_requests: u16,
    /// How long an endpoint of SERVICE may be silent, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub service_timeout: std::time::Duration,
}

/// Which default graph queries see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DefaultGraphArg {
    /// A graph of its own, as SPARQL has it
    Separate,
    /// The union of all graphs
    Union,
}

pub(super) fn graph_name(text: &str) -> Result<NamedNode, String> {
    NamedNode::new(text).map_err(|error| format!("expected the IRI of a graph: {error}"))
}
