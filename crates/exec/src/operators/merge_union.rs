//! Bag union of inputs that are sorted alike: their rows in that order, so that equal rows are neighbours (the OR of posting lists).

use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use lode_base::gallop::gallop;
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::cmp::Ordering;
use std::sync::Arc;

/// The operator.
pub(crate) struct MergeUnion {
    cx: Arc<QueryContext>,
    inputs: Vec<Input>,
    /// The columns that the rows are sorted by.
    by: Vec<usize>,
    vars: Arc<[VarId]>,
}

/// An input, and its rows that have not gone out.
struct Input {
    rows: BoxOp,
    batch: Batch,
    next: usize,
}

impl MergeUnion {
    /// The rows of `inputs`, which all have the columns `vars` and come sorted by `sorted_by`.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        inputs: Vec<BoxOp>,
        sorted_by: &[VarId],
        vars: &Arc<[VarId]>,
    ) -> Self {
        let input = |rows| Input { rows, batch: Batch::default(), next: 0 };
        Self {
            cx: Arc::clone(cx),
            inputs: inputs.into_iter().map(input).collect(),
            by: sorted_by.iter().filter_map(|var| position(vars, *var)).collect(),
            vars: Arc::clone(vars),
        }
    }

    /// Reads on where an input has no rows left, and lets go of those that have ended.
    fn fill(&mut self) -> Result<(), ExecError> {
        let mut at = 0;
        while let Some(input) = self.inputs.get_mut(at) {
            if input.next < input.batch.rows {
                at += 1;
                continue;
            }
            self.cx.cancel.check()?;
            input.next = 0;
            if input.rows.next(&mut input.batch)? {
                at += 1;
            } else {
                self.inputs.swap_remove(at);
            }
        }
        Ok(())
    }

    /// The input whose next row comes first, and the one that is next to it.
    fn first_two(&self) -> Option<(usize, Option<usize>)> {
        let mut first = 0;
        let mut second: Option<usize> = None;
        self.inputs.first()?;
        for at in 1..self.inputs.len() {
            if self.compare(at, first).is_lt() {
                second = Some(first);
                first = at;
            } else if second.is_none_or(|second| self.compare(at, second).is_lt()) {
                second = Some(at);
            }
        }
        Some((first, second))
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (a, b) = (&self.inputs[a], &self.inputs[b]);
        compare((&a.batch, a.next), (&b.batch, b.next), &self.by)
    }

    /// Hands on the rows of the first input that do not come after those of the second, as far as they are there.
    fn hand_on(&mut self, first: usize, second: Option<usize>, out: &mut Batch) {
        let Input { batch, next, .. } = &self.inputs[first];
        let end = batch.rows.min(next + (self.cx.batch_rows - out.rows));
        let end = match second.map(|second| &self.inputs[second]) {
            Some(other) => {
                let key = (&other.batch, other.next);
                gallop(next + 1, end, |row| compare((batch, row), key, &self.by).is_le())
            }
            None => end,
        };
        out.append_range(batch, *next, end);
        self.inputs[first].next = end;
    }
}

fn compare((a, row): (&Batch, usize), (b, other): (&Batch, usize), by: &[usize]) -> Ordering {
    let mut columns = by.iter().map(|column| a.columns[*column][row].cmp(&b.columns[*column][other]));
    columns.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

impl Operator for MergeUnion {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        while out.rows < self.cx.batch_rows {
            self.fill()?;
            let Some((first, second)) = self.first_two() else { break };
            self.hand_on(first, second, out);
        }
        Ok(out.rows > 0)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        for input in &mut self.inputs {
            let columns = &input.batch.columns;
            let before = |row: usize| {
                let mut orders = self.by.iter().zip(key).map(|(column, id)| columns[*column][row].cmp(id));
                orders.find(|order| order.is_ne()).is_some_and(Ordering::is_lt)
            };
            input.next = gallop(input.next, input.batch.rows, before);
            if input.next >= input.batch.rows {
                input.rows.skip_to(vars, key)?;
            }
        }
        Ok(())
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        self.inputs.iter_mut().for_each(|input| input.rows.keep_keys(var, filter));
    }
}
