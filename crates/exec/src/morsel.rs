//! Morsels: parts of a sub-plan's work that threads take one after the other.
//!
//! A sub-plan can be cut where its rows come from scans along one chain of operators: each morsel is the same sub-plan with
//! those scans confined to a range of values of their first free column. Where several scans of the chain are joined by that
//! very variable, all are confined to the same range, so merge joins and streaming aggregation stay what they are inside a morsel.
//! A UNION is cut into the morsels of its branches.

use crate::batch::Batch;
use crate::build::Builder;
use crate::error::ExecError;
use crate::operators::distinct::Reduced;
use crate::operators::hash_join_build::Built;
use crate::operators::{BoxOp, Operator};
use crate::pattern::{Cell, Pattern};
use crate::profile::AtWork;
use crate::shared::Shared;
use lode_rdf::ValueId;
use lode_sparql::{PlanNode, PlanOp, ScanPattern, VarId};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Rows of a morsel, at least, in batches.
const MORSEL_BATCHES: u64 = 4;
/// Morsels per thread, at most.
const MORSELS_PER_THREAD: usize = 8;

/// A part of the work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Morsel {
    ranges: Vec<(u32, Range<ValueId>)>,
    branches: Vec<(u32, usize)>,
    parts: Vec<(u32, Part)>,
}

/// A part of the rows of a common sub-plan.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// One of so many shares, about equally large, in the order of the rows.
    Share { number: usize, of: usize },
    /// Rows whose value of the first column of the order lies in it.
    Range(Range<ValueId>),
}

impl Morsel {
    /// The range that a scan is confined to.
    pub(crate) fn range(&self, scan: u32) -> Option<&Range<ValueId>> {
        self.ranges.iter().find(|(id, _)| *id == scan).map(|(_, range)| range)
    }

    /// The part that is read of the rows of a common sub-plan.
    pub(crate) fn part(&self, spool: u32) -> Option<&Part> {
        self.parts.iter().find(|(id, _)| *id == spool).map(|(_, part)| part)
    }

    /// The branch of a UNION that alone is run.
    pub(crate) fn branch(&self, union: u32) -> Option<usize> {
        self.branches.iter().find(|(id, _)| *id == union).map(|(_, branch)| *branch)
    }
}

/// A sub-plan cut into morsels.
pub(crate) struct ParallelSource {
    shared: Arc<Shared>,
    node: u32,
    morsels: Vec<Morsel>,
    reduce: bool,
}

impl ParallelSource {
    /// The sub-plan of `node`, if it can be cut and is worth it.
    pub(crate) fn new(shared: &Arc<Shared>, node: &PlanNode) -> Result<Option<Self>, ExecError> {
        if shared.cx.threads < 2 {
            return Ok(None);
        }
        let morsels = cut(shared, node)?.filter(|morsels| morsels.len() > 1);
        Ok(morsels.map(|morsels| Self { shared: Arc::clone(shared), node: node.id, morsels, reduce: false }))
    }

    /// The same, each thread dropping duplicates it notices.
    pub(crate) fn reduced(self) -> Self {
        Self { reduce: true, ..self }
    }

    /// Whether the rows of one morsel come before those of the next in the order that the plan promises.
    pub(crate) fn keeps_order(&self) -> bool {
        let Ok(node) = self.shared.node(self.node) else { return false };
        let key = driver(&self.shared, node).and_then(|driver| driver.key);
        key.is_some() && key.as_ref() == node.sorted_by.first()
    }

