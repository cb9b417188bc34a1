//! Options of `lode dump`.

use super::CacheArgs;
use super::quantity::parse_memory;
use super::top::LoginArgs;
use clap::Args;
use std::path::PathBuf;

/// `lode dump`.
#[derive(Debug, Args)]
pub struct DumpArgs {
    /// The database folder, the address of a server, or that of a published database
    #[arg(value_name = "DB|URL")]
    pub database: PathBuf,
    /// The database as this snapshot has kept it (see lode snapshot), or the published version of this number or name
    #[arg(long, value_name = "NAME")]
    pub at: Option<String>,
    /// nq, trig, jsonld; with --graph, or where all is in the default graph, also nt, ttl, rdf; parquet (in a build with the feature arrow): a table
    /// of quads
    #[arg(long, default_value = "nq", value_name = "NAME")]
    pub format: String,
    /// Only this graph, as triples; `default` is the default graph
    #[arg(long, value_name = "IRI")]
    pub graph: Option<String>,
    /// Also what lode materialise has added, in its graph <urn:lodestore:inferred>
    #[arg(long, conflicts_with = "graph")]
    pub inferred: bool,
    /// Memory that the dump may use, such as 512MiB or 2GiB, at least 64MiB (default: 1GiB)
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    pub memory: Option<usize>,
    /// Read files past the memory of the system, where the file system lets that be
    #[arg(long)]
    pub direct: bool,
    /// What is kept of a published database.
    #[command(flatten, next_help_heading = "With a published database")]
    pub published: CacheArgs,
    /// How to be let in, of a server.
    #[command(flatten, next_help_heading = "With a URL")]
    pub login: LoginArgs,
    /// With --format parquet: a file for each class, with a row for each of its resources and a column for each predicate, in the folder that
    /// --output names
    #[cfg(feature = "arrow")]
    #[arg(long, requires = "output")]
    pub by_class: bool,
    /// The folder for --by-class, which is made, and must be empty
    #[cfg(feature = "arrow")]
    #[arg(long, value_name = "DIR", requires = "by_class")]
    pub output: Option<PathBuf>,
}
