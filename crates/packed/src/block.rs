//! A block of a permutation: up to [`BLOCK_ROWS`] rows as four encoded columns.
//!
//! Bytes: rows less one (u16), the lengths of the four columns (u32 each), the columns.

use crate::bytes::Reader;
use crate::codec::{ClassScratch, Column, ColumnEncoder, ColumnValues, Hints, Mini};
use crate::error::Damage;
use crate::format::{BLOCK_ROWS, MINI_ROWS};
use crate::order::{Order, Position};
use lode_base::block_cache::CachedBlock;
use lode_base::block_work;
use std::ops::Range;
use std::sync::Arc;

/// Zeros behind a block in memory, so that bits can be read in words up to its end.
pub(crate) const PADDING: usize = 16;
const NO_MINI: usize = usize::MAX;
const NO_COLUMN: Damage = Damage("a column is outside its block");

/// Encodes blocks of one order; keeps its buffers between calls.
#[derive(Debug)]
pub(crate) struct BlockEncoder {
    order: Order,
    columns: ColumnEncoder,
    encoded: [Vec<u8>; 4],
}

impl BlockEncoder {
    pub(crate) fn new(order: Order) -> Self {
        Self { order, columns: ColumnEncoder::default(), encoded: Default::default() }
    }

    /// Replaces `out` by the block of 1 to [`BLOCK_ROWS`] rows.
    pub(crate) fn encode(&mut self, columns: &[ColumnValues<'_>; 4], out: &mut Vec<u8>) {
        let rows = columns[0].rows;
        assert!((1..=BLOCK_ROWS).contains(&rows), "a block of {rows} rows");
        self.encoded.iter_mut().for_each(Vec::clear);
        self.encode_columns(columns);
        out.clear();
        out.extend_from_slice(&((rows - 1) as u16).to_le_bytes());
        for encoded in &self.encoded {
            out.extend_from_slice(&(encoded.len() as u32).to_le_bytes());
        }
        for encoded in &self.encoded {
            out.extend_from_slice(encoded);
        }
    }

    /// The predicates first: in subject order they come in sequences that repeat from subject to subject, and what an
    /// object looks like depends on them.
    fn encode_columns(&mut self, columns: &[ColumnValues<'_>; 4]) {
        let [subject, predicate, object] =
            [Position::S, Position::P, Position::O].map(|position| self.order.column_of(position));
        let heads = (subject < predicate).then(|| columns[subject].values);
        let hints = Hints { heads, classes: None };
        let coded = self.columns.encode_classes(&columns[predicate], hints, &mut self.encoded[predicate]);
        for (i, column) in columns.iter().enumerate().filter(|(i, _)| *i != predicate) {
            let classes = (coded && i == object).then_some(predicate);
            let hints = Hints { heads: None, classes };
            self.columns.encode(column, hints, &mut self.encoded[i]);
        }
    }
}

/// A verified block with its columns parsed: what the cache keeps, shared by all readers.
#[derive(Debug)]
pub(crate) struct ParsedBlock {
    /// The bytes of the file, and [`PADDING`].
    bytes: Vec<u8>,
    rows: usize,
    /// Where each begins, and what it is. Decoders get all bytes from there on and know by themselves where to stop.
    columns: [(usize, Column); 4],
}

impl CachedBlock for ParsedBlock {
    fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(|(_, column)| column.memory_bytes()).sum();
        self.bytes.capacity() + columns + size_of::<Self>()
    }
}

impl ParsedBlock {
    /// Parses a block whose checksum was verified.
    pub(crate) fn parse(mut bytes: Vec<u8>) -> Result<Self, Damage> {
        let mut reader = Reader::new(&bytes);
        let rows = usize::from(reader.u16()?) + 1;
        let mut lengths = [0; 4];
        for length in &mut lengths {
            *length = reader.u32()? as usize;
        }
        let mut column = |length: usize| {
            let start = reader.position();
            Ok((start, Column::parse(reader.take(length)?, rows)?))
        };
        let [a, b, c, d] = lengths;
        let columns = [column(a)?, column(b)?, column(c)?, column(d)?];
        if !reader.rest().is_empty() {
            return Err(Damage("a block's header does not fit its bytes"));
        }
        bytes.extend_from_slice(&[0; PADDING]);
        Ok(Self { bytes, rows, columns })
    }

