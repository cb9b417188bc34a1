//! How queries are evaluated, on the command line.

use super::quantity::{parse_bytes, parse_memory, parse_seconds};
use clap::{Args, ValueEnum};

/// Options that queries share, on the command line and served.
#[derive(Debug, Args)]
pub struct EvaluationArgs {
    /// What patterns outside GRAPH see
    #[arg(long, value_enum, default_value = "separate", value_name = "WHICH")]
    pub default_graph: DefaultGraphArg,
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
