//! Where a sub-plan is cut into morsels, and into how many.

use crate::context::QueryContext;
use crate::morsel::{Divisible, Morsel, Part, Split};
use crate::pattern::{Cell, Pattern};
use crate::range_scan::split;
use crate::shared::Shared;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::{PlanNode, PlanOp, ScanPattern, VarId, stack};
use std::ops::Range;
use std::sync::Arc;

/// Rows that a morsel reads, or work that is worth as many, in batches, at least.
const MORSEL_BATCHES: usize = 4;
/// What a look-up costs, in rows of a scan.
const LOOKUP_WORK: f64 = 8.0;
/// Reads of fewer rows cost more than their rows do.
const READ_ROWS_MIN: usize = 64;
/// Morsels per thread, at most.
const MORSELS_PER_THREAD: usize = 8;

/// The inputs along which a chain is split.
pub(super) fn chain_inputs(node: &PlanNode) -> Vec<&PlanNode> {
    match &node.op {
        PlanOp::MergeJoin { .. }
        | PlanOp::Distinct(_)
        | PlanOp::Group { .. }
        | PlanOp::Union(_)
        | PlanOp::MergeUnion(_) => node.children(),
        _ => node.row_input().into_iter().collect(),
    }
}

/// The scans that a chain's rows come from, and the variable whose values they can be cut by.
pub(super) struct Driver<'a> {
    /// The nodes of these, ascending by number.
    scans: Vec<(&'a PlanNode, &'a ScanPattern)>,
    /// Common sub-plans that are read, sorted by that variable if there is one.
    spools: Vec<&'a PlanNode>,
    pub(super) key: Option<VarId>,
    /// The same variable as the first scan names it, whether or not anybody asks for it.
    scan_key: Option<VarId>,
    /// An operator of the chain needs all rows of a value of the variable together.
    by_key: bool,
}

impl<'a> Driver<'a> {
    fn scan(node: &'a PlanNode, pattern: &'a ScanPattern, key: Option<VarId>) -> Self {
        Self { scans: vec![(node, pattern)], spools: Vec::new(), key, scan_key: key, by_key: false }
    }

    /// The scans of both, where both can be cut by one variable.
    fn beside(mut self, other: Self) -> Option<Self> {
        self.key.filter(|key| other.key == Some(*key))?;
        self.scans.extend(other.scans);
        self.spools.extend(other.spools);
        self.by_key |= other.by_key;
        Some(self)
    }

    /// The scan with most rows, as `rows_of` tells them, and how many these are; none where all rows come from common sub-plans.
    pub(super) fn largest(
        &self,
        single_graph: bool,
        rows_of: impl Fn(&PlanNode, &Pattern) -> Result<u64, ExecError>,
    ) -> Result<Option<(u64, u32, Pattern)>, ExecError> {
        let mut largest: Option<(u64, u32, Pattern)> = None;
        for (scan, pattern) in self.patterns(single_graph) {
            let rows = rows_of(scan, &pattern)?;
            if largest.as_ref().is_none_or(|(most, ..)| rows > *most) {
                largest = Some((rows, scan.id, pattern));
            }
        }
        Ok(largest)
    }

    /// The scans, ready to run.
    pub(super) fn patterns(&self, single_graph: bool) -> impl Iterator<Item = (&'a PlanNode, Pattern)> {
        let ready = move |pattern| Pattern::new(pattern, |_| false, |_| false, single_graph);
        self.scans.iter().map(move |(scan, pattern)| (*scan, ready(pattern)))
    }

    /// Whether rows come from common sub-plans.
    pub(super) fn reads_spools(&self) -> bool {
        !self.spools.is_empty()
    }

    /// The part of the work whose values of the variable lie in `range`.
    pub(super) fn confined_to(&self, range: &Range<ValueId>) -> Morsel {
        Morsel {
            ranges: self.scans.iter().map(|(scan, _)| (scan.id, range.clone())).collect(),
            branches: Vec::new(),
            parts: self.spools.iter().map(|spool| (spool.id, Part::Range(range.clone()))).collect(),
        }
    }

    /// The same below an operator that needs all rows of a value together.
    fn by_key(self) -> Self {
        Self { by_key: true, ..self }
    }
}

