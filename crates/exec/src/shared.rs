//! What all threads of one execution of a plan share.

use crate::context::QueryContext;
use crate::error::ExecError;
use crate::operators::hash_join_build::JoinBuild;
use crate::pattern::Pattern;
use crate::profile::{Counters, NodeCounters};
use crate::scheduler::lock;
use crate::spill::SpillArea;
use lode_packed::Order;
use lode_sparql::{Plan, PlanNode};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// An execution's shared state.
pub(crate) struct Shared {
    pub(crate) plan: Arc<Plan>,
    pub(crate) cx: Arc<QueryContext>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) area: Arc<SpillArea>,
    /// No quad is in a named graph.
    pub(crate) single_graph: bool,
    builds: Mutex<HashMap<u32, Arc<JoinBuild>>>,
    scan_rows: Mutex<HashMap<u32, u64>>,
}

impl Shared {
    /// For one execution of `plan`, which adds to `counters`.
    pub(crate) fn new(
        plan: Arc<Plan>,
        cx: &QueryContext,
        counters: Counters,
    ) -> Result<Arc<Self>, ExecError> {
        let mut cx = cx.clone();
        cx.vars = Arc::new(plan.vars.clone());
        cx.batch_rows = cx.batch_rows.max(1);
        Ok(Arc::new(Self {
            counters: Arc::new(counters),
            area: SpillArea::new(cx.spill_dir.clone()),
            single_graph: cx.snapshot.count(Order::Gspo, &[])? == 0,
            cx: Arc::new(cx),
            plan,
            builds: Mutex::default(),
            scan_rows: Mutex::default(),
        }))
    }

    /// The node with this number.
    pub(crate) fn node(&self, id: u32) -> Result<&PlanNode, ExecError> {
        find(&self.plan.root, id).ok_or_else(|| ExecError::Internal(format!("the plan has no node {id}")))
    }

    /// A node's counters.
    pub(crate) fn counters(&self, id: u32) -> Arc<NodeCounters> {
        self.counters.of(id)
    }

    /// The build side of the hash join with this number, shared by all threads that probe it.
    pub(crate) fn build(&self, id: u32) -> Arc<JoinBuild> {
        Arc::clone(lock(&self.builds).entry(id).or_insert_with(|| Arc::new(JoinBuild::new(id))))
    }

    /// How many quads the key range of a scan holds.
    pub(crate) fn scan_rows(&self, id: u32, pattern: &Pattern) -> Result<u64, ExecError> {
        if let Some(rows) = lock(&self.scan_rows).get(&id) {
            return Ok(*rows);
        }
        let snapshot = &self.cx.snapshot;
        let rows = match &pattern.within {
            _ if pattern.impossible => 0,
            None => snapshot.count(pattern.order, &pattern.prefix())?,
            Some(within) => snapshot.count_between(pattern.order, &pattern.prefix(), within)?,
        };
        lock(&self.scan_rows).insert(id, rows);
        Ok(rows)
    }
}

fn find(node: &PlanNode, id: u32) -> Option<&PlanNode> {
    if node.id == id {
        return Some(node);
    }
    node.children().into_iter().find_map(|child| find(child, id))
}
