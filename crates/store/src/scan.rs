//! Reads the quads under a prefix in one sort order, from one segment or merged from several layers.
//!
//! With one segment the columns asked for are decoded straight into the caller's. With several layers (segments, change sets of the delta), rows are
//! merged in stretches: from the layer with the least row, all rows before the least row of the others are copied at once.
//! Where a row is in several layers, it is delivered if more of them insert it than delete it.

use crate::activity::Activity;
use crate::error::StoreError;
use crate::layer_merge::{Layer, LayerMerge};
use crate::manifest::Sign;
use crate::scan_rows::{RowCursor, ScanRows};
use lode_packed::Cursor;
use lode_rdf::ValueId;
use std::sync::Arc;

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
    Many(LayerMerge<ScanRows>),
}

impl Scan {
    /// A scan that delivers `columns`. Where there are several layers, their cursors must read all four columns.
    pub(crate) fn new(mut layers: Vec<(Sign, RowCursor)>, columns: u8, activity: Arc<Activity>) -> Self {
        let source = match (layers.pop(), layers.is_empty()) {
            (None, _) => Source::Empty,
            (Some((Sign::Insertions, RowCursor::Packed(only))), true) => Source::One(only),
            (Some(last), _) => {
                layers.push(last);
                let layer = |(sign, cursor)| Layer::new(sign, ScanRows::new(cursor));
                Source::Many(LayerMerge::new(layers.into_iter().map(layer)))
            }
        };
        Self { columns, source, rows: 0, seeks: 0, activity }
    }

    /// Appends up to `rows_max` further rows to `columns` (only to those asked for) and returns how many; 0 at the end.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged.
    pub fn next(&mut self, rows_max: usize, columns: &mut [Vec<ValueId>; 4]) -> Result<usize, StoreError> {
        let rows = match &mut self.source {
            Source::Empty => 0,
            Source::One(cursor) => {
                let mut bits = std::mem::take(columns).map(into_bits);
                let result = cursor.next(rows_max, &mut bits);
                *columns = bits.map(into_ids);
                result?
            }
            Source::Many(merge) => {
                let wanted = self.columns;
                merge.next(rows_max, &mut |layer, rows| {
                    layer.copy(rows, wanted, columns);
                    Ok::<_, StoreError>(())
                })?
            }
        };
        self.rows += rows as u64;
        Ok(rows)
    }

    /// Moves forward to the first row not before `key` (whole prefix included, 1 to 4 ids); never backward.
    ///
    /// # Errors
    /// Like [`Scan::next`].
    pub fn seek(&mut self, key: &[ValueId]) -> Result<(), StoreError> {
        self.seeks += 1;
        let (key, length) = key_bits(key);
        let key = &key[..length];
        match &mut self.source {
            Source::Empty => {}
            Source::One(cursor) => cursor.seek(key)?,
            Source::Many(merge) => merge.layers_mut().try_for_each(|layer| layer.rows.seek(key))?,
        }
        Ok(())
    }

    /// Ends the scan before the first row at or after `key`.
    ///
    /// # Errors
    /// Like [`Scan::next`].
    pub fn limit_to(&mut self, key: &[ValueId]) -> Result<(), StoreError> {
        let (key, length) = key_bits(key);
        let key = &key[..length];
        match &mut self.source {
            Source::Empty => {}
            Source::One(cursor) => cursor.limit_to(key)?,
            Source::Many(merge) => merge.layers_mut().try_for_each(|layer| layer.rows.limit_to(key))?,
        }
        Ok(())
    }

    /// Blocks that were not in the cache so far.
    pub fn misses(&self) -> u64 {
        match &self.source {
            Source::Empty => 0,
            Source::One(cursor) => cursor.misses(),
            Source::Many(merge) => merge.layers().map(|layer| layer.rows.misses()).sum(),
        }
    }

    /// Tells which keys will be sought, ascending, of `width` ids each (whole prefix included), so that what is to be read for them is read
    /// together. A hint: whatever is sought is found.
    ///
    /// # Errors
    /// Like [`Scan::next`].
    pub fn expect(&mut self, keys: &[ValueId], width: usize) -> Result<(), StoreError> {
        let keys: Vec<u64> = keys.iter().map(|id| id.to_bits()).collect();
        match &mut self.source {
            Source::Empty => {}
            Source::One(cursor) => cursor.expect(&keys, width)?,
            Source::Many(merge) => {
                merge.layers_mut().try_for_each(|layer| layer.rows.expect(&keys, width))?;
            }
        }
        Ok(())
    }

    /// Rows that may still come: exact, as counted by the layers.
    pub fn remaining(&self) -> u64 {
        match &self.source {
            Source::Empty => 0,
            Source::One(cursor) => cursor.end() - cursor.position(),
            Source::Many(merge) => {
                let left: i128 = merge.layers().map(|layer| layer.sign.of(layer.rows.remaining())).sum();
                u64::try_from(left).unwrap_or(0)
            }
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
