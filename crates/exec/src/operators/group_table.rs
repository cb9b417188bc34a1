//! Groups and the states of their aggregates, filled by one thread.
//!
//! When the table may not grow any more, rows of groups that are not in it go to partitions on disk; rows of known groups
//! are still added. Each partition is aggregated on its own later.

use super::row_set::RowSet;
use crate::context::QueryContext;
use crate::profile::NodeCounters;
use crate::spill::{PARTITIONS, Partitions, SpilledRows};
use crate::spill_area::SpillArea;
use lode_base::memory_budget::Reservation;
use lode_eval::aggregate::Accumulator;
use lode_eval::batch::{BATCH_ROWS, Batch, position};
use lode_eval::error::ExecError;
use lode_eval::expr;
use lode_eval::hash::{hash_columns, mix, partition};
use lode_rdf::{Literal, Term, ValueId};
use lode_scheduler::steps::steps;
use lode_sparql::aggregate::Counts;
use lode_sparql::{Aggregate, Expr, VarId};
use std::borrow::Cow;
use std::sync::Arc;

/// Groups that a table takes whatever the budget, so that each level of partitioning gets on.
const GROUPS_MIN: usize = 16;
/// Bytes that the states of aggregates may take beyond the budget: they cannot go to disk.
const STATES_FREE_BYTES: usize = 1 << 18;

/// What all tables of one operator share.
pub(crate) struct GroupSpec {
    pub(crate) cx: Arc<QueryContext>,
    pub(crate) area: Arc<SpillArea>,
    pub(crate) counters: Arc<NodeCounters>,
    pub(crate) input_vars: Arc<[VarId]>,
    /// Columns of the keys in the input; `None`: never bound.
    pub(crate) keys: Vec<Option<usize>>,
    pub(crate) key_vars: Vec<VarId>,
    pub(crate) aggregates: Vec<Aggregate>,
}

impl GroupSpec {
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        area: &Arc<SpillArea>,
        counters: Arc<NodeCounters>,
        input_vars: &Arc<[VarId]>,
        key_vars: &[VarId],
        aggregates: &[Aggregate],
    ) -> Self {
        Self {
            cx: Arc::clone(cx),
            area: Arc::clone(area),
            counters,
            keys: key_vars.iter().map(|var| position(input_vars, *var)).collect(),
            key_vars: key_vars.to_vec(),
            input_vars: Arc::clone(input_vars),
            aggregates: aggregates.to_vec(),
        }
    }
}

/// The states of one aggregate.
enum States {
    /// `COUNT(*)`.
    Rows(Vec<u64>),
    /// `COUNT(expr)`.
    Bound(Vec<u64>),
    /// `COUNT(DISTINCT *)`: distinct rows of (group, all columns), and their number by group.
    DistinctRows(RowSet, Vec<u64>),
    /// All else.
    Other(Accumulator),
}

impl States {
    fn new(aggregate: &Aggregate, width: usize) -> Self {
        let Aggregate { function, distinct, .. } = *aggregate;
        match (function.counts, distinct) {
            (Counts::Rows, false) => Self::Rows(Vec::new()),
            (Counts::Rows, true) => Self::DistinctRows(RowSet::new(width + 1), Vec::new()),
            (Counts::Bound { .. }, false) => Self::Bound(Vec::new()),
            _ => Self::Other(Accumulator::new(function, aggregate.separator.as_deref(), distinct)),
        }
    }

    fn resize(&mut self, groups: usize) {
        match self {
            Self::Rows(counts) | Self::Bound(counts) | Self::DistinctRows(_, counts) => {
                if counts.len() < groups {
                    counts.resize(groups, 0);
                }
            }
            Self::Other(accumulator) => accumulator.resize(groups),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Rows(counts) | Self::Bound(counts) => counts.capacity() * size_of::<u64>(),
            Self::DistinctRows(set, counts) => set.bytes() + counts.capacity() * size_of::<u64>(),
            Self::Other(accumulator) => accumulator.bytes(),
        }
    }

