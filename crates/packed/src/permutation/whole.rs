//! Reads all blocks of a permutation one after the other, past the cache, which what is read once has no place in, and ahead of who wants them.

use super::ahead::Ahead;
use super::{Located, Permutation};
use crate::block::{Block, ParsedBlock};
use crate::error::Result;
use std::sync::Arc;

impl Permutation {
    /// Calls `visit` with each block's rows, in the columns in `columns` (bit `i` = column `i`); the others are empty. Reads past the
    /// cache.
    ///
    /// # Errors
    ///
    /// What `visit` fails with; [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where
    /// its bytes are damaged.
    pub fn for_each_block(
        &self,
        columns: u8,
        visit: &mut dyn FnMut([&[u64]; 4]) -> Result<()>,
    ) -> Result<()> {
        let mut decoded: [Vec<u64>; 4] = Default::default();
        self.for_each_parsed(&mut |place, parsed| {
            let mut block = Block::open(Arc::new(parsed));
            let rows = 0..block.rows();
            for (column, out) in decoded.iter_mut().enumerate().filter(|(i, _)| (columns >> i) & 1 == 1) {
                out.clear();
                self.in_block(place, block.decode(column, rows.clone(), out))?;
            }
            visit(decoded.each_ref().map(Vec::as_slice))
        })
    }

    /// Calls `visit` with each block; reads past the cache, and ahead.
    pub(super) fn for_each_parsed(
        &self,
        visit: &mut dyn FnMut(Located<'_>, ParsedBlock) -> Result<()>,
    ) -> Result<()> {
        let mut ahead = Ahead::default();
        for number in 0..self.blocks() {
            let place = self.locate(number)?;
            // What cannot be read ahead is an error once it is wanted.
            let _ = ahead.prepare(self, place, self.rows());
            visit(place, self.read_block(place)?)?;
        }
        Ok(())
    }
}
