//! Merges the rows of several layers: packed segments and runs in memory, of insertions and of deletions.

use crate::delta::{MemoryCursor, Row};
use crate::error::StoreError;
use crate::manifest::{MANIFEST, Sign};
use lode_base::gallop::gallop;
use lode_packed::Cursor;
use lode_rdf::ValueId;
use std::cmp::Ordering;

/// Rows that a segment's buffer holds during a merge.
const BUFFER_ROWS: usize = 1024;

/// The rows of one layer.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) sign: Sign,
    pub(crate) rows: LayerRows,
}

/// Where a layer's rows are.
#[derive(Debug)]
pub(crate) enum LayerRows {
    Packed(Cursor),
    Memory(MemoryCursor),
}

/// Rows of one layer that wait for their turn.
#[derive(Debug)]
struct Part {
    sign: Sign,
    rows: LayerRows,
    /// Rows read from a segment, by column.
    buffer: [Vec<u64>; 4],
    at: usize,
    /// The row that comes next; meaningless once there is none.
    head: Row,
}

impl Part {
    fn new(layer: Layer) -> Self {
        Self { sign: layer.sign, rows: layer.rows, buffer: Default::default(), at: 0, head: Row::default() }
    }

    /// Makes sure that there is a row, unless there is none any more, and sets the head.
    fn fill(&mut self) -> Result<bool, StoreError> {
        if let LayerRows::Packed(cursor) = &mut self.rows
            && self.at >= self.buffer[0].len()
        {
            self.buffer.iter_mut().for_each(Vec::clear);
            self.at = 0;
            if cursor.next(BUFFER_ROWS, &mut self.buffer)? == 0 {
                return Ok(false);
            }
        }
        let head = self.row(0);
        self.head = head.unwrap_or_default();
        Ok(head.is_some())
    }

    /// Rows at hand.
    fn waiting(&self) -> usize {
        match &self.rows {
            LayerRows::Packed(_) => self.buffer[0].len() - self.at,
            LayerRows::Memory(cursor) => cursor.rest().len(),
        }
    }

    /// One of the rows at hand.
    fn row(&self, index: usize) -> Option<Row> {
        match &self.rows {
            LayerRows::Packed(_) => {
                let [a, b, c, d] = &self.buffer;
                let at = self.at + index;
                Some([*a.get(at)?, *b.get(at)?, *c.get(at)?, *d.get(at)?])
            }
            LayerRows::Memory(cursor) => cursor.rest().get(index).copied(),
        }
    }

    /// How many of the rows at hand, at most `rows_max`, come before `bound`: by steps of growing width, then halving.
    fn run_before(&self, bound: &[u64], rows_max: usize) -> usize {
        let waiting = self.waiting().min(rows_max);
        let is_before = |index| self.row(index).is_some_and(|row| before(&row, bound));
        gallop(0, waiting, is_before)
    }

    /// Steps over rows at hand.
    fn skip(&mut self, rows: usize) {
        match &mut self.rows {
            LayerRows::Packed(_) => self.at += rows,
            LayerRows::Memory(cursor) => cursor.skip(rows),
        }
    }

    /// Appends rows at hand to those of `columns` that are wanted.
    fn copy(&self, rows: usize, wanted: u8, columns: &mut [Vec<ValueId>; 4]) {
        for (column, out) in columns.iter_mut().enumerate().filter(|(column, _)| (wanted >> column) & 1 == 1)
        {
            match &self.rows {
                LayerRows::Packed(_) => {
                    let values = self.buffer[column].get(self.at..self.at + rows).unwrap_or_default();
                    out.extend(values.iter().map(|bits| ValueId::from_bits(*bits)));
                }
                LayerRows::Memory(cursor) => {
                    let rows = cursor.rest().get(..rows).unwrap_or_default();
                    out.extend(rows.iter().map(|row| ValueId::from_bits(row[column])));
                }
            }
        }
    }

    fn seek(&mut self, key: &[u64]) -> Result<(), StoreError> {
        let before = self.run_before(key, usize::MAX);
        self.skip(before);
        match &mut self.rows {
            LayerRows::Packed(cursor) if self.at >= self.buffer[0].len() => Ok(cursor.seek(key)?),
            _ => Ok(()),
        }
    }

    fn limit_to(&mut self, key: &[u64]) -> Result<(), StoreError> {
        let end = self.at + self.run_before(key, usize::MAX);
        match &mut self.rows {
            LayerRows::Memory(cursor) => cursor.limit_to(key),
            LayerRows::Packed(cursor) if end < self.buffer[0].len() => {
                self.buffer.iter_mut().for_each(|column| column.truncate(end));
                cursor.limit_to_row(cursor.position());
            }
            LayerRows::Packed(cursor) => cursor.limit_to(key)?,
        }
        Ok(())
    }

