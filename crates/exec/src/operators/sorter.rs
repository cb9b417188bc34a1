//! Sorting rows by leading key columns: in memory while the budget allows, else in sorted runs on disk that are merged.
//!
//! Comparing terms is dear. Keys that compare like their ids are compared as numbers; for others the distinct ids of
//! a run are sorted once and rows then compare by rank.

use crate::batch::{BATCH_ROWS, Batch, gather};
use crate::context::QueryContext;
use crate::error::ExecError;
use crate::expr;
use crate::held::HeldRows;
use crate::merge_sort::{sort_in_steps, try_merge_sort};
use crate::profile::NodeCounters;
use crate::spill::{SpillArea, SpilledRows};
use crate::steps::{all, append, collect, dedup_by, steps};
use lode_base::memory_budget::Reservation;
use lode_rdf::{Kind, ValueId};
use lode_sparql::VarId;
use std::cmp::Ordering;
use std::sync::Arc;

/// Runs that are merged at once.
const RUNS_MAX: usize = 128;
/// Rows that are merged between two looks at the cancel token.
const MERGED_ROWS_UNCHECKED: usize = 64;
/// Comparisons that may read the dictionary, between two looks at the cancel token.
const COMPARED_UNCHECKED: usize = 256;
/// Bytes per row besides its columns: rank or bits of a key, and the row's number.
const EXTRA_BYTES: usize = 16;

/// How key columns compare.
#[derive(Debug, Clone)]
pub(crate) enum KeyOrder {
    /// As numbers, ascending.
    Bits,
    /// As terms; `true`: descending.
    Terms(Vec<bool>),
}

/// What all runs of one sort share.
#[derive(Clone)]
pub(crate) struct SortSpec {
    pub(crate) cx: Arc<QueryContext>,
    pub(crate) area: Arc<SpillArea>,
    pub(crate) counters: Arc<NodeCounters>,
    pub(crate) vars: Arc<[VarId]>,
    /// How many leading columns are keys.
    pub(crate) keys: usize,
    pub(crate) order: KeyOrder,
    /// Only the first so many rows matter.
    pub(crate) limit: Option<usize>,
}

/// Takes rows in any order.
pub(crate) struct Sorter {
    spec: SortSpec,
    held: HeldRows,
    runs: Vec<Run>,
    selected: Batch,
    /// The row that ends the best `limit` rows known: others must come before it.
    bound: Option<Vec<ValueId>>,
}

impl Sorter {
    /// No rows yet.
    pub(crate) fn new(spec: SortSpec) -> Self {
        let held = HeldRows::new(&spec.cx, &spec.vars, EXTRA_BYTES);
        let selected = Batch::new(Arc::clone(&spec.vars));
        Self { spec, held, runs: Vec::new(), selected, bound: None }
    }

    /// Adds rows: key columns first.
    pub(crate) fn push(&mut self, batch: &Batch) -> Result<(), ExecError> {
        self.spec.cx.cancel.check()?;
        if self.bound.is_none() {
            self.hold(batch)?;
        } else {
            let rows = self.rows_within_bound(batch)?;
            let mut selected = std::mem::take(&mut self.selected);
            selected.reset(&self.spec.vars);
            selected.append_selected(batch, &rows);
            self.hold(&selected)?;
            self.selected = selected;
        }
        self.spec.counters.hold(self.held.bytes());
        let Some(limit) = self.spec.limit else { return Ok(()) };
        let cut = limit.saturating_mul(2).max(self.spec.cx.batch_rows.saturating_mul(2));
        if self.held.rows.rows >= cut { self.cut_to_limit(limit) } else { Ok(()) }
    }

    fn hold(&mut self, batch: &Batch) -> Result<(), ExecError> {
        if batch.rows == 0 || self.held.append(batch) {
            return Ok(());
        }
        if self.held.rows.rows > 0 {
            self.spill_held()?;
            if self.held.append(batch) {
                return Ok(());
            }
        }
        // Not even one batch fits: it becomes a run of its own.
        let permutation = sort_rows(&self.spec, batch)?;
        let run = self.write_run(batch, &permutation)?;
        self.runs.push(run);
        Ok(())
    }

    fn spill_held(&mut self) -> Result<(), ExecError> {
        let permutation = sort_rows(&self.spec, &self.held.rows)?;
        let run = self.write_run(&self.held.rows, &permutation)?;
        self.runs.push(run);
        self.held.release()
    }