    fn update(
        &mut self,
        cx: &QueryContext,
        argument: Option<&Expr>,
        groups: &[u32],
        batch: &Batch,
    ) -> Result<(), ExecError> {
        match self {
            Self::Rows(counts) => groups.iter().for_each(|g| counts[*g as usize] += 1),
            Self::Bound(counts) => {
                let values = argument_values(cx, argument, batch)?;
                for (group, value) in groups.iter().zip(values.iter()) {
                    counts[*group as usize] += u64::from(!value.is_undef());
                }
            }
            Self::DistinctRows(set, counts) => {
                set.make_room(groups.len(), &cx.cancel)?;
                for (row, group) in groups.iter().enumerate() {
                    add_distinct(set, counts, *group, batch.columns.iter().map(|c| c[row]));
                }
            }
            Self::Other(accumulator) => {
                let values = argument_values(cx, argument, batch)?;
                accumulator.update(cx, groups, &values)?;
            }
        }
        Ok(())
    }

    /// Adds `other`, whose group `i` is group `groups[i]` here.
    fn merge(&mut self, cx: &QueryContext, other: Self, groups: &[u32]) -> Result<(), ExecError> {
        match (self, other) {
            (Self::Rows(counts), Self::Rows(more)) | (Self::Bound(counts), Self::Bound(more)) => {
                for step in steps(groups.len().min(more.len()), &cx.cancel) {
                    let step = step?;
                    for (group, count) in groups[step.clone()].iter().zip(&more[step]) {
                        counts[*group as usize] += count;
                    }
                }
            }
            (Self::DistinctRows(set, counts), Self::DistinctRows(more, _)) => {
                for number in 0..more.len() {
                    if number % BATCH_ROWS == 0 {
                        cx.cancel.check()?;
                        set.make_room(BATCH_ROWS.min(more.len() - number), &cx.cancel)?;
                    }
                    if let Some((group, row)) = more.row(number).split_first() {
                        let group = usize::try_from(group.to_bits()).unwrap_or(usize::MAX);
                        let group = groups.get(group).copied().unwrap_or(0);
                        add_distinct(set, counts, group, row.iter().copied());
                    }
                }
            }
            (Self::Other(accumulator), Self::Other(more)) => accumulator.merge(cx, more, groups)?,
            _ => {}
        }
        Ok(())
    }

    fn finish(&self, cx: &QueryContext, group: usize) -> Result<ValueId, ExecError> {
        match self {
            Self::Rows(counts) | Self::Bound(counts) | Self::DistinctRows(_, counts) => {
                integer(cx, counts.get(group).copied().unwrap_or(0))
            }
            Self::Other(accumulator) => accumulator.finish(cx, u32::try_from(group).unwrap_or(u32::MAX)),
        }
    }
}

fn argument_values<'a>(
    cx: &QueryContext,
    argument: Option<&Expr>,
    batch: &'a Batch,
) -> Result<Cow<'a, [ValueId]>, ExecError> {
    match argument {
        Some(Expr::Var(var)) if let Some(column) = batch.column(*var) => Ok(Cow::Borrowed(column)),
        Some(expr) => Ok(Cow::Owned(expr::evaluate(cx, expr, batch)?)),
        None => Ok(Cow::Owned(vec![ValueId::UNDEF; batch.rows])),
    }
}

fn add_distinct(
    set: &mut RowSet,
    counts: &mut [u64],
    group: u32,
    row: impl Iterator<Item = ValueId> + Clone,
) {
    let row = std::iter::once(ValueId::from_bits(u64::from(group))).chain(row);
    let hash = row.clone().fold(0, |hash, id| mix(hash, id.to_bits()));
    if set.insert(hash, row).1 {
        counts[group as usize] += 1;
    }
}

/// The id of an `xsd:integer`.
pub(crate) fn integer(cx: &QueryContext, value: u64) -> Result<ValueId, ExecError> {
    cx.intern(&Term::Literal(Literal::from(value)))
}

/// The table.
pub(crate) struct GroupTable {
    spec: Arc<GroupSpec>,
    level: u32,
    groups: RowSet,
    states: Vec<States>,
    reservation: Reservation,
    full: bool,
    /// Bytes of groups and states when the table became full: 0 before.
    full_bytes: usize,
    spilled: Option<Partitions>,
    hashes: Vec<u64>,
    numbers: Vec<u32>,
}

