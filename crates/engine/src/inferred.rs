//! The graph of what rules have added: its name, and how queries see it.
//!
//! Its triples are in the default graph as well, where a query does not say otherwise; GRAPH with a variable does not find it, and dumps leave it out. All of
//! that holds only in a database that has rules ([`Snapshot::has_inferences`]): elsewhere the name is a name like others.

use crate::EngineError;
use crate::graph_rules::INFERRED_GRAPH;
use crate::options::{DefaultGraph, QueryOptions};
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use lode_sparql::plan::{InferredGraph, VisibleGraphs};
use lode_store::{Snapshot, StoreError};

/// The name as a term.
pub(crate) fn name() -> NamedNode {
    NamedNode::new_unchecked(INFERRED_GRAPH)
}

/// The graph of inferences in a version that has some.
///
/// # Errors
/// Where a dictionary cannot be read.
pub fn inferred_graph(snapshot: &Snapshot) -> Result<Option<ValueId>, StoreError> {
    if !snapshot.has_inferences() {
        return Ok(None);
    }
    snapshot.id_of(&Term::from(name()))
}

/// What a query is to know of it; none where there are no inferences.
pub(crate) fn seen_by(
    snapshot: &Snapshot,
    options: &QueryOptions,
) -> Result<Option<InferredGraph>, StoreError> {
    let Some(graph) = inferred_graph(snapshot)? else { return Ok(None) };
    let quads = snapshot.count(Order::Gspo, &[graph])?;
    if quads == 0 {
        return Ok(None);
    }
    let is_alone = quads == snapshot.count(Order::Gspo, &[])?;
    Ok(Some(InferredGraph { graph, is_shown: options.inferred, is_alone, hidden: [name()].into() }))
}

/// Of which version what a query sees of inferences is, if that is known, and the version that it asks; none where it sees all that follows, or nothing of it.
pub(crate) fn behind(snapshot: &Snapshot, options: &QueryOptions) -> Option<(Option<u64>, u64)> {
    // Rules and explanations say themselves what they read.
    if !snapshot.has_inferences() || !options.inferred || options.dataset.is_some() {
        return None;
    }
    let (of, version) = (snapshot.inferred_version(), snapshot.version_number());
    (of != Some(version)).then_some((of, version))
}

/// Whether a query needs a list of all graphs to leave that one out.
pub(crate) fn is_left_out(inferred: Option<&InferredGraph>, options: &QueryOptions) -> bool {
    options.default_graph == DefaultGraph::Union && inferred.is_some_and(|inferred| !inferred.is_shown)
}

/// The graphs that there are without that one.
pub(crate) fn without(
    graph: ValueId,
    visible: Option<VisibleGraphs>,
    snapshot: &Snapshot,
) -> Result<VisibleGraphs, EngineError> {
    let (default, named) = match visible {
        Some(visible) => (visible.default, visible.named.to_vec()),
        None => (true, snapshot.named_graphs()?),
    };
    Ok(VisibleGraphs { default, named: named.into_iter().filter(|one| *one != graph).collect() })
}

/// What plans depend on of it, besides ids.
pub(crate) fn key(inferred: Option<&InferredGraph>, options: &QueryOptions) -> u8 {
    let of_graph = match inferred {
        None => 0,
        Some(of) => 1 | u8::from(of.is_shown) << 1 | u8::from(of.is_alone) << 2,
    };
    // Relations of places are inferences without a graph.
    of_graph | u8::from(options.inferred) << 3
}
