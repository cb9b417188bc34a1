//! What is said of how a table is drawn.

use lode_rdf::serialize::Prefixes;

/// How a table is drawn.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// The columns of the terminal that it is for; none where nothing is to be cut.
    pub width: Option<usize>,
    /// How IRIs are written, on a terminal.
    pub prefixes: Prefixes,
    /// The variables, without the question mark, whose numbers have bars, on a terminal.
    pub bars: Vec<String>,
}
