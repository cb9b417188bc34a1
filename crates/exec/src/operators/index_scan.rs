//! Reads one permutation: the key range of the pattern's constants, of it the rows that pass the pattern's checks, of those the
//! columns that somebody reads.

use super::Operator;
use super::key_skips::KeySkips;
use super::key_test::KeyTest;
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use crate::morsel::Queue;
use crate::pattern::{Cell, Columns, Pattern};
use crate::profile::NodeCounters;
use crate::range_scan::{limit, open, split};
use lode_eval::batch::{Batch, gather};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use lode_store::Scan;
use std::ops::Range;
use std::sync::Arc;

/// Rows of the first read: a LIMIT may want no more.
const FIRST_ROWS: usize = 256;

/// The operator.
pub(crate) struct IndexScan {
    cx: Arc<QueryContext>,
    counters: Arc<NodeCounters>,
    pattern: Pattern,
    vars: Arc<[VarId]>,
    /// For each of `vars` its column, if the pattern has it.
    sources: Vec<Option<usize>>,
    scan: Option<Scan>,
    /// Where the values of the first column that is no constant lie, if that is confined.
    range: Option<Range<ValueId>>,
    skips: Option<KeySkips>,
    tests: Vec<KeyTest>,
    /// The least and the greatest value of that column that are of use, before the first read.
    bounds: Option<(ValueId, ValueId)>,
    columns: Columns,
    selection: Vec<u32>,
    last: Option<Vec<ValueId>>,
    rows_next: usize,
    rows_max: usize,
    /// Where other threads wait for some of the rows.
    giving_to: Option<Arc<Queue>>,
    /// With more rows left than that, none can be given.
    give_below: u64,
}

impl IndexScan {
    /// Opens a scan. `range` restricts the values of the first column that is no constant.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        counters: Arc<NodeCounters>,
        pattern: Pattern,
        vars: &Arc<[VarId]>,
        range: Option<&Range<ValueId>>,
    ) -> Result<Self, ExecError> {
        let column = |var: &VarId| pattern.outputs.iter().find(|(v, _)| v == var).map(|(_, c)| *c);
        let sources = vars.iter().map(column).collect();
        let range = pattern.range(range);
        let scan = match pattern.impossible {
            true => None,
            false => Some(open(cx, pattern.order, pattern.prefix(), pattern.mask(), range.as_ref())?),
        };
        counters.read(1, 0);
        Ok(Self {
            cx: Arc::clone(cx),
            counters,
            rows_next: FIRST_ROWS.min(cx.batch_rows),
            rows_max: cx.batch_rows,
            vars: Arc::clone(vars),
            sources,
            scan,
            range,
            skips: None,
            tests: Vec::new(),
            bounds: None,
            columns: Columns::default(),
            selection: Vec::new(),
            last: None,
            giving_to: None,
            give_below: u64::MAX,
            pattern,
        })
    }

    /// The same, giving rows that it has not read yet to threads that wait at `queue`; so it reads no more than what is soon done.
    pub(crate) fn giving_to(self, queue: &Arc<Queue>) -> Self {
        let rows_max = self.rows_max.min(queue.read_rows_max());
        let rows_next = self.rows_next.min(rows_max);
        Self { giving_to: Some(Arc::clone(queue)), rows_max, rows_next, ..self }
    }

    /// Gives the second half of what is left to a thread that waits for work.
    fn give(&mut self) -> Result<(), ExecError> {
        let (Some(queue), Some(scan)) = (&self.giving_to, &mut self.scan) else { return Ok(()) };
        let remaining = scan.remaining();
        let column = &self.columns[self.pattern.consts.min(3)];
        let is_wanted = remaining <= self.give_below && queue.wants(remaining);
        let Some(last) = column.last().filter(|_| is_wanted) else { return Ok(()) };
        // Further rows of the last value are this scan's.
        let start = last.to_bits().checked_add(1).map_or(ValueId::MAX, ValueId::from_bits);
        let end = self.range.as_ref().map_or(ValueId::MAX, |range| range.end);
        let cut = match &self.skips {
            Some(skips) => skips.middle().filter(|middle| start <= *middle && *middle < end),
            None => split(&self.cx, &self.pattern, start..end.max(start), remaining, 2)?.first().copied(),
        };
        let Some(cut) = cut else {
            // Most of what is left has one value: it is no use to try again soon.
            self.give_below = remaining / 2;
            return Ok(());
        };
        let mut key = self.pattern.prefix();
        key.push(cut);
        scan.limit_to(&key)?;
        if let Some(skips) = &mut self.skips {
            skips.end_before(cut);
        }
        queue.give(cut..end);
        let start = self.range.as_ref().map_or(ValueId::UNDEF, |range| range.start);
        self.range = Some(start..cut);
        Ok(())
    }

    /// Leaves out what lies before or behind the values that are of use.
    fn confine(&mut self, (least, greatest): (ValueId, ValueId)) -> Result<(), ExecError> {
        let Some(scan) = &mut self.scan else { return Ok(()) };
        let all = self.range.clone().unwrap_or(ValueId::UNDEF..ValueId::MAX);
        let start = all.start.max(least);
        let beyond = greatest.to_bits().checked_add(1).map_or(ValueId::MAX, ValueId::from_bits);
        let range = start..all.end.min(beyond).max(start);
        limit(scan, self.pattern.prefix(), &range)?;
        self.counters.read(1, 0);
        self.range = Some(range);
        Ok(())
    }

    /// Reads on into `self.columns`, and gives of the rest what others wait for; 0 at the end.
    fn read(&mut self) -> Result<usize, ExecError> {
        self.cx.cancel.check()?;
        if let Some(bounds) = self.bounds.take() {
            self.confine(bounds)?;
        }
        let Some(scan) = &mut self.scan else { return Ok(0) };
        self.columns.iter_mut().for_each(Vec::clear);
        let rows = match &mut self.skips {
            None => {
                let rows = scan.next(self.rows_next, &mut self.columns)?;
                self.counters.read(0, rows as u64);
                rows
            }
            Some(skips) => skips.read(&self.cx, &self.counters, scan, self.rows_next, &mut self.columns)?,
        };
        self.rows_next = (self.rows_next * 4).min(self.rows_max);
        if rows == 0 {
            self.scan = None;
        }
        self.give()?;
        Ok(rows)
    }

    fn deliver_all(&mut self, rows: usize, out: &mut Batch) {
        for (source, to) in self.sources.iter().zip(&mut out.columns) {
            match source {
                Some(column) => std::mem::swap(to, &mut self.columns[*column]),
                None => to.resize(rows, ValueId::UNDEF),
            }
        }
        out.rows = rows;
    }

    fn deliver_selected(&mut self, out: &mut Batch) {
        for (source, to) in self.sources.iter().zip(&mut out.columns) {
            match source {
                Some(column) => gather(&self.columns[*column], &self.selection, to),
                None => to.resize(self.selection.len(), ValueId::UNDEF),
            }
        }
        out.rows = self.selection.len();
    }
}

