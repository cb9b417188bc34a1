//! GROUP BY: by a hash table, or as a stream over input that comes grouped.

use super::group_table::{GroupSpec, GroupTable};
use super::{BoxOp, Operator};
use crate::key_filter::KeyFilter;
use crate::parallel::Source;
use crate::spill::SpilledRows;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

enum State {
    Input(Source),
    Deliver(Box<GroupTable>, usize),
    Done,
}

/// Grouping by a hash table; several threads fill tables of their own, which are then merged.
pub(crate) struct HashGroup {
    spec: Arc<GroupSpec>,
    vars: Arc<[VarId]>,
    state: State,
    waiting: Vec<(SpilledRows, u32)>,
}

impl HashGroup {
    /// Over `input`; delivers `vars`.
    pub(crate) fn new(spec: GroupSpec, input: Source, vars: &Arc<[VarId]>) -> Self {
        Self { spec: Arc::new(spec), vars: Arc::clone(vars), state: State::Input(input), waiting: Vec::new() }
    }

    fn aggregate(&mut self, input: Source) -> Result<GroupTable, ExecError> {
        let spec = Arc::clone(&self.spec);
        let tables = input.drain(
            &self.spec.counters,
            move || Ok(GroupTable::new(&spec, 0)),
            |table: &mut GroupTable, batch: &mut Batch| table.add(batch),
        )?;
        let mut tables = tables.into_iter();
        let mut table = match tables.next() {
            Some(table) => table,
            None => GroupTable::new(&self.spec, 0),
        };
        let mut rest = Vec::new();
        let mut others = tables.peekable();
        if others.peek().is_some() {
            rest.extend(table.take_spilled()?);
            for other in others {
                rest.extend(table.merge(other)?);
            }
        }
        // Rows that a thread set aside may belong to groups of another's table: all pass through the merged one.
        if rest.iter().any(|file| file.rows() > 0) {
            table.freeze();
        }
        for file in rest {
            add_file(&mut table, &file)?;
        }
        if self.spec.keys.is_empty() {
            table.ensure_single();
        }
        self.set_aside(&mut table)?;
        Ok(table)
    }

    fn set_aside(&mut self, table: &mut GroupTable) -> Result<(), ExecError> {
        let level = table.next_level();
        let files = table.take_spilled()?.into_iter().filter(|file| file.rows() > 0);
        self.waiting.extend(files.map(|file| (file, level)));
        Ok(())
    }

    fn next_partition(&mut self) -> Result<Option<GroupTable>, ExecError> {
        let Some((file, level)) = self.waiting.pop() else { return Ok(None) };
        let mut table = GroupTable::new(&self.spec, level);
        add_file(&mut table, &file)?;
        drop(file);
        self.set_aside(&mut table)?;
        Ok(Some(table))
    }
}

fn add_file(table: &mut GroupTable, file: &SpilledRows) -> Result<(), ExecError> {
    let mut batch = Batch::new(Arc::clone(file.vars()));
    for chunk in 0..file.chunks() {
        batch.clear();
        file.read(chunk, &mut batch)?;
        table.add(&mut batch)?;
    }
    Ok(())
}

impl Operator for HashGroup {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        loop {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Input(input) => {
                    let table = self.aggregate(input)?;
                    self.state = State::Deliver(Box::new(table), 0);
                }
                State::Deliver(table, start) if start < table.len() => {
                    self.spec.cx.cancel.check()?;
                    let end = table.len().min(start + self.spec.cx.batch_rows);
                    table.deliver(start, end, out)?;
                    self.state = State::Deliver(table, end);
                    return Ok(true);
                }
                State::Deliver(table, _) => {
                    drop(table);
                    match self.next_partition()? {
                        Some(table) => self.state = State::Deliver(Box::new(table), 0),
                        None => return Ok(false),
                    }
                }
                State::Done => return Ok(false),
            }
        }
    }
}

