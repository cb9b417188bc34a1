//! Which quads a dump writes.

use lode_rdf::ValueId;

/// Which quads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpScope {
    /// Those of all graphs: the default graph first, then each named graph by itself.
    All,
    /// The same without a named graph.
    AllBut(ValueId),
    /// Those of one graph, named or [`ValueId::DEFAULT_GRAPH`].
    Graph(ValueId),
}

impl DumpScope {
    /// Whether it is of several graphs, so that each quad's own is written.
    pub fn has_graphs(self) -> bool {
        !matches!(self, Self::Graph(_))
    }
}
