//! The query's dataset (SPARQL 1.1 section 13.2): FROM, FROM NAMED, what the protocol says, and the union option.

use crate::logical::slot_var;
use crate::plan::{Dataset, DatasetOverride, GraphScope, Slot, VarId};
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use spargebra::Query;
use std::sync::Arc;

/// The dataset of a query. FROM alone leaves no named graphs, FROM NAMED alone an empty default graph; what the protocol gives
/// replaces both.
pub(crate) fn resolve(
    query: &Query,
    given: &DatasetOverride,
    union_default: bool,
    stats: &dyn Statistics,
) -> Dataset {
    let base_iri = query.base_iri().map(|iri| iri.as_str().to_owned());
    let ids = |names: &[NamedNode]| graph_ids(names, stats);
    if !given.default.is_empty() || !given.named.is_empty() {
        return Dataset { default: merge(ids(&given.default)), named: Some(ids(&given.named)), base_iri };
    }
    if let Some(own) = query.dataset() {
        let named = own.named.as_deref().map(ids);
        return Dataset { default: merge(ids(&own.default)), named, base_iri };
    }
    let default = if union_default { GraphScope::Union } else { GraphScope::Default };
    Dataset { default, named: None, base_iri }
}

fn merge(graphs: Arc<[ValueId]>) -> GraphScope {
    match &*graphs {
        [only] => GraphScope::Named { slot: Slot::Const(*only), among: None },
        _ => GraphScope::Merge(graphs),
    }
}

/// The ids of the graphs that exist, sorted.
fn graph_ids(names: &[NamedNode], stats: &dyn Statistics) -> Arc<[ValueId]> {
    let mut ids: Vec<ValueId> =
        names.iter().filter_map(|n| existing_graph(&Term::from(n.clone()), None, stats)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into()
}

/// The id of a named graph that has quads, and is one of `among`. What is planned for it must have no rows once it has none, or else ask
/// for [`known_graph`].
pub(super) fn existing_graph(
    name: &Term,
    among: Option<&[ValueId]>,
    stats: &dyn Statistics,
) -> Option<ValueId> {
    listed_graph(name, among, stats).filter(|id| stats.count(Order::Gspo, &[*id]) > 0)
}

/// The same for a plan that relies on the graph.
pub(super) fn known_graph(name: &Term, among: Option<&[ValueId]>, stats: &dyn Statistics) -> Option<ValueId> {
    listed_graph(name, among, stats).filter(|id| stats.holds(Order::Gspo, &[*id]))
}

fn listed_graph(name: &Term, among: Option<&[ValueId]>, stats: &dyn Statistics) -> Option<ValueId> {
    stats.id_of(name).filter(|id| among.is_none_or(|ids| ids.binary_search(id).is_ok()))
}

impl super::Translator<'_> {
    /// Puts the outer row's term in for a graph variable; `None` where there is no such graph.
    pub(super) fn bind_graph(&self, graph: &GraphScope) -> Option<GraphScope> {
        let GraphScope::Named { slot, among } = graph else { return Some(graph.clone()) };
        let constant = slot_var(slot).and_then(|v: VarId| self.constants.get(&v));
        let Some(term) = constant else { return Some(graph.clone()) };
        let id = existing_graph(term, among.as_deref(), self.stats)?;
        Some(GraphScope::Named { slot: Slot::Const(id), among: None })
    }
}
