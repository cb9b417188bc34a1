//! One of each row, in the order of first occurrence.
//!
//! New rows leave at once. When the set may not grow any more, rows that are not in it go to partitions on disk, and each
//! partition is treated likewise after the input has ended.

use super::row_set::RowSet;
use super::sort_spec::{KeyOrder, SortSpec};
use super::sorted_runs::SortedRows;
use super::sorter::Sorter;
use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use crate::profile::NodeCounters;
use crate::spill::{PARTITIONS, Partitions, SpilledRows};
use crate::spill_area::SpillArea;
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_eval::hash::{hash_columns, partition};
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// Rows that a set takes whatever the budget, so that each level of partitioning gets on.
const ROWS_MIN: usize = 16;

/// The column that numbers spilled rows; no variable of a query has this number.
pub(crate) const SEQUENCE: VarId = VarId(u32::MAX);

/// Surroundings of the operator.
#[derive(Clone)]
pub(crate) struct DistinctSpec {
    pub(crate) cx: Arc<QueryContext>,
    pub(crate) area: Arc<SpillArea>,
    pub(crate) counters: Arc<NodeCounters>,
    pub(crate) vars: Arc<[VarId]>,
    /// Whether the order of the input must be kept, also after spilling.
    pub(crate) ordered: bool,
}

/// Rows that are new to it.
struct Filter {
    spec: DistinctSpec,
    level: u32,
    set: RowSet,
    reservation: Reservation,
    full: bool,
    spilled: Option<Partitions>,
    spilled_vars: Arc<[VarId]>,
    hashes: Vec<u64>,
    sequence: u64,
}

impl Filter {
    fn new(spec: &DistinctSpec, level: u32) -> Self {
        let mut spilled_vars = spec.vars.to_vec();
        spilled_vars.push(SEQUENCE);
        Self {
            spec: spec.clone(),
            level,
            set: RowSet::new(spec.vars.len()),
            reservation: spec.cx.budget.reserve_spillable(),
            full: false,
            spilled: None,
            spilled_vars: spilled_vars.into(),
            hashes: Vec::new(),
            sequence: 0,
        }
    }

    /// The new ones of the first columns' rows. Rows that may be new but have no room go to disk; `numbers` are their places in
    /// the input (without: counted here).
    fn new_rows(&mut self, batch: &Batch, numbers: Option<&[ValueId]>) -> Result<Vec<u32>, ExecError> {
        self.spec.cx.cancel.check()?;
        let width = self.spec.vars.len();
        let columns: Vec<&[ValueId]> = batch.columns[..width].iter().map(Vec::as_slice).collect();
        hash_columns(&columns, batch.rows, &mut self.hashes);
        if !self.full {
            self.set.make_room(batch.rows, &self.spec.cx.cancel)?;
        }
        let (mut new, mut homeless) = (Vec::new(), Vec::new());
        for row in 0..batch.rows {
            let values = columns.iter().map(|c| c[row]);
            let number = u32::try_from(row).unwrap_or(u32::MAX);
            if self.full && self.set.len() >= ROWS_MIN {
                if self.set.find(self.hashes[row], values).is_none() {
                    homeless.push(number);
                }
            } else if self.set.insert(self.hashes[row], values).1 {
                new.push(number);
            }
        }
        self.spill(batch, &homeless, numbers)?;
        self.sequence += batch.rows as u64;
        let bytes = self.set.bytes();
        if !self.full && bytes > self.reservation.bytes() {
            let ahead =
                self.reservation.resize(bytes + bytes / 2).or_else(|_| self.reservation.resize(bytes));
            self.full = ahead.is_err() || self.set.len() > (u32::MAX / 2) as usize;
        }
        self.spec.counters.hold(bytes);
        Ok(new)
    }

