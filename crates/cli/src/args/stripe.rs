//! `lode stripe` on the command line.

use super::folder::folder;
use clap::Args;
use std::path::PathBuf;

/// `lode stripe`.
#[derive(Debug, Args)]
#[command(
    after_help = "The files of segments, and temporary files of loads and compactions, are cut into chunks of 256 KiB, which go to the folders in turn: of a scan of one order, too, \
all disks are read at once. Each folder gets a folder of the database's own (lode-ID), so that several databases can share the disks. What is small, the manifest and the log \
stay in the folder of the database. What was written before stays where it is until it is compacted. The database remembers its folders: no other command needs to be \
told them; all of them have to be there.\n\n\
A stripe folder that is to be elsewhere: stop what has the database open, move its folder lode-ID there, and say so with --move. A database that is to \
have other stripe folders, or none: restore a backup of it. Backups and published databases are whole."
)]
pub struct StripeArgs {
    /// The database folder
    #[arg(value_parser = folder())]
    pub database: PathBuf,
    /// Spread what is written from now on over these folders, best each on a disk of its own; without any, show those that there are
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Say that a stripe folder is in another place now, to which its files were moved
    #[arg(long = "move", num_args = 2, value_names = ["OLD", "NEW"], conflicts_with = "folders")]
    pub moved: Vec<PathBuf>,
}
