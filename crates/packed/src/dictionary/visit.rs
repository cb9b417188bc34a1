//! Reads many terms of a dictionary in the order of their ranks, each block once.

use super::Dictionary;
use super::ahead::Ahead;
use crate::error::PackedError;
use crate::format::GROUP_TERMS;
use lode_rdf::value_id::Section;

impl Dictionary {
    /// Calls `visit` with the index and the key of each of `ranks`, which must ascend (repeats are fine). Opens each block
    /// once.
    ///
    /// # Errors
    /// The first error of `visit`, and those of [`Dictionary::get`].
    pub fn visit_sorted<E: From<PackedError>>(
        &self,
        section: Section,
        ranks: &[u64],
        visit: &mut dyn FnMut(usize, &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut key = Vec::new();
        let mut start = 0;
        let mut ahead = Ahead::default();
        while let Some(&rank) = ranks.get(start) {
            let block = self.block_of_rank(section, rank, || {
                // What cannot be read ahead is an error once it is wanted.
                let _ = ahead.prepare(self, section, &ranks[start..]);
            })?;
            let end = start + ranks[start..].partition_point(|rank| *rank < block.ranks.end);
            let mut walk = self.at(block.offset, block.opened.walk(0))?;
            key.clear();
            for (offset, rank) in ranks[start..end].iter().enumerate() {
                let rank = rank.saturating_sub(block.ranks.start) as usize;
                let group = rank / GROUP_TERMS;
                if group > walk.next_rank() / GROUP_TERMS {
                    walk = self.at(block.offset, block.opened.walk(group))?;
                }
                self.at(block.offset, walk.advance_to(rank, &mut key))?;
                visit(start + offset, &key)?;
            }
            start = end;
        }
        Ok(())
    }
}
