//! What the planner may ask, answered by a snapshot. A failing read counts as nothing known: execution will report it.

use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use lode_sparql::Statistics;
use lode_store::Snapshot;

/// A snapshot as the planner sees it.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotStatistics<'a>(pub &'a Snapshot);

impl Statistics for SnapshotStatistics<'_> {
    fn id_of(&self, term: &Term) -> Option<ValueId> {
        self.0.id_of(term).ok().flatten()
    }

    fn count(&self, order: Order, prefix: &[ValueId]) -> u64 {
        self.0.count(order, prefix).unwrap_or(0)
    }

    fn distinct(&self, order: Order, prefix: &[ValueId]) -> u64 {
        self.0.distinct(order, prefix).unwrap_or(0)
    }

    fn quad_count(&self) -> u64 {
        self.0.quad_count()
    }

    fn has_named_graphs(&self) -> bool {
        self.0.count(Order::Gspo, &[]).unwrap_or(0) > 0
    }
}
