//! `lode bench complete` on the command line.

use clap::Args;

/// `lode bench complete`.
#[derive(Debug, Args)]
#[command(
    after_help = "Cuts queries at places where a term stands, as if somebody were writing them, and asks a server what may stand there \
(/api/complete): queries of the benchmark, and random ones that the data answers. One of the ten best items is taken, and the query is asked with it. Told are the \
times of completion, how often there was something to take, and how often what was taken gave an answer."
)]
pub struct BenchCompleteArgs {
    /// The server's address, such as http://127.0.0.1:7878; it has BSBM data
    #[arg(value_name = "URL")]
    pub url: String,
    /// Places
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub positions: usize,
    /// Other queries and places for each
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Tell each item that gave no answer
    #[arg(long)]
    pub verbose: bool,
}