/// Morsels of a sub-plan, after which there is `above` to do with its rows (as [`work`] tells); `None`: it cannot be cut.
pub(super) fn split_plan(
    shared: &Arc<Shared>,
    mut node: &PlanNode,
    mut above: f64,
) -> Result<Option<Split>, ExecError> {
    shared.cx.cancel.check()?;
    // Whatever takes the rows of one input as they come can be cut where that can.
    while let Some(input) = node.row_input() {
        step();
        above += work(node);
        node = input;
    }
    if let PlanOp::Union(inputs) = &node.op {
        return stack::room(|| split_union(shared, node.id, inputs, above));
    }
    match driver(shared.single_graph, node) {
        Some(driver) => split_scans(shared, &driver, above + chain_work(node)),
        None => Ok(None),
    }
}

fn split_union(
    shared: &Arc<Shared>,
    id: u32,
    inputs: &[PlanNode],
    above: f64,
) -> Result<Option<Split>, ExecError> {
    let mut morsels = Vec::new();
    let mut any = false;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let above = above / inputs.len() as f64;
    for (branch, input) in inputs.iter().enumerate() {
        let parts = split_plan(shared, input, above)?;
        any |= parts.is_some();
        for mut part in parts.unwrap_or_else(Split::whole).morsels {
            part.branches.push((id, branch));
            morsels.push(part);
        }
    }
    Ok(any.then_some(Split { morsels, divisible: None }))
}

/// What a chain has to do, as [`work`] tells.
fn chain_work(node: &PlanNode) -> f64 {
    step();
    let below = |input| stack::room(|| chain_work(input));
    work(node) + chain_inputs(node).into_iter().map(below).sum::<f64>()
}

/// What an operator has to do itself, in rows of a scan, by the planner's estimates: few rows that look much up are work, too.
fn work(node: &PlanNode) -> f64 {
    match &node.op {
        PlanOp::LookupJoin { input, .. } => LOOKUP_WORK * node.rows.max(input.rows),
        PlanOp::Path { .. } => LOOKUP_WORK * node.rows,
        _ => node.rows,
    }
}

/// What drives a chain. `single_graph`: no quad is in a named graph.
pub(super) fn driver(single_graph: bool, node: &PlanNode) -> Option<Driver<'_>> {
    stack::room(|| driver_here(single_graph, node))
}

fn driver_here(single_graph: bool, node: &PlanNode) -> Option<Driver<'_>> {
    step();
    let mut driver = match &node.op {
        PlanOp::IndexScan(pattern) => {
            let ready = Pattern::new(pattern, |_| false, |_| false, single_graph);
            let key = match ready.cells.get(ready.consts)? {
                Cell::Free(var) => Some(*var),
                _ => None,
            };
            Driver::scan(node, pattern, key)
        }
        PlanOp::Spool { .. } => {
            let key = node.sorted_by.first().copied();
            Driver { scans: Vec::new(), spools: vec![node], key, scan_key: None, by_key: false }
        }
        PlanOp::MultiwayJoin(tries) => {
            // Every trie that has the first variable begins with it.
            let key = *node.vars.first()?;
            let begins = |pattern: &&ScanPattern| {
                let ready = Pattern::new(pattern, |_| false, |_| false, single_graph);
                ready.cells.get(ready.consts) == Some(&Cell::Free(key))
            };
            let pattern = tries.iter().map(|trie| &trie.pattern).find(begins)?;
            Driver::scan(node, pattern, Some(key))
        }
        PlanOp::MergeJoin { left, right, condition, .. } => {
            let both = driver(single_graph, left)?.beside(driver(single_graph, right)?)?;
            both.key.filter(|key| condition.on.contains(key))?;
            both.by_key()
        }
        PlanOp::MergeUnion(inputs) => {
            let mut inputs = inputs.iter().map(|input| driver(single_graph, input));
            let first = inputs.next()??;
            inputs.try_fold(first, |all, input| all.beside(input?))?
        }
        PlanOp::Group { input, keys, .. } => {
            driver(single_graph, input).filter(|d| d.key.is_some_and(|key| keys.contains(&key)))?.by_key()
        }
        PlanOp::Distinct(input) => driver(single_graph, input)
            .filter(|d| d.key.is_some_and(|key| node.vars.contains(&key)))?
            .by_key(),
        PlanOp::Union(_) => return None,
        _ => driver(single_graph, chain_inputs(node).first()?)?,
    };
    driver.key = driver.key.filter(|key| node.vars.contains(key));
    Some(driver)
}

