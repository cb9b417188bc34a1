//! Reads rows of a permutation in order, column by column, and skips forward.

use super::Permutation;
use crate::block::Block;
use crate::error::Result;
use crate::format::PERMUTATION_PAGE_BLOCKS;
use lode_base::block_work;
use std::ops::Range;

/// An open block and where it is.
#[derive(Debug)]
struct Current {
    number: usize,
    rows: Range<u64>,
    block: Block,
}

/// A position in a range of rows. Holds what it needs, so it outlives the borrow of its [`Permutation`].
#[derive(Debug)]
pub struct Cursor {
    permutation: Permutation,
    position: u64,
    end: u64,
    columns: u8,
    current: Option<Box<Current>>,
}

impl Permutation {
    /// A cursor over `rows` that delivers the columns in `columns` (bit `i` = column `i`) and reads no others.
    pub fn cursor(&self, rows: Range<u64>, columns: u8) -> Cursor {
        let Range { start, end } = self.clip(rows);
        Cursor { permutation: self.clone(), position: start, end, columns, current: None }
    }
}

impl Cursor {
    /// The next row.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The row after the last.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Ends before `row`; never lengthens.
    pub fn limit_to_row(&mut self, row: u64) {
        self.end = self.end.min(row).max(self.position);
    }

    /// Makes the block that holds the next row the current one.
    fn load(&mut self) -> Result<&mut Current> {
        let number = match &self.current {
            Some(current) if current.rows.contains(&self.position) => current.number,
            Some(current) if current.rows.end == self.position => current.number + 1,
            _ => self.permutation.block_of_row(self.position)?.number,
        };
        self.open(number)
    }

    fn open(&mut self, number: usize) -> Result<&mut Current> {
        let current = match self.current.take() {
            Some(current) if current.number == number => current,
            Some(mut other) => {
                let place = self.permutation.locate(number)?;
                other.block.reopen(self.permutation.parsed_block(place)?);
                (other.number, other.rows) = (number, place.rows());
                other
            }
            None => {
                let place = self.permutation.locate(number)?;
                let block = self.permutation.open_block(place)?;
                Box::new(Current { number, rows: place.rows(), block })
            }
        };
        Ok(self.current.insert(current))
    }

    /// Appends up to `rows_max` further rows to those of `out` that were asked for and returns how many; 0 at the end.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn next(&mut self, rows_max: usize, out: &mut [Vec<u64>; 4]) -> Result<usize> {
        let stop = self.end.min(self.position.saturating_add(rows_max as u64));
        let start = self.position;
        while self.position < stop {
            let (position, columns) = (self.position, self.columns);
            let current = self.load()?;
            let until = stop.min(current.rows.end);
            let inside = (position - current.rows.start) as usize..(until - current.rows.start) as usize;
            let number = current.number;
            let mut result = Ok(());
            for (column, out) in out.iter_mut().enumerate().filter(|(i, _)| (columns >> i) & 1 == 1) {
                result = result.and_then(|()| current.block.decode(column, inside.clone(), out));
            }
            if result.is_err() {
                self.permutation.in_block(self.permutation.locate(number)?, result)?;
            }
            self.position = until;
        }
        Ok((self.position - start) as usize)
    }

    /// Moves forward to the first row not before `key` (1 to 4 ids: the first columns); never backward.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn seek(&mut self, key: &[u64]) -> Result<()> {
        self.position = self.find(key)?;
        Ok(())
    }

    /// Ends before the first row not before `key`, and does not move.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn limit_to(&mut self, key: &[u64]) -> Result<()> {
        self.end = self.permutation.lower_bound(key, self.position..self.end)?;
        Ok(())
    }

    fn find(&mut self, key: &[u64]) -> Result<u64> {
        if self.position >= self.end || key.is_empty() {
            return Ok(self.position);
        }
        let (position, end) = (self.position, self.end);
        let here = self.load()?.number;
        let number = self.seek_block(here, key)?;
        block_work::add_skipped((number - here).saturating_sub(1) as u64);
        let current = self.open(number)?;
        let start = position.max(current.rows.start) - current.rows.start;
        let rows = current.rows.clone();
        let found = current.block.lower_bound(key, start as usize..(rows.end - rows.start) as usize);
        let found = self.permutation.in_block(self.permutation.locate(number)?, found)? as u64;
        Ok((rows.start + found).clamp(position, end))
    }

    /// The block, not before `here`, in which a forward search for `key` ends.
    fn seek_block(&self, here: usize, key: &[u64]) -> Result<usize> {
        let place = self.permutation.locate(here)?;
        let page = here / PERMUTATION_PAGE_BLOCKS;
        let target = self.permutation.index()?.seek_page(page, key);
        if target == page {
            return Ok(here + place.page.seek_block(place.at, key) - place.at);
        }
        let at = self.permutation.page(target)?.block_before(key, false);
        Ok(target * PERMUTATION_PAGE_BLOCKS + at)
    }
}
