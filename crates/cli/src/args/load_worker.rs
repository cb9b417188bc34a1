//! `lode load-worker` on the command line, and what `lode load` is told of workers.

use clap::Args;
use std::path::PathBuf;

/// How a load is shared out.
#[derive(Debug, Args)]
pub struct LoadWorkersArgs {
    /// Load by so many processes of one thread each, which share --memory (48MiB each at least), into a database in a folder, or a new one that is published at an address
    /// (file:///..., s3://...); more may help from other machines (lode load-worker). Killed at any time, the same command line goes on where it was
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=256),
        conflicts_with_all = ["dry_run", "allow_url", "quarantine", "contexts", "materialise", "text", "threads", "direct", "stripe"]
    )]
    pub workers: Option<u16>,
    /// Segments to make (default: one for each of the workers); the same number gives the same files
    #[arg(long, value_name = "N", requires = "workers", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub parts: Option<u16>,
    /// Where workers put what they make until the database is there, as large as the files; best on the disk of the database (default: DB.load). Of a load to an
    /// address: where those of this machine have files (default: the folder of temporary files)
    #[arg(long, value_name = "FOLDER", requires = "workers")]
    pub work: Option<PathBuf>,
}

/// `lode load-worker`.
#[derive(Debug, Args)]
#[command(
    after_help = "A load with workers (lode load DB FILES --workers N) is cut into tasks, and all there is to know of them is in its work folder or, of a load to an address, \
in the store there. Where another machine sees that, and the files at the same paths, this command takes part in the load, with tasks of one thread each; it \
ends when all tasks are done. It may be started and killed at any time: tasks of a worker that says nothing for ten seconds are done by others."
)]
pub struct LoadWorkerArgs {
    /// The work folder of the load, or the address that it goes to
    #[arg(value_name = "FOLDER|URL")]
    pub load: PathBuf,
    /// Tasks at a time (default: one a core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub tasks: Option<u16>,
    /// Of a load to an address: where to have files meanwhile (default: the folder of temporary files)
    #[arg(long, value_name = "FOLDER")]
    pub work: Option<PathBuf>,
    /// The folder for files itself, which somebody else has made
    #[arg(long, hide = true)]
    pub files: Option<PathBuf>,
    /// What others call it
    #[arg(long, hide = true)]
    pub name: Option<String>,
    /// End when standard input does
    #[arg(long, hide = true)]
    pub while_input: bool,
    /// Errors only
    #[arg(long, short)]
    pub quiet: bool,
}
