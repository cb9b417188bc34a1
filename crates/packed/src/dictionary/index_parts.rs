//! Where the pages of the index are.

use super::{Dictionary, Result};
use std::ops::Range;

impl Dictionary {
    /// The places of all pages, ascending. Filters are left out: they are asked where a key is likely in another dictionary.
    pub(crate) fn index_parts(&self) -> Result<Vec<Range<u64>>> {
        let sections = self.opened()?.sections.iter();
        let pages = sections.flat_map(|section| (0..section.len()).map(|page| section.page_bytes(page)));
        let mut parts: Vec<Range<u64>> = pages.collect();
        parts.sort_unstable_by_key(|part| part.start);
        Ok(parts)
    }
}
