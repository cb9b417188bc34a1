//! `GRAPH ?g { ... }` around a pattern that does not distribute over its parts: planned and run once per named graph.

use super::Operator;
use super::graph_names::named_graphs;
use crate::execution::Execution;
use crate::profile::NodeCounters;
use crate::shared::Shared;
use crate::statistics::SnapshotStatistics;
use lode_eval::batch::{Batch, Mapping, position};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::plan::{NamedGraphs, SubPattern};
use lode_sparql::{GraphScope, PlanOptions, Slot, VarId, plan_sub, with_stack_for};
use std::sync::Arc;

/// The operator.
pub(crate) struct ForEachGraph {
    shared: Arc<Shared>,
    counters: Arc<NodeCounters>,
    var: VarId,
    pattern: Arc<SubPattern>,
    /// The graphs that may have quads, sorted; `None`: all.
    filled: Option<Arc<[ValueId]>>,
    vars: Arc<[VarId]>,
    /// Graphs to come, the next one last.
    graphs: Vec<ValueId>,
    current: Option<(ValueId, Execution)>,
}

impl ForEachGraph {
    /// Over the named graphs, or those that are listed.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        counters: &Arc<NodeCounters>,
        var: VarId,
        (among, pattern): (Option<&NamedGraphs>, &Arc<SubPattern>),
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let mut graphs = named_graphs(&shared.cx, among)?;
        graphs.reverse();
        Ok(Self {
            shared: Arc::clone(shared),
            counters: Arc::clone(counters),
            var,
            pattern: Arc::clone(pattern),
            filled: among.map(|among| Arc::clone(&among.ids)),
            vars: Arc::clone(vars),
            graphs,
            current: None,
        })
    }

    fn start(&self, graph: ValueId) -> Result<Execution, ExecError> {
        with_stack_for(&self.pattern, || self.start_here(graph))
    }

    fn start_here(&self, graph: ValueId) -> Result<Execution, ExecError> {
        // A graph that is listed and that the store does not know, or whose quads are not for who asks, has none.
        let has_quads = self.filled.as_ref().is_none_or(|filled| filled.binary_search(&graph).is_ok());
        let pattern = self.pattern.in_graph(match has_quads {
            true => GraphScope::Named { slot: Slot::Const(graph), among: None },
            false => GraphScope::Merge(Arc::default()),
        });
        let cx = &self.shared.cx;
        let stats = SnapshotStatistics::new(&cx.snapshot, &cx.budget, &cx.cancel);
        let plan = plan_sub(&pattern, &[], &cx.vars, &PlanOptions::default(), &stats);
        stats.finish()?;
        let plan = plan.map_err(|error| ExecError::Plan(error.to_string()))?;
        Execution::within(Arc::new(plan), cx, Some(&self.counters), self.shared.factory())
    }

    /// Rows of the graph: those that bind the variable otherwise vanish.
    fn deliver(&self, graph: ValueId, mut batch: Batch, out: &mut Batch) {
        if let Some(bound) = batch.column(self.var) {
            let fits = |(_, id): &(u32, &ValueId)| id.is_undef() || **id == graph;
            let rows: Vec<u32> = (0..).zip(bound).filter(fits).map(|(row, _)| row).collect();
            batch.select(&rows);
        }
        Mapping::new(&batch.vars.clone(), &self.vars).apply(&mut batch, out);
        if let Some(column) = position(&self.vars, self.var) {
            out.columns[column].iter_mut().for_each(|id| *id = graph);
        }
    }
}

impl Operator for ForEachGraph {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        loop {
            self.shared.cx.cancel.check()?;
            if let Some((graph, execution)) = &mut self.current {
                let graph = *graph;
                match execution.next()? {
                    Some(batch) => {
                        self.deliver(graph, batch, out);
                        if out.rows > 0 {
                            return Ok(true);
                        }
                    }
                    None => self.current = None,
                }
            } else {
                let Some(graph) = self.graphs.pop() else { return Ok(false) };
                self.current = Some((graph, self.start(graph)?));
            }
        }
    }
}
