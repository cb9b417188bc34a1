//! Rows in columns: what operators hand to each other.

use crate::growth::make_room;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// The most rows of a batch, unless a query asks for smaller ones (tests do).
pub const BATCH_ROWS: usize = 4096;

/// Stands for "no row" in lists of row numbers: the gathered values are unbound.
pub const NO_ROW: u32 = u32::MAX;

/// Rows as columns of ids; [`ValueId::UNDEF`] is unbound. All columns are dense and of equal length `rows`.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The variable of each column.
    pub vars: Arc<[VarId]>,
    /// One per variable.
    pub columns: Vec<Vec<ValueId>>,
    /// Number of rows (a batch without columns has rows, too).
    pub rows: usize,
}

impl Batch {
    /// An empty batch with these columns.
    pub fn new(vars: Arc<[VarId]>) -> Self {
        let columns = vec![Vec::new(); vars.len()];
        Self { vars, columns, rows: 0 }
    }

    /// The column of `var`.
    #[inline]
    pub fn column(&self, var: VarId) -> Option<&[ValueId]> {
        self.position(var).map(|i| self.columns[i].as_slice())
    }

    /// The number of the column of `var`.
    #[inline]
    pub fn position(&self, var: VarId) -> Option<usize> {
        position(&self.vars, var)
    }

    /// Removes all rows, keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.rows = 0;
    }

    /// Empties the batch and gives it these columns; keeps what memory it can.
    pub fn reset(&mut self, vars: &Arc<[VarId]>) {
        self.clear();
        if !Arc::ptr_eq(&self.vars, vars) {
            self.vars = Arc::clone(vars);
        }
        self.columns.resize_with(vars.len(), Vec::new);
    }

    /// Keeps only the rows numbered in `selection` (ascending).
    pub fn select(&mut self, selection: &[u32]) {
        if selection.len() == self.rows {
            return;
        }
        for column in &mut self.columns {
            for (to, from) in selection.iter().enumerate() {
                column[to] = column[*from as usize];
            }
            column.truncate(selection.len());
        }
        self.rows = selection.len();
    }

    /// Keeps only the rows `start..end`.
    pub fn keep_range(&mut self, start: usize, end: usize) {
        let end = end.min(self.rows);
        let start = start.min(end);
        for column in &mut self.columns {
            column.truncate(end);
            column.drain(..start);
        }
        self.rows = end - start;
    }

    /// Appends the rows `start..end` of `other`, which has the same columns.
    #[inline]
    pub fn append_range(&mut self, other: &Self, start: usize, end: usize) {
        for (to, from) in self.columns.iter_mut().zip(&other.columns) {
            make_room(to, end - start);
            to.extend_from_slice(&from[start..end]);
        }
        self.rows += end - start;
    }

    /// Appends the rows of `other` numbered in `selection`; `other` has the same columns.
    pub fn append_selected(&mut self, other: &Self, selection: &[u32]) {
        for (to, from) in self.columns.iter_mut().zip(&other.columns) {
            gather(from, selection, to);
        }
        self.rows += selection.len();
    }

    /// Bytes that the columns' capacity takes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|c| c.capacity() * size_of::<ValueId>()).sum()
    }
}

/// The number of the column of `var` among `vars`.
#[inline]
pub fn position(vars: &[VarId], var: VarId) -> Option<usize> {
    vars.iter().position(|v| *v == var)
}

/// The numbers of the columns of `to` among `from`.
fn positions(from: &[VarId], to: &[VarId]) -> Vec<Option<usize>> {
    if from.len() <= NARROW {
        return to.iter().map(|var| position(from, *var)).collect();
    }
    let mut sorted: Vec<(VarId, usize)> = from.iter().enumerate().map(|(at, var)| (*var, at)).collect();
    sorted.sort_unstable();
    let find = |var: &VarId| {
        // The first of equal ones.
        let at = sorted.partition_point(|(other, _)| other < var);
        sorted.get(at).filter(|(other, _)| other == var).map(|(_, at)| *at)
    };
    to.iter().map(find).collect()
}

/// Rows of more columns are not searched for each.
const NARROW: usize = 16;

/// The same, most likely `at` this place: rows may be hundreds of columns wide, and most operators keep them in their sequence.
#[inline]
pub fn position_near(vars: &[VarId], var: VarId, at: usize) -> Option<usize> {
    if vars.get(at) == Some(&var) { Some(at) } else { position(vars, var) }
}

/// Appends `source[i]` for each `i` of `rows`; unbound for [`NO_ROW`].
#[inline]
pub fn gather(source: &[ValueId], rows: &[u32], to: &mut Vec<ValueId>) {
    make_room(to, rows.len());
    to.extend(rows.iter().map(|row| source.get(*row as usize).copied().unwrap_or(ValueId::UNDEF)));
}

/// Where the columns of a result come from in an input: `None` is unbound.
#[derive(Debug, Clone)]
pub struct Mapping {
    vars: Arc<[VarId]>,
    sources: Vec<Option<usize>>,
    /// Whether a column of the input is a later column of the result, too: it must stay where it is until then.
    again: Vec<bool>,
    identity: bool,
}

impl Mapping {
    /// The columns `to`, taken from those of `from` of the same variables.
    pub fn new(from: &[VarId], to: &Arc<[VarId]>) -> Self {
        let sources = positions(from, to);
        let identity = from.len() == to.len() && sources.iter().enumerate().all(|(i, s)| *s == Some(i));
        let mut taken = vec![false; from.len()];
        let mut later = |source: &Option<usize>| {
            source.and_then(|s| taken.get_mut(s)).is_some_and(|taken| std::mem::replace(taken, true))
        };
        let mut again: Vec<bool> = sources.iter().rev().map(&mut later).collect();
        again.reverse();
        Self { vars: Arc::clone(to), sources, again, identity }
    }

    /// Moves the mapped columns of `input` to `out`; `input` is left without rows.
    pub fn apply(&self, input: &mut Batch, out: &mut Batch) {
        out.reset(&self.vars);
        out.rows = input.rows;
        if input.rows == 0 {
            // At the end of an input its batch may never have had columns.
            return;
        }
        if self.identity {
            std::mem::swap(&mut out.columns, &mut input.columns);
            input.clear();
            return;
        }
        for (i, (source, again)) in self.sources.iter().zip(&self.again).enumerate() {
            match source {
                None => out.columns[i].resize(input.rows, ValueId::UNDEF),
                Some(s) if *again => out.columns[i].extend_from_slice(&input.columns[*s]),
                Some(s) => std::mem::swap(&mut out.columns[i], &mut input.columns[*s]),
            }
        }
        input.clear();
    }
}
