//! Rules for graphs, where a fragment is run: what it reads are the graphs that there are for who asks, whatever the plan says.

use crate::error::FragmentError;
use lode_rdf::ValueId;
use lode_sparql::plan::{NamedGraphs, VisibleGraphs};
use lode_sparql::{GraphScope, PlanNode, PlanOp, Slot, stack};

/// Fails where a sub-plan may read a graph that is not visible.
pub(crate) fn check(node: &PlanNode, visible: Option<&VisibleGraphs>) -> Result<(), FragmentError> {
    let Some(visible) = visible else { return Ok(()) };
    of_node(node, visible)
}

fn of_node(node: &PlanNode, visible: &VisibleGraphs) -> Result<(), FragmentError> {
    match &node.op {
        PlanOp::IndexScan(pattern) | PlanOp::LookupJoin { pattern, .. } => of_scope(&pattern.graph, visible)?,
        PlanOp::MultiwayJoin(tries) => {
            tries.iter().try_for_each(|trie| of_scope(&trie.pattern.graph, visible))?;
        }
        PlanOp::GraphNames { slot, among } => of_names(*slot, among.as_ref(), visible)?,
        _ => {}
    }
    node.children().into_iter().try_for_each(|child| stack::room(|| of_node(child, visible)))
}

fn of_scope(scope: &GraphScope, visible: &VisibleGraphs) -> Result<(), FragmentError> {
    match scope {
        GraphScope::Default if visible.default => Ok(()),
        GraphScope::Default => Err(FragmentError::Forbidden("the default graph")),
        GraphScope::Union => Err(FragmentError::Forbidden("all graphs")),
        GraphScope::Merge(graphs) => all(graphs, visible),
        GraphScope::Named { slot, among } => of_named(*slot, among.as_deref(), visible),
    }
}

fn of_named(slot: Slot, among: Option<&[ValueId]>, visible: &VisibleGraphs) -> Result<(), FragmentError> {
    match (slot, among) {
        // It has no rows.
        (Slot::Const(graph), Some(among)) if !among.contains(&graph) => Ok(()),
        (Slot::Const(graph), _) => all(&[graph], visible),
        (_, Some(among)) => all(among, visible),
        (_, None) => Err(FragmentError::Forbidden("all named graphs")),
    }
}

fn of_names(slot: Slot, among: Option<&NamedGraphs>, visible: &VisibleGraphs) -> Result<(), FragmentError> {
    of_named(slot, among.map(|among| &*among.ids), visible)
}

fn all(graphs: &[ValueId], visible: &VisibleGraphs) -> Result<(), FragmentError> {
    match graphs.iter().all(|graph| visible.has(*graph)) {
        true => Ok(()),
        false => Err(FragmentError::Forbidden("another graph")),
    }
}
