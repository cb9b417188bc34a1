//! `lode bench cluster` on the command line.

use clap::Args;

/// `lode bench cluster`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is run: costs on one machine are put into a model of stages, tasks, exchanges, an object store and a \
network. A task has whole keys, so the largest key bounds what more workers give. Queries read 30 % of the triples. Costs that are not given \
are assumptions of the right order."
)]
pub struct BenchClusterArgs {
    /// Predict (there is nothing else)
    #[arg(long, required = true)]
    pub simulate: bool,
    /// Machines, with commas between them
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2,4,10,32,100,256", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub workers: Vec<u32>,
    /// Cores of each
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub cores: u32,
    /// Triples, in thousands of millions, with commas between them
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,10,100,1000", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub billions: Vec<u32>,
    /// The exponent of the power law of how many rows keys have: 0 all the same, 1 as words of a language
    #[arg(long, value_name = "S", default_value_t = 0.8, value_parser = skew)]
    pub skew: f64,
    /// The part of what is read that workers have in their caches, from 0 to 1
    #[arg(long, value_name = "PART", default_value_t = 1.0, value_parser = super::serve::parse_part)]
    pub cached: f64,
    /// To read a row of an index, in nanoseconds of a core
    #[arg(long, value_name = "NS", value_parser = cost)]
    pub scan: Option<f64>,
    /// To merge a row with others of its key
    #[arg(long, value_name = "NS", value_parser = cost)]
    pub merge: Option<f64>,
    /// To put a row into a hash table, or to look it up
    #[arg(long, value_name = "NS", value_parser = cost)]
    pub hash: Option<f64>,
    /// To send a row to another worker, both sides together
    #[arg(long, value_name = "NS", value_parser = cost)]
    pub exchange: Option<f64>,
    /// Until the object store begins to answer, in milliseconds
    #[arg(long, value_name = "MS", value_parser = cost)]
    pub request: Option<f64>,
    /// Thousand million bits a second of each machine
    #[arg(long, value_name = "GBIT", value_parser = cost)]
    pub network: Option<f64>,
    /// Write JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

fn number(text: &str, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && (0.0..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from 0 to {most}"))
}

fn skew(text: &str) -> Result<f64, String> {
    number(text, 3.0)
}

fn cost(text: &str) -> Result<f64, String> {
    number(text, 1e6).and_then(|cost| if cost > 0.0 { Ok(cost) } else { Err("expected more than 0".into()) })
}
