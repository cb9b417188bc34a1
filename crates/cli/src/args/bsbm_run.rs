//! `lode bench bsbm run` on the command line.

use super::bench_target::TargetArgs;
use clap::{Args, ValueEnum};

/// `lode bench bsbm run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Whole mixes in the published order (25 Explore queries, 15 of Business Intelligence), each query with parameters of its \
own. Every client has a connection of its own, which is kept, and reads whole answers: JSON results of SELECT, N-Triples of CONSTRUCT \
and DESCRIBE. A query's time runs from the request to the end of its answer.\n\n\
QMpH: mixes of all clients in an hour. CQET: mean run time of a mix, which is the sum of its queries' times. AQET: mean time of a query. \
QPS: queries of one kind that are answered in a second that is spent on this kind.\n\n\
The update mix begins with two updates: INSERT DATA of a new product with 20 offers and 10 reviews (about 470 triples), and DELETE WHERE of \
all triples of a random offer; the 25 queries of Explore follow. Another --seed inserts other products.\n\n\
With --compare nothing is measured: one client asks each query of both, and tells the answers that differ. Numbers may differ by one in ten \
thousand, and rows that ORDER BY does not tell apart may be others where LIMIT cuts, and a DESCRIBE may say more.\n\n\
Exit codes: 0 all queries were answered (and alike); 1 some failed or took too long (they are told, and counted), or there was nobody to ask."
)]
pub struct BsbmRunArgs {
    /// Whom to ask.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Size of the data set, in products
    #[arg(long, value_name = "N")]
    pub products: u64,
    /// Which mix
    #[arg(long, value_enum, default_value = "explore")]
    pub mix: Mix,
    /// Clients that ask at the same time
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub clients: usize,
    /// Mixes that are not counted, of all clients
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub warmup: u64,
    /// Mixes that are counted, of all clients
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub runs: u64,
    /// Seed of the data set
    #[arg(long, default_value_t = 808_080, value_name = "N")]
    pub data_seed: u64,
    /// Seed of the parameters and of new products; each client has one of its own that is made of it
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}

/// A query mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mix {
    /// Short look-ups
    Explore,
    /// Joins and aggregates over much of the data
    Bi,
    /// A product with its offers and reviews comes, an offer goes, then Explore; changes the database
    Update,
}
