//! What each node of a running plan did: counters that operators add to once per batch.

use lode_sparql::explain::op_name;
use lode_sparql::{Plan, PlanNode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one node, shared by the threads that run it.
#[derive(Debug, Default)]
pub(crate) struct NodeCounters {
    rows: AtomicU64,
    batches: AtomicU64,
    time_ns: AtomicU64,
    bytes: AtomicU64,
    lookups: AtomicU64,
    sequential: AtomicU64,
    spilled: AtomicU64,
}

impl NodeCounters {
    /// A batch of `rows` rows went out after `time_ns`.
    pub(crate) fn batch(&self, rows: usize, time_ns: u64) {
        self.time_ns.fetch_add(time_ns, Ordering::Relaxed);
        if rows > 0 {
            self.rows.fetch_add(rows as u64, Ordering::Relaxed);
            self.batches.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Operator state holds `bytes` now.
    pub(crate) fn hold(&self, bytes: usize) {
        self.bytes.fetch_max(bytes as u64, Ordering::Relaxed);
    }

    /// Keys were looked up in an index, and rows read in sequence.
    pub(crate) fn read(&self, lookups: u64, sequential: u64) {
        self.lookups.fetch_add(lookups, Ordering::Relaxed);
        self.sequential.fetch_add(sequential, Ordering::Relaxed);
    }

    /// Bytes went to a temporary file.
    pub(crate) fn spill(&self, bytes: u64) {
        self.spilled.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The counters of all nodes of a plan.
#[derive(Debug)]
pub(crate) struct Counters(Vec<Arc<NodeCounters>>);

impl Counters {
    /// Zeroes for the nodes of `plan`.
    pub(crate) fn new(plan: &Plan) -> Self {
        Self((0..plan.node_count).map(|_| Arc::default()).collect())
    }

    /// The counters of a node; of none that the plan counts: fresh ones.
    pub(crate) fn of(&self, id: u32) -> Arc<NodeCounters> {
        self.0.get(id as usize).map(Arc::clone).unwrap_or_default()
    }
}

/// What a node did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeProfile {
    /// The node's number in the plan.
    pub id: u32,
    /// The operator's name.
    pub name: &'static str,
    /// Distance from the root.
    pub depth: u32,
    /// Rows that the planner expected.
    pub estimate: f64,
    /// Rows delivered, all threads together.
    pub rows: u64,
    /// Batches delivered.
    pub batches: u64,
    /// Time in this node and those below, summed over threads.
    pub time_ns: u64,
    /// The most bytes that the operator's state took in one thread.
    pub bytes: u64,
    /// Keys looked up in an index.
    pub lookups: u64,
    /// Rows read from an index.
    pub sequential_rows: u64,
    /// Bytes written to temporary files.
    pub spilled_bytes: u64,
}

/// What all nodes of a plan did, parents before children.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// One per node.
    pub nodes: Vec<NodeProfile>,
}

impl Profile {
    /// Reads the counters.
    pub(crate) fn collect(plan: &Plan, counters: &Counters) -> Self {
        let mut nodes = Vec::new();
        visit(&plan.root, 0, counters, &mut nodes);
        Self { nodes }
    }

    /// The profile of a node.
    pub fn node(&self, id: u32) -> Option<&NodeProfile> {
        self.nodes.iter().find(|node| node.id == id)
    }
}

fn visit(node: &PlanNode, depth: u32, counters: &Counters, nodes: &mut Vec<NodeProfile>) {
    let c = counters.of(node.id);
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    nodes.push(NodeProfile {
        id: node.id,
        name: op_name(&node.op),
        depth,
        estimate: node.rows,
        rows: read(&c.rows),
        batches: read(&c.batches),
        time_ns: read(&c.time_ns),
        bytes: read(&c.bytes),
        lookups: read(&c.lookups),
        sequential_rows: read(&c.sequential),
        spilled_bytes: read(&c.spilled),
    });
    for child in node.children() {
        visit(child, depth + 1, counters, nodes);
    }
}
