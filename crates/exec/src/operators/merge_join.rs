//! Joins two inputs sorted by the same variables: both advance together, by galloping through batches and by seeks in the
//! permutations below where one side is far ahead.

use super::join_output::{JoinOutput, Pairs, compatible};
use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use crate::profile::NodeCounters;
use crate::reservation::cover;
use lode_base::gallop::gallop;
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_eval::growth::room_for;
use lode_rdf::ValueId;
use lode_sparql::plan::JoinCondition;
use lode_sparql::{JoinKind, VarId};
use std::cmp::Ordering;
use std::sync::Arc;

/// Rows that are compared without a branch, so that the compiler makes vector instructions of it.
const CHUNK: usize = 16;

/// What the window may have beside the budget: the rest of one batch and all of the next, of a few columns.
const FLOWING_BYTES: usize = 256 << 10;

/// The operator.
pub(crate) struct MergeJoin {
    cx: Arc<QueryContext>,
    counters: Arc<NodeCounters>,
    left_input: BoxOp,
    right_input: BoxOp,
    output: JoinOutput,
    kind: JoinKind,
    on: Vec<VarId>,
    left_on: Vec<usize>,
    right_on: Vec<usize>,
    maybe: Vec<(usize, usize)>,
    left: Batch,
    /// Right rows not yet done with: a window on the right input.
    right: Batch,
    incoming: Batch,
    right_done: bool,
    row: usize,
    /// The right rows with the key of the left row `row`, if found already.
    group: Option<(usize, usize)>,
    group_key: Vec<ValueId>,
    group_end: usize,
    /// The next candidate of the left row `row`; `None`: its group is not looked at yet.
    next_match: Option<usize>,
    pairs: Pairs,
    reservation: Reservation,
}

