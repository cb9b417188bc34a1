//! What a load may take the place of.

/// What goes when a load is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// The quads of the load's graph or, if it has none, of the default graph.
    Graph,
    /// All quads.
    All,
}