    fn write_run(&self, rows: &Batch, permutation: &[u32]) -> Result<Run, ExecError> {
        let kept = permutation.len().min(self.spec.limit.unwrap_or(usize::MAX));
        let mut file = self.spec.area.file(&self.spec.vars, &self.spec.counters)?;
        for part in permutation[..kept].chunks(BATCH_ROWS) {
            self.spec.cx.cancel.check()?;
            file.push_selected(rows, part)?;
        }
        Ok(Run::File(FileRun::new(file.finish()?)))
    }

    /// Keeps the best `limit` of the rows held.
    fn cut_to_limit(&mut self, limit: usize) -> Result<(), ExecError> {
        let mut permutation = sort_rows(&self.spec, &self.held.rows)?;
        permutation.truncate(limit);
        let Some(last) = permutation.last() else {
            return self.held.release();
        };
        let keys = self.held.rows.columns[..self.spec.keys].iter();
        self.bound = Some(keys.map(|column| column[*last as usize]).collect());
        let mut best = self.held.room_for_some();
        for part in permutation.chunks(BATCH_ROWS) {
            self.spec.cx.cancel.check()?;
            best.append_selected(&self.held.rows, part);
        }
        self.held.rows = best;
        Ok(())
    }

    fn rows_within_bound(&self, batch: &Batch) -> Result<Vec<u32>, ExecError> {
        let mut rows = Vec::new();
        let Some(bound) = &self.bound else { return Ok(rows) };
        for row in 0..batch.rows {
            let key = batch.columns[..self.spec.keys].iter().map(|column| column[row]);
            if compare_keys(&self.spec, key, bound.iter().copied())? == Ordering::Less {
                rows.push(row_number(row));
            }
        }
        Ok(rows)
    }

    /// What is needed to merge this sorter's rows with those of others.
    pub(crate) fn into_runs(mut self) -> Result<Vec<Run>, ExecError> {
        if self.held.rows.rows > 0 {
            let permutation = sort_rows(&self.spec, &self.held.rows)?;
            let (rows, reservation) = self.held.into_parts();
            self.runs.push(Run::Memory(MemoryRun {
                rows,
                permutation,
                position: 0,
                _reservation: reservation,
            }));
        }
        Ok(self.runs)
    }

    /// All rows added, sorted.
    pub(crate) fn finish(self) -> Result<SortedRows, ExecError> {
        let spec = self.spec.clone();
        SortedRows::merge(spec, self.into_runs()?)
    }
}

/// Rows in order.
pub(crate) enum Run {
    /// In memory, through a permutation.
    Memory(MemoryRun),
    /// In a file.
    File(FileRun),
}

pub(crate) struct MemoryRun {
    rows: Batch,
    permutation: Vec<u32>,
    position: usize,
    _reservation: Reservation,
}

pub(crate) struct FileRun {
    file: SpilledRows,
    chunk: usize,
    buffer: Batch,
    position: usize,
}

impl FileRun {
    fn new(file: SpilledRows) -> Self {
        let buffer = Batch::new(Arc::clone(file.vars()));
        Self { file, chunk: 0, buffer, position: 0 }
    }
}

impl Run {
    /// The batch and row that come next.
    fn current(&self) -> Option<(&Batch, usize)> {
        match self {
            Self::Memory(run) => run.permutation.get(run.position).map(|row| (&run.rows, *row as usize)),
            Self::File(run) => (run.position < run.buffer.rows).then_some((&run.buffer, run.position)),
        }
    }

    /// Steps over the current row, or to the first one.
    fn advance(&mut self) -> Result<(), ExecError> {
        match self {
            Self::Memory(run) => run.position += 1,
            Self::File(run) => {
                run.position += 1;
                if run.position >= run.buffer.rows {
                    run.load()?;
                }
            }
        }
        Ok(())
    }
}

impl FileRun {
    fn load(&mut self) -> Result<(), ExecError> {
        self.buffer.clear();
        self.position = 0;
        if self.chunk < self.file.chunks() {
            self.file.read(self.chunk, &mut self.buffer)?;
            self.chunk += 1;
        }
        Ok(())
    }
}

/// Merges runs: a binary heap of run numbers by their current rows, earlier runs first among equals.
pub(crate) struct SortedRows {
    spec: SortSpec,
    runs: Vec<Run>,
    heap: Vec<usize>,
    left: usize,
}

impl SortedRows {
    /// Merges `runs` of sorters of one specification.
    pub(crate) fn merge(spec: SortSpec, mut runs: Vec<Run>) -> Result<Self, ExecError> {
        while runs.len() > RUNS_MAX {
            let rest = runs.split_off(RUNS_MAX);
            let mut merged = Self::open(spec.clone(), runs)?;
            let mut file = spec.area.file(&spec.vars, &spec.counters)?;
            let mut batch = Batch::new(Arc::clone(&spec.vars));
            while merged.next(&mut batch)? {
                file.push(&batch)?;
            }
            // The merged rows came first, and stay first, so that equal rows keep their order.
            runs = vec![Run::File(FileRun::new(file.finish()?))];
            runs.extend(rest);
        }
        Self::open(spec, runs)
    }

