//! `lode bench crowd` on the command line.

use super::quantity::parse_seconds;
use clap::Args;
use std::time::Duration;

/// `lode bench crowd`.
#[derive(Debug, Args)]
#[command(
    after_help = "Many clients send heavy queries to a server, each the next one as soon as it is answered (or, where it is refused with \
Retry-After, after that time). Meanwhile one client sends light queries, one after the other. Told are the times of the light answers, and \
what became of the heavy queries."
)]
pub struct BenchCrowdArgs {
    /// The endpoint's address, such as http://127.0.0.1:7878/sparql
    #[arg(value_name = "URL")]
    pub url: String,
    /// Clients that send heavy queries
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub clients: usize,
    /// A heavy query; repeatable
    #[arg(
        long,
        value_name = "QUERY",
        default_value = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f FILTER(?c != ?f) }"
    )]
    pub heavy: Vec<String>,
    /// A light query; repeatable, all of them in turns. %n% is a number that is another one each time
    #[arg(long, value_name = "QUERY", required = true)]
    pub light: Vec<String>,
    /// How long
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Duration,
    /// Pause between two light queries
    #[arg(long, default_value = "0.02", value_name = "SECONDS", value_parser = parse_seconds)]
    pub pause: Duration,
}
