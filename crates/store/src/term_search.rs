//! Terms whose keys begin in some way, in all dictionaries of a version and in its delta.

use crate::delta::delta_id;
use crate::error::StoreError;
use crate::snapshot::Snapshot;
use lode_rdf::ValueId;
use lode_rdf::value_id::Section;

/// Of the terms that are in no dictionary yet so many are looked at, the newest.
const DELTA_TERMS_MAX: u64 = 1 << 16;

impl Snapshot {
    /// Ids of terms of a section whose keys begin with `start`, `most` at most: of each dictionary the first in the order of keys, then of the terms that are in
    /// none yet. There may be others.
    ///
    /// # Errors
    /// Where a dictionary cannot be read or is damaged.
    pub fn some_ids_with_prefix(
        &self,
        section: Section,
        start: &[u8],
        most: usize,
    ) -> Result<Vec<ValueId>, StoreError> {
        // No key has this byte: texts are UTF-8, and nothing that parts or escapes them is greater.
        let end = [start, &[0xFF]].concat();
        let mut ids = Vec::new();
        let left = |ids: &Vec<ValueId>| u64::try_from(most.saturating_sub(ids.len())).unwrap_or(0);
        for segment in self.version().segments.iter() {
            let Some(dictionary) = segment.dictionary().filter(|dictionary| dictionary.len(section) > 0)
            else {
                continue;
            };
            let first = dictionary.lower_bound(section, start)?;
            let last = dictionary.lower_bound(section, &end)?.min(first.saturating_add(left(&ids)));
            let base = segment.base(section);
            ids.extend((first..last).map(|rank| ValueId::new(section.kind(), base + rank)));
        }
        let delta = &self.version().delta;
        let count = delta.term_count();
        for index in (count.saturating_sub(DELTA_TERMS_MAX)..count).rev() {
            if ids.len() >= most {
                break;
            }
            let begins = |of: Section, key: &[u8]| of == section && key.starts_with(start);
            if delta.terms().with_key(index, begins) == Some(true) {
                ids.push(delta_id(section, index));
            }
        }
        Ok(ids)
    }
}