/// Grouping of input in which the rows of a group are neighbours.
pub(crate) struct SortedGroup {
    spec: Arc<GroupSpec>,
    vars: Arc<[VarId]>,
    input: BoxOp,
    table: GroupTable,
    /// The key of the last row seen.
    last: Option<Vec<ValueId>>,
    /// Rows that begin a table to come.
    pending: Batch,
    delivered: Option<usize>,
    ended: bool,
    /// Groups to complete before they are delivered: few at first, since the consumer may skip the next ones.
    groups_next: usize,
}

impl SortedGroup {
    /// Over `input`; delivers `vars`.
    pub(crate) fn new(spec: GroupSpec, input: BoxOp, vars: &Arc<[VarId]>) -> Self {
        let spec = Arc::new(spec);
        let table = GroupTable::new(&spec, 0);
        Self {
            table,
            vars: Arc::clone(vars),
            input,
            last: None,
            pending: Batch::new(Arc::clone(&spec.input_vars)),
            delivered: None,
            ended: false,
            groups_next: 1,
            spec,
        }
    }

    /// For each row, whether its key differs from that of the row before.
    fn starts(&mut self, batch: &Batch) -> Vec<bool> {
        let columns: Vec<&[ValueId]> =
            self.spec.keys.iter().flatten().map(|c| batch.columns[*c].as_slice()).collect();
        let mut starts = vec![false; batch.rows];
        for column in &columns {
            for (start, pair) in starts[1..].iter_mut().zip(column.windows(2)) {
                *start |= pair[0] != pair[1];
            }
        }
        starts[0] = match &self.last {
            None => true,
            Some(last) => columns.iter().zip(last).any(|(c, id)| c[0] != *id),
        };
        self.last = Some(columns.iter().map(|c| c[batch.rows - 1]).collect());
        starts
    }

    /// Reads until enough groups are complete, or the input ends.
    fn fill(&mut self, batch: &mut Batch) -> Result<(), ExecError> {
        if self.pending.rows > 0 {
            let mut starts = vec![false; self.pending.rows];
            starts[0] = true;
            self.table.add_sorted(&self.pending, &starts)?;
            self.pending.clear();
        }
        while !self.ended {
            self.spec.cx.cancel.check()?;
            if !self.input.next(batch)? {
                self.ended = true;
                break;
            }
            let starts = self.starts(batch);
            let last_start = starts.iter().rposition(|start| *start);
            match last_start {
                Some(split) if self.table.len() >= self.groups_next => {
                    self.pending.append_range(batch, split, batch.rows);
                    batch.keep_range(0, split);
                    self.table.add_sorted(batch, &starts[..split])?;
                    break;
                }
                _ => self.table.add_sorted(batch, &starts)?,
            }
        }
        if self.ended && self.spec.keys.is_empty() {
            self.table.ensure_single();
        }
        self.groups_next = (self.groups_next * 4).min(self.spec.cx.batch_rows);
        self.delivered = Some(0);
        Ok(())
    }
}

impl Operator for SortedGroup {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        loop {
            if let Some(start) = self.delivered {
                out.reset(&self.vars);
                let end = self.table.len().min(start + self.spec.cx.batch_rows);
                if start < end {
                    self.table.deliver(start, end, out)?;
                    self.delivered = Some(end);
                    return Ok(true);
                }
                self.table.clear();
                self.delivered = None;
                if self.ended && self.pending.rows == 0 {
                    self.delivered = Some(0);
                    return Ok(false);
                }
            }
            self.fill(out)?;
        }
    }

    /// The group that is not complete yet may lose rows by that; but then it comes before `key`, and nobody has use for it.
    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        if vars.iter().all(|var| self.spec.key_vars.contains(var)) {
            self.groups_next = 1;
            self.input.skip_to(vars, key)?;
        }
        Ok(())
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        if self.spec.key_vars.contains(&var) {
            self.input.keep_keys(var, filter);
        }
    }
}
