//! `lode bench soak` on the command line.

use super::quantity::{parse_bytes, parse_seconds};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `lode bench soak`.
#[derive(Debug, Args)]
#[command(
    after_help = "Serves a database of its own from a process of its own, to clients that write, rewrite and remove groups of quads, that read \
them, now and at named snapshots, and that make backups (some are restored and looked into), snapshots and compactions. The server is \
killed now and then; then the whole database is compared with what was confirmed. Everything goes into FOLDER and stays there.\n\n\
Exit codes: 0 all is well; 1 something confirmed was lost, or something was there in part, or the server failed in another way."
)]
pub struct BenchSoakArgs {
    /// A new or empty folder, for the database, its backups and what is restored of them
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// How long
    #[arg(long, default_value = "30", value_name = "N", value_parser = parse_minutes)]
    pub minutes: Duration,
    /// Clients that read
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub readers: usize,
    /// Clients that write
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub writers: usize,
    /// Seconds between two kills, about; 0 for none
    #[arg(long, default_value = "45", value_name = "SECONDS", value_parser = parse_seconds)]
    pub kill_every: Duration,
    /// Groups of 11 quads on average, about, that are there at once; when there are more, as many are removed as are made
    #[arg(long, default_value_t = 40_000, value_name = "N")]
    pub units: usize,
    /// Size of the data that lie in the database from the beginning, in products of BSBM; each has about 355 triples
    #[arg(long, default_value_t = 14_240, value_name = "N")]
    pub products: u64,
    /// Memory for the server's cache of blocks
    #[arg(long, default_value = "256MiB", value_parser = parse_bytes, value_name = "SIZE")]
    pub cache: usize,
    /// Seed of all random choices (not of when things happen)
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Write the figures as JSON to standard output
    #[arg(long)]
    pub json: bool,
}

/// A number of minutes, with or without fraction.
fn parse_minutes(text: &str) -> Result<Duration, String> {
    let minutes: f64 = text.parse().map_err(|_| "expected a number of minutes".to_owned())?;
    Duration::try_from_secs_f64(minutes * 60.0).map_err(|error| error.to_string())
}