    /// Rows that are left, with the sign.
    fn remaining(&self) -> i128 {
        let beyond = match &self.rows {
            LayerRows::Packed(cursor) => cursor.end() - cursor.position(),
            LayerRows::Memory(_) => 0,
        };
        self.sign.of(self.waiting() as u64 + beyond)
    }
}

/// What a writer never makes: each layer was compared with those before it.
fn contradiction(what: &str) -> StoreError {
    let what = format!("the segments contradict each other: a quad {what}; `lode check` says more");
    StoreError::Corruption { file: MANIFEST.to_owned(), offset: 0, what }
}

/// Whether a row comes before all rows that begin with `key`.
fn before(row: &Row, key: &[u64]) -> bool {
    row.iter().zip(key).map(|(row, key)| row.cmp(key)).find(|order| order.is_ne()) == Some(Ordering::Less)
}

/// The rows of several layers, merged.
#[derive(Debug)]
pub(crate) struct Merge {
    /// Layers with rows left, by their next row; not in order while `dirty`. Boxed, because they change places all the time.
    #[expect(clippy::vec_box, reason = "a merge of many layers moves pointers")]
    parts: Vec<Box<Part>>,
    dirty: bool,
}

impl Merge {
    pub(crate) fn new(layers: Vec<Layer>) -> Self {
        Self { parts: layers.into_iter().map(|layer| Box::new(Part::new(layer))).collect(), dirty: true }
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
            self.parts.sort_unstable_by_key(|part| part.head);
            self.dirty = false;
        }
        Ok(())
    }

    /// Appends up to `rows_max` rows to the columns wanted; 0 only at the end.
    pub(crate) fn next(
        &mut self,
        rows_max: usize,
        wanted: u8,
        columns: &mut [Vec<ValueId>; 4],
    ) -> Result<usize, StoreError> {
        self.arrange()?;
        let mut given = 0;
        while given < rows_max {
            let bound = self.parts.get(1).map(|part| part.head);
            let Some(first) = self.parts.first_mut() else { break };
            if bound == Some(first.head) {
                given += self.next_shared(wanted, columns)?;
                continue;
            }
            let rows = match bound {
                None => first.waiting().min(rows_max - given),
                Some(bound) => first.run_before(&bound, rows_max - given),
            };
            if first.sign == Sign::Deletions {
                return Err(contradiction("is deleted that is not there"));
            }
            first.copy(rows, wanted, columns);
            first.skip(rows);
            given += rows;
            self.settle(1)?;
        }
        Ok(given)
    }

    /// Takes the row that several layers have next; it is delivered if it is inserted once more than deleted.
    fn next_shared(&mut self, wanted: u8, columns: &mut [Vec<ValueId>; 4]) -> Result<usize, StoreError> {
        let Some(head) = self.parts.first().map(|part| part.head) else { return Ok(0) };
        let sharing = self.parts.iter().take_while(|part| part.head == head).count();
        let sum: i128 = self.parts[..sharing].iter().map(|part| part.sign.of(1)).sum();
        let given = match sum {
            0 => 0,
            1 => 1,
            _ => {
                return Err(contradiction(
                    "is there more than once, or deleted more often than it was there",
                ));
            }
        };
        self.parts[0].copy(given, wanted, columns);
        self.parts[..sharing].iter_mut().for_each(|part| part.skip(1));
        self.settle(sharing)?;
        Ok(given)
    }

    /// Puts the first `count` parts, whose heads have changed, in their places.
    fn settle(&mut self, count: usize) -> Result<(), StoreError> {
        for at in (0..count).rev() {
            if self.parts[at].fill()? {
                self.sink(at);
            } else {
                self.parts.remove(at);
            }
        }
        Ok(())
    }

    /// Puts a part, whose head has grown, behind those that come before it.
    fn sink(&mut self, from: usize) {
        let Some(head) = self.parts.get(from).map(|part| part.head) else { return };
        let end = gallop(from + 1, self.parts.len(), |at| self.parts[at].head < head);
        self.parts[from..end].rotate_left(1);
    }

    pub(crate) fn seek(&mut self, key: &[u64]) -> Result<(), StoreError> {
        self.dirty = true;
        self.parts.iter_mut().try_for_each(|part| part.seek(key))
    }

    pub(crate) fn limit_to(&mut self, key: &[u64]) -> Result<(), StoreError> {
        self.dirty = true;
        self.parts.iter_mut().try_for_each(|part| part.limit_to(key))
    }

    pub(crate) fn remaining(&self) -> u64 {
        u64::try_from(self.parts.iter().map(|part| part.remaining()).sum::<i128>()).unwrap_or(0)
    }
}
