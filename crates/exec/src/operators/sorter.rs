//! Sorting rows by leading key columns: in memory while the budget allows, else in sorted runs on disk that are merged.
//!
//! Comparing terms is dear. Keys that compare like their ids are compared as numbers; for others the distinct ids of
//! a run are sorted once and rows then compare by rank.

use super::sort_spec::{KeyOrder, SortSpec, compare_by_id, compare_known};
use super::sorted_runs::{FileRun, MemoryRun, RUNS_MAX, Run, SortedRows, merge_into_one};
use crate::context::QueryContext;
use crate::reservation::ReservedRows;
use crate::spill::SpillFile;
use lode_eval::batch::{BATCH_ROWS, Batch};
use lode_eval::error::ExecError;
use lode_eval::expr::{self, Ranks};
use lode_eval::merge_sort::{sort_in_steps, try_merge_sort};
use lode_rdf::ValueId;
use lode_scheduler::steps::{all, append, collect, dedup_by, steps};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Comparisons that may read the dictionary, between two looks at the cancel token.
const COMPARED_UNCHECKED: usize = 256;
/// So many terms are sorted by comparing two at a time where there is no memory for the keys of all: that is slow.
const COMPARED_ROWS_MAX: usize = if cfg!(test) { 64 } else { BATCH_ROWS };
/// Bytes per row besides its columns: rank or bits of a key, and the row's number.
const EXTRA_BYTES: usize = 16;

/// Takes rows in any order.
pub(crate) struct Sorter {
    spec: SortSpec,
    held: ReservedRows,
    /// Runs of many others each, which came before all others.
    merged: Vec<Run>,
    runs: Vec<Run>,
    selected: Batch,
    /// The row that ends the best `limit` rows known: others must come before it.
    bound: Option<Vec<ValueId>>,
    /// So many rows are sorted at once: fewer where there was no memory for the keys of more.
    sorted_rows_max: usize,
}

impl Sorter {
    /// No rows yet.
    pub(crate) fn new(spec: SortSpec) -> Self {
        let held = ReservedRows::new(&spec.cx, &spec.vars, EXTRA_BYTES);
        let selected = Batch::new(Arc::clone(&spec.vars));
        let (merged, runs) = (Vec::new(), Vec::new());
        Self { spec, held, merged, runs, selected, bound: None, sorted_rows_max: usize::MAX }
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
        self.write_runs(batch)
    }

    fn spill_held(&mut self) -> Result<(), ExecError> {
        let held = std::mem::replace(&mut self.held.rows, Batch::new(Arc::clone(&self.spec.vars)));
        self.write_runs(&held)?;
        drop(held);
        self.held.release()
    }

    /// Writes rows as runs: one, or several where there is no memory for the keys of all of them.
    fn write_runs(&mut self, rows: &Batch) -> Result<(), ExecError> {
        let mut start = 0;
        while start < rows.rows {
            let end = start.saturating_add(self.sorted_rows_max).min(rows.rows);
            match sort_rows(&self.spec, rows, start..end)? {
                Some(permutation) => {
                    let run = self.write_run(rows, &permutation)?;
                    self.runs.push(run);
                    // Each has a file that is open.
                    if self.runs.len() >= RUNS_MAX {
                        self.merged.push(merge_into_one(&self.spec, std::mem::take(&mut self.runs))?);
                    }
                    start = end;
                }
                None => self.sorted_rows_max = (end - start) / 2,
            }
        }
        Ok(())
    }

    fn write_run(&self, rows: &Batch, permutation: &[u32]) -> Result<Run, ExecError> {
        let kept = permutation.len().min(self.spec.limit.unwrap_or(usize::MAX));
        let mut file = SpillFile::new(&self.spec.area, &self.spec.vars, &self.spec.counters);
        for part in permutation[..kept].chunks(BATCH_ROWS) {
            self.spec.cx.cancel.check()?;
            file.push_selected(rows, part)?;
        }
        Ok(Run::File(FileRun::new(file.finish()?)))
    }

