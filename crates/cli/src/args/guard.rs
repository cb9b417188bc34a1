//! Shapes that changes must keep, on the command line.

use clap::Args;
use std::path::PathBuf;

/// Shapes that changes must keep.
#[derive(Debug, Clone, Default, Args)]
pub struct GuardArgs {
    /// Refuse changes after which the data would not conform to the shapes (SHACL) of this file; repeatable: all together are the shapes. What only warns or informs does not count
    #[arg(long, value_name = "FILE")]
    pub shapes: Vec<PathBuf>,
    /// What is validated by --shapes: default (the default graph), union (all graphs as one), or the IRI of a named graph
    #[arg(long, value_name = "GRAPH", default_value = "default")]
    pub shapes_data: String,
}