    fn spill(&mut self, batch: &Batch, rows: &[u32], numbers: Option<&[ValueId]>) -> Result<(), ExecError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut homeless = Batch::new(Arc::clone(&self.spilled_vars));
        homeless.append_selected(batch, rows);
        let number = |row: &u32| match numbers {
            Some(numbers) => numbers[*row as usize],
            None => ValueId::from_bits(self.sequence + u64::from(*row)),
        };
        if let Some(column) = homeless.columns.last_mut() {
            column.clear();
            column.extend(rows.iter().map(number));
        }
        let mut partitions = match self.spilled.take() {
            Some(partitions) => partitions,
            None => Partitions::new(&self.spec.area, &self.spilled_vars, &self.spec.counters, PARTITIONS),
        };
        let (hashes, level) = (&self.hashes, self.level);
        partitions.push(&homeless, 0..u32::try_from(rows.len()).unwrap_or(u32::MAX), |row| {
            partition(hashes[rows[row] as usize], level, PARTITIONS)
        })?;
        self.spilled = Some(partitions);
        Ok(())
    }

    /// The partitions that wait, each with the level it is to be treated at.
    fn finish(self) -> Result<Vec<(SpilledRows, u32)>, ExecError> {
        let Some(spilled) = self.spilled else { return Ok(Vec::new()) };
        let files = spilled.finish()?.into_iter().filter(|file| file.rows() > 0);
        Ok(files.map(|file| (file, self.level + 1)).collect())
    }
}

enum State {
    /// Reading the input.
    Input(Filter),
    /// Treating partitions: the current one, its next chunk, its filter, and those that wait.
    Partitions {
        current: Option<(SpilledRows, usize, Filter)>,
        waiting: Vec<(SpilledRows, u32)>,
    },
    /// All partitions are treated, and put in order.
    Sorted(SortedRows),
    Done,
}

/// The operator.
pub(crate) struct Distinct {
    spec: DistinctSpec,
    input: BoxOp,
    state: State,
    buffer: Batch,
}

impl Distinct {
    /// Over `input`, whose columns are those of the specification.
    pub(crate) fn new(spec: DistinctSpec, input: BoxOp) -> Self {
        let state = State::Input(Filter::new(&spec, 0));
        Self { spec, input, state, buffer: Batch::default() }
    }

    fn next_of_input(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        let State::Input(filter) = &mut self.state else { return Ok(false) };
        while self.input.next(out)? {
            let new = filter.new_rows(out, None)?;
            out.select(&new);
            if out.rows > 0 {
                return Ok(true);
            }
        }
        let State::Input(filter) = std::mem::replace(&mut self.state, State::Done) else { return Ok(false) };
        let waiting = filter.finish()?;
        if !waiting.is_empty() {
            self.state = State::Partitions { current: None, waiting };
            if self.spec.ordered {
                self.state = State::Sorted(self.sort_partitions()?);
            }
        }
        Ok(false)
    }

    /// Reads on in the partitions: new rows with their sequence column; `false` at the end.
    fn next_of_partitions(&mut self, rows: &mut Batch) -> Result<bool, ExecError> {
        let State::Partitions { current, waiting } = &mut self.state else { return Ok(false) };
        loop {
            let Some((file, chunk, filter)) = current else {
                let Some((file, level)) = waiting.pop() else { return Ok(false) };
                *current = Some((file, 0, Filter::new(&self.spec, level)));
                continue;
            };
            if *chunk == file.chunks() {
                if let Some((_, _, filter)) = current.take() {
                    waiting.extend(filter.finish()?);
                }
                continue;
            }
            rows.reset(file.vars());
            file.read(*chunk, rows)?;
            *chunk += 1;
            let numbers = rows.columns.last().cloned().unwrap_or_default();
            let new = filter.new_rows(rows, Some(&numbers))?;
            rows.select(&new);
            if rows.rows > 0 {
                return Ok(true);
            }
        }
    }

    fn sort_partitions(&mut self) -> Result<SortedRows, ExecError> {
        let mut vars = vec![SEQUENCE];
        vars.extend_from_slice(&self.spec.vars);
        let mut sorter = Sorter::new(SortSpec {
            cx: Arc::clone(&self.spec.cx),
            area: Arc::clone(&self.spec.area),
            counters: Arc::clone(&self.spec.counters),
            vars: vars.into(),
            keys: 1,
            order: KeyOrder::Bits,
            limit: None,
        });
        let mut rows = Batch::default();
        while self.next_of_partitions(&mut rows)? {
            rows.columns.rotate_right(1);
            sorter.push(&rows)?;
            rows.columns.rotate_left(1);
        }
        sorter.finish()
    }

    /// Delivers `buffer`'s rows without the column number `sequence`.
    fn deliver(&mut self, sequence: usize, out: &mut Batch) {
        out.reset(&self.spec.vars);
        out.rows = self.buffer.rows;
        let mut columns = std::mem::take(&mut self.buffer.columns);
        if sequence < columns.len() {
            columns.remove(sequence);
        }
        out.columns = columns;
        self.buffer.rows = 0;
    }
}

