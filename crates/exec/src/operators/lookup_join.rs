//! Joins by looking up: the keys of a batch of left rows are sorted, each distinct one is found in the permutation by an
//! ascending cursor, and the joined rows come out in the order of the left ones.

use super::join_output::{JoinOutput, Pairs, compatible};
use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::cursor::Cursor;
use crate::key_filter::KeyFilter;
use crate::pattern::{Cell, Pattern};
use crate::profile::NodeCounters;
use lode_base::gallop::gallop;
use lode_eval::batch::{Batch, gather, position};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// Matches held at once, in batches, before fewer left rows are looked up at a time.
const HELD_BATCHES: usize = 16;
/// Left rows looked up at once after others were skipped: who has skipped is likely to do so again, and has no use for what was looked up
/// beyond that.
const SKIPPED_ROWS: usize = 64;
/// Skipping more than this part of the rows looked up last counts.
const SKIPPED_PART: usize = 8;
/// What an input reads first, and again after it has skipped many rows ([`super::index_scan`]): a larger batch comes of one that did not.
const SHORT_BATCH_ROWS: usize = 256;

/// A component of a key.
#[derive(Debug, Clone, Copy)]
enum Key {
    Const(ValueId),
    Left(usize),
}

/// A single row whose matches are so many that they are taken in parts.
struct Part {
    cursor: Cursor,
    key: Vec<ValueId>,
    last: Option<Vec<ValueId>>,
}

/// The operator.
pub(crate) struct LookupJoin {
    cx: Arc<QueryContext>,
    counters: Arc<NodeCounters>,
    input: BoxOp,
    output: JoinOutput,
    pattern: Pattern,
    keys: Vec<Key>,
    /// Left and right columns that must be compatible besides the key.
    checks: Vec<(usize, usize)>,
    left: Batch,
    /// The left rows looked up last, and how many to take next.
    piece: std::ops::Range<usize>,
    piece_rows: usize,
    /// Whether the input was told to skip since its last batch.
    skipped: bool,
    /// Matches of the piece, and for each of its rows the range of them.
    right: Batch,
    ranges: Vec<(u32, u32)>,
    part: Option<Part>,
    cursor: Option<(Cursor, Vec<ValueId>)>,
    row: usize,
    next_match: u32,
    pairs: Pairs,
    order: Vec<u32>,
    key: Vec<ValueId>,
    passed: Vec<ValueId>,
    selection: Vec<u32>,
}