impl Operator for IndexScan {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        loop {
            let rows = self.read()?;
            if rows == 0 {
                return Ok(false);
            }
            if self.pattern.is_plain() && self.skips.is_none() && self.tests.is_empty() {
                self.deliver_all(rows, out);
                return Ok(true);
            }
            self.selection.clear();
            self.pattern.select(&self.columns, 0, rows, &mut self.last, &mut self.selection);
            if let Some(skips) = &self.skips {
                skips.retain(&self.columns, &mut self.selection);
            }
            for test in &mut self.tests {
                test.retain(&self.columns, &mut self.selection);
            }
            self.tests.retain(|test| test.pays());
            if !self.selection.is_empty() {
                self.deliver_selected(out);
                return Ok(true);
            }
        }
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        let Some(scan) = &mut self.scan else { return Ok(()) };
        let mut full = self.pattern.prefix();
        let constants = full.len();
        for (cell, (var, id)) in self.pattern.cells[constants..].iter().zip(vars.iter().zip(key)) {
            if *cell != Cell::Free(*var) {
                break;
            }
            full.push(*id);
        }
        if full.len() > constants {
            let before = scan.remaining();
            scan.seek(&full)?;
            self.counters.read(1, 0);
            // Who skips more than was read last is likely to do so again.
            if before - scan.remaining() >= (self.rows_next / 4) as u64 {
                self.rows_next = FIRST_ROWS.min(self.rows_max);
            }
        }
        Ok(())
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        // The column is read only if somebody wants it.
        let Some((_, column)) = self.pattern.outputs.iter().find(|(output, _)| *output == var) else {
            return;
        };
        let Some(scan) = &self.scan else { return };
        if *column == self.pattern.consts && self.skips.is_none() {
            self.skips = KeySkips::new(filter, self.pattern.prefix(), self.range.as_ref(), scan);
            if self.skips.is_some() {
                return;
            }
            let (least, greatest) = filter.bounds();
            let before = self.bounds.unwrap_or((least, greatest));
            self.bounds = Some((least.max(before.0), greatest.min(before.1)));
        }
        self.tests.push(KeyTest::new(*column, filter));
    }
}
