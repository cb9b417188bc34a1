//! `lode bench analytic`, and the other commands that run a set of named queries.

use super::TargetArgs;
use clap::Args;

/// What runs of query sets have in common.
#[derive(Debug, Args)]
#[command(
    after_help = "Each query is asked once to check its answer, then --warmup times, then --runs times. A time runs from the request to the end of \
the answer, which is read whole: JSON results of SELECT, N-Triples of CONSTRUCT.\n\n\
The checksum depends on neither the order of rows nor the names of blank nodes. Numbers count by value (1, 1.0 and 1e0 are one), to six digits \
where they have a fraction, so that two stores can be compared; with --compare, differences of one in ten thousand are let pass in \
numbers, and rows that ORDER BY does not tell apart may be others where LIMIT cuts.\n\n\
A query that fails or takes too long is told, counted, and not asked again; before the next one, the processes of --server-pid are \
given two minutes to become idle.\n\n\
Exit codes: 0 all queries were answered; 1 some failed or took too long, or an answer differs (each is told)."
)]
pub struct QuerySetArgs {
    /// Whom to ask.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Times that each query is asked and measured; 0 only checks answers
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub runs: usize,
    /// Times that each query is asked before
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub warmup: usize,
    /// Only these queries, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
}