impl MergeJoin {
    /// Joins two sorted inputs with these columns.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        counters: Arc<NodeCounters>,
        (left_input, left): (BoxOp, &[VarId]),
        (right_input, right): (BoxOp, &[VarId]),
        (kind, condition): (JoinKind, &JoinCondition),
        output: JoinOutput,
    ) -> Result<Self, ExecError> {
        let columns = |vars: &[VarId]| condition.on.iter().filter_map(|v| position(vars, *v)).collect();
        let both = |var: &VarId| Some((position(left, *var)?, position(right, *var)?));
        Ok(Self {
            cx: Arc::clone(cx),
            counters,
            left_input,
            right_input,
            output,
            kind,
            on: condition.on.clone(),
            left_on: columns(left),
            right_on: columns(right),
            maybe: condition.maybe.iter().filter_map(both).collect(),
            left: Batch::default(),
            right: Batch::new(right.into()),
            incoming: Batch::default(),
            right_done: false,
            row: 0,
            group: None,
            group_key: Vec::new(),
            group_end: 0,
            next_match: None,
            pairs: Pairs::default(),
            reservation: cx.budget.reserve(0)?,
        })
    }

    fn left_key(&self, row: usize) -> impl Iterator<Item = ValueId> {
        self.left_on.iter().map(move |c| self.left.columns[*c][row])
    }

    /// How a right row's key compares with `key`.
    fn compare_right(&self, row: usize, key: &[ValueId]) -> Ordering {
        let columns = self.right_on.iter().zip(key);
        columns
            .map(|(c, id)| self.right.columns[*c][row].cmp(id))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn compare_left(&self, row: usize, key: &[ValueId]) -> Ordering {
        self.left_key(row).zip(key).map(|(a, b)| a.cmp(b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Appends the next right rows to the window; `false` at the end.
    fn read_right(&mut self) -> Result<bool, ExecError> {
        self.cx.cancel.check()?;
        if self.right_done {
            return Ok(false);
        }
        if self.pairs.len() == 0 && self.group_end > 0 {
            self.drop_passed_rows();
        }
        if !self.right_input.next(&mut self.incoming)? {
            self.right_done = true;
            return Ok(false);
        }
        self.make_room()?;
        self.right.append_range(&self.incoming, 0, self.incoming.rows);
        self.counters.hold(self.right.bytes());
        Ok(true)
    }

    /// Makes room in the window for the rows that have come.
    fn make_room(&mut self) -> Result<(), ExecError> {
        let rows = self.right.rows + self.incoming.rows;
        let room = self.right.columns.iter().map(Vec::capacity).min().unwrap_or(rows);
        if rows <= room {
            return Ok(());
        }
        let row_bytes = self.right.columns.len() * size_of::<ValueId>();
        let room = room_for(rows, room, row_bytes);
        cover(&mut self.reservation, (room * row_bytes).saturating_sub(FLOWING_BYTES))?;
        for column in &mut self.right.columns {
            column.reserve_exact(room - column.len());
        }
        Ok(())
    }

    /// Forgets right rows before the current group: no pair mentions them.
    fn drop_passed_rows(&mut self) {
        let passed = self.group.map_or(self.group_end, |(start, _)| start);
        let rows = self.right.rows;
        self.right.keep_range(passed, rows);
        self.group_end -= passed;
        if let Some(next) = &mut self.next_match {
            *next = next.saturating_sub(passed);
        }
        if let Some((start, end)) = &mut self.group {
            *start -= passed;
            *end -= passed;
        }
    }

    /// Finds the right rows with the key of the current left row. `None`: there are none.
    fn find_group(&mut self) -> Result<Option<(usize, usize)>, ExecError> {
        if let Some(group) = self.group {
            if self.left_key(self.row).eq(self.group_key.iter().copied()) {
                return Ok(Some(group));
            }
            self.group = None;
        }
        let mut key = std::mem::take(&mut self.group_key);
        key.clear();
        key.extend(self.left_key(self.row));
        let found = self.find_key(&key);
        self.group_key = key;
        found
    }

    /// Finds the right rows with a key that comes after those looked for before.
    fn find_key(&mut self, key: &[ValueId]) -> Result<Option<(usize, usize)>, ExecError> {
        loop {
            let start =
                gallop(self.group_end, self.right.rows, |row| self.compare_right(row, key) == Ordering::Less);
            self.group_end = start;
            if start < self.right.rows {
                break;
            }
            if !self.right_done {
                self.right_input.skip_to(&self.on, key)?;
            }
            if !self.read_right()? {
                return Ok(None);
            }
        }
        if self.compare_right(self.group_end, key) != Ordering::Equal {
            return Ok(None);
        }
        self.group = Some((self.group_end, self.group_end));
        loop {
            let Some((start, end)) = self.group else { return Ok(None) };
            let end = gallop(end, self.right.rows, |row| self.compare_right(row, key) == Ordering::Equal);
            self.group = Some((start, end));
            if end < self.right.rows || !self.read_right()? {
                break;
            }
        }
        if let Some((_, end)) = self.group {
            self.group_end = end;
        }
        Ok(self.group)
    }

    /// After a miss: steps over left rows that have no match either, where nobody wants them.
    fn pass_left_rows(&mut self) -> Result<(), ExecError> {
        self.row += 1;
        if !matches!(self.kind, JoinKind::Inner | JoinKind::Semi) {
            return Ok(());
        }
        if self.group_end >= self.right.rows {
            // No right row is left at all.
            self.row = self.left.rows;
            return Ok(());
        }
        let key: Vec<ValueId> =
            self.right_on.iter().map(|c| self.right.columns[*c][self.group_end]).collect();
        self.row = gallop(self.row, self.left.rows, |row| self.compare_left(row, &key) == Ordering::Less);
        if self.row == self.left.rows {
            self.left_input.skip_to(&self.on, &key)?;
        }
        Ok(())
    }

    /// Candidate pairs of the left batch, up to a batch of them; the result is the number of left rows that are complete.
    fn candidates(&mut self) -> Result<usize, ExecError> {
        self.pairs.clear();
        let one_suffices = self.output.first_match_suffices();
        while self.row < self.left.rows {
            self.take_run();
            let Some((start, end)) = self.find_group()? else {
                self.pass_left_rows()?;
                self.next_match = None;
                continue;
            };
            let mut found = self.next_match.unwrap_or(start);
            while found < end {
                if self.pairs.len() >= self.cx.batch_rows {
                    self.next_match = Some(found);
                    return Ok(self.row);
                }
                let fits = |(l, r): &(usize, usize)| {
                    compatible(self.left.columns[*l][self.row], self.right.columns[*r][found])
                };
                if self.maybe.iter().all(fits) {
                    self.pairs.push(row_number(self.row), row_number(found));
                    if one_suffices {
                        break;
                    }
                }
                found += 1;
            }
            self.row += 1;
            self.next_match = None;
        }
        Ok(self.row)
    }

    /// Takes the rows that follow on both sides as long as their keys are the same, each once: two properties of which every subject
    /// has one. The last of them is left, since what follows it is not known.
    fn take_run(&mut self) {
        let ([l], [r], true) = (self.left_on.as_slice(), self.right_on.as_slice(), self.maybe.is_empty())
        else {
            return;
        };
        let (left, right) = (&self.left.columns[*l][self.row..], &self.right.columns[*r]);
        let right = right.get(self.group_end..).unwrap_or_default();
        if self.next_match.is_some() || left.first() != right.first() {
            return;
        }
        let room = self.cx.batch_rows.saturating_sub(self.pairs.len());
        let run = run_length(&left[..room.min(left.len())], right);
        // The next row of the left may have the key of the run's last one.
        let last = run.checked_sub(1).and_then(|last| left.get(last));
        let ends = left.get(run).is_some_and(|after| Some(after) != last);
        let run = if ends { run } else { run.saturating_sub(1) };
        if run == 0 {
            return;
        }
        let numbers = |first: usize| row_number(first)..row_number(first + run);
        self.pairs.left.extend(numbers(self.row));
        self.pairs.right.extend(numbers(self.group_end));
        self.group = None;
        self.row += run;
        self.group_end += run;
    }

    /// Whether nothing more can come, without reading the rest of the left side.
    fn is_over(&self) -> bool {
        self.right_done
            && self.group.is_none()
            && self.group_end >= self.right.rows
            && matches!(self.kind, JoinKind::Inner | JoinKind::Semi)
    }
}

/// How many rows both sides begin with that have the same key, and on the right each another one than the next row.
fn run_length(left: &[ValueId], right: &[ValueId]) -> usize {
    let mut run = 0;
    while let (Some(l), Some(r)) = (left.get(run..run + CHUNK), right.get(run..=run + CHUNK)) {
        let ends = (0..CHUNK).fold(false, |ends, i| ends | (l[i] != r[i]) | (r[i] == r[i + 1]));
        if ends {
            break;
        }
        run += CHUNK;
    }
    let (left, right) = (&left[run..], right.get(run..).unwrap_or_default());
    run + left.iter().zip(right.windows(2)).take_while(|(l, r)| **l == r[0] && r[0] != r[1]).count()
}

fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1)
}

impl Operator for MergeJoin {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        self.output.reset(out);
        loop {
            if self.row < self.left.rows {
                let complete = self.candidates()?;
                let complete = row_number(complete);
                self.output.filter(&self.cx, &self.left, &self.right, &mut self.pairs)?;
                self.output.settle(&self.left, &self.right, &mut self.pairs, complete, out);
            } else {
                if self.is_over() || !self.left_input.next(&mut self.left)? {
                    return Ok(false);
                }
                self.row = 0;
                self.next_match = None;
                self.output.begin();
            }
            if out.rows > 0 {
                return Ok(true);
            }
        }
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        self.left_input.skip_to(vars, key)
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        self.left_input.keep_keys(var, filter);
        // What the right side alone binds may be another value where a row of the left has no match.
        if self.kind == JoinKind::Inner {
            self.right_input.keep_keys(var, filter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, run_length};
    use lode_rdf::ValueId;

    #[test]
    fn runs_end_where_one_side_differs_or_repeats() {
        let keys = |n: u64| (0..n).map(ValueId::from_bits).collect::<Vec<_>>();
        let long = 3 * CHUNK as u64;
        // What follows the last row of the right is not known.
        assert_eq!(run_length(&keys(long), &keys(long)), 3 * CHUNK - 1);
        assert_eq!(run_length(&keys(long), &keys(long + 1)), 3 * CHUNK);
        assert_eq!(run_length(&keys(long), &[]), 0);
        assert_eq!(run_length(&[], &keys(long)), 0);
        for at in 0..3 * CHUNK {
            let (left, mut right) = (keys(long), keys(long + 1));
            right[at] = ValueId::from_bits(1000);
            assert_eq!(run_length(&left, &right), at);
            let mut right = keys(long + 1);
            right[at + 1] = right[at];
            assert_eq!(run_length(&left, &right), at);
        }
    }
}
