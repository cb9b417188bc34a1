//! The cache on local disk of what is read of published databases.

use super::quantity::parse_bytes;
use clap::Args;
use std::path::PathBuf;

/// Where parts of a published database are kept.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// Keep what is read of a published database in this folder, which any number of processes may share (default: lode in the folder of your caches;
    /// of file:// addresses nothing is kept unless this is given)
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
    /// The most that this folder may take: what was not used for longest goes
    #[arg(long, default_value = "10GiB", value_name = "BYTES", value_parser = parse_bytes)]
    pub cache_dir_size: usize,
}
