//! Where the pages of the index are.

use super::Permutation;
use crate::error::Result;
use std::ops::Range;

impl Permutation {
    /// The places of all pages, ascending.
    pub(crate) fn index_parts(&self) -> Result<Vec<Range<u64>>> {
        let index = self.index()?;
        Ok((0..).take_while(|page| index.slot(*page).is_some()).map(|page| index.place(page).0).collect())
    }
}