    /// Rows of the block.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The bytes of the file.
    pub(crate) fn stored(&self) -> &[u8] {
        self.bytes.get(..self.bytes.len().saturating_sub(PADDING)).unwrap_or_default()
    }

    /// The parsed column and its bytes.
    #[inline]
    fn column(&self, column: usize) -> Result<(&Column, &[u8]), Damage> {
        let (start, parsed) = self.columns.get(column).ok_or(NO_COLUMN)?;
        Ok((parsed, self.bytes.get(*start..).ok_or(NO_COLUMN)?))
    }

    /// Decodes a mini-block, or at least its first `rows_max` rows.
    #[inline]
    fn decode_mini(
        &self,
        column: usize,
        mini: usize,
        rows_max: usize,
        scratch: &mut ClassScratch,
        out: &mut Mini,
    ) -> Result<(), Damage> {
        let (parsed, bytes) = self.column(column)?;
        let Column::Classes(parsed) = parsed else { return parsed.decode(bytes, mini, out) };
        let mut codes = [0; MINI_ROWS];
        let (classes, class_bytes) = self.column(parsed.by())?;
        if rows_max == 1 {
            codes[0] = classes.first_code(class_bytes, mini)?;
        } else {
            classes.codes(class_bytes, mini, &mut codes)?;
        }
        let codes = codes.get(..rows_max).unwrap_or(&codes);
        parsed.decode(bytes, (column, mini), codes, scratch, out)
    }
}

/// The mini-block of a column that was decoded last.
#[derive(Debug)]
struct LastMini {
    number: usize,
    values: Mini,
}

/// An open block, for one reader.
#[derive(Debug)]
pub(crate) struct Block {
    parsed: Arc<ParsedBlock>,
    last: [Option<Box<LastMini>>; 4],
    scratch: ClassScratch,
}

impl Block {
    pub(crate) fn open(parsed: Arc<ParsedBlock>) -> Self {
        Self { parsed, last: [const { None }; 4], scratch: ClassScratch::default() }
    }

    /// Goes on with another block, reusing buffers.
    pub(crate) fn reopen(&mut self, parsed: Arc<ParsedBlock>) {
        self.parsed = parsed;
        self.scratch.clear();
        self.last.iter_mut().flatten().for_each(|last| last.number = NO_MINI);
    }

    /// Rows of the block.
    pub(crate) fn rows(&self) -> usize {
        self.parsed.rows
    }

    /// The values of a mini-block; the last one of a block may have fewer of its own.
    #[inline]
    fn mini(&mut self, column: usize, mini: usize) -> Result<&Mini, Damage> {
        let last = self.last.get_mut(column).ok_or(NO_COLUMN)?;
        let last = last.get_or_insert_with(|| Box::new(LastMini { number: NO_MINI, values: [0; MINI_ROWS] }));
        if last.number != mini {
            block_work::add_decoded(1);
            last.number = NO_MINI;
            self.parsed.decode_mini(column, mini, MINI_ROWS, &mut self.scratch, &mut last.values)?;
            last.number = mini;
        }
        Ok(&last.values)
    }

    fn first(&mut self, column: usize, mini: usize) -> Result<u64, Damage> {
        let (parsed, bytes) = self.parsed.column(column)?;
        if !matches!(parsed, Column::Classes(_)) {
            return parsed.first(bytes, mini);
        }
        let mut values = [0; MINI_ROWS];
        self.parsed.decode_mini(column, mini, 1, &mut self.scratch, &mut values)?;
        Ok(values[0])
    }

    /// One value.
    pub(crate) fn value(&mut self, column: usize, row: usize) -> Result<u64, Damage> {
        Ok(self.mini(column, row / MINI_ROWS)?[row % MINI_ROWS])
    }

