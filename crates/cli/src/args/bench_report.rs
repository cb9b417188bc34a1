//! `lode bench report` on the command line.

use clap::Args;
use std::path::PathBuf;

/// `lode bench report`.
#[derive(Debug, Args)]
#[command(
    after_help = "The folder has files named STORE.BENCHMARK.json, as bench/rivals/run leaves them: what --json of bsbm run, analytic, paths and lubm run told, \
and what loads took. Plots show, for each query, how many times as long as the first store each other one takes, on a logarithmic axis."
)]
pub struct BenchReportArgs {
    /// Folder of results
    pub folder: PathBuf,
    /// The store that the others are compared with
    #[arg(long, default_value = "lodestore", value_name = "STORE")]
    pub first: String,
    /// Also put the tables into this Markdown file, between the lines that mark their place
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Also draw a plot of each set of queries into this folder, as SVG
    #[arg(long, value_name = "FOLDER")]
    pub plots: Option<PathBuf>,
}
