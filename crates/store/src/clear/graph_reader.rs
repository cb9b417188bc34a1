//! Reads the rows of a segment's order that are in some graphs, or all others, block by block.

use crate::clear::graphs::{Graphs, Share};
use crate::delta::Row;
use crate::error::StoreError;
use crate::layer_merge::LayerRows;
use lode_packed::{Permutation, Position};
use std::ops::Range;

/// Which rows are read.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Some graphs.
    pub graphs: Graphs,
    /// All rows but theirs.
    pub others: bool,
}

impl Wanted {
    #[inline]
    fn contain(self, graph: u64) -> bool {
        self.graphs.contain(graph) != self.others
    }

    fn share(self, least: u64, greatest: u64) -> Share {
        let share = self.graphs.share(least, greatest);
        if self.others { share.rest() } else { share }
    }
}

/// What a block has.
#[derive(Debug)]
pub enum Step {
    /// All its rows are wanted; they were not read.
    Whole(usize),
    /// Some of its rows may be wanted: the columns hold those that are.
    Picked,
    /// There are no more blocks.
    End,
}

/// Reads one order of one segment.
#[derive(Debug)]
pub struct Reader<'a> {
    /// What is read.
    pub permutation: &'a Permutation,
    wanted: Wanted,
    /// The next block.
    block: usize,
    /// Wanted rows of the block before it.
    pub columns: [Vec<u64>; 4],
    picked: Vec<u32>,
    /// The first row of these that a merge has not taken.
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning.
    pub fn new(permutation: &'a Permutation, wanted: Wanted) -> Self {
        Self { permutation, wanted, block: 0, columns: Default::default(), picked: Vec::new(), at: 0 }
    }

    /// Goes on to the next block that may have wanted rows. Others are not read.
    pub fn step(&mut self) -> Result<Step, StoreError> {
        let column = self.permutation.order().column_of(Position::G);
        while let Some(bounds) = self.permutation.block_bounds(self.block)? {
            let number = self.block;
            self.block += 1;
            match self.wanted.share(bounds.min[column], bounds.max[column]) {
                Share::Nothing => {}
                Share::Everything => return Ok(Step::Whole(number)),
                Share::Some => {
                    self.read(bounds.rows)?;
                    self.pick(column);
                    return Ok(Step::Picked);
                }
            }
        }
        Ok(Step::End)
    }

    /// Makes the columns those of the next block that has wanted rows; false at the end.
    fn next_block(&mut self) -> Result<bool, StoreError> {
        loop {
            match self.step()? {
                Step::End => {
                    self.columns.iter_mut().for_each(Vec::clear);
                    return Ok(false);
                }
                Step::Whole(number) => {
                    let rows = self.permutation.block_bounds(number)?.map_or(0..0, |bounds| bounds.rows);
                    self.read(rows)?;
                }
                Step::Picked => {}
            }
            if !self.columns[0].is_empty() {
                return Ok(true);
            }
        }
    }

    /// The columns of the next rows at hand.
    pub fn next_columns(&self, rows: usize) -> [&[u64]; 4] {
        self.columns.each_ref().map(|column| &column[self.at..self.at + rows])
    }

    fn read(&mut self, rows: Range<u64>) -> Result<(), StoreError> {
        self.columns.iter_mut().for_each(Vec::clear);
        self.permutation.cursor(rows, 0b1111).next(usize::MAX, &mut self.columns)?;
        Ok(())
    }

    /// Leaves the rows that are wanted because of their value in `column`.
    fn pick(&mut self, column: usize) {
        let values = &self.columns[column];
        self.picked.clear();
        self.picked.resize(values.len(), 0);
        // Without a branch, which would be guessed wrong where graphs take turns.
        let mut count = 0;
        for (at, value) in (0_u32..).zip(values) {
            self.picked[count] = at;
            count += usize::from(self.wanted.contain(*value));
        }
        let picked = &self.picked[..count];
        for column in &mut self.columns {
            for (to, from) in picked.iter().enumerate() {
                column[to] = column[*from as usize];
            }
            column.truncate(count);
        }
    }
}

impl LayerRows for Reader<'_> {
    fn fill(&mut self) -> Result<bool, StoreError> {
        if self.at < self.columns[0].len() {
            return Ok(true);
        }
        self.at = 0;
        self.next_block()
    }

    fn waiting(&self) -> usize {
        self.columns[0].len() - self.at
    }

    fn row(&self, index: usize) -> Option<Row> {
        let [a, b, c, d] = &self.columns;
        let at = self.at + index;
        Some([*a.get(at)?, *b.get(at)?, *c.get(at)?, *d.get(at)?])
    }

    fn skip(&mut self, rows: usize) {
        self.at += rows;
    }
}
