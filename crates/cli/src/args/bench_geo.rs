//! `lode bench geo` on the command line.

use super::quantity::parse_seconds;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `lode bench geo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Points, a tenth of them shops, lines, small areas, and a hundredth as many large zones are made from a seed, loaded, and indexed. Asked are windows that have about 1,000 points, the ten \
points that are nearest to a place, and how many pairs of a shop and a zone there are in which it is (a spatial join); then all again without the index, once.\n\n\
With --endpoint other stores are asked the same, which have to have the data of the same sizes and seed; what they answer is compared. bench/rivals/geo tells how Jena, \
Virtuoso and Oxigraph get it.\n\n\
Nothing is kept, unless --folder says where."
)]
pub struct BenchGeoArgs {
    /// Points; a tenth of them are the shops of the join
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub points: u64,
    /// Lines
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub lines: u64,
    /// Polygons; a hundredth of them are the zones of the join
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub polygons: u64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Windows and places that are asked for
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub runs: usize,
    /// Keep data and database in this folder, which is made anew
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Also ask a store that has the data: its name, and where it answers queries. A store named jena or virtuoso is asked in its own way; repeatable
    #[arg(long, value_name = "NAME=URL", value_parser = named_url)]
    pub endpoint: Vec<(String, String)>,
    /// Seconds after which a query to one of these is given up
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// Write the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// A store's name and its address.
fn named_url(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, url)) if !name.is_empty() && url.contains("://") => Ok((name.to_owned(), url.to_owned())),
        _ => Err("write NAME=URL, as in jena=http://127.0.0.1:3030/ds/query".to_owned()),
    }
}