    /// Makes the tables that the chain probes and the common sub-plans that it reads, each with all threads, and gets ready to run. Where such a table went to disk, its
    /// join must see all its left rows at once: there will be one morsel.
    pub(crate) fn prepare(mut self) -> Result<Prepared, ExecError> {
        let node = self.shared.node(self.node)?;
        if prepare_builds(&self.shared, node)? {
            self.morsels = vec![Morsel::default()];
        }
        let threads = self.shared.cx.threads.min(self.morsels.len()).max(1);
        let queue =
            Queue { morsels: self.morsels, next: AtomicUsize::new(0), closed: AtomicBool::new(false) };
        Ok(Prepared {
            shared: self.shared,
            node: self.node,
            queue: Arc::new(queue),
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
        spilled |= prepare_builds(shared, child)?;
    }
    Ok(spilled)
}

/// The inputs along which a chain is cut.
fn chain_inputs(op: &PlanOp) -> Vec<&PlanNode> {
    match op {
        PlanOp::MergeJoin { left, right, .. } => vec![left, right],
        PlanOp::HashJoin { left, .. } => vec![left],
        PlanOp::Filter { input, .. }
        | PlanOp::Extend { input, .. }
        | PlanOp::TripleTerm { input, .. }
        | PlanOp::Project(input)
        | PlanOp::Reduced(input)
        | PlanOp::Distinct(input)
        | PlanOp::Group { input, .. }
        | PlanOp::LookupJoin { input, .. } => vec![input],
        PlanOp::Path { input, .. } => input.as_deref().into_iter().collect(),
        PlanOp::Union(inputs) => inputs.iter().collect(),
        _ => Vec::new(),
    }
}

#[derive(Debug)]
struct Queue {
    morsels: Vec<Morsel>,
    next: AtomicUsize,
    closed: AtomicBool,
}

impl Queue {
    fn next_morsel(
        &self,
        shared: &Arc<Shared>,
        node: u32,
        ordered: bool,
    ) -> Result<Option<(usize, BoxOp)>, ExecError> {
        if self.closed.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(morsel) = self.morsels.get(number) else { return Ok(None) };
        let operator = Builder::of_morsel(shared, morsel).build(shared.node(node)?, ordered)?;
        Ok(Some((number, operator)))
    }
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
        let pipeline = Box::new(Pipeline {
            shared: Arc::clone(&self.shared),
            node: self.node,
            queue: Arc::clone(&self.queue),
            current: None,
        });
        if self.reduce { Box::new(Reduced::new(pipeline)) } else { pipeline }
    }

    /// The next morsel's number, and its operator; `ordered`: whether its rows must come in the order that the plan promises.
    pub(crate) fn next_morsel(&self, ordered: bool) -> Result<Option<(usize, BoxOp)>, ExecError> {
        self.queue.next_morsel(&self.shared, self.node, ordered)
    }

    /// Ends all pipelines at their next batch.
    pub(crate) fn close(&self) {
        self.queue.closed.store(true, Ordering::Relaxed);
    }
}

struct Pipeline {
    shared: Arc<Shared>,
    node: u32,
    queue: Arc<Queue>,
    current: Option<BoxOp>,
}

impl Operator for Pipeline {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        loop {
            if self.queue.closed.load(Ordering::Relaxed) {
                out.clear();
                return Ok(false);
            }
            if let Some(current) = &mut self.current {
                if current.next(out)? {
                    return Ok(true);
                }
                self.current = None;
            }
            let Some((_, operator)) = self.queue.next_morsel(&self.shared, self.node, false)? else {
                out.clear();
                return Ok(false);
            };
            self.current = Some(operator);
        }
    }
}

/// The scans that a chain's rows come from, and the variable whose values they can be cut by.
struct Driver<'a> {
    scans: Vec<(u32, &'a ScanPattern)>,
    /// Common sub-plans that are read, sorted by that variable if there is one.
    spools: Vec<&'a PlanNode>,
    key: Option<VarId>,
    /// An operator of the chain needs all rows of a value of the variable together.
    by_key: bool,
}

impl<'a> Driver<'a> {
    fn scan(node: &PlanNode, pattern: &'a ScanPattern, key: Option<VarId>) -> Self {
        Self { scans: vec![(node.id, pattern)], spools: Vec::new(), key, by_key: false }
    }

    /// The same below an operator that needs all rows of a value together.
    fn by_key(self) -> Self {
        Self { by_key: true, ..self }
    }
}

