//! Drops quads that the database has already: a merge of the new rows with the SPOG orders of the segments, by seeking.

use crate::error::StoreError;
use crate::load::layout::{Layout, PackedRow, RowShape};
use crate::version::Version;
use lode_packed::permutation::Cursor;
use lode_packed::{Order, Position};

/// Rows read after a seek: one mini-block.
const WINDOW_ROWS: usize = 128;

/// Looks for quads, given in ascending order, in the segments of a version.
#[derive(Debug)]
pub struct ExistingQuads {
    segments: Vec<Window>,
}

#[derive(Debug)]
struct Window {
    cursor: Cursor,
    rows: [Vec<u64>; 4],
    at: usize,
    done: bool,
}

impl ExistingQuads {
    /// Looks in all segments of `version`.
    pub fn new(version: &Version) -> Self {
        let window = |permutation: &lode_packed::permutation::Permutation| Window {
            cursor: permutation.cursor(0..permutation.rows(), 0b1111),
            rows: Default::default(),
            at: 0,
            done: permutation.rows() == 0,
        };
        Self { segments: version.segments.iter().map(|s| window(s.permutation(Order::Spog))).collect() }
    }

    /// Removes from `rows` (sorted, of shape `shape`) those that exist already.
    pub fn drop_from<R: PackedRow>(
        &mut self,
        rows: &mut Vec<R>,
        layout: &Layout,
        shape: RowShape,
    ) -> Result<(), StoreError> {
        if self.segments.is_empty() {
            return Ok(());
        }
        let mut result = Ok(());
        rows.retain(|row| {
            let fields = shape.fields(*row);
            if result.is_err() || !layout.may_exist(fields) {
                return true;
            }
            let positions = [Position::S, Position::P, Position::O, Position::G];
            let mut quad = [0; 4];
            for ((id, field), position) in quad.iter_mut().zip(fields).zip(positions) {
                *id = layout.id(position, field);
            }
            match self.contains(quad) {
                Ok(found) => !found,
                Err(error) => {
                    result = Err(error);
                    true
                }
            }
        });
        result
    }

    fn contains(&mut self, quad: [u64; 4]) -> Result<bool, StoreError> {
        for segment in &mut self.segments {
            if segment.contains(quad)? {
                return Ok(true);
            }
        }
        Ok(false)
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