    fn open(spec: SortSpec, mut runs: Vec<Run>) -> Result<Self, ExecError> {
        for run in &mut runs {
            if let Run::File(file) = run {
                file.load()?;
            }
        }
        let left = spec.limit.unwrap_or(usize::MAX);
        let heap = (0..runs.len()).filter(|i| runs[*i].current().is_some()).collect();
        let mut this = Self { spec, runs, heap, left };
        for i in (0..this.heap.len() / 2).rev() {
            this.sift_down(i)?;
        }
        Ok(this)
    }

    /// Replaces `out` by the next rows, all columns; `false` at the end.
    pub(crate) fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        self.spec.cx.cancel.check()?;
        out.reset(&self.spec.vars);
        let want = self.spec.cx.batch_rows.min(self.left);
        if let ([run], Some(Run::Memory(memory))) =
            (self.heap.as_slice(), self.heap.first().map(|run| &self.runs[*run]))
        {
            let run = *run;
            let end = memory.permutation.len().min(memory.position + want);
            let rows = &memory.permutation[memory.position..end];
            for (from, to) in memory.rows.columns.iter().zip(&mut out.columns) {
                gather(from, rows, to);
            }
            out.rows = rows.len();
            if let Run::Memory(memory) = &mut self.runs[run] {
                memory.position = end;
            }
        } else {
            self.merge_rows(want, out)?;
        }
        self.left -= out.rows;
        Ok(out.rows > 0)
    }

    fn merge_rows(&mut self, want: usize, out: &mut Batch) -> Result<(), ExecError> {
        while out.rows < want {
            // Comparing terms of different runs may read the dictionary, many times for a row.
            if out.rows.is_multiple_of(MERGED_ROWS_UNCHECKED) {
                self.spec.cx.cancel.check()?;
            }
            let Some(first) = self.heap.first().copied() else { return Ok(()) };
            if let Some((batch, row)) = self.runs[first].current() {
                out.append_range(batch, row, row + 1);
            }
            self.runs[first].advance()?;
            if self.runs[first].current().is_none() {
                self.heap.swap_remove(0);
            }
            self.sift_down(0)?;
        }
        Ok(())
    }

    fn sift_down(&mut self, mut i: usize) -> Result<(), ExecError> {
        loop {
            let mut smallest = i;
            for child in [2 * i + 1, 2 * i + 2] {
                if child < self.heap.len() && self.before(self.heap[child], self.heap[smallest])? {
                    smallest = child;
                }
            }
            if smallest == i {
                return Ok(());
            }
            self.heap.swap(i, smallest);
            i = smallest;
        }
    }

    fn before(&self, a: usize, b: usize) -> Result<bool, ExecError> {
        let (Some((left, l)), Some((right, r))) = (self.runs[a].current(), self.runs[b].current()) else {
            return Ok(false);
        };
        let keys = self.spec.keys;
        let left = left.columns[..keys].iter().map(|c| c[l]);
        let right = right.columns[..keys].iter().map(|c| c[r]);
        Ok(compare_keys(&self.spec, left, right)?.then(a.cmp(&b)) == Ordering::Less)
    }
}

