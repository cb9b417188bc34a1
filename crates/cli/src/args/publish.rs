//! `lode publish` on the command line.

use super::folder::folder;
use super::quantity::parse_seconds;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `lode publish`.
#[derive(Debug, Args)]
#[command(
    after_help = "The current version of the database becomes the next published version at URL, file:///whole/path or (in a build with the feature object-store) s3://bucket/prefix, gs:// or az://: files of segments that are not \
there yet are written, then a small manifest, in one step that only one of several who publish at once can do. Whoever is killed or loses leaves \
what was published before. Where nobody else has the database open for writing, all changes are brought into segments first; else the log goes along.\n\n\
What is published is read in place by lode query and lode serve: at file:///whole/path, or, where a web server serves the folder, at lode+https://host/path. \
lode restore makes a database of it again.\n\n\
Only the folder of the database that has published to URL may go on to do so. A copy of it (a restored backup, say) may take over: from then on the other is refused.\n\n\
Versions stay until --keep removes them; segments that no version needs any more go with the first --keep that comes --grace later."
)]
pub struct PublishArgs {
    /// The database folder
    #[arg(value_parser = folder())]
    pub database: PathBuf,
    /// Where to: file:///whole/path, s3://bucket/prefix
    pub url: String,
    /// Give the version a name, under which lode query --at finds it and by which it is kept: ASCII letters, digits and any of . - _
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Go on where another copy of this database has published, or where something newer was
    #[arg(long)]
    pub take_over: bool,
    /// Then remove versions but for so many of the newest and those with names
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub keep: Option<u64>,
    /// With --keep: how long segments stay that no version needs any more, in seconds. Less than a publication or a long query takes is too little
    #[arg(long, default_value = "86400", value_name = "SECONDS", value_parser = parse_seconds, requires = "keep")]
    pub grace: Duration,
    /// Write the report as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// No progress line and no summary: errors only
    #[arg(long, short)]
    pub quiet: bool,
}