impl Operator for Distinct {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        if self.next_of_input(out)? {
            return Ok(true);
        }
        out.reset(&self.spec.vars);
        let mut buffer = std::mem::take(&mut self.buffer);
        let (found, sequence) = match &mut self.state {
            State::Partitions { .. } => (self.next_of_partitions(&mut buffer)?, self.spec.vars.len()),
            State::Sorted(sorted) => (sorted.next(&mut buffer)?, 0),
            _ => (false, 0),
        };
        self.buffer = buffer;
        if found {
            self.deliver(sequence, out);
        }
        Ok(found)
    }
}

/// One of each row of an input in which equal rows are neighbours.
pub(crate) struct DistinctSorted {
    cx: Arc<QueryContext>,
    input: BoxOp,
    /// The columns in the order the input is sorted by.
    order: Vec<(VarId, usize)>,
    last: Option<Vec<ValueId>>,
}

/// Equal rows in a batch from which on a seek past the rest of them is tried.
const SKIP_ROWS: usize = 64;

impl DistinctSorted {
    /// Over `input`, whose columns are `vars`, sorted by all of them in the order `sorted_by`.
    pub(crate) fn new(cx: &Arc<QueryContext>, input: BoxOp, vars: &[VarId], sorted_by: &[VarId]) -> Self {
        let order = sorted_by.iter().filter_map(|var| Some((*var, position(vars, *var)?))).collect();
        Self { cx: Arc::clone(cx), input, order, last: None }
    }

    /// After a batch of mostly equal rows: the input need not bring more of its last row.
    fn skip_equal(&mut self, out: &Batch) -> Result<(), ExecError> {
        let Some(last) = out.rows.checked_sub(1) else { return Ok(()) };
        let vars: Vec<VarId> = self.order.iter().map(|(var, _)| *var).collect();
        let mut key: Vec<ValueId> = self.order.iter().map(|(_, c)| out.columns[*c][last]).collect();
        let Some(least) = key.last_mut() else { return Ok(()) };
        let Some(next) = least.to_bits().checked_add(1) else { return Ok(()) };
        *least = ValueId::from_bits(next);
        self.input.skip_to(&vars, &key)
    }
}

impl Operator for DistinctSorted {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        while self.input.next(out)? {
            self.cx.cancel.check()?;
            let mut new = Vec::new();
            for row in 0..out.rows {
                let same = match (row, &self.last) {
                    (0, None) => false,
                    (0, Some(last)) => out.columns.iter().zip(last).all(|(c, id)| c[0] == *id),
                    _ => out.columns.iter().all(|c| c[row] == c[row - 1]),
                };
                if !same {
                    new.push(u32::try_from(row).unwrap_or(u32::MAX));
                }
            }
            if let Some(last) = out.rows.checked_sub(1) {
                self.last = Some(out.columns.iter().map(|c| c[last]).collect());
            }
            if out.rows >= SKIP_ROWS && new.last().is_none_or(|row| out.rows - *row as usize >= SKIP_ROWS) {
                self.skip_equal(out)?;
            }
            out.select(&new);
            if out.rows > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        self.input.skip_to(vars, key)
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        self.input.keep_keys(var, filter);
    }
}

/// Drops rows that occurred shortly before: what REDUCED allows, and what makes less work for a DISTINCT to come.
pub(crate) struct Reduced {
    input: BoxOp,
    /// A recent row for each slot, empty at first.
    recent: Vec<Option<Box<[ValueId]>>>,
    hashes: Vec<u64>,
}

/// Slots for recent rows.
const RECENT: usize = 1024;

impl Reduced {
    pub(crate) fn new(input: BoxOp) -> Self {
        Self { input, recent: vec![None; RECENT], hashes: Vec::new() }
    }
}

impl Operator for Reduced {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        while self.input.next(out)? {
            let columns: Vec<&[ValueId]> = out.columns.iter().map(Vec::as_slice).collect();
            hash_columns(&columns, out.rows, &mut self.hashes);
            let mut new = Vec::new();
            for (row, hash) in self.hashes.iter().enumerate() {
                let slot = &mut self.recent[usize::try_from(hash % RECENT as u64).unwrap_or(0)];
                let values = columns.iter().map(|c| c[row]);
                match slot {
                    Some(recent) if recent.iter().copied().eq(values.clone()) => continue,
                    Some(recent) => recent.iter_mut().zip(values).for_each(|(to, id)| *to = id),
                    None => *slot = Some(values.collect()),
                }
                new.push(u32::try_from(row).unwrap_or(u32::MAX));
            }
            out.select(&new);
            if out.rows > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
