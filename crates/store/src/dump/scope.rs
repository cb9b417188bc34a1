//! Which quads a dump writes.

use lode_rdf::ValueId;

/// Which quads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpScope {
    /// Those of all graphs: the default graph first, then each named graph by itself.
    All,
    /// Those of one graph, named or [`ValueId::DEFAULT_GRAPH`].
    Graph(ValueId),
}
