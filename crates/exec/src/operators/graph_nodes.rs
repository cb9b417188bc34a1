//! Nodes of a search in many graphs at once. A node is a term in a graph; the pair has a number, which stands where a search in one graph has
//! the term's id. So both are one search, and what is reached in one graph does not meet what is reached in another.

use super::row_set::RowSet;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_eval::error::ExecError;
use lode_eval::hash::mix;
use lode_rdf::ValueId;

/// Room is made for so many nodes at once, or for a quarter of those there are.
const ROOM_MIN: usize = if cfg!(test) { 4 } else { 1 << 10 };
/// Bytes of a node in the table, with what is free in it when it has just grown.
const NODE_BYTES: usize = 2 * size_of::<ValueId>() + size_of::<u64>() + 4 * size_of::<u32>();

/// The numbers of nodes.
pub(crate) struct GraphNodes {
    rows: RowSet,
    room: usize,
    reservation: Reservation,
}

impl GraphNodes {
    /// No nodes yet.
    pub(crate) fn new(budget: &MemoryBudget) -> Self {
        Self { rows: RowSet::new(2), room: 0, reservation: budget.reserve_empty() }
    }

    /// Forgets all nodes: numbers given out before mean nothing any more.
    pub(crate) fn clear(&mut self) {
        (self.rows, self.room) = (RowSet::new(2), 0);
        self.reservation.shrink(0);
    }

    /// The number of a term in a graph.
    pub(crate) fn number(
        &mut self,
        graph: ValueId,
        term: ValueId,
        cancel: &CancelToken,
    ) -> Result<ValueId, ExecError> {
        let hash = mix(mix(0, graph.to_bits()), term.to_bits());
        let row = [graph, term].into_iter();
        if let Some(number) = self.rows.find(hash, row.clone()) {
            return Ok(id(number));
        }
        if self.rows.len() >= self.room {
            let more = ROOM_MIN.max(self.room / 4);
            self.reservation.grow(more * NODE_BYTES)?;
            self.rows.make_room(more, cancel)?;
            self.room += more;
        }
        Ok(id(self.rows.add(hash, row)))
    }

    /// The graph and the term of a number.
    pub(crate) fn node(&self, number: ValueId) -> (ValueId, ValueId) {
        // Starts that were dropped are unbound, and no nodes.
        let Some(row) = usize::try_from(number.to_bits()).ok().and_then(|n| n.checked_sub(1)) else {
            return (ValueId::UNDEF, ValueId::UNDEF);
        };
        let row = self.rows.row(row);
        (row[0], row[1])
    }
}

/// Numbers begin with 1, since 0 is the unbound id.
fn id(number: u32) -> ValueId {
    ValueId::from_bits(u64::from(number) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lode_rdf::Kind;

    #[test]
    fn numbers_and_nodes_belong_together() {
        let budget = MemoryBudget::new(1 << 20);
        let mut nodes = GraphNodes::new(&budget);
        let cancel = CancelToken::new(None);
        let value = |n: u64| ValueId::new(Kind::Iri, n);
        let mut number = |graph, term| nodes.number(value(graph), value(term), &cancel).unwrap();
        let pairs: Vec<(u64, u64)> =
            (0..20).flat_map(|graph| (0..5).map(move |term| (graph, term))).collect();
        let numbers: Vec<ValueId> = pairs.iter().map(|(graph, term)| number(*graph, *term)).collect();
        for ((graph, term), known) in pairs.iter().zip(&numbers) {
            assert_eq!(number(*graph, *term), *known, "the same again");
        }
        for ((graph, term), number) in pairs.iter().zip(&numbers) {
            assert_eq!(nodes.node(*number), (value(*graph), value(*term)));
            assert!(!number.is_undef());
        }
        assert!(budget.used() >= nodes.rows.bytes(), "{} of {}", budget.used(), nodes.rows.bytes());
        nodes.clear();
        assert_eq!(budget.used(), 0);
        let small = MemoryBudget::new(100);
        assert!(matches!(
            GraphNodes::new(&small).number(value(0), value(0), &cancel),
            Err(ExecError::OutOfMemory(_))
        ));
    }
}