impl LookupJoin {
    /// Joins `input`, whose columns are `left`, with the rows of `pattern`.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        counters: Arc<NodeCounters>,
        input: BoxOp,
        left: &[VarId],
        pattern: Pattern,
        output: impl FnOnce(&[VarId]) -> JoinOutput,
    ) -> Self {
        let right_vars: Vec<VarId> =
            pattern.outputs.iter().chain(&pattern.residual).map(|(var, _)| *var).collect();
        let keys = pattern.cells[..pattern.keys]
            .iter()
            .filter_map(|cell| match cell {
                Cell::Const(id) => Some(Key::Const(*id)),
                Cell::Bound(var) => position(left, *var).map(Key::Left),
                _ => None,
            })
            .collect();
        let checks = right_vars.iter().enumerate();
        let checks = checks.filter_map(|(r, var)| position(left, *var).map(|l| (l, r))).collect();
        Self {
            cx: Arc::clone(cx),
            counters,
            input,
            output: output(&right_vars),
            keys,
            checks,
            pattern,
            left: Batch::default(),
            piece: 0..0,
            piece_rows: SHORT_BATCH_ROWS.min(cx.batch_rows),
            skipped: false,
            right: Batch::new(right_vars.into()),
            ranges: Vec::new(),
            part: None,
            cursor: None,
            row: 0,
            next_match: 0,
            pairs: Pairs::default(),
            order: Vec::new(),
            key: Vec::new(),
            passed: Vec::new(),
            selection: Vec::new(),
        }
    }

    /// The key of a left row, into `key`.
    fn fill_key(&self, row: u32, key: &mut Vec<ValueId>) {
        key.clear();
        key.extend(self.keys.iter().map(|part| match *part {
            Key::Const(id) => id,
            Key::Left(column) => self.left.columns[column][row as usize],
        }));
    }

    fn same_key(&self, a: u32, b: u32) -> bool {
        self.keys.iter().all(|part| match *part {
            Key::Const(_) => true,
            Key::Left(column) => {
                let column = &self.left.columns[column];
                column[a as usize] == column[b as usize]
            }
        })
    }

    fn held_max(&self) -> usize {
        HELD_BATCHES * self.cx.batch_rows
    }

    /// Looks up the next left rows: as many as the matches of which can be held.
    fn look_up(&mut self) -> Result<(), ExecError> {
        let start = self.piece.end;
        loop {
            self.cx.cancel.check()?;
            let end = (start + self.piece_rows.max(1)).min(self.left.rows);
            self.row = start;
            self.piece = start..end;
            if self.look_up_piece()? {
                self.piece_rows = (self.piece_rows * 2).min(self.cx.batch_rows);
                self.next_match = self.ranges.first().map_or(0, |r| r.0);
                return Ok(());
            }
            self.piece_rows = (end - start) / 2;
            self.cursor = None;
        }
    }

    /// `false`: too many matches, try fewer rows.
    fn look_up_piece(&mut self) -> Result<bool, ExecError> {
        self.right.clear();
        self.sort_piece();
        self.ranges.clear();
        self.ranges.resize(self.piece.len(), (0, 0));
        if self.pattern.impossible {
            return Ok(true);
        }
        let order = std::mem::take(&mut self.order);
        let ends = (order.first(), order.last());
        let single = matches!(ends, (Some(first), Some(last)) if self.same_key(*first, *last));
        let mut key = std::mem::take(&mut self.key);
        let mut all = true;
        let mut done = 0;
        let mut misses = self.misses();
        while all && done < order.len() {
            // Where one key was not in memory, the next are not likely to be.
            if !single && self.misses() > misses {
                self.expect(&order[done..])?;
                misses = u64::MAX;
            }
            let first = order[done];
            let same = order[done..].iter().take_while(|row| self.same_key(**row, first)).count();
            self.fill_key(first, &mut key);
            let start = row_number(self.right.rows);
            all = self.collect(&key, single)?;
            let end = row_number(self.right.rows);
            for row in &order[done..done + same] {
                self.ranges[*row as usize - self.piece.start] = (start, end);
            }
            done += same;
        }
        self.key = key;
        self.order = order;
        Ok(all)
    }

    /// Blocks that the cursor has missed so far.
    fn misses(&self) -> u64 {
        self.cursor.as_ref().map_or(0, |(cursor, _)| cursor.misses())
    }

    /// Tells the cursor the keys that are left.
    fn expect(&mut self, order: &[u32]) -> Result<(), ExecError> {
        let (mut keys, mut key) = (Vec::new(), Vec::new());
        let mut last = None;
        for row in order {
            if last.is_none_or(|last| !self.same_key(last, *row)) {
                self.fill_key(*row, &mut key);
                keys.extend_from_slice(&key);
                last = Some(*row);
            }
        }
        match &mut self.cursor {
            Some((cursor, _)) => cursor.expect(&keys),
            None => Ok(()),
        }
    }

    /// The rows of the piece in the order of their keys.
    fn sort_piece(&mut self) {
        let columns: Vec<&[ValueId]> = self
            .keys
            .iter()
            .filter_map(|key| match key {
                Key::Left(column) => Some(self.left.columns[*column].as_slice()),
                Key::Const(_) => None,
            })
            .collect();
        self.order.clear();
        self.order.extend((self.piece.start..self.piece.end).map(row_number));
        match columns.as_slice() {
            [] => {}
            [column] if column[self.piece.clone()].is_sorted() => {}
            [column] => self.order.sort_unstable_by_key(|row| column[*row as usize]),
            _ => self.order.sort_unstable_by(|a, b| {
                let compare = |c: &&[ValueId]| c[*a as usize].cmp(&c[*b as usize]);
                columns.iter().map(compare).find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
            }),
        }
    }

    /// Appends the matches of a key; `false`: they are too many for a piece of several rows. With one row, the rest stays in `part`.
    fn collect(&mut self, key: &[ValueId], single: bool) -> Result<bool, ExecError> {
        if key.iter().any(|id| id.is_undef()) {
            return Ok(true);
        }
        let mut cursor = self.cursor_for(key, single)?;
        cursor.seek(key)?;
        let mut last = None;
        let finished = self.take_matches(&mut cursor, key, &mut last)?;
        if !finished {
            if self.piece.len() > 1 {
                return Ok(false);
            }
            self.part = Some(Part { cursor, key: key.to_vec(), last });
        } else if single {
            self.count(&mut cursor);
        } else {
            let mut passed = std::mem::take(&mut self.passed);
            passed.clear();
            passed.extend_from_slice(key);
            self.cursor = Some((cursor, passed));
        }
        Ok(true)
    }

    /// The cursor used before, where the key comes after those it has passed; else a new one.
    fn cursor_for(&mut self, key: &[ValueId], single: bool) -> Result<Cursor, ExecError> {
        let step = self.cx.batch_rows;
        if let Some((cursor, passed)) = self.cursor.take_if(|(_, passed)| passed.as_slice() < key) {
            self.passed = passed;
            return Ok(cursor);
        }
        if single {
            return Cursor::with_prefix(&self.cx.snapshot, &self.pattern, key, step);
        }
        if let Some((mut cursor, _)) = self.cursor.take() {
            self.count(&mut cursor);
        }
        Cursor::new(&self.cx.snapshot, &self.pattern, step)
    }

    fn count(&self, cursor: &mut Cursor) {
        self.counters.read(std::mem::take(&mut cursor.lookups), std::mem::take(&mut cursor.rows));
    }

    /// Appends matches until there are no more (`true`) or enough are held.
    fn take_matches(
        &mut self,
        cursor: &mut Cursor,
        key: &[ValueId],
        last: &mut Option<Vec<ValueId>>,
    ) -> Result<bool, ExecError> {
        let one_suffices = self.output.first_match_suffices() && self.checks.is_empty();
        let mut selection = std::mem::take(&mut self.selection);
        let finished = loop {
            let range = cursor.matches(key)?;
            if range.is_empty() {
                break true;
            }
            selection.clear();
            self.pattern.select(cursor.columns(), range.start, range.end, last, &mut selection);
            let sources = self.pattern.outputs.iter().chain(&self.pattern.residual);
            for ((_, column), to) in sources.zip(&mut self.right.columns) {
                gather(&cursor.columns()[*column], &selection, to);
            }
            self.right.rows += selection.len();
            if one_suffices && !selection.is_empty() {
                break true;
            }
            if self.right.rows > self.held_max() {
                break false;
            }
        };
        self.selection = selection;
        Ok(finished)
    }

    /// Fetches more matches of the single row that had too many.
    fn next_part(&mut self) -> Result<(), ExecError> {
        let Some(mut part) = self.part.take() else { return Ok(()) };
        self.cx.cancel.check()?;
        self.right.clear();
        let finished = self.take_matches(&mut part.cursor, &part.key, &mut part.last)?;
        self.ranges.clear();
        self.ranges.push((0, row_number(self.right.rows)));
        self.next_match = 0;
        if finished {
            self.count(&mut part.cursor);
        } else {
            self.part = Some(part);
        }
        Ok(())
    }

    /// Steps over left rows that are here already, also over those that were looked up.
    fn skip_left_rows(&mut self, vars: &[VarId], key: &[ValueId]) {
        let (Some(var), Some(id), None) = (vars.first(), key.first(), &self.part) else { return };
        let Some(column) = self.left.column(*var).filter(|_| self.output.drops_unmatched()) else { return };
        let passed = gallop(self.row, self.left.rows, |row| column[row] < *id);
        if passed == self.row {
            return;
        }
        if passed - self.row > self.piece.len() / SKIPPED_PART {
            self.look_up_few();
        }
        self.row = passed;
        if passed < self.piece.end {
            self.next_match = self.ranges[passed - self.piece.start].0;
        } else {
            self.piece = passed..passed;
        }
    }

    /// Begins with few look-ups again.
    fn look_up_few(&mut self) {
        self.piece_rows = SKIPPED_ROWS.min(self.cx.batch_rows);
    }

    /// Candidate pairs of the piece, up to a batch of them; the result is the number of left rows that are complete.
    fn candidates(&mut self) -> u32 {
        self.pairs.clear();
        while self.row < self.piece.end {
            let (_, end) = self.ranges[self.row - self.piece.start];
            while self.next_match < end {
                if self.pairs.len() >= self.cx.batch_rows {
                    return row_number(self.row);
                }
                let found = self.next_match;
                self.next_match += 1;
                let fits = |(l, r): &(usize, usize)| {
                    compatible(self.left.columns[*l][self.row], self.right.columns[*r][found as usize])
                };
                if self.checks.iter().all(fits) {
                    self.pairs.push(row_number(self.row), found);
                }
            }
            if self.part.is_some() {
                return row_number(self.row);
            }
            self.row += 1;
            if self.row < self.piece.end {
                self.next_match = self.ranges[self.row - self.piece.start].0;
            }
        }
        row_number(self.row)
    }
}

