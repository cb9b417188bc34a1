//! DISTINCT inside an aggregate: the values that each group has seen, in order of arrival.

use crate::growth::make_room;
use crate::hash::spread;
use crate::number_index::NumberIndex;
use lode_base::cancel::{CancelToken, Cancelled};
use lode_rdf::ValueId;

/// Values by group, each once.
#[derive(Debug, Default)]
pub(super) struct DistinctValues {
    index: NumberIndex,
    entries: Vec<(u32, ValueId)>,
}

impl DistinctValues {
    /// Adds values; gives back those that are new to their group. Where many are known, `cancel` is looked at while there is made room for more;
    /// after an error this is of no more use.
    pub fn insert(
        &mut self,
        groups: &[u32],
        values: &[ValueId],
        cancel: &CancelToken,
    ) -> Result<(Vec<u32>, Vec<ValueId>), Cancelled> {
        let Self { index, entries } = self;
        make_room(entries, values.len());
        index.make_room(values.len(), |at| hash(entries[at]), || cancel.check())?;
        let mut new_groups = Vec::new();
        let mut new_values = Vec::new();
        for (&group, &value) in groups.iter().zip(values) {
            let entry = (group, value);
            if index.find(hash(entry), |at| entries[at] == entry).is_none() {
                entries.push(entry);
                index.add(hash(entry), |at| hash(entries[at]));
                new_groups.push(group);
                new_values.push(value);
            }
        }
        Ok((new_groups, new_values))
    }

    /// All values with their groups.
    pub fn into_entries(self) -> Vec<(u32, ValueId)> {
        self.entries
    }

    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u32, ValueId)>() + self.index.bytes()
    }
}

fn hash((group, value): (u32, ValueId)) -> u64 {
    spread(value).wrapping_add(u64::from(group)).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(23)
}
