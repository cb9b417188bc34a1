//! The edges of nodes, in one graph or in each of many, as a search along a property path reads them: near keys are found in what was read, far ones
//! by a seek.

use super::graph_nodes::GraphNodes;
use crate::cursor::Cursor;
use crate::pattern::{Cell, Columns, Pattern};
use lode_base::cancel::CancelToken;
use lode_eval::error::ExecError;
use lode_eval::merge_sort::sort_in_steps;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_sparql::VarId;

/// Look-ups, rows of a key, and nodes, between two looks at the cancel token.
pub(super) const CHECK_EVERY: usize = 256;

/// The near end, the predicate, the far end and the graph of an edge, in patterns of a search.
pub(super) const NEAR: VarId = VarId(0);
pub(super) const PREDICATE: VarId = VarId(1);
pub(super) const FAR: VarId = VarId(2);
pub(super) const GRAPH: VarId = VarId(3);

/// A node as a key of edges: the first and the second column, and its number.
pub(super) type NodeKey = (ValueId, ValueId, usize);

/// The edges of a pattern whose predicate is not `excluded`.
pub(super) struct Edges<'p> {
    pattern: &'p Pattern,
    far: usize,
    predicate: Option<usize>,
    graph: Option<usize>,
    excluded: &'p [ValueId],
    cancel: CancelToken,
}

impl<'p> Edges<'p> {
    /// `None`: there are none.
    pub(super) fn of(pattern: &'p Pattern, excluded: &'p [ValueId], cancel: &CancelToken) -> Option<Self> {
        let column = |var| pattern.outputs.iter().find(|(v, _)| *v == var).map(|(_, column)| *column);
        let far = column(FAR).filter(|_| !pattern.impossible)?;
        let (predicate, graph) = (column(PREDICATE), column(GRAPH));
        Some(Self { pattern, far, predicate, graph, excluded, cancel: cancel.clone() })
    }

    /// Whether an edge is looked up by graph and term, else by the term alone.
    fn by_graph(&self) -> bool {
        self.pattern.order == Order::Gspo
    }

    /// The keys of nodes in graphs, in order.
    pub(super) fn keys(
        &self,
        graph_nodes: &GraphNodes,
        nodes: impl Iterator<Item = ValueId>,
    ) -> Result<Vec<NodeKey>, ExecError> {
        let mut keys: Vec<NodeKey> = Vec::new();
        for (at, node) in nodes.enumerate() {
            let (graph, term) = graph_nodes.node(node);
            keys.push(if self.by_graph() { (graph, term, at) } else { (term, graph, at) });
        }
        sort_in_steps(&mut keys, Ord::cmp, || self.cancel.check())?;
        Ok(keys)
    }

    /// Calls `each` with the number and the far end of each edge of these terms (ascending), until it wants no more edges of that term.
    pub(super) fn of_terms(
        &self,
        cursor: &mut Cursor,
        terms: impl Iterator<Item = ValueId>,
        mut each: impl FnMut(usize, ValueId) -> Result<bool, ExecError>,
    ) -> Result<(), ExecError> {
        let mut selection = Vec::new();
        for (at, term) in terms.enumerate() {
            if at % CHECK_EVERY == 0 {
                self.cancel.check()?;
            }
            self.of_key(cursor, (term, ValueId::UNDEF), &mut selection, |_, far| each(at, far))?;
        }
        Ok(())
    }

    /// Calls `each` with the number, the graph and the far end of each edge of nodes in graphs, until it wants no more edges of that node.
    pub(super) fn of_keys(
        &self,
        cursor: &mut Cursor,
        keys: &[NodeKey],
        mut each: impl FnMut(usize, ValueId, ValueId) -> Result<bool, ExecError>,
    ) -> Result<(), ExecError> {
        let by_graph = self.by_graph();
        let (mut selection, mut ended) = (Vec::new(), Vec::new());
        for (count, same) in keys.chunk_by(|a, b| !by_graph && a.0 == b.0).enumerate() {
            if count % CHECK_EVERY == 0 {
                self.cancel.check()?;
            }
            let Some((first, second, _)) = same.first() else { continue };
            let key = if by_graph { (*second, *first) } else { (*first, ValueId::UNDEF) };
            // Edges of a term come graph by graph in some orders only: a node that wants no more of them may be met again.
            ended.clear();
            ended.resize(same.len(), false);
            let mut wanted = same.len();
            self.of_key(cursor, key, &mut selection, |graph, far| {
                let graph = graph.unwrap_or(key.1);
                let found =
                    if by_graph { Ok(0) } else { same.binary_search_by(|(_, own, _)| own.cmp(&graph)) };
                if let Ok(found) = found
                    && !ended[found]
                    && !each(same[found].2, graph, far)?
                {
                    ended[found] = true;
                    wanted -= 1;
                }
                Ok(wanted > 0)
            })?;
        }
        Ok(())
    }

    /// Calls `each` with the graph, where the pattern tells it, and the far end of each edge of a key: a term, and its graph where that is
    /// part of the key; until it says that it wants no more.
    fn of_key(
        &self,
        cursor: &mut Cursor,
        (term, graph): (ValueId, ValueId),
        selection: &mut Vec<u32>,
        mut each: impl FnMut(Option<ValueId>, ValueId) -> Result<bool, ExecError>,
    ) -> Result<(), ExecError> {
        let value = |cell: &Cell| match cell {
            Cell::Const(id) => Some(*id),
            Cell::Bound(var) => Some(if *var == GRAPH { graph } else { term }),
            Cell::Free(_) | Cell::Any => None,
        };
        let key = self.pattern.cells.each_ref().map(|cell| value(cell).unwrap_or_default());
        let key = &key[..self.pattern.keys];
        cursor.seek(key)?;
        let mut last = None;
        loop {
            let range = cursor.matches(key)?;
            if range.is_empty() {
                return Ok(());
            }
            if range.len() >= CHECK_EVERY {
                self.cancel.check()?;
            }
            selection.clear();
            self.pattern.select(cursor.columns(), range.start, range.end, &mut last, selection);
            let columns: &Columns = cursor.columns();
            for row in selection.iter() {
                let row = *row as usize;
                if self.predicate.is_some_and(|p| self.excluded.contains(&columns[p][row])) {
                    continue;
                }
                if !each(self.graph.map(|graph| columns[graph][row]), columns[self.far][row])? {
                    return Ok(());
                }
            }
        }
    }
}