/// Morsels of a sub-plan; `None`: it cannot be cut.
fn cut(shared: &Arc<Shared>, node: &PlanNode) -> Result<Option<Vec<Morsel>>, ExecError> {
    if let Some(driver) = driver(shared, node) {
        return cut_scans(shared, &driver);
    }
    match &node.op {
        PlanOp::Union(inputs) => cut_union(shared, node.id, inputs),
        PlanOp::Filter { .. }
        | PlanOp::Extend { .. }
        | PlanOp::TripleTerm { .. }
        | PlanOp::Project(_)
        | PlanOp::Reduced(_)
        | PlanOp::LookupJoin { .. }
        | PlanOp::HashJoin { .. }
        | PlanOp::Path { .. } => match chain_inputs(&node.op).first() {
            Some(input) => cut(shared, input),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

fn cut_union(shared: &Arc<Shared>, id: u32, inputs: &[PlanNode]) -> Result<Option<Vec<Morsel>>, ExecError> {
    let mut morsels = Vec::new();
    let mut any = false;
    for (branch, input) in inputs.iter().enumerate() {
        let parts = cut(shared, input)?;
        any |= parts.is_some();
        for mut part in parts.unwrap_or_else(|| vec![Morsel::default()]) {
            part.branches.push((id, branch));
            morsels.push(part);
        }
    }
    Ok(any.then_some(morsels))
}

fn driver<'a>(shared: &Shared, node: &'a PlanNode) -> Option<Driver<'a>> {
    let mut driver = match &node.op {
        PlanOp::IndexScan(pattern) => {
            let ready = Pattern::new(pattern, |_| false, |_| false, shared.single_graph);
            let key = match ready.cells.get(ready.consts)? {
                Cell::Free(var) => Some(*var),
                _ => None,
            };
            Driver::scan(node, pattern, key)
        }
        PlanOp::Spool { .. } => {
            let key = node.sorted_by.first().copied();
            Driver { scans: Vec::new(), spools: vec![node], key, by_key: false }
        }
        PlanOp::MultiwayJoin(tries) => {
            // Every trie that has the first variable begins with it.
            let key = *node.vars.first()?;
            let begins = |pattern: &&ScanPattern| {
                let ready = Pattern::new(pattern, |_| false, |_| false, shared.single_graph);
                ready.cells.get(ready.consts) == Some(&Cell::Free(key))
            };
            let pattern = tries.iter().map(|trie| &trie.pattern).find(begins)?;
            Driver::scan(node, pattern, Some(key))
        }
        PlanOp::MergeJoin { left, right, condition, .. } => {
            let mut left = driver(shared, left)?;
            let right = driver(shared, right)?;
            let key = left.key.filter(|key| right.key == Some(*key) && condition.on.contains(key))?;
            left.scans.extend(right.scans);
            left.spools.extend(right.spools);
            Driver { key: Some(key), ..left }.by_key()
        }
        PlanOp::Group { input, keys, .. } => {
            driver(shared, input).filter(|d| d.key.is_some_and(|key| keys.contains(&key)))?.by_key()
        }
        PlanOp::Distinct(input) => {
            driver(shared, input).filter(|d| d.key.is_some_and(|key| node.vars.contains(&key)))?.by_key()
        }
        PlanOp::Union(_) => return None,
        op => driver(shared, chain_inputs(op).first()?)?,
    };
    driver.key = driver.key.filter(|key| node.vars.contains(key));
    Some(driver)
}

fn cut_scans(shared: &Arc<Shared>, driver: &Driver<'_>) -> Result<Option<Vec<Morsel>>, ExecError> {
    let mut largest: Option<(u64, Pattern)> = None;
    for (id, pattern) in &driver.scans {
        let pattern = Pattern::new(pattern, |_| false, |_| false, shared.single_graph);
        let rows = shared.scan_rows(*id, &pattern)?;
        if largest.as_ref().is_none_or(|(most, _)| rows > *most) {
            largest = Some((rows, pattern));
        }
    }
    let Some((rows, pattern)) = largest else { return Ok(cut_spool(shared, driver)) };
    let morsel_rows = MORSEL_BATCHES * shared.cx.batch_rows as u64;
    let parts = usize::try_from(rows / morsel_rows).unwrap_or(usize::MAX);
    let parts = parts.min(shared.cx.threads * MORSELS_PER_THREAD);
    if parts < 2 || pattern.impossible || pattern.consts > 3 {
        return Ok(None);
    }
    let values = pattern.range(None).unwrap_or(ValueId::UNDEF..ValueId::MAX);
    let ranges = shared.cx.snapshot.split(pattern.order, &pattern.prefix(), values, parts)?;
    if ranges.len() < 2 {
        return Ok(None);
    }
    // The ranges must cover all values, also those that only a smaller scan of the chain has.
    let starts = std::iter::once(ValueId::UNDEF).chain(ranges.iter().skip(1).map(|range| range.start));
    let ends = ranges.iter().skip(1).map(|range| range.start).chain([ValueId::MAX]);
    let confine = |(start, end): (ValueId, ValueId)| Morsel {
        ranges: driver.scans.iter().map(|(id, _)| (*id, start..end)).collect(),
        branches: Vec::new(),
        parts: driver.spools.iter().map(|spool| (spool.id, Part::Range(start..end))).collect(),
    };
    Ok(Some(starts.zip(ends).map(confine).collect()))
}

/// Shares of the rows of a common sub-plan, where all rows of the chain come from it. They need not be made yet: as many morsels
/// as their expected number suggests.
fn cut_spool(shared: &Shared, driver: &Driver<'_>) -> Option<Vec<Morsel>> {
    let [spool] = driver.spools.as_slice() else { return None };
    let morsel_rows = (MORSEL_BATCHES as usize).saturating_mul(shared.cx.batch_rows).max(1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    let rows = spool.rows as usize;
    let of = (rows / morsel_rows).min(shared.cx.threads * MORSELS_PER_THREAD);
    if of < 2 || driver.by_key {
        return None;
    }
    let share = |number| Morsel { parts: vec![(spool.id, Part::Share { number, of })], ..Morsel::default() };
    Some((0..of).map(share).collect())
}
