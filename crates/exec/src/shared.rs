//! What all threads of one execution of a plan share.

use crate::context::QueryContext;
use crate::morsel::Assignment;
use crate::operator::BoxOp;
use crate::pattern::Pattern;
use crate::profile::{Counters, NodeCounters};
use crate::range_scan::rows_of;
use crate::spill_area::SpillArea;
use lode_eval::error::ExecError;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_scheduler::lock;
use lode_scheduler::waiting;
use lode_sparql::{Plan, PlanNode};
use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Who makes operators of plan nodes: knows all of them, so it stands above them and is handed down.
#[derive(Clone, Copy)]
pub(crate) struct Factory {
    /// See [`Shared::build`].
    pub(crate) build: fn(&Arc<Shared>, Assignment<'_>, &PlanNode, bool) -> Result<BoxOp, ExecError>,
    /// See [`Shared::prepare`].
    pub(crate) prepare: fn(&Arc<Shared>, &PlanNode) -> Result<bool, ExecError>,
}

/// What a node needs once, whichever thread comes first.
pub(crate) trait BuildOnce: Sized + Send + Sync + 'static {
    /// Makes it.
    fn make(shared: &Arc<Shared>, node: &PlanNode) -> Result<Self, ExecError>;
}

/// Something of a node that is made when first asked for.
pub(crate) struct Once<T> {
    node: u32,
    built: Mutex<Option<Arc<T>>>,
}

impl<T: BuildOnce> Once<T> {
    fn new(node: u32) -> Self {
        Self { node, built: Mutex::default() }
    }

    /// The thing, made now if need be.
    pub(crate) fn get(&self, shared: &Arc<Shared>) -> Result<Arc<T>, ExecError> {
        let mut built = match self.built.try_lock() {
            Ok(built) => built,
            Err(_) => waiting(|| lock(&self.built)),
        };
        if let Some(built) = built.as_ref() {
            return Ok(Arc::clone(built));
        }
        let node = shared.node(self.node)?;
        let made = Arc::new(shared.counters(node.id).measure(|| T::make(shared, node))?);
        *built = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// An execution's shared state.
pub(crate) struct Shared {
    pub(crate) plan: Arc<Plan>,
    pub(crate) cx: Arc<QueryContext>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) area: Arc<SpillArea>,
    /// No quad is in a named graph.
    pub(crate) single_graph: bool,
    factory: Factory,
    /// What nodes need once, by its type and the node's number.
    once: Mutex<HashMap<(TypeId, u32), Arc<dyn Any + Send + Sync>>>,
    scan_rows: Mutex<HashMap<u32, u64>>,
    /// Scans whose rows all have one value, so that no thread can take a part of them.
    whole: Mutex<HashSet<u32>>,
}

impl Shared {
    /// For one execution of `plan`, which adds to `counters`.
    pub(crate) fn new(
        plan: Arc<Plan>,
        cx: &QueryContext,
        counters: Counters,
        factory: Factory,
    ) -> Result<Arc<Self>, ExecError> {
        let mut cx = cx.clone();
        cx.vars = Arc::new(plan.vars.clone());
        cx.batch_rows = cx.batch_rows.min(rows_that_flow(&plan.root)).max(1);
        Ok(Arc::new(Self {
            counters: Arc::new(counters),
            area: SpillArea::new(cx.spill_dir.clone()),
            single_graph: cx.snapshot.count(Order::Gspo, &[])? == 0,
            cx: Arc::new(cx),
            plan,
            factory,
            once: Mutex::default(),
            scan_rows: Mutex::default(),
            whole: Mutex::default(),
        }))
    }

    /// The node with this number.
    pub(crate) fn node(&self, id: u32) -> Result<&PlanNode, ExecError> {
        numbered(&self.plan.root, id).ok_or_else(|| ExecError::Internal(format!("the plan has no node {id}")))
    }

    /// A node's counters.
    pub(crate) fn counters(&self, id: u32) -> Arc<NodeCounters> {
        self.counters.of(id)
    }

    /// Who makes the operators.
    pub(crate) fn factory(&self) -> Factory {
        self.factory
    }