fn split_scans(shared: &Shared, driver: &Driver<'_>, work: f64) -> Result<Option<Split>, ExecError> {
    let rows_of = |scan: &PlanNode, pattern: &Pattern| shared.scan_rows(scan.id, pattern);
    let Some((rows, scan, pattern)) = driver.largest(shared.single_graph, rows_of)? else {
        return Ok(split_spool(shared, driver));
    };
    // Operators further down the same chain ask again.
    if shared.is_whole(scan) {
        return Ok(None);
    }
    let work = work.max(rows_as_work(rows));
    let parts = morsel_count(&shared.cx, work);
    if parts < 2 || pattern.impossible || !pattern.is_divisible() {
        return Ok(None);
    }
    let ranges = value_ranges(&shared.cx, &pattern, rows, parts)?;
    if ranges.len() < 2 {
        shared.keep_whole(scan);
        return Ok(None);
    }
    let morsels = ranges.iter().map(|range| driver.confined_to(range)).collect();
    Ok(Some(Split { morsels, divisible: divisible(shared, driver, rows, work) }))
}

/// Ranges of values of the first free column in each of which the pattern has about equally many of its `rows`: one after the other, and together
/// all values, also those that only another scan has.
fn value_ranges(
    cx: &QueryContext,
    pattern: &Pattern,
    rows: u64,
    parts: usize,
) -> Result<Vec<Range<ValueId>>, ExecError> {
    Ok(between(&split(cx, pattern, ValueId::UNDEF..ValueId::MAX, rows, parts)?))
}

/// The ranges of values of which all but the first begin at these, and together all values.
pub(super) fn between(starts: &[ValueId]) -> Vec<Range<ValueId>> {
    let ends = starts.iter().copied().chain([ValueId::MAX]);
    let starts = std::iter::once(ValueId::UNDEF).chain(starts.iter().copied());
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// The scan whose rows may be given away, where it is the only source.
fn divisible(shared: &Shared, driver: &Driver<'_>, rows: u64, work: f64) -> Option<Divisible> {
    let ([(scan, _)], []) = (driver.scans.as_slice(), driver.spools.as_slice()) else { return None };
    // The scan has to see the values by which it divides its rows.
    let is_scan = matches!(scan.op, PlanOp::IndexScan(_));
    driver.scan_key.filter(|key| is_scan && scan.vars.contains(key))?;
    // A row may be a thousand times the work that rows are on average.
    let row_work = work / rows_as_work(rows.max(1));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    let morsel = (rows_as_work(morsel_rows(&shared.cx) as u64) / row_work.max(1.0)) as usize;
    Some(Divisible {
        scan: scan.id,
        rows_min: (morsel as u64 / 2).max(2),
        read_rows_max: morsel.saturating_mul(2).max(READ_ROWS_MIN),
    })
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn rows_as_work(rows: u64) -> f64 {
    rows as f64
}

/// So many rows to be read are a morsel.
fn morsel_rows(cx: &QueryContext) -> usize {
    MORSEL_BATCHES.saturating_mul(cx.batch_rows).max(1)
}

/// So many morsels are worth it.
fn morsel_count(cx: &QueryContext, work: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    let parts = work as usize / morsel_rows(cx);
    parts.min(cx.threads * MORSELS_PER_THREAD)
}

/// Shares of the rows of a common sub-plan, where all rows of the chain come from it. They need not be made yet: as many morsels
/// as their expected number suggests.
fn split_spool(shared: &Shared, driver: &Driver<'_>) -> Option<Split> {
    let [spool] = driver.spools.as_slice() else { return None };
    let of = morsel_count(&shared.cx, spool.rows);
    if of < 2 || driver.by_key {
        return None;
    }
    let share = |number| Morsel { parts: vec![(spool.id, Part::Share { number, of })], ..Morsel::default() };
    Some(Split { morsels: (0..of).map(share).collect(), divisible: None })
}

#[cfg(test)]
thread_local! {
    /// Operators looked at by this thread.
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts operators looked at, in tests.
fn step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

#[cfg(test)]
pub(super) fn steps() -> usize {
    STEPS.get()
}