    /// Appends the values of `rows`, which must lie inside the block.
    pub(crate) fn decode(
        &mut self,
        column: usize,
        rows: Range<usize>,
        out: &mut Vec<u64>,
    ) -> Result<(), Damage> {
        let Range { mut start, end } = rows;
        let last = self.rows();
        let mut whole = 0;
        while start < end {
            let mini = start / MINI_ROWS;
            let mini_start = mini * MINI_ROWS;
            let mini_end = (mini_start + MINI_ROWS).min(last);
            let stop = end.min(mini_end);
            if start == mini_start && stop == mini_end {
                // A whole one goes straight to its place.
                whole += 1;
                let length = out.len();
                out.resize(length + MINI_ROWS, 0);
                if let Some(place) = out.last_chunk_mut::<MINI_ROWS>() {
                    self.parsed.decode_mini(column, mini, MINI_ROWS, &mut self.scratch, place)?;
                }
                out.truncate(length + stop - start);
            } else {
                let values = self.mini(column, mini)?;
                out.extend_from_slice(values.get(start - mini_start..stop - mini_start).unwrap_or_default());
            }
            start = stop;
        }
        block_work::add_decoded(whole);
        Ok(())
    }

    /// The first row of `rows` whose value is at least `value`, or the end; the column must ascend inside `rows`.
    /// Gallops from the start, so that near targets cost little.
    fn lower(&mut self, column: usize, rows: Range<usize>, value: u64) -> Result<usize, Damage> {
        if rows.is_empty() {
            return Ok(rows.start);
        }
        let (near, far) = (rows.start / MINI_ROWS, (rows.end - 1) / MINI_ROWS);
        // The answer is in the last mini-block that begins below `value` (its first row inside `rows`, at least).
        let (mut low, mut high, mut step) = (near, far + 1, 1);
        while low + step < high {
            if self.first(column, low + step)? < value {
                low += step;
                step *= 2;
            } else {
                high = low + step;
                break;
            }
        }
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if self.first(column, middle)? < value {
                low = middle;
            } else {
                high = middle;
            }
        }
        let start = low * MINI_ROWS;
        let (from, to) = (rows.start.max(start), rows.end.min(start + MINI_ROWS));
        let values = self.mini(column, low)?;
        let inside = values.get(from - start..to - start).unwrap_or_default();
        Ok(from + inside.partition_point(|v| *v < value))
    }

    /// The rows of `rows` whose value is `value`.
    fn equal(&mut self, column: usize, rows: Range<usize>, value: u64) -> Result<Range<usize>, Damage> {
        let start = self.lower(column, rows.clone(), value)?;
        let end = match value.checked_add(1) {
            Some(next) => self.lower(column, start..rows.end, next)?,
            None => rows.end,
        };
        Ok(start..end)
    }

    /// The first row of `rows` that is not before `key` (its first columns), or the end.
    pub(crate) fn lower_bound(&mut self, key: &[u64], rows: Range<usize>) -> Result<usize, Damage> {
        let Some((last, before)) = key.split_last() else { return Ok(rows.start) };
        let mut rows = rows;
        for (column, value) in before.iter().enumerate() {
            let equal = self.equal(column, rows, *value)?;
            if equal.is_empty() {
                return Ok(equal.start);
            }
            rows = equal;
        }
        self.lower(before.len(), rows, *last)
    }

    /// The first row of `rows` that is after all rows that begin with `key`, or the end.
    pub(crate) fn upper_bound(&mut self, key: &[u64], rows: Range<usize>) -> Result<usize, Damage> {
        let mut rows = rows;
        for (column, value) in key.iter().enumerate() {
            let equal = self.equal(column, rows, *value)?;
            if equal.is_empty() {
                return Ok(equal.end);
            }
            rows = equal;
        }
        Ok(rows.end)
    }

    /// How often the value changes from one row to the next inside `rows`.
    pub(crate) fn changes(&mut self, column: usize, rows: Range<usize>) -> Result<u64, Damage> {
        let mut values = Vec::with_capacity(rows.len());
        self.decode(column, rows, &mut values)?;
        Ok(values.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64)
    }
}

#[cfg(test)]
mod tests;
