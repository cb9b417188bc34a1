//! Options of `lode text`.

use super::folder;
use super::quantity::parse_bytes;
use clap::Args;
use std::path::PathBuf;

/// `lode text`.
#[derive(Debug, Args)]
#[command(
    after_help = "Makes an index of the words of all texts, so that searches (text:query, text:matches and what else the guide tells) look up what they would else \
read. Answers are the same with and without. It is kept with the database: loads, updates from the command line and compactions make it for what is new; until then new texts \
are read. --predicates and --graphs are kept, too, each until others are given, or --all-literals. Backups and what is published have none.\n\n\
Exit codes: 0 done; 1 failed, searches go on as before; 2 wrong command line."
)]
pub struct TextArgs {
    /// The database folder
    #[arg(value_parser = folder::folder_to_work_on())]
    pub database: PathBuf,
    /// Index only texts behind these properties (IRIs, or names with a usual or a kept prefix), also in times to come; searches elsewhere read
    #[arg(long, value_name = "IRI,...", value_delimiter = ',', conflicts_with = "drop")]
    pub predicates: Vec<String>,
    /// Index only texts in these graphs; `default` is the default graph
    #[arg(long, value_name = "IRI,...", value_delimiter = ',', conflicts_with = "drop")]
    pub graphs: Vec<String>,
    /// Index all texts, where before it were those of some properties or graphs
    #[arg(long, conflicts_with_all = ["drop", "predicates", "graphs"])]
    pub all_literals: bool,
    /// Remove the index, and make none from now on
    #[arg(long, conflicts_with = "force")]
    pub drop: bool,
    /// Make it again where it is there
    #[arg(long)]
    pub force: bool,
    /// Memory it may use, such as 512MiB or 2GiB: all different words have to fit into an eighth of it (default: a quarter of the machine's, 2GiB at most)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<usize>,
    /// Threads (default: one a core)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Write the report as JSON to standard output
    #[arg(long)]
    pub json: bool,
    /// No summary
    #[arg(long, short)]
    pub quiet: bool,
}
