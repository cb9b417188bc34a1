//! DISTINCT inside an aggregate: the values that each group has seen, in order of arrival.

use crate::expr::decode::mix;
use hashbrown::HashTable;
use lode_rdf::ValueId;

/// Values by group, each once.
#[derive(Debug, Default)]
pub(super) struct DistinctValues {
    /// Indexes of `entries`.
    table: HashTable<u32>,
    entries: Vec<(u32, ValueId)>,
}

impl DistinctValues {
    /// Adds values; gives back those that are new to their group.
    pub fn insert(&mut self, groups: &[u32], values: &[ValueId]) -> (Vec<u32>, Vec<ValueId>) {
        let mut new_groups = Vec::new();
        let mut new_values = Vec::new();
        for (&group, &value) in groups.iter().zip(values) {
            let Self { table, entries } = self;
            let known =
                table.find(hash(group, value), |at| entries.get(*at as usize) == Some(&(group, value)));
            if known.is_some() {
                continue;
            }
            let at = u32::try_from(entries.len()).unwrap_or(u32::MAX);
            entries.push((group, value));
            let rehash =
                |at: &u32| entries.get(*at as usize).map_or(0, |(group, value)| hash(*group, *value));
            table.insert_unique(hash(group, value), at, rehash);
            new_groups.push(group);
            new_values.push(value);
        }
        (new_groups, new_values)
    }

    /// All values with their groups, group `i` renumbered to `groups[i]`.
    pub fn into_entries(self, groups: &[u32]) -> (Vec<u32>, Vec<ValueId>) {
        let renumber = |(group, value): (u32, ValueId)| Some((*groups.get(group as usize)?, value));
        self.entries.into_iter().filter_map(renumber).unzip()
    }

    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u32, ValueId)>() + self.table.capacity() * (size_of::<u32>() + 1)
    }
}

fn hash(group: u32, value: ValueId) -> u64 {
    mix(value).wrapping_add(u64::from(group)).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(23)
}