    /// Keeps the best `limit` of the rows held.
    fn cut_to_limit(&mut self, limit: usize) -> Result<(), ExecError> {
        let Some(mut permutation) = self.sort_held()? else { return self.spill_held() };
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
        let permutation = self.sort_held()?;
        if permutation.is_none() {
            self.spill_held()?;
        }
        let Self { held, mut merged, runs, .. } = self;
        merged.extend(runs);
        if let Some(permutation) = permutation.filter(|permutation| !permutation.is_empty()) {
            let (rows, reservation) = held.into_parts();
            merged.push(Run::Memory(MemoryRun::new(rows, permutation, reservation)));
        }
        Ok(merged)
    }

    /// The order of all rows held; none where there is no memory for the keys of so many.
    fn sort_held(&self) -> Result<Option<Vec<u32>>, ExecError> {
        let rows = self.held.rows.rows;
        if rows > self.sorted_rows_max { Ok(None) } else { sort_rows(&self.spec, &self.held.rows, 0..rows) }
    }

    /// All rows added, sorted.
    pub(crate) fn finish(self) -> Result<SortedRows, ExecError> {
        let spec = self.spec.clone();
        SortedRows::merge(spec, self.into_runs()?)
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
    compare_known(cx, a, b).map_or_else(|| expr::compare(cx, a, b), Ok)
}

/// The numbers of some rows in sorted order; stable. None where there is no memory for the keys of so many.
fn sort_rows(spec: &SortSpec, rows: &Batch, range: Range<usize>) -> Result<Option<Vec<u32>>, ExecError> {
    let cancel = &spec.cx.cancel;
    let start = range.start;
    let mut permutation = collect(range.len(), cancel, row_number)?;
    let mut keys: Vec<Vec<u64>> = Vec::with_capacity(spec.keys);
    for (i, column) in rows.columns[..spec.keys].iter().enumerate() {
        let column = &column[range.clone()];
        keys.push(match &spec.order {
            KeyOrder::Bits => collect(column.len(), cancel, |row| column[row].to_bits())?,
            KeyOrder::Terms(descending) => {
                let Some(mut ranks) = rank(&spec.cx, column)? else { return Ok(None) };
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
    if start > 0 {
        for step in steps(permutation.len(), cancel) {
            permutation[step?].iter_mut().for_each(|row| *row += row_number(start));
        }
    }
    Ok(Some(permutation))
}

/// Numbers that compare like the terms of a column; none where there is no memory for the keys of so many.
fn rank(cx: &QueryContext, column: &[ValueId]) -> Result<Option<Vec<u64>>, ExecError> {
    if are_ordered_by_id(cx, column)? {
        return Ok(Some(collect(column.len(), &cx.cancel, |row| column[row].to_bits())?));
    }
    let mut distinct = Vec::new();
    append(&mut distinct, column, &cx.cancel)?;
    sort_in_steps(&mut distinct, ValueId::cmp, || cx.cancel.check())?;
    dedup_by(&mut distinct, &cx.cancel, ValueId::eq, |_, _| ())?;
    match expr::ranks(cx, &distinct)? {
        Ranks::Of(ranks) => {
            let rank = |id: &ValueId| {
                distinct.binary_search(id).ok().and_then(|at| ranks.get(at).copied()).unwrap_or(0)
            };
            return Ok(Some(in_steps(cx, column, rank)?));
        }
        Ranks::TooMuch if distinct.len() > COMPARED_ROWS_MAX => return Ok(None),
        Ranks::TooMuch | Ranks::Needless => {}
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
    let rank = |id: &ValueId| ranks.binary_search_by_key(id, |rank| rank.0).map_or(0, |at| ranks[at].1);
    Ok(Some(in_steps(cx, column, rank)?))
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
