//! What each node of a running plan did: counters that operators add to once per batch.
//!
//! Time and blocks are taken per thread by frames (`frame.rs`). So every node has its own share, whatever thread does the work, and
//! the shares add up to the whole.

use lode_base::block_work::BlockWork;
use lode_scheduler::Frame;
use lode_scheduler::turns::{Share, Turn};
use lode_sparql::{Plan, PlanNode, stack};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Counters of one node, shared by the threads that run it.
#[derive(Debug, Default)]
pub(crate) struct NodeCounters {
    /// Nobody reads them: no frames are made, and what the node takes is that of the node around it.
    is_mute: bool,
    rows: AtomicU64,
    batches: AtomicU64,
    time_ns: AtomicU64,
    bytes: AtomicU64,
    lookups: AtomicU64,
    sequential: AtomicU64,
    spilled: AtomicU64,
    requests: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    cached: AtomicU64,
    read: AtomicU64,
    bytes_read: AtomicU64,
    device_requests: AtomicU64,
    ahead: AtomicU64,
    skipped: AtomicU64,
    decoded: AtomicU64,
}

/// Most steps do nothing of most kinds: then no other thread need hear of it.
fn add(counter: &AtomicU64, count: u64) {
    if count > 0 {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl NodeCounters {
    /// Runs a step of the node on this thread, and charges it for what that takes.
    pub(crate) fn measure<T>(&self, step: impl FnOnce() -> T) -> T {
        if self.is_mute {
            return step();
        }
        let frame = Frame::enter();
        let result = step();
        let own = frame.leave();
        add(&self.time_ns, own.time_ns);
        add(&self.cached, own.blocks.cached);
        add(&self.read, own.blocks.read);
        add(&self.bytes_read, own.blocks.bytes_read);
        add(&self.device_requests, own.blocks.requests);
        add(&self.ahead, own.blocks.ahead);
        add(&self.skipped, own.blocks.skipped);
        add(&self.decoded, own.blocks.decoded);
        result
    }

    /// A batch of `rows` rows went out.
    pub(crate) fn batch(&self, rows: usize) {
        if rows > 0 {
            add(&self.rows, rows as u64);
            add(&self.batches, 1);
        }
    }

    /// Operator state holds `bytes` now.
    pub(crate) fn hold(&self, bytes: usize) {
        self.bytes.fetch_max(bytes as u64, Ordering::Relaxed);
    }

    /// Keys were looked up in an index, and rows read in sequence.
    pub(crate) fn read(&self, lookups: u64, sequential: u64) {
        add(&self.lookups, lookups);
        add(&self.sequential, sequential);
    }

    /// Bytes went to a temporary file.
    pub(crate) fn spill(&self, bytes: u64) {
        add(&self.spilled, bytes);
    }

    /// A request of so many bytes went to another endpoint.
    pub(crate) fn request(&self, bytes: usize) {
        add(&self.requests, 1);
        add(&self.sent, bytes as u64);
    }

    /// Bytes came from another endpoint.
    pub(crate) fn receive(&self, bytes: u64) {
        add(&self.received, bytes);
    }

    fn work(&self) -> Work {
        Work {
            rows: get(&self.rows),
            batches: get(&self.batches),
            time_ns: get(&self.time_ns),
            bytes_max: get(&self.bytes),
            lookups: get(&self.lookups),
            sequential_rows: get(&self.sequential),
            spilled_bytes: get(&self.spilled),
            requests: get(&self.requests),
            bytes_sent: get(&self.sent),
            bytes_received: get(&self.received),
            blocks: BlockWork {
                cached: get(&self.cached),
                read: get(&self.read),
                bytes_read: get(&self.bytes_read),
                requests: get(&self.device_requests),
                ahead: get(&self.ahead),
                skipped: get(&self.skipped),
                decoded: get(&self.decoded),
            },
        }
    }
}

thread_local! {
    /// Whether the thread works on a plan already.
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// The counters of all nodes of a plan, and of what makes an answer of its rows.
#[derive(Debug)]
pub(crate) struct Counters {
    nodes: Vec<Arc<NodeCounters>>,
    answer: Arc<NodeCounters>,
    /// The nodes are part of another plan's node: their rows are not its rows.
    are_inner: bool,
    threads: AtomicUsize,
    share: Share,
}

impl Counters {
    /// Zeroes for the nodes of `plan`.
    pub(crate) fn new(plan: &Plan, share: &Share) -> Self {
        let nodes = (0..plan.node_count).map(|_| Arc::default()).collect();
        let (threads, share) = (AtomicUsize::new(0), share.clone());
        Self { nodes, answer: Arc::default(), are_inner: false, threads, share }
    }

    /// For a plan that is run by a node of another: all is that node's. Without one: that of whoever runs the plan, on its thread.
    pub(crate) fn within(plan: &Plan, node: Option<&Arc<NodeCounters>>, share: &Share) -> Self {
        let mute = Arc::new(NodeCounters { is_mute: true, ..NodeCounters::default() });
        let all = node.unwrap_or(&mute);
        let nodes = (0..plan.node_count).map(|_| Arc::clone(all)).collect();
        let (threads, share) = (AtomicUsize::new(0), share.clone());
        Self { nodes, answer: mute, are_inner: true, threads, share }
    }

    /// The counters of a node; of none that the plan counts: fresh ones.
    pub(crate) fn of(&self, id: u32) -> Arc<NodeCounters> {
        self.nodes.get(id as usize).map(Arc::clone).unwrap_or_default()
    }

    /// What makes an answer of the rows.
    pub(crate) fn answer(&self) -> &Arc<NodeCounters> {
        &self.answer
    }

    /// Whether the nodes are part of another plan's node.
    pub(crate) fn are_inner(&self) -> bool {
        self.are_inner
    }

    /// This thread works on the plan as long as the result lives; waits for its turn. A thread that works already counts once.
    pub(crate) fn work(&self) -> Option<AtWork<'_>> {
        if AT_WORK.replace(true) {
            return None;
        }
        let turn = self.share.take_turn();
        self.threads.fetch_add(1, Ordering::Relaxed);
        Some(AtWork { threads: &self.threads, _turn: turn })
    }
}

/// A thread at work.
pub(crate) struct AtWork<'a> {
    threads: &'a AtomicUsize,
    _turn: Turn,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        AT_WORK.set(false);
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one part of a running query has done, all threads together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Rows delivered.
    pub rows: u64,
    /// Batches delivered.
    pub batches: u64,
    /// Time of its own, without that of the nodes below.
    pub time_ns: u64,
    /// The most bytes that its state took in one thread.
    pub bytes_max: u64,
    /// Keys looked up in an index.
    pub lookups: u64,
    /// Rows read from an index.
    pub sequential_rows: u64,
    /// Bytes written to temporary files.
    pub spilled_bytes: u64,
    /// Requests to other endpoints.
    pub requests: u64,
    /// Bytes of these, as queries.
    pub bytes_sent: u64,
    /// Bytes of their answers.
    pub bytes_received: u64,
    /// Blocks opened, of permutations and dictionaries.
    pub blocks: BlockWork,
}

impl Work {
    /// Both together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            batches: self.batches + other.batches,
            time_ns: self.time_ns + other.time_ns,
            bytes_max: self.bytes_max.max(other.bytes_max),
            lookups: self.lookups + other.lookups,
            sequential_rows: self.sequential_rows + other.sequential_rows,
            spilled_bytes: self.spilled_bytes + other.spilled_bytes,
            requests: self.requests + other.requests,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            bytes_received: self.bytes_received + other.bytes_received,
            blocks: self.blocks.and(&other.blocks),
        }
    }
}

