//! Options of `lode geo`.

use super::folder;
use super::quantity::parse_bytes;
use clap::Args;
use std::path::PathBuf;

/// `lode geo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Makes an index of where all geometries are, so that conditions on them (geof:sfIntersects, geof:sfWithin and the other relations with a constant geometry, \
geof:distance less than a number) look up what they would else read. Answers are the same with and without. It is kept with the database: loads, updates from the command \
line and compactions make it for what is new; until then new geometries are read. Literals that have the datatype of a geometry and are none are counted: no condition ever \
holds for them. Backups and what is published have no index.\n\n\
Exit codes: 0 done; 1 failed, conditions go on as before; 2 wrong command line."
)]
pub struct GeoArgs {
    /// The database folder
    #[arg(value_parser = folder::folder_to_work_on())]
    pub database: PathBuf,
    /// Remove the index, and make none from now on
    #[arg(long, conflicts_with = "force")]
    pub drop: bool,
    /// Make it again where it is there
    #[arg(long)]
    pub force: bool,
    /// Memory it may use, such as 512MiB or 2GiB (default: a quarter of the machine's, 2GiB at most)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<usize>,
    /// Write the report as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// No summary
    #[arg(long, short)]
    pub quiet: bool,
}
