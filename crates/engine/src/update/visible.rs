//! What an update may do with the graphs that there are for who asks.

use super::Updater;
use super::rules::GRAPHS_MAX;
use crate::EngineError;
use crate::graph_rules::{GraphRules, graph_of};
use lode_rdf::{GraphNameRef, ValueId};
use lode_store::Graphs;
use std::collections::HashMap;

impl Updater<'_> {
    pub(super) fn rules(&self) -> &GraphRules {
        &self.options.evaluation.graphs
    }

    /// Clears all graphs (or all but the default graph) that there are for who asks, if each of them may be cleared.
    pub(super) fn clear_visible(&mut self, with_default: bool) -> Result<(), EngineError> {
        let whole = if with_default { Graphs::All } else { Graphs::Named };
        let rules = self.rules().clone();
        if rules.is_free() {
            return self.clear_graphs(whole);
        }
        let snapshot = self.draft.snapshot()?;
        let visible = rules.visible(&snapshot, &self.options.evaluation.cancel)?;
        if with_default && rules.may_read(GraphNameRef::DefaultGraph) {
            rules.check_remove(GraphNameRef::DefaultGraph)?;
        }
        let graphs = match &visible {
            Some(visible) => visible.named.to_vec(),
            None => snapshot.named_graphs()?,
        };
        for graph in &graphs {
            self.check()?;
            let name = snapshot.term(*graph)?;
            graph_of(&name).map_or(Ok(()), |name| rules.check_remove(name))?;
        }
        let Some(visible) = visible else { return self.clear_graphs(whole) };
        for graph in graphs {
            self.clear_graphs(Graphs::One(graph))?;
        }
        if with_default && visible.default {
            self.clear_graphs(Graphs::One(ValueId::DEFAULT_GRAPH))
        } else {
            Ok(())
        }
    }

    /// Fails where a quad that was found may not be removed.
    pub(super) fn check_found(
        &self,
        graph: ValueId,
        snapshot: &lode_store::Snapshot,
        known: &mut HashMap<ValueId, ()>,
    ) -> Result<(), EngineError> {
        let rules = self.rules();
        if rules.is_free() || known.contains_key(&graph) {
            return Ok(());
        }
        if graph == ValueId::DEFAULT_GRAPH {
            rules.check_remove(GraphNameRef::DefaultGraph)?;
        } else {
            let name = snapshot.term(graph)?;
            graph_of(&name).map_or(Ok(()), |name| rules.check_remove(name))?;
        }
        if known.len() < GRAPHS_MAX {
            known.insert(graph, ());
        }
        Ok(())
    }

    /// Notes that something is added to a graph, which must be allowed: how much of it is new is not told where it may not be read.
    pub(super) fn adds_to(&mut self, graph: GraphNameRef<'_>) {
        self.adds_unseen |= !self.rules().may_read(graph);
    }
}
