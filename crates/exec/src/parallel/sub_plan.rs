//! A sub-plan that was split into morsels, and the pipelines that take them.

use super::pipeline::Pipeline;
use super::split::{chain_inputs, driver, split_plan};
use crate::morsel::{Assignment, Queue, Split};
use crate::operator::BoxOp;
use crate::profile::AtWork;
use crate::shared::Shared;
use lode_eval::error::ExecError;
use lode_sparql::{PlanNode, stack};
use std::sync::Arc;

/// Puts an operator around another.
pub(crate) type Wrap = fn(BoxOp) -> BoxOp;

/// A sub-plan cut into morsels.
pub(crate) struct SubPlan {
    shared: Arc<Shared>,
    node: u32,
    split: Split,
    each_thread: Option<Wrap>,
}

impl SubPlan {
    /// The sub-plan of `node`, if it can be cut and is worth it.
    pub(crate) fn new(shared: &Arc<Shared>, node: &PlanNode) -> Result<Option<Self>, ExecError> {
        if shared.cx.threads < 2 {
            return Ok(None);
        }
        let split = split_plan(shared, node, 0.0)?.filter(|split| split.morsels.len() > 1);
        Ok(split.map(|split| Self { shared: Arc::clone(shared), node: node.id, split, each_thread: None }))
    }

    /// The same, with an operator around what each thread does.
    pub(crate) fn each_thread(self, wrap: Wrap) -> Self {
        Self { each_thread: Some(wrap), ..self }
    }

    /// Whether the rows of one morsel come before those of the next in the order that the plan promises.
    pub(crate) fn keeps_order(&self) -> bool {
        let Ok(node) = self.shared.node(self.node) else { return false };
        let key = driver(self.shared.single_graph, node).and_then(|driver| driver.key);
        key.is_some() && key.as_ref() == node.sorted_by.first()
    }

    /// Makes the tables that the chain probes and the common sub-plans that it reads, each with all threads, and gets ready to run. Where such a table went to disk, its
    /// join must see all its left rows at once: there will be one morsel.
    pub(crate) fn prepare(mut self) -> Result<Prepared, ExecError> {
        let node = self.shared.node(self.node)?;
        if prepare_builds(&self.shared, node)? {
            self.split = Split::whole();
        }
        let most = if self.split.divisible.is_some() { usize::MAX } else { self.split.morsels.len().max(1) };
        let threads = self.shared.cx.threads.min(most);
        Ok(Prepared {
            shared: self.shared,
            node: self.node,
            queue: Arc::new(Queue::new(self.split)),
            threads,
            each_thread: self.each_thread,
        })
    }
}

/// `true`: what an operator of the chain had to make went to disk.
fn prepare_builds(shared: &Arc<Shared>, node: &PlanNode) -> Result<bool, ExecError> {
    let mut spilled = shared.prepare(node)?;
    for child in chain_inputs(node) {
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
    each_thread: Option<Wrap>,
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
        let pipeline: BoxOp = Box::new(Pipeline::new(&self.shared, self.node, &self.queue, shares));
        match self.each_thread {
            Some(wrap) => wrap(pipeline),
            None => pipeline,
        }
    }

    /// The next morsel's number, and its operator; `ordered`: whether its rows must come in the order that the plan promises.
    pub(crate) fn next_morsel(&self, ordered: bool) -> Result<Option<(usize, BoxOp)>, ExecError> {
        let Some((number, morsel)) = self.queue.next() else { return Ok(None) };
        let assignment = Assignment::morsel(morsel, None);
        let operator = self.shared.build(assignment, self.shared.node(self.node)?, ordered)?;
        Ok(Some((number, operator)))
    }

    /// Ends all pipelines at their next batch.
    pub(crate) fn close(&self) {
        self.queue.close();
    }
}
