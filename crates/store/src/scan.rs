//! Reads the quads under a prefix in one sort order, from one segment or merged from several.
//!
//! With one segment the columns asked for are decoded straight into the caller's. With several, rows are merged in
//! runs: from the segment with the least row, all rows before the least row of the others are copied at once.

use crate::activity::Activity;
use crate::error::StoreError;
use lode_packed::Cursor;
use lode_rdf::ValueId;
use std::cmp::Ordering;
use std::sync::Arc;

/// Rows that a segment's buffer holds during a merge.
const BUFFER_ROWS: usize = 1024;

/// A cursor over sorted quads.
#[derive(Debug)]
pub struct Scan {
    columns: u8,
    source: Source,
    rows: u64,
    seeks: u64,
    activity: Arc<Activity>,
}

#[derive(Debug)]
enum Source {
    Empty,
    One(Cursor),
    Many(Merge),
}

impl Scan {
    /// A scan that delivers `columns`. Where there are several cursors, they must read all four columns.
    pub(crate) fn new(mut cursors: Vec<Cursor>, columns: u8, activity: Arc<Activity>) -> Self {
        let source = match (cursors.pop(), cursors.is_empty()) {
            (None, _) => Source::Empty,
            (Some(only), true) => Source::One(only),
            (Some(last), false) => {
                cursors.push(last);
                Source::Many(Merge::new(cursors))
            }
        };
        Self { columns, source, rows: 0, seeks: 0, activity }
    }

    /// Appends up to `rows_max` further rows to `columns` (only to those asked for) and returns how many; 0 at the end.
    pub fn next(&mut self, rows_max: usize, columns: &mut [Vec<ValueId>; 4]) -> Result<usize, StoreError> {
        let rows = match &mut self.source {
            Source::Empty => 0,
            Source::One(cursor) => {
                let mut bits = std::mem::take(columns).map(into_bits);
                let result = cursor.next(rows_max, &mut bits);
                *columns = bits.map(into_ids);
                result?
            }
            Source::Many(merge) => merge.next(rows_max, self.columns, columns)?,
        };
        self.rows += rows as u64;
        Ok(rows)
    }

    /// Moves forward to the first row not before `key` (whole prefix included, 1 to 4 ids); never backward.
    pub fn seek(&mut self, key: &[ValueId]) -> Result<(), StoreError> {
        self.seeks += 1;
        let (key, length) = key_bits(key);
        let key = &key[..length];
        match &mut self.source {
            Source::Empty => {}
            Source::One(cursor) => cursor.seek(key)?,
            Source::Many(merge) => merge.seek(key)?,
        }
        Ok(())
    }

    /// Ends the scan before the first row at or after `key`.
    pub fn limit_to(&mut self, key: &[ValueId]) -> Result<(), StoreError> {
        let (key, length) = key_bits(key);
        let key = &key[..length];
        match &mut self.source {
            Source::Empty => {}
            Source::One(cursor) => cursor.limit_to(key)?,
            Source::Many(merge) => merge.limit_to(key)?,
        }
        Ok(())
    }

    /// Rows that may still come: exact, as counted by the segments.
    pub fn remaining(&self) -> u64 {
        match &self.source {
            Source::Empty => 0,
            Source::One(cursor) => cursor.end() - cursor.position(),
            Source::Many(merge) => merge.remaining(),
        }
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        self.activity.add_scan(self.rows, self.seeks);
    }
}

/// The bits of a key of at most four ids, and how many there are.
fn key_bits(key: &[ValueId]) -> ([u64; 4], usize) {
    let mut bits = [0; 4];
    for (bits, id) in bits.iter_mut().zip(key) {
        *bits = id.to_bits();
    }
    (bits, key.len().min(4))
}

/// The ids as numbers, in the same memory: the standard library collects in place where sizes agree.
fn into_bits(ids: Vec<ValueId>) -> Vec<u64> {
    ids.into_iter().map(ValueId::to_bits).collect()
}

fn into_ids(bits: Vec<u64>) -> Vec<ValueId> {
    bits.into_iter().map(ValueId::from_bits).collect()
}

/// Rows of one segment that wait for their turn.
#[derive(Debug)]
struct Part {
    cursor: Cursor,
    rows: [Vec<u64>; 4],
    at: usize,
}

impl Part {
    /// Makes sure that there is a row, unless there is none any more.
    fn fill(&mut self) -> Result<bool, StoreError> {
        if self.at < self.len() {
            return Ok(true);
        }
        self.rows.iter_mut().for_each(Vec::clear);
        self.at = 0;
        Ok(self.cursor.next(BUFFER_ROWS, &mut self.rows)? > 0)
    }

