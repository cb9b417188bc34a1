//! `lode io-probe` on the command line.

use super::quantity::parse_bytes;
use clap::Args;
use std::path::PathBuf;

/// `lode io-probe`.
#[derive(Debug, Args)]
#[command(
    after_help = "A file without a name is written into the folder and read at random places, in requests of 4 KiB to 1 MiB, one to 32 at once; it takes some ten seconds. \
In the folder of a database what follows is kept (io-profile), and used by all that open it from then on: how far apart blocks may be to be read as one, how many \
requests are under way, and how long each may be. Without it local files are read as from flash.\n\n\
Let nothing else use the device meanwhile. Where the system does not forget what it has in memory (tmpfs, say) it is memory that is measured: then nothing is kept."
)]
pub struct IoProbeArgs {
    /// A folder on the device: that of a database, or any other
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Bytes of the file that is written
    #[arg(long, default_value = "512MiB", value_name = "BYTES", value_parser = parse_bytes)]
    pub file_bytes: usize,
    /// Keep nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write what was measured as JSON to standard output
    #[arg(long)]
    pub json: bool,
}
