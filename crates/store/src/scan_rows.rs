//! The rows of one layer of a scan: of a packed segment, read some at a time, or of a change set in memory.

use crate::delta::{MemoryCursor, Row};
use crate::error::StoreError;
use crate::layer_merge::LayerRows;
use lode_packed::Cursor;
use lode_rdf::ValueId;

/// Rows that a segment's buffer holds during a merge.
const BUFFER_ROWS: usize = 1024;

/// Where a layer's rows are.
#[derive(Debug)]
pub(crate) enum RowCursor {
    Packed(Cursor),
    Memory(MemoryCursor),
}

/// The rows of one layer.
#[derive(Debug)]
pub(crate) struct ScanRows {
    cursor: RowCursor,
    /// Rows read from a segment, by column.
    buffer: [Vec<u64>; 4],
    at: usize,
}

impl LayerRows for ScanRows {
    fn fill(&mut self) -> Result<bool, StoreError> {
        match &mut self.cursor {
            RowCursor::Packed(cursor) if self.at >= self.buffer[0].len() => {
                self.buffer.iter_mut().for_each(Vec::clear);
                self.at = 0;
                Ok(cursor.next(BUFFER_ROWS, &mut self.buffer)? > 0)
            }
            _ => Ok(true),
        }
    }

    fn waiting(&self) -> usize {
        match &self.cursor {
            RowCursor::Packed(_) => self.buffer[0].len() - self.at,
            RowCursor::Memory(cursor) => cursor.rest().len(),
        }
    }

    fn row(&self, index: usize) -> Option<Row> {
        match &self.cursor {
            RowCursor::Packed(_) => {
                let [a, b, c, d] = &self.buffer;
                let at = self.at + index;
                Some([*a.get(at)?, *b.get(at)?, *c.get(at)?, *d.get(at)?])
            }
            RowCursor::Memory(cursor) => cursor.rest().get(index).copied(),
        }
    }

    fn skip(&mut self, rows: usize) {
        match &mut self.cursor {
            RowCursor::Packed(_) => self.at += rows,
            RowCursor::Memory(cursor) => cursor.skip(rows),
        }
    }
}

impl ScanRows {
    /// Rows of which none was read.
    pub fn new(cursor: RowCursor) -> Self {
        Self { cursor, buffer: Default::default(), at: 0 }
    }

    /// Appends rows at hand to those of `columns` that are wanted.
    pub fn copy(&self, rows: usize, wanted: u8, columns: &mut [Vec<ValueId>; 4]) {
        for (column, out) in columns.iter_mut().enumerate().filter(|(column, _)| (wanted >> column) & 1 == 1)
        {
            match &self.cursor {
                RowCursor::Packed(_) => {
                    let values = self.buffer[column].get(self.at..self.at + rows).unwrap_or_default();
                    out.extend(values.iter().map(|bits| ValueId::from_bits(*bits)));
                }
                RowCursor::Memory(cursor) => {
                    let rows = cursor.rest().get(..rows).unwrap_or_default();
                    out.extend(rows.iter().map(|row| ValueId::from_bits(row[column])));
                }
            }
        }
    }

    /// Moves forward to the first row not before `key`.
    pub fn seek(&mut self, key: &[u64]) -> Result<(), StoreError> {
        let before = self.run_before(key, usize::MAX);
        self.skip(before);
        match &mut self.cursor {
            RowCursor::Packed(cursor) if self.at >= self.buffer[0].len() => Ok(cursor.seek(key)?),
            _ => Ok(()),
        }
    }

    /// Blocks that were not in the cache.
    pub fn misses(&self) -> u64 {
        match &self.cursor {
            RowCursor::Packed(cursor) => cursor.misses(),
            RowCursor::Memory(_) => 0,
        }
    }

    /// Tells which keys will be sought.
    pub fn expect(&mut self, keys: &[u64], width: usize) -> Result<(), StoreError> {
        match &mut self.cursor {
            RowCursor::Packed(cursor) => Ok(cursor.expect(keys, width)?),
            RowCursor::Memory(_) => Ok(()),
        }
    }

    /// Ends the rows before the first at or after `key`.
    pub fn limit_to(&mut self, key: &[u64]) -> Result<(), StoreError> {
        let end = self.at + self.run_before(key, usize::MAX);
        match &mut self.cursor {
            RowCursor::Memory(cursor) => cursor.limit_to(key),
            RowCursor::Packed(cursor) if end < self.buffer[0].len() => {
                self.buffer.iter_mut().for_each(|column| column.truncate(end));
                cursor.limit_to_row(cursor.position());
            }
            RowCursor::Packed(cursor) => cursor.limit_to(key)?,
        }
        Ok(())
    }

    /// Rows that are left.
    pub fn remaining(&self) -> u64 {
        let beyond = match &self.cursor {
            RowCursor::Packed(cursor) => cursor.end() - cursor.position(),
            RowCursor::Memory(_) => 0,
        };
        self.waiting() as u64 + beyond
    }
}