    /// The operator of `node`, for a thread that does all of what is assigned itself. `ordered`: the consumer relies on the order that the
    /// plan promises.
    pub(crate) fn build(
        self: &Arc<Self>,
        assignment: Assignment<'_>,
        node: &PlanNode,
        ordered: bool,
    ) -> Result<BoxOp, ExecError> {
        (self.factory.build)(self, assignment, node, ordered)
    }

    /// Makes what `node` needs once, with all threads. `true`: it went to disk, and the node must see all its rows at once.
    pub(crate) fn prepare(self: &Arc<Self>, node: &PlanNode) -> Result<bool, ExecError> {
        (self.factory.prepare)(self, node)
    }

    /// What the node with this number needs once, shared by all threads that run it.
    pub(crate) fn once<T: BuildOnce>(&self, node: u32) -> Arc<Once<T>> {
        let new = || Arc::new(Once::<T>::new(node));
        let known = Arc::clone(lock(&self.once).entry((TypeId::of::<T>(), node)).or_insert_with(|| new()));
        known.downcast().unwrap_or_else(|_| new())
    }

    /// The first node for which `wanted` holds.
    pub(crate) fn find(&self, wanted: &dyn Fn(&PlanNode) -> bool) -> Option<&PlanNode> {
        find(&self.plan.root, wanted)
    }

    /// Whether the rows of a scan were found not to be divisible.
    pub(crate) fn is_whole(&self, scan: u32) -> bool {
        lock(&self.whole).contains(&scan)
    }

    /// Tells that the rows of a scan are not divisible.
    pub(crate) fn keep_whole(&self, scan: u32) {
        lock(&self.whole).insert(scan);
    }

    /// How many quads the key range of a scan holds.
    pub(crate) fn scan_rows(&self, id: u32, pattern: &Pattern) -> Result<u64, ExecError> {
        if let Some(rows) = lock(&self.scan_rows).get(&id) {
            return Ok(*rows);
        }
        let rows = rows_of(&self.cx.snapshot, pattern)?;
        lock(&self.scan_rows).insert(id, rows);
        Ok(rows)
    }
}

/// The node with a number: nodes are numbered from the root on, parents before children, left before right.
fn numbered(root: &PlanNode, id: u32) -> Option<&PlanNode> {
    let mut node = root;
    while node.id != id {
        let children = node.children();
        let after = children.partition_point(|child| child.id <= id);
        node = children.get(after.checked_sub(1)?).copied()?;
    }
    Some(node)
}

/// Bytes of a batch that flows between operators: nobody accounts for these, and a plan can have a hundred operators and columns.
const FLOWING_BYTES: usize = 1 << 20;
/// However many columns there are.
const FLOWING_ROWS_MIN: usize = 64;

/// How many rows batches may have: fewer where a node has very many columns.
fn rows_that_flow(root: &PlanNode) -> usize {
    let (mut widest, mut open) = (1, vec![root]);
    while let Some(node) = open.pop() {
        widest = widest.max(node.vars.len());
        open.extend(node.children());
    }
    (FLOWING_BYTES / (widest * size_of::<ValueId>())).max(FLOWING_ROWS_MIN)
}

fn find<'a>(root: &'a PlanNode, wanted: &dyn Fn(&PlanNode) -> bool) -> Option<&'a PlanNode> {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if wanted(node) {
            return Some(node);
        }
        open.extend(node.children());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::generate::node;
    use lode_sparql::{PlanOp, VarId};

    #[test]
    fn wide_rows_flow_in_small_batches() {
        let wide = |columns| {
            let inner = node(PlanOp::Unit, (0..columns).map(VarId).collect(), Vec::new());
            node(PlanOp::Reduced(Arc::new(inner)), Vec::new(), Vec::new())
        };
        assert_eq!(rows_that_flow(&wide(32)), 4096);
        assert_eq!(rows_that_flow(&wide(320)), 409);
        assert_eq!(rows_that_flow(&wide(100_000)), FLOWING_ROWS_MIN);
    }
}
