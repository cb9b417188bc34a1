//! Morsels: parts of a sub-plan's work that threads take one after the other.
//!
//! A sub-plan can be cut where its rows come from scans along one chain of operators: each morsel is the same sub-plan with
//! those scans confined to a range of values of their first free column. Where several scans of the chain are joined by that
//! very variable, all are confined to the same range, so merge joins and streaming aggregation stay what they are inside a morsel.
//! A UNION is cut into the morsels of its branches. Where all rows come from one scan, a thread that has nothing left to do gets
//! half of what another still has to read: which values have much to be done for them, nobody knows before.

mod cut;
mod part;
mod queue;
#[cfg(test)]
mod tests;

pub(crate) use cut::split;
pub(crate) use part::{Morsel, Part};
pub(crate) use queue::Queue;

use crate::build::Builder;
use crate::error::ExecError;
use crate::operator::BoxOp;
use crate::operators::distinct::Reduced;
use crate::operators::hash_join_build::Built;
use crate::profile::AtWork;
use crate::shared::Shared;
use cut::{Cut, chain_inputs, cut};
use lode_sparql::{PlanNode, PlanOp, stack};
use queue::Pipeline;
use std::sync::Arc;

/// A sub-plan cut into morsels.
pub(crate) struct ParallelSource {
    shared: Arc<Shared>,
    node: u32,
    cut: Cut,
    reduce: bool,
}

impl ParallelSource {
    /// The sub-plan of `node`, if it can be cut and is worth it.
    pub(crate) fn new(shared: &Arc<Shared>, node: &PlanNode) -> Result<Option<Self>, ExecError> {
        if shared.cx.threads < 2 {
            return Ok(None);
        }
        let cut = cut(shared, node, 0.0)?.filter(|cut| cut.morsels.len() > 1);
        Ok(cut.map(|cut| Self { shared: Arc::clone(shared), node: node.id, cut, reduce: false }))
    }

    /// The same, each thread dropping duplicates it notices.
    pub(crate) fn reduced(self) -> Self {
        Self { reduce: true, ..self }
    }

    /// Whether the rows of one morsel come before those of the next in the order that the plan promises.
    pub(crate) fn keeps_order(&self) -> bool {
        let Ok(node) = self.shared.node(self.node) else { return false };
        let key = cut::driver(&self.shared, node).and_then(|driver| driver.key);
        key.is_some() && key.as_ref() == node.sorted_by.first()
    }

    /// Makes the tables that the chain probes and the common sub-plans that it reads, each with all threads, and gets ready to run. Where such a table went to disk, its
    /// join must see all its left rows at once: there will be one morsel.
    pub(crate) fn prepare(mut self) -> Result<Prepared, ExecError> {
        let node = self.shared.node(self.node)?;
        if prepare_builds(&self.shared, node)? {
            self.cut = Cut::whole();
        }
        let most = if self.cut.divisible.is_some() { usize::MAX } else { self.cut.morsels.len().max(1) };
        let threads = self.shared.cx.threads.min(most);
        Ok(Prepared {
            shared: self.shared,
            node: self.node,
            queue: Arc::new(Queue::new(self.cut)),
            threads,
            reduce: self.reduce,
        })
    }
}

/// `true`: the build side of a hash join in the chain went to disk.
fn prepare_builds(shared: &Arc<Shared>, node: &PlanNode) -> Result<bool, ExecError> {
    let mut spilled = false;
    if matches!(node.op, PlanOp::HashJoin { .. }) {
        let built = shared.build(node.id).get(shared)?;
        spilled = matches!(*built, Built::Spilled(_));
    }
    if let PlanOp::Spool { number, .. } = &node.op {
        shared.spool(*number)?.get(shared)?;
    }
    for child in chain_inputs(&node.op) {
        spilled |= stack::room(|| prepare_builds(shared, child))?;
    }
    Ok(spilled)
}

/// A sub-plan ready to be run by several threads.
pub(crate) struct Prepared {
    shared: Arc<Shared>,
    node: u32,
    queue: Arc<Queue>,
    threads: usize,
    reduce: bool,
}

impl Prepared {
    /// How many threads can be of use.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// This thread works on the plan as long as the result lives.
    pub(crate) fn work(&self) -> Option<AtWork<'_>> {
        self.shared.counters.work()
    }

    /// A pipeline for one thread: it takes morsels until there are no more.
    pub(crate) fn pipeline(&self) -> BoxOp {
        self.pipe(false)
    }

    /// The same for a thread that runs it to its end without a pause: when there are no more morsels, it waits for what others
    /// give away, and it gives away what others wait for.
    pub(crate) fn sharing_pipeline(&self) -> BoxOp {
        self.pipe(true)
    }

    fn pipe(&self, shares: bool) -> BoxOp {
        let pipeline = Box::new(Pipeline::new(&self.shared, self.node, &self.queue, shares));
        if self.reduce { Box::new(Reduced::new(pipeline)) } else { pipeline }
    }

    /// The next morsel's number, and its operator; `ordered`: whether its rows must come in the order that the plan promises.
    pub(crate) fn next_morsel(&self, ordered: bool) -> Result<Option<(usize, BoxOp)>, ExecError> {
        let Some((number, morsel)) = self.queue.next() else { return Ok(None) };
        let builder = Builder::of_morsel(&self.shared, morsel, None);
        Ok(Some((number, builder.build(self.shared.node(self.node)?, ordered)?)))
    }

    /// Ends all pipelines at their next batch.
    pub(crate) fn close(&self) {
        self.queue.close();
    }
}
