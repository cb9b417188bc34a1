//! Arguments of the commands that keep versions of databases: backups and named snapshots.

use super::folder::folder;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `lode backup`.
#[derive(Debug, Args)]
#[command(
    after_help = "DIR is a new or empty folder, or one that holds an older backup of the same database: then only what is new is \
written, and what the new backup does not need any more is removed. Others may write to the database meanwhile; the backup holds all \
that was committed when it began. At every moment DIR holds the old backup or the new one, whole.\n\n\
A backup is read like a database (lode query DIR ..., lode check DIR) and cannot be written to; lode restore makes a database of it. \
Files that never change are linked where DIR is on the file system of the database: this takes no room and no time, but what damages \
the disk damages both. Use --copy, which also copies what an older backup in DIR has linked, or a folder on another disk."
)]
pub struct BackupArgs {
    /// The database folder
    #[arg(value_parser = folder())]
    pub database: PathBuf,
    /// The folder of the backup
    pub folder: PathBuf,
    /// Copy all files, also where they could be linked: then DIR shares none with the database
    #[arg(long)]
    pub copy: bool,
    /// Read and verify the whole backup before it counts, also what was there before
    #[arg(long)]
    pub check: bool,
    /// Write the report as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// No progress line and no summary: errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// `lode restore`.
#[derive(Debug, Args)]
#[command(
    after_help = "Every block is verified before the database is there; damage is told with file and place, and leaves nothing behind. \
The backup stays as it is and may be restored as often as you like."
)]
pub struct RestoreArgs {
    /// The folder of the backup, or the address of a published database (see lode publish)
    #[arg(value_name = "DIR|URL")]
    pub folder: PathBuf,
    /// The folder of the database: a new or an empty one
    pub database: PathBuf,
    /// Link files instead of copying them, where that can be: takes no room, but what damages the disk damages both
    #[arg(long)]
    pub link: bool,
    /// Spread the files of the database over these folders, best each on a disk of its own (see lode stripe); repeatable
    #[arg(long, value_name = "DIR")]
    pub stripe: Vec<PathBuf>,
    /// Do not read and verify what was copied
    #[arg(long)]
    pub no_check: bool,
    /// Write the report as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// No progress line and no summary: errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// `lode snapshot`.
#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// Give the database as it is now a name: lode query --at NAME reads it, whatever comes after
    Create(SnapshotArgs),
    /// Show all snapshots
    List(SnapshotListArgs),
    /// Forget a snapshot, and remove the files that only it needs
    Drop(SnapshotArgs),
}

/// `lode snapshot create` and `lode snapshot drop`.
#[derive(Debug, Args)]
#[command(
    after_help = "A snapshot costs nothing at first; files that it names stay when updates and compactions have replaced them \
(lode stats tells how many bytes). Needs to write to the database: fails while another process does. Backups do not take snapshots along."
)]
pub struct SnapshotArgs {
    /// The database folder
    #[arg(value_parser = folder())]
    pub database: PathBuf,
    /// The name: ASCII letters, digits and any of . - _ (1 to 64 of them)
    pub name: String,
    /// No summary: errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// `lode snapshot list`.
#[derive(Debug, Args)]
pub struct SnapshotListArgs {
    /// The database folder
    #[arg(value_parser = folder())]
    pub database: PathBuf,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