/// Rows of batches and of what is held of matches are far fewer than 4 G.
fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1)
}

impl Operator for LookupJoin {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        self.output.reset(out);
        loop {
            if self.row < self.piece.end {
                let complete = self.candidates();
                self.output.filter(&self.cx, &self.left, &self.right, &mut self.pairs)?;
                self.output.settle(&self.left, &self.right, &mut self.pairs, complete, out);
                let drained = self.row < self.piece.end
                    && self.next_match >= self.ranges[self.row - self.piece.start].1;
                if drained && self.part.is_some() {
                    self.next_part()?;
                }
            } else if self.piece.end < self.left.rows {
                self.look_up()?;
            } else {
                self.piece = 0..0;
                self.row = 0;
                if !self.input.next(&mut self.left)? {
                    if let Some((mut cursor, _)) = self.cursor.take() {
                        self.count(&mut cursor);
                    }
                    return Ok(false);
                }
                if std::mem::take(&mut self.skipped) && self.left.rows <= SHORT_BATCH_ROWS {
                    self.look_up_few();
                }
                self.output.begin();
            }
            if out.rows > 0 {
                return Ok(true);
            }
        }
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        self.skip_left_rows(vars, key);
        self.skipped = true;
        self.input.skip_to(vars, key)
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        self.input.keep_keys(var, filter);
    }
}
