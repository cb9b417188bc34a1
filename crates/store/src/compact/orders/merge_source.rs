//! A range of rows of one old segment that is read during a merge, some thousand rows at a time, with new ids.

use crate::compact::id_remap::TermMap;
use crate::delta::Row;
use crate::error::StoreError;
use crate::manifest::Sign;
use lode_packed::{Cursor, Permutation};
use lode_rdf::ValueId;
use std::ops::Range;

/// Rows of one range. Where it is not small, their new ids ascend in the column of the merge.
#[derive(Debug)]
pub struct Source {
    cursor: Cursor,
    /// What the rows are.
    pub sign: Sign,
    /// No new id in the column of the merge is before this one.
    pub floor: u64,
    /// So small that it is read at once, and sorted.
    pub is_small: bool,
    /// Rows read, with new ids.
    rows: Vec<Row>,
    /// The first row that was not taken.
    at: usize,
    /// The old id, in the column of the merge, of the last row read.
    last_old: Option<u64>,
}

impl Source {
    /// A source of these rows; none where there are none.
    pub fn new(
        (permutation, sign): (&Permutation, Sign),
        rows: Range<u64>,
        floor: u64,
        is_small: bool,
    ) -> Option<Self> {
        (rows.start < rows.end).then(|| Self {
            cursor: permutation.cursor(rows, 0b1111),
            sign,
            floor,
            is_small,
            rows: Vec::new(),
            at: 0,
            last_old: None,
        })
    }

    /// Whether rows were read.
    pub fn is_begun(&self) -> bool {
        self.last_old.is_some()
    }

    /// Whether all rows were read.
    fn is_done(&self) -> bool {
        self.cursor.position() >= self.cursor.end()
    }

    /// Whether all rows were read and taken.
    pub fn is_exhausted(&self) -> bool {
        self.is_done() && self.waiting() == 0
    }

    /// Rows read and not taken.
    pub fn waiting(&self) -> usize {
        self.rows.len() - self.at
    }

    fn rest(&self) -> &[Row] {
        self.rows.get(self.at..).unwrap_or_default()
    }

    /// Old and new id of the last row read, unless it is the last of all.
    pub fn last_unless_done(&self, column: usize) -> Option<(u64, u64)> {
        if self.is_done() {
            return None;
        }
        Some((self.last_old?, self.rows.last()?[column]))
    }

    /// Moves rows whose id in `column` is before `bound` to `out`; without a bound, all.
    pub fn take_before(&mut self, bound: Option<u64>, column: usize, out: &mut Vec<Row>) {
        let rest = self.rest();
        let count = bound.map_or(rest.len(), |bound| rest.partition_point(|row| row[column] < bound));
        out.extend_from_slice(&rest[..count]);
        self.at += count;
    }

    /// Leaves out the rows that have the id `group`, which stand first. `after` is what comes next in old ids.
    ///
    /// # Errors
    /// Where the segment cannot be read or is damaged.
    pub fn skip_group(&mut self, group: u64, column: usize, after: &[u64]) -> Result<(), StoreError> {
        let count = self.rest().partition_point(|row| row[column] <= group);
        self.at += count;
        if count > 0 && self.waiting() == 0 && !self.is_done() {
            self.cursor.seek(after)?;
        }
        Ok(())
    }
}

/// Reads up to `rows_max` further rows of a source. `columns` is scratch room.
pub fn read_rows(
    source: &mut Source,
    rows_max: usize,
    column: usize,
    columns: &mut [Vec<u64>; 4],
    map: &TermMap,
) -> Result<(), StoreError> {
    if source.is_done() {
        return Ok(());
    }
    source.rows.drain(..source.at);
    source.at = 0;
    columns.iter_mut().for_each(Vec::clear);
    source.cursor.next(rows_max, columns)?;
    source.last_old = columns[column].last().copied();
    for ids in &mut *columns {
        rename(ids, map).map_err(|id| StoreError::UnknownId(ValueId::from_bits(id)))?;
    }
    let [a, b, c, d] = columns;
    source.rows.extend(a.iter().zip(b).zip(c).zip(d).map(|(((a, b), c), d)| [*a, *b, *c, *d]));
    if source.is_small {
        source.rows.sort_unstable_by_key(|row| row[column]);
    }
    Ok(())
}

/// Gives a column new ids; the error is an id that no dictionary has given.
fn rename(ids: &mut [u64], map: &TermMap) -> Result<(), u64> {
    let mut lookup = map.lookup();
    let mut known = (0, 0);
    for id in ids {
        // Columns of sorted rows repeat themselves.
        if known.0 != *id {
            known = (*id, lookup.id(*id).ok_or(*id)?);
        }
        *id = known.1;
    }
    Ok(())
}
