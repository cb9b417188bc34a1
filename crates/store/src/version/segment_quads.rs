//! Looks for quads, given in ascending order, in the SPOG orders of all segments: a merge by seeking.

use super::open_segment::OpenSegment;
use crate::delta::Row;
use crate::error::StoreError;
use crate::manifest::Sign;
use lode_packed::Order;
use lode_packed::permutation::Cursor;

/// Rows read after a seek: one mini-block.
const WINDOW_ROWS: usize = 128;

/// Looks for quads, given in ascending order, in segments.
#[derive(Debug)]
pub struct SegmentQuads {
    segments: Vec<Window>,
}

#[derive(Debug)]
struct Window {
    sign: Sign,
    cursor: Cursor,
    rows: [Vec<u64>; 4],
    at: usize,
    done: bool,
}

impl SegmentQuads {
    /// Looks in all of `segments`.
    pub fn new(segments: &[OpenSegment]) -> Self {
        let has_quads =
            |segment: &&OpenSegment| segment.entry.quads > 0 && segment.entry.sign != Sign::TermsOnly;
        let windows = segments.iter().filter(has_quads).map(|segment| {
            let permutation = segment.permutation(Order::Spog);
            let cursor = permutation.cursor(0..permutation.rows(), 0b1111);
            Window { sign: segment.entry.sign, cursor, rows: Default::default(), at: 0, done: false }
        });
        Self { segments: windows.collect() }
    }

    /// Whether there are no quads at all.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Whether the segments add up to holding a quad (S, P, O, G), which is not before the one asked for last.
    pub fn contains(&mut self, quad: Row) -> Result<bool, StoreError> {
        let mut sum = 0;
        for segment in &mut self.segments {
            if segment.contains(quad)? {
                sum += segment.sign.of(1);
            }
        }
        Ok(sum > 0)
    }
}

impl Window {
    fn contains(&mut self, quad: [u64; 4]) -> Result<bool, StoreError> {
        loop {
            while let Some(row) = self.row(self.at) {
                if row >= quad {
                    return Ok(row == quad);
                }
                self.at += 1;
                // Far behind: the rest of the window cannot help.
                if self.at == WINDOW_ROWS / 8 && self.last().is_some_and(|last| last < quad) {
                    break;
                }
            }
            if self.done {
                return Ok(false);
            }
            if self.last().is_none_or(|last| last < quad) {
                self.cursor.seek(&quad)?;
            }
            self.rows.iter_mut().for_each(Vec::clear);
            self.at = 0;
            self.done = self.cursor.next(WINDOW_ROWS, &mut self.rows)? == 0;
        }
    }

    fn row(&self, at: usize) -> Option<[u64; 4]> {
        let [a, b, c, d] = &self.rows;
        Some([*a.get(at)?, *b.get(at)?, *c.get(at)?, *d.get(at)?])
    }

    fn last(&self) -> Option<[u64; 4]> {
        self.row(self.rows[0].len().checked_sub(1)?)
    }
}
