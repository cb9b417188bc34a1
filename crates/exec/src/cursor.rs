//! A buffered cursor over one permutation for ascending look-ups: near keys are found in rows already read, far ones by a seek.

use crate::pattern::{Columns, Pattern};
use lode_base::gallop::gallop;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_store::{Scan, Snapshot};
use std::cmp::Ordering;
use std::ops::Range;

const STEP_MIN: usize = 64;

/// Finds ascending keys of a pattern. Keys are the pattern's first `keys` columns.
#[derive(Debug)]
pub(crate) struct Cursor {
    scan: Scan,
    first: usize,
    keys: usize,
    buffer: Columns,
    position: usize,
    len: usize,
    step: usize,
    step_max: usize,
    done: bool,
    /// Seeks made.
    pub(crate) lookups: u64,
    /// Rows read.
    pub(crate) rows: u64,
}

impl Cursor {
    /// A cursor before the first row under the pattern's constants.
    pub(crate) fn new(snapshot: &Snapshot, pattern: &Pattern, step_max: usize) -> Result<Self, ExecError> {
        Self::with_prefix(snapshot, pattern, &pattern.prefix(), step_max)
    }

    /// A cursor over the rows of one key; then `prefix` is the whole key, and key columns need not be read.
    pub(crate) fn with_prefix(
        snapshot: &Snapshot,
        pattern: &Pattern,
        prefix: &[ValueId],
        step_max: usize,
    ) -> Result<Self, ExecError> {
        let first = prefix.len();
        let mut mask = pattern.mask();
        for column in first..pattern.keys {
            mask |= 1 << column;
        }
        let scan = snapshot.scan(pattern.order, prefix, mask)?;
        let step_max = step_max.max(1);
        Ok(Self {
            scan,
            first,
            keys: pattern.keys.max(first),
            buffer: Columns::default(),
            position: 0,
            len: 0,
            step: STEP_MIN.min(step_max),
            step_max,
            done: false,
            lookups: 1,
            rows: 0,
        })
    }

    /// The rows read of which [`Cursor::matches`] tells ranges.
    pub(crate) fn columns(&self) -> &Columns {
        &self.buffer
    }

    /// Blocks that were not in the cache.
    pub(crate) fn misses(&self) -> u64 {
        self.scan.misses()
    }

    /// Tells which keys will be sought, ascending, one after the other: then what is to be read for them is read together.
    pub(crate) fn expect(&mut self, keys: &[ValueId]) -> Result<(), ExecError> {
        if self.keys > self.first {
            self.scan.expect(keys, self.keys)?;
        }
        Ok(())
    }

    /// Moves to the first row not before `key` (as long as the pattern's key).
    pub(crate) fn seek(&mut self, key: &[ValueId]) -> Result<(), ExecError> {
        if self.keys == self.first {
            return Ok(());
        }
        if self.len > 0 && self.compare(self.len - 1, key) != Ordering::Less {
            let from = self.position;
            self.position = self.lower_bound(key);
            // Who jumps over much of what was read has no use for more of it.
            let near = self.position - from < STEP_MIN;
            self.step = if near { (self.step * 2).min(self.step_max) } else { STEP_MIN.min(self.step_max) };
            return Ok(());
        }
        self.position = self.len;
        if !self.done {
            self.scan.seek(key)?;
            self.lookups += 1;
            self.step = STEP_MIN.min(self.step_max);
            self.refill()?;
        }
        Ok(())
    }

    /// The next rows that have `key`, as a range of [`Cursor::columns`], and steps over them; empty when there are no more.
    pub(crate) fn matches(&mut self, key: &[ValueId]) -> Result<Range<usize>, ExecError> {
        if self.position == self.len {
            self.refill()?;
        }
        let start = self.position;
        self.position = self.upper_bound(key);
        Ok(start..self.position)
    }

    fn refill(&mut self) -> Result<(), ExecError> {
        self.buffer.iter_mut().for_each(Vec::clear);
        self.position = 0;
        self.len = 0;
        if !self.done {
            self.len = self.scan.next(self.step, &mut self.buffer)?;
            self.rows += self.len as u64;
            self.done = self.len == 0;
            self.step = (self.step * 2).min(self.step_max);
        }
        Ok(())
    }

    fn compare(&self, row: usize, key: &[ValueId]) -> Ordering {
        (self.first..self.keys)
            .map(|c| self.buffer[c][row].cmp(&key[c]))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// The first buffered row from the position on that is not before `key`.
    fn lower_bound(&self, key: &[ValueId]) -> usize {
        gallop(self.position, self.len, |row| self.compare(row, key) == Ordering::Less)
    }

    fn upper_bound(&self, key: &[ValueId]) -> usize {
        if self.keys == self.first {
            return self.len;
        }
        gallop(self.position, self.len, |row| self.compare(row, key) == Ordering::Equal)
    }
}
