//! `lode bench cold` on the command line.

use super::quantity::{parse_bytes, parse_seconds};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// A device that is emulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColdDevice {
    /// 8 ms, 120 MB/s, one request at once
    Disk,
    /// 100 µs, 2 GB/s, 32 requests at once
    Ssd,
    /// 20 ms, 1 GB/s, 64 requests at once
    Object,
}

/// What is read before it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColdPolicy {
    /// Nothing
    None,
    /// What comes next in a scan
    Sequential,
    /// All that a batch of sorted look-ups needs
    Vectored,
    /// Both
    Both,
    /// Both, and on a disk what is around a second block that is missed in a megabyte
    Extent,
    /// All that, and in the background what was in memory before
    Warm,
}

/// `lode bench cold`.
#[derive(Debug, Args)]
#[command(
    after_help = "The database is opened with an empty cache on an emulated device, and the Explore mixes are run until the last ten of them took \
no longer than 10/9 of what they take when all is in memory. That time is measured first, without the device, and what is in memory then is what the policy \
warm reads. The database is only read; \
what is below the emulated device should be in the system's memory: run it twice, or look that the first table is like the second."
)]
pub struct BenchColdArgs {
    /// The database, of BSBM data
    #[arg(value_name = "DB")]
    pub database: PathBuf,
    /// Products that the data were made with
    #[arg(long, value_name = "N")]
    pub products: u64,
    /// Seed that the data were made with
    #[arg(long, default_value_t = 808_080, value_name = "N")]
    pub data_seed: u64,
    /// Seed of the parameters of the queries
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Emulated devices, separated by commas
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "disk,ssd,object",
        value_name = "DEVICES"
    )]
    pub device: Vec<ColdDevice>,
    /// What is read before it is wanted: policies, separated by commas
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "none,sequential,vectored,both,extent,warm",
        value_name = "POLICIES"
    )]
    pub policy: Vec<ColdPolicy>,
    /// Mixes with parameters of their own; then they come again
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub mixes: usize,
    /// Memory for blocks
    #[arg(long, default_value = "1GiB", value_name = "BYTES", value_parser = parse_bytes)]
    pub cache: usize,
    /// The longest that one device and policy may take
    #[arg(long, default_value = "120", value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Duration,
    /// Write a report as JSON instead of the table
    #[arg(long)]
    pub json: bool,
    /// Also draw how the rate rises, for each device and policy, into this file as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}