/// Compares two keys.
fn compare_keys(
    spec: &SortSpec,
    a: impl Iterator<Item = ValueId>,
    b: impl Iterator<Item = ValueId>,
) -> Result<Ordering, ExecError> {
    for (i, (a, b)) in a.zip(b).enumerate() {
        let order = match &spec.order {
            KeyOrder::Bits => a.cmp(&b),
            KeyOrder::Terms(descending) => {
                let order = compare_terms(&spec.cx, a, b)?;
                if descending[i] { order.reverse() } else { order }
            }
        };
        if order.is_ne() {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

fn compare_terms(cx: &QueryContext, a: ValueId, b: ValueId) -> Result<Ordering, ExecError> {
    if a == b {
        return Ok(Ordering::Equal);
    }
    match (a.kind(), b.kind()) {
        (Some(x), Some(y)) if x == y && compare_by_id(cx, x, a, b) => Ok(a.cmp(&b)),
        _ => expr::compare(cx, a, b),
    }
}

/// Whether two ids of this kind compare like their terms.
fn compare_by_id(cx: &QueryContext, kind: Kind, a: ValueId, b: ValueId) -> bool {
    match kind {
        Kind::Integer => true,
        Kind::Iri | Kind::String => cx.snapshot.are_ordered(a, b),
        _ => false,
    }
}

/// The row numbers of `rows` in sorted order; stable.
fn sort_rows(spec: &SortSpec, rows: &Batch) -> Result<Vec<u32>, ExecError> {
    let cancel = &spec.cx.cancel;
    let mut permutation = collect(rows.rows, cancel, row_number)?;
    let mut keys: Vec<Vec<u64>> = Vec::with_capacity(spec.keys);
    for (i, column) in rows.columns[..spec.keys].iter().enumerate() {
        keys.push(match &spec.order {
            KeyOrder::Bits => collect(column.len(), cancel, |row| column[row].to_bits())?,
            KeyOrder::Terms(descending) => {
                let mut ranks = rank(&spec.cx, column)?;
                if descending[i] {
                    for step in steps(ranks.len(), cancel) {
                        ranks[step?].iter_mut().for_each(|rank| *rank = !*rank);
                    }
                }
                ranks
            }
        });
    }
    let check = || cancel.check();
    match keys.as_slice() {
        [] => {}
        [keys] => {
            sort_in_steps(&mut permutation, |a, b| keys[*a as usize].cmp(&keys[*b as usize]), check)?;
        }
        _ => {
            let compare = |a: &u32, b: &u32| {
                let compare = |key: &Vec<u64>| key[*a as usize].cmp(&key[*b as usize]);
                keys.iter().map(compare).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            };
            sort_in_steps(&mut permutation, compare, check)?;
        }
    }
    Ok(permutation)
}

/// Numbers that compare like the terms of a column.
fn rank(cx: &QueryContext, column: &[ValueId]) -> Result<Vec<u64>, ExecError> {
    if are_ordered_by_id(cx, column)? {
        return Ok(collect(column.len(), &cx.cancel, |row| column[row].to_bits())?);
    }
    let mut distinct = Vec::new();
    append(&mut distinct, column, &cx.cancel)?;
    sort_in_steps(&mut distinct, ValueId::cmp, || cx.cancel.check())?;
    dedup_by(&mut distinct, &cx.cancel, ValueId::eq, |_, _| ())?;
    if let Some(ranks) = expr::ranks(cx, &distinct)? {
        let rank =
            |id: &ValueId| distinct.binary_search(id).ok().and_then(|at| ranks.get(at).copied()).unwrap_or(0);
        return in_steps(cx, column, rank);
    }
    let mut compared = 0_usize;
    try_merge_sort(&mut distinct, |a, b| {
        compared = compared.wrapping_add(1);
        if compared.is_multiple_of(COMPARED_UNCHECKED) {
            cx.cancel.check()?;
        }
        compare_terms(cx, a, b)
    })?;
    let mut ranks: Vec<(ValueId, u64)> = Vec::with_capacity(distinct.len());
    let mut current = 0;
    for (i, id) in distinct.iter().enumerate() {
        if i % COMPARED_UNCHECKED == 0 {
            cx.cancel.check()?;
        }
        if i > 0 && compare_terms(cx, distinct[i - 1], *id)?.is_ne() {
            current += 1;
        }
        ranks.push((*id, current));
    }
    sort_in_steps(&mut ranks, |a, b| a.0.cmp(&b.0), || cx.cancel.check())?;
    in_steps(cx, column, |id| ranks.binary_search_by_key(id, |rank| rank.0).map_or(0, |at| ranks[at].1))
}

/// Whether the terms of a column compare like their ids.
fn are_ordered_by_id(cx: &QueryContext, column: &[ValueId]) -> Result<bool, ExecError> {
    let Some(first) = column.iter().copied().find(|id| !id.is_undef()) else { return Ok(true) };
    let Some(kind) = first.kind().filter(|kind| compare_by_id(cx, *kind, first, first)) else {
        return Ok(false);
    };
    let like_first =
        |id: ValueId| id.is_undef() || (id.kind() == Some(kind) && compare_by_id(cx, kind, first, id));
    Ok(all(column, &cx.cancel, like_first)?)
}

/// A number for each id, looked up one by one: the cancel token is looked at between batches of them.
fn in_steps(
    cx: &QueryContext,
    column: &[ValueId],
    number: impl Fn(&ValueId) -> u64,
) -> Result<Vec<u64>, ExecError> {
    let mut numbers = Vec::with_capacity(column.len());
    for part in column.chunks(BATCH_ROWS) {
        cx.cancel.check()?;
        numbers.extend(part.iter().map(&number));
    }
    Ok(numbers)
}

fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
