//! How to plan.

/// How to plan: what the defaults are for, and what tests switch.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// The default graph is the de-duplicated union of all graphs, unless the query names its own dataset.
    pub default_graph_union: bool,
    /// Reorder, push down and choose join methods by cost. Without: a straightforward plan, for tests and for comparison.
    pub optimize: bool,
    /// With `optimize`: aggregate before joins wherever that is right, whatever it costs. For tests.
    pub groups_early: bool,
    /// With `optimize`: join all patterns of a group at once wherever that is right, whatever it costs. For tests.
    pub joins_multiway: bool,
    /// With `optimize`: make what the query has several times once wherever that is right, whatever it costs. For tests.
    pub spools_always: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            default_graph_union: false,
            optimize: true,
            groups_early: false,
            joins_multiway: false,
            spools_always: false,
        }
    }
}