impl GroupTable {
    /// No groups yet; rows without room go to the partitions of `level`.
    pub(crate) fn new(spec: &Arc<GroupSpec>, level: u32) -> Self {
        let mut this = Self {
            spec: Arc::clone(spec),
            level,
            groups: RowSet::new(spec.keys.len()),
            states: Vec::new(),
            reservation: spec.cx.budget.reserve_spillable(),
            full_bytes: 0,
            full: false,
            spilled: None,
            hashes: Vec::new(),
            numbers: Vec::new(),
        };
        this.clear();
        this
    }

    /// Removes all groups.
    pub(crate) fn clear(&mut self) {
        self.groups = RowSet::new(self.spec.keys.len());
        let width = self.spec.input_vars.len();
        self.states = self.spec.aggregates.iter().map(|a| States::new(a, width)).collect();
    }

    /// Makes sure that the group of the empty key exists.
    pub(crate) fn ensure_single(&mut self) {
        self.groups.insert(0, std::iter::empty());
        self.states.iter_mut().for_each(|states| states.resize(1));
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Adds the rows of `batch` (changed: rows that go to disk are removed).
    pub(crate) fn add(&mut self, batch: &mut Batch) -> Result<(), ExecError> {
        self.spec.cx.cancel.check()?;
        let columns = self.key_columns(batch);
        let slices: Vec<&[ValueId]> = columns.iter().map(AsRef::as_ref).collect();
        hash_columns(&slices, batch.rows, &mut self.hashes);
        if !self.full || self.groups.len() < GROUPS_MIN {
            self.groups.make_room(batch.rows, &self.spec.cx.cancel)?;
        }
        self.numbers.clear();
        let (mut kept, mut homeless) = (Vec::new(), Vec::new());
        for row in 0..batch.rows {
            let key = slices.iter().map(|c| c[row]);
            let hash = self.hashes[row];
            let number = u32::try_from(row).unwrap_or(u32::MAX);
            let known = match slices.as_slice() {
                [ids] => self.groups.find_id(hash, ids[row]),
                _ => self.groups.find(hash, key.clone()),
            };
            let takes_new = !self.full || self.groups.len() < GROUPS_MIN;
            match known.or_else(|| takes_new.then(|| self.groups.add(hash, key))) {
                Some(group) => {
                    self.numbers.push(group);
                    kept.push(number);
                }
                None => homeless.push(number),
            }
        }
        drop(slices);
        drop(columns);
        if !homeless.is_empty() {
            self.spill(batch, &homeless)?;
            batch.select(&kept);
        }
        self.update(batch)
    }

    /// Adds rows whose groups follow one another: a new group begins at each row of `starts`.
    pub(crate) fn add_sorted(&mut self, batch: &Batch, starts: &[bool]) -> Result<(), ExecError> {
        self.groups.make_room(batch.rows, &self.spec.cx.cancel)?;
        self.numbers.clear();
        for (row, start) in starts.iter().enumerate() {
            if *start || self.groups.len() == 0 {
                let value = |c: &Option<usize>| c.map_or(ValueId::UNDEF, |c| batch.columns[c][row]);
                let key: Vec<ValueId> = self.spec.keys.iter().map(value).collect();
                self.groups.add(0, key.into_iter());
            }
            self.numbers.push(u32::try_from(self.groups.len() - 1).unwrap_or(u32::MAX));
        }
        self.update(batch)
    }

    fn key_columns<'a>(&self, batch: &'a Batch) -> Vec<Cow<'a, [ValueId]>> {
        let column = |key: &Option<usize>| match key {
            Some(column) => Cow::Borrowed(batch.columns[*column].as_slice()),
            None => Cow::Owned(vec![ValueId::UNDEF; batch.rows]),
        };
        self.spec.keys.iter().map(column).collect()
    }

    fn update(&mut self, batch: &Batch) -> Result<(), ExecError> {
        for (aggregate, states) in self.spec.aggregates.iter().zip(&mut self.states) {
            states.resize(self.groups.len());
            states.update(&self.spec.cx, aggregate.argument.as_ref(), &self.numbers, batch)?;
        }
        self.reserve()
    }

    fn reserve(&mut self) -> Result<(), ExecError> {
        let states: usize = self.states.iter().map(States::bytes).sum();
        let bytes = self.groups.bytes() + states;
        self.spec.counters.hold(bytes);
        if bytes <= self.reservation.bytes() {
            return Ok(());
        }
        if self.reservation.resize(bytes + bytes / 4).is_ok() || self.reservation.resize(bytes).is_ok() {
            return Ok(());
        }
        self.full = true;
        if self.full_bytes == 0 {
            // The batch that filled the table: its groups are in, and their states stay.
            self.full_bytes = bytes;
        }
        let accounted = self.reservation.bytes().max(self.full_bytes);
        if bytes > accounted + accounted / 4 + STATES_FREE_BYTES {
            self.reservation.resize_to_limit(bytes)?;
        }
        Ok(())
    }

    fn spill(&mut self, batch: &Batch, rows: &[u32]) -> Result<(), ExecError> {
        let mut partitions = match self.spilled.take() {
            Some(partitions) => partitions,
            None => Partitions::new(&self.spec.area, &self.spec.input_vars, &self.spec.counters, PARTITIONS),
        };
        let (hashes, level) = (&self.hashes, self.level);
        partitions.push(batch, rows.iter().copied(), |row| partition(hashes[row], level, PARTITIONS))?;
        self.spilled = Some(partitions);
        Ok(())
    }

    /// Adds the groups of another table; rows it set aside are returned.
    pub(crate) fn merge(&mut self, other: Self) -> Result<Vec<SpilledRows>, ExecError> {
        let cancel = &self.spec.cx.cancel;
        let mut groups: Vec<u32> = Vec::with_capacity(other.groups.len());
        for i in 0..other.groups.len() {
            if i % BATCH_ROWS == 0 {
                cancel.check()?;
                self.groups.make_room(BATCH_ROWS.min(other.groups.len() - i), cancel)?;
            }
            groups.push(self.groups.insert(other.groups.hash(i), other.groups.row(i).iter().copied()).0);
        }
        for (states, more) in self.states.iter_mut().zip(other.states) {
            states.resize(self.groups.len());
            states.merge(&self.spec.cx, more, &groups)?;
        }
        drop(other.reservation);
        // Both tables were reserved, so that this holds no more than before; where others were faster, no new groups.
        let bytes = self.groups.bytes() + self.states.iter().map(States::bytes).sum::<usize>();
        self.full |= other.full || self.reservation.resize(bytes).is_err();
        other.spilled.map_or_else(|| Ok(Vec::new()), Partitions::finish)
    }

    /// Lets no new group in any more.
    pub(crate) fn freeze(&mut self) {
        self.full = true;
    }

    /// Ends adding rows: what was set aside, by partition.
    pub(crate) fn take_spilled(&mut self) -> Result<Vec<SpilledRows>, ExecError> {
        self.spilled.take().map_or_else(|| Ok(Vec::new()), Partitions::finish)
    }

    /// The level at which rows set aside are to be aggregated.
    pub(crate) fn next_level(&self) -> u32 {
        self.level + 1
    }

    /// Writes the groups `start..end` to `out`, whose columns are `vars`.
    pub(crate) fn deliver(&self, start: usize, end: usize, out: &mut Batch) -> Result<(), ExecError> {
        let vars = Arc::clone(&out.vars);
        for (var, column) in vars.iter().zip(&mut out.columns) {
            if let Some(key) = position(&self.spec.key_vars, *var) {
                column.extend((start..end).map(|group| self.groups.row(group)[key]));
            } else if let Some(i) = self.spec.aggregates.iter().position(|a| a.output == *var) {
                for group in start..end {
                    column.push(self.states[i].finish(&self.spec.cx, group)?);
                }
            } else {
                column.resize(end - start, ValueId::UNDEF);
            }
        }
        out.rows = end - start;
        Ok(())
    }
}
