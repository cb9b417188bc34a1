//! `lode bench geo` on the command line.

use clap::Args;
use std::path::PathBuf;

/// `lode bench geo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Points, a tenth of them shops, lines, small areas, and a hundredth as many large zones are made from a seed, loaded, and indexed. Asked are windows that have about 1,000 points, the ten \
points that are nearest to a place, and how many pairs of a shop and a zone there are in which it is (a spatial join); then all again without the index, once.\n\n\
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
    /// Write the figures as JSON
    #[arg(long)]
    pub json: bool,
}