    fn len(&self) -> usize {
        self.rows[0].len()
    }

    fn row(&self, at: usize) -> [u64; 4] {
        let value = |column: &Vec<u64>| column.get(at).copied().unwrap_or(u64::MAX);
        let [a, b, c, d] = &self.rows;
        [value(a), value(b), value(c), value(d)]
    }

    fn head(&self) -> [u64; 4] {
        self.row(self.at)
    }

    /// The first of the waiting rows that is not before `key`, or their end.
    fn lower_bound(&self, key: &[u64]) -> usize {
        let (mut low, mut high) = (self.at, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if before(&self.row(middle), key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// How many waiting rows, at most `rows_max`, come before `bound`; the first does.
    fn run_before(&self, bound: Option<[u64; 4]>, rows_max: usize) -> usize {
        let waiting = (self.len() - self.at).min(rows_max);
        let Some(bound) = bound else { return waiting };
        // Gallops: runs are short where segments interleave and long where they do not.
        let (mut low, mut step) = (0, 1);
        while low + step < waiting && self.row(self.at + low + step) < bound {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(waiting);
        low += 1;
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.row(self.at + middle) < bound {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.min(waiting).max(1)
    }
}

fn before(row: &[u64; 4], key: &[u64]) -> bool {
    row.iter().zip(key).map(|(row, key)| row.cmp(key)).find(|order| order.is_ne()) == Some(Ordering::Less)
}

/// Merges the rows of several segments, which hold disjoint sets of quads.
#[derive(Debug)]
struct Merge {
    /// Parts with rows left, by their least row; not in order while `dirty`.
    parts: Vec<Part>,
    dirty: bool,
}

impl Merge {
    fn new(cursors: Vec<Cursor>) -> Self {
        let part = |cursor| Part { cursor, rows: Default::default(), at: 0 };
        Self { parts: cursors.into_iter().map(part).collect(), dirty: true }
    }

    fn arrange(&mut self) -> Result<(), StoreError> {
        if self.dirty {
            let mut at = 0;
            while let Some(part) = self.parts.get_mut(at) {
                if part.fill()? {
                    at += 1;
                } else {
                    self.parts.swap_remove(at);
                }
            }
            self.parts.sort_unstable_by_key(Part::head);
            self.dirty = false;
        }
        Ok(())
    }

    fn next(
        &mut self,
        rows_max: usize,
        wanted: u8,
        columns: &mut [Vec<ValueId>; 4],
    ) -> Result<usize, StoreError> {
        self.arrange()?;
        let mut given = 0;
        while given < rows_max {
            let bound = self.parts.get(1).map(Part::head);
            let Some(part) = self.parts.first_mut() else { break };
            let run = part.run_before(bound, rows_max - given);
            for (column, (out, rows)) in columns.iter_mut().zip(&part.rows).enumerate() {
                if (wanted >> column) & 1 == 1 {
                    let run = rows.get(part.at..part.at + run).unwrap_or_default();
                    out.extend(run.iter().map(|bits| ValueId::from_bits(*bits)));
                }
            }
            part.at += run;
            given += run;
            if part.fill()? {
                self.sink_first();
            } else {
                self.parts.remove(0);
            }
        }
        Ok(given)
    }

    /// Moves the first part, whose head has changed, to its place.
    fn sink_first(&mut self) {
        for at in 1..self.parts.len() {
            let (Some(part), Some(next)) = (self.parts.get(at - 1), self.parts.get(at)) else { return };
            if part.head() <= next.head() {
                return;
            }
            self.parts.swap(at - 1, at);
        }
    }

    fn seek(&mut self, key: &[u64]) -> Result<(), StoreError> {
        self.dirty = true;
        for part in &mut self.parts {
            part.at = part.lower_bound(key);
            if part.at >= part.len() {
                part.cursor.seek(key)?;
            }
        }
        Ok(())
    }

    fn limit_to(&mut self, key: &[u64]) -> Result<(), StoreError> {
        self.dirty = true;
        for part in &mut self.parts {
            let end = part.lower_bound(key);
            if end < part.len() {
                part.rows.iter_mut().for_each(|column| column.truncate(end));
                part.cursor.limit_to_row(part.cursor.position());
            } else {
                part.cursor.limit_to(key)?;
            }
        }
        Ok(())
    }

    fn remaining(&self) -> u64 {
        let rest = |part: &Part| (part.len() - part.at) as u64 + (part.cursor.end() - part.cursor.position());
        self.parts.iter().map(rest).sum()
    }
}