/// What a node did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeProfile {
    /// The node's number in the plan.
    pub id: u32,
    /// The operator's name.
    pub name: &'static str,
    /// Rows that the planner expected.
    pub estimate: f64,
    /// Rows that its inputs delivered to it.
    pub rows_in: u64,
    /// Time of the node and of those below, all threads together.
    pub total_ns: u64,
    /// The node's own part.
    pub work: Work,
}

impl NodeProfile {
    /// Rows delivered, for each that was expected: 1 is right, 10 is ten times as many. Less than a row counts as one.
    pub fn rows_per_expected(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let rows = self.work.rows as f64;
        rows.max(1.0) / self.estimate.max(1.0)
    }
}

/// What all nodes of a plan did, parents before children.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// One per node.
    pub nodes: Vec<NodeProfile>,
    /// What made terms and triples of the rows; its rows are those of the answer.
    pub answer: Work,
    /// Threads at work.
    pub threads: usize,
}

impl Profile {
    /// The profile of a node.
    pub fn node(&self, id: u32) -> Option<&NodeProfile> {
        // Nodes are numbered as they stand here.
        self.nodes.get(id as usize).filter(|node| node.id == id)
    }

    /// All parts together; its rows are those of the answer.
    pub fn total(&self) -> Work {
        let all = self.nodes.iter().fold(self.answer, |sum, node| sum.and(&node.work));
        Work { rows: self.answer.rows, batches: self.answer.batches, ..all }
    }
}

/// Tells from any thread what a plan has done so far. Holds nothing that the operators hold.
#[derive(Debug, Clone)]
pub struct Probe {
    plan: Arc<Plan>,
    counters: Arc<Counters>,
}

impl Probe {
    pub(crate) fn new(plan: &Arc<Plan>, counters: &Arc<Counters>) -> Self {
        Self { plan: Arc::clone(plan), counters: Arc::clone(counters) }
    }

    /// Reads the counters.
    pub fn profile(&self) -> Profile {
        let mut nodes = Vec::new();
        stack::deep(self.plan.depth, || visit(&self.plan.root, &self.counters, &mut nodes));
        let threads = self.counters.threads.load(Ordering::Relaxed);
        Profile { nodes, answer: self.counters.answer.work(), threads }
    }
}

/// Appends the profile of a node and of those below; rows that it delivered, and time of all.
fn visit(node: &PlanNode, counters: &Counters, nodes: &mut Vec<NodeProfile>) -> (u64, u64) {
    let work = counters.of(node.id).work();
    let place = nodes.len();
    let (id, name, estimate) = (node.id, node.op.name(), node.rows);
    nodes.push(NodeProfile { id, name, estimate, rows_in: 0, total_ns: work.time_ns, work });
    let below: Vec<(u64, u64)> =
        node.children().into_iter().map(|child| visit(child, counters, nodes)).collect();
    let profile = &mut nodes[place];
    profile.rows_in = below.iter().map(|(rows, _)| rows).sum();
    profile.total_ns += below.iter().map(|(_, time_ns)| time_ns).sum::<u64>();
    (work.rows, profile.total_ns)
}
