//! The query's dataset (SPARQL 1.1 section 13.2): FROM, FROM NAMED, what the protocol says, and the union option.

use crate::logical::slot_var;
use crate::plan::{
    Dataset, DatasetOverride, GraphScope, InferredGraph, NamedGraphs, Slot, VarId, VisibleGraphs,
};
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use spargebra::Query;
use std::sync::Arc;

/// The dataset of a query. FROM alone leaves no named graphs, FROM NAMED alone an empty default graph; what the protocol gives
/// replaces both. Of all of them there is what is visible.
pub(crate) fn resolve(
    query: &Query,
    given: &DatasetOverride,
    union_default: bool,
    stats: &dyn Statistics,
) -> Dataset {
    let base_iri = query.base_iri().map(|iri| iri.as_str().to_owned());
    let (visible, schema) = (given.visible.as_ref(), given.schema.clone());
    let relates_places = given.relates_places;
    let hidden: Arc<[NamedNode]> =
        given.inferred.as_ref().map_or_else(Arc::default, |of| Arc::clone(&of.hidden));
    let ids = |names: &[NamedNode]| graph_ids(names, visible, stats);
    let all_named = |visible: &VisibleGraphs| all_named(visible, given.inferred.as_ref());
    if !given.default.is_empty() || !given.named.is_empty() {
        let named = Some(listed(&given.named, visible, stats));
        return Dataset {
            default: merge(ids(&given.default)),
            named,
            base_iri,
            schema,
            hidden,
            relates_places,
        };
    }
    if let Some(own) = query.dataset() {
        let of_store = || visible.map(all_named);
        let named = own.named.as_deref().map_or_else(of_store, |names| Some(listed(names, visible, stats)));
        return Dataset {
            default: merge(ids(&own.default)),
            named,
            base_iri,
            schema,
            hidden,
            relates_places,
        };
    }
    let inferred = given.inferred.as_ref().filter(|of| of.is_shown && is_visible(of.graph, visible));
    let default = match (visible, union_default, inferred) {
        (None, true, _) => GraphScope::Union,
        (None, false, None) => GraphScope::Default,
        // The same, and known better.
        (None, false, Some(inferred)) if inferred.is_alone => GraphScope::Union,
        (Some(visible), true, _) => merge(visible.all().into()),
        (Some(visible), false, _) if !visible.default => GraphScope::Merge(Arc::default()),
        (Some(_), false, None) => GraphScope::Default,
        (_, false, Some(inferred)) => merge([ValueId::DEFAULT_GRAPH, inferred.graph].into()),
    };
    Dataset { default, named: visible.map(all_named), base_iri, schema, hidden, relates_places }
}

fn merge(graphs: Arc<[ValueId]>) -> GraphScope {
    match &*graphs {
        [ValueId::DEFAULT_GRAPH] => GraphScope::Default,
        [only] => GraphScope::Named { slot: Slot::Const(*only), among: None },
        _ => GraphScope::Merge(graphs),
    }
}

/// All named graphs that are visible, but the one of inferences: as many as the store would have if it had no others.
fn all_named(visible: &VisibleGraphs, inferred: Option<&InferredGraph>) -> NamedGraphs {
    let is_other = |graph: &&ValueId| inferred.is_none_or(|inferred| inferred.graph != **graph);
    NamedGraphs { ids: visible.named.iter().filter(is_other).copied().collect(), unknown: Arc::default() }
}

fn is_visible(id: ValueId, visible: Option<&VisibleGraphs>) -> bool {
    visible.is_none_or(|visible| visible.has(id))
}

/// The ids of the graphs that have quads, sorted.
fn graph_ids(names: &[NamedNode], visible: Option<&VisibleGraphs>, stats: &dyn Statistics) -> Arc<[ValueId]> {
    let id = |name: &NamedNode| graph_with_quads(&Term::from(name.clone()), stats);
    let mut ids: Vec<ValueId> = names.iter().filter_map(id).filter(|id| is_visible(*id, visible)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into()
}

/// Graphs that are listed, with quads or without. One that is not visible is there, too, and has none.
fn listed(names: &[NamedNode], visible: Option<&VisibleGraphs>, stats: &dyn Statistics) -> NamedGraphs {
    let (mut ids, mut unknown) = (Vec::new(), Vec::new());
    for name in names {
        let name = Term::from(name.clone());
        match stats.id_of(&name).filter(|id| is_visible(*id, visible)) {
            Some(id) => ids.push(id),
            None => unknown.push(name),
        }
    }
    ids.sort_unstable();
    ids.dedup();
    unknown.sort_by_cached_key(Term::to_string);
    unknown.dedup();
    NamedGraphs { ids: ids.into(), unknown: unknown.into() }
}

/// The id of a graph that has quads. What is planned for it must have no rows once it has none.
fn graph_with_quads(name: &Term, stats: &dyn Statistics) -> Option<ValueId> {
    stats.id_of(name).filter(|id| stats.count(Order::Gspo, &[*id]) > 0)
}

impl super::translator::Translator<'_> {
    /// Puts the outer row's term in for a graph variable; `None` where there is no such graph.
    pub(super) fn bind_graph(&self, graph: &GraphScope) -> Option<GraphScope> {
        let GraphScope::Named { slot, .. } = graph else { return Some(graph.clone()) };
        let constant = slot_var(slot).and_then(|v: VarId| self.constants.get(&v));
        let Some(term) = constant else { return Some(graph.clone()) };
        self.named_graph(term, true)
    }

    /// Where a pattern in GRAPH with this name looks; `None` where the dataset has no such graph. `needs_quads`: the pattern has no
    /// solutions in a graph without quads, so that its plan stays right when the graph vanishes.
    pub(super) fn named_graph(&self, name: &Term, needs_quads: bool) -> Option<GraphScope> {
        let stats = self.stats;
        let id = match &self.dataset.named {
            // It is there if it is listed, whatever the store has.
            Some(named) if named.unknown.contains(name) => return Some(GraphScope::Merge(Arc::default())),
            Some(named) => stats.id_of(name).filter(|id| named.ids.binary_search(id).is_ok()),
            None if needs_quads => graph_with_quads(name, stats),
            None => stats.id_of(name).filter(|id| stats.holds(Order::Gspo, &[*id])),
        };
        Some(GraphScope::Named { slot: Slot::Const(id?), among: None })
    }
}
