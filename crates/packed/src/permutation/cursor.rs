//! Reads rows of a permutation in order, column by column, and skips forward.

use super::Permutation;
use super::ahead::Ahead;
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
    /// What it has asked for; none as long as all blocks were in the cache.
    ahead: Option<Box<Ahead>>,
    /// Blocks that were not in the cache.
    misses: u64,
}

impl Permutation {
    /// A cursor over `rows` that delivers the columns in `columns` (bit `i` = column `i`) and reads no others.
    pub fn cursor(&self, rows: Range<u64>, columns: u8) -> Cursor {
        self.clone().into_cursor(rows, columns)
    }

    /// The same, of what nobody else has.
    pub fn into_cursor(self, rows: Range<u64>, columns: u8) -> Cursor {
        let Range { start, end } = self.clip(rows);
        Cursor { permutation: self, position: start, end, columns, current: None, ahead: None, misses: 0 }
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
            other => {
                let place = self.permutation.locate(number)?;
                let (ahead, misses, end) = (&mut self.ahead, &mut self.misses, self.end);
                let parsed = self.permutation.parsed_block_after(place, || {
                    *misses += 1;
                    // What cannot be read ahead is an error once it is wanted.
                    let _ = ahead.get_or_insert_default().prepare(&self.permutation, place, end);
                })?;
                match other {
                    Some(mut other) => {
                        other.block.reopen(parsed);
                        (other.number, other.rows) = (number, place.rows());
                        other
                    }
                    None => Box::new(Current { number, rows: place.rows(), block: Block::open(parsed) }),
                }
            }
        };
        Ok(self.current.insert(current))
    }

    /// How many blocks were not in the cache so far.
    pub fn misses(&self) -> u64 {
        self.misses
    }

    /// Tells which keys will be sought, ascending, of `width` ids each: once a block of them is missing, all that are missing are read
    /// together. A hint: whatever is sought is found.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the index cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn expect(&mut self, keys: &[u64], width: usize) -> Result<()> {
        if width > 0 && self.permutation.opened()?.file.reads_batches_ahead() {
            let blocks = self.permutation.blocks_of_keys(keys, width)?;
            self.ahead.get_or_insert_default().expect(blocks);
        }
        Ok(())
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
