//! Patterns whose graph has nothing for them, while others have.

use super::{Look, Patterns, TYPE, grouped};
use crate::inferred::inferred_graph;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_sparql::parse::hints::{Constant, Hint, HintKind, InGraph, Role};
use lode_store::StoreError;

/// So many quads are looked at for one of a graph.
const ROWS_MAX: usize = 1_000;
/// What helps who asks the default graph for what is in others.
const WRITE_GRAPH: &str = "write GRAPH ?g { ... }, or make the union of all graphs the default graph";

impl Look<'_> {
    /// Some quad has it: whether one of the graph does that the pattern is of.
    pub(super) fn in_graph(&mut self, constant: &Constant, id: ValueId) -> Result<(), StoreError> {
        let is_pattern = matches!(constant.role, Role::Predicate | Role::Class) && constant.is_required;
        let is_given = constant.has_dataset || matches!(self.patterns, Patterns::Given | Patterns::Reasoned);
        if !is_pattern || is_given || !self.snapshot.has_named_graphs() {
            return Ok(());
        }
        let graph = match &constant.graph {
            InGraph::Default => Some(ValueId::DEFAULT_GRAPH),
            InGraph::Named(name) => match self.id_of(name)? {
                // That there is no such graph is told where it is named.
                None => return Ok(()),
                graph => graph,
            },
            InGraph::Any => None,
        };
        let Some(count) = self.only_in_others(constant.role, id, graph)? else { return Ok(()) };
        let name = self.found.short(&constant.iri);
        let what = if constant.role == Role::Class { "the class" } else { "the predicate" };
        let count = grouped(count);
        let (message, help) = match &constant.graph {
            InGraph::Default => (
                format!("the default graph has nothing with {what} {name}; named graphs have {count}"),
                WRITE_GRAPH.to_owned(),
            ),
            InGraph::Named(graph) => (
                format!(
                    "the graph {} has nothing with {what} {name}; others have {count}",
                    self.found.short(graph)
                ),
                "write GRAPH ?g { ... } to see which".to_owned(),
            ),
            InGraph::Any => (
                format!("no named graph has anything with {what} {name}; the default graph has {count}"),
                "write the pattern without GRAPH".to_owned(),
            ),
        };
        self.hint(HintKind::OtherGraph, constant, message, help);
        Ok(())
    }

    /// How many quads have it in other graphs, if none is in this one; none: any named graph. Nothing where that would take long to tell.
    fn only_in_others(
        &self,
        role: Role,
        id: ValueId,
        graph: Option<ValueId>,
    ) -> Result<Option<u64>, StoreError> {
        // What was inferred is in the default graph for who asks.
        let inferred = inferred_graph(self.snapshot)?;
        let named = self.in_named_graphs(inferred)?;
        let of_graph = match graph {
            Some(ValueId::DEFAULT_GRAPH) => self.snapshot.quad_count().saturating_sub(named),
            Some(graph) => self.snapshot.count(Order::Gspo, &[graph])?,
            None => named,
        };
        let count = self.count(role, id)?;
        if of_graph == 0 {
            return Ok(Some(count));
        }
        let (order, prefix) = match self.id_of(TYPE)? {
            Some(of) if role == Role::Class => (Order::Posg, vec![of, id]),
            _ => (Order::Psog, vec![id]),
        };
        let mut scan = self.snapshot.scan(order, &prefix, 0b1000)?;
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        let rows = scan.next(ROWS_MAX, &mut columns)?;
        let seen_in =
            |found: &ValueId| if inferred == Some(*found) { ValueId::DEFAULT_GRAPH } else { *found };
        let is_there = columns[3].iter().map(seen_in).any(|found| match graph {
            Some(graph) => found == graph,
            None => found != ValueId::DEFAULT_GRAPH,
        });
        let is_all = u64::try_from(rows).is_ok_and(|rows| rows >= count);
        Ok((is_all && !is_there).then_some(count))
    }

    /// Who asks for all of the default graph, and all triples are in others.
    pub(super) fn of_empty_default_graph(&mut self) -> Result<(), StoreError> {
        let Some(span) = self.found.open.clone().filter(|_| self.snapshot.has_named_graphs()) else {
            return Ok(());
        };
        let named = self.in_named_graphs(inferred_graph(self.snapshot)?)?;
        if named == self.snapshot.quad_count() {
            let message = format!("the default graph is empty; named graphs have {} quads", grouped(named));
            let help = WRITE_GRAPH.to_owned();
            self.hints.push(Hint { kind: HintKind::OtherGraph, span, message, help });
        }
        Ok(())
    }

    /// Quads of named graphs, but of that of what was inferred, which the default graph has as well.
    fn in_named_graphs(&self, inferred: Option<ValueId>) -> Result<u64, StoreError> {
        let of_inferred = inferred.map_or(Ok(0), |graph| self.snapshot.count(Order::Gspo, &[graph]))?;
        Ok(self.snapshot.count(Order::Gspo, &[])?.saturating_sub(of_inferred))
    }
}
