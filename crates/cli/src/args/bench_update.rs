//! `lode bench update` on the command line.

use super::quantity::parse_bytes;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `lode bench update`.
#[derive(Debug, Args)]
#[command(
    after_help = "Changes the database. Clients are threads of this process; each waits for its commit to be durable before the next."
)]
pub struct BenchUpdateArgs {
    /// The database folder; made if there is none
    pub database: PathBuf,
    /// Clients at once
    #[arg(long, default_value_t = 16, value_name = "N")]
    pub clients: usize,
    /// Transactions of each client
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub transactions: u64,
    /// Triples of each transaction
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub size: u64,
    /// What the transactions do
    #[arg(long, value_enum, default_value = "insert")]
    pub shape: UpdateShape,
    /// Seed; another one makes other triples
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Memory for the block cache
    #[arg(long, default_value = "1GiB", value_parser = parse_bytes, value_name = "SIZE")]
    pub cache: usize,
    /// Memory of changes beyond which they become a segment
    #[arg(long, default_value = "128MiB", value_parser = parse_bytes, value_name = "SIZE")]
    pub delta: usize,
    /// Size of the log beyond which what is in it becomes a segment
    #[arg(long, default_value = "256MiB", value_parser = parse_bytes, value_name = "SIZE")]
    pub log: usize,
    /// Write the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// What transactions of a benchmark do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UpdateShape {
    /// Insert new triples of new subjects
    Insert,
    /// Delete triples of random subjects, or give these other values, half and half
    Scatter,
    /// Give the same subjects another value again and again
    Churn,
}
