//! Run-time filters: the keys of a hash join's table, handed down to what feeds its other side.
//!
//! A scan that is sorted by the join's variable then goes from key to key, and neither reads nor decodes the blocks between.

use lode_base::gallop::gallop;
use lode_rdf::ValueId;
use std::sync::OnceLock;

/// Keys of a filter, at most: to sort more costs what a scan does.
const KEYS_MAX: usize = 1 << 12;

/// Values of a variable: rows where it is bound to another one are of no use.
#[derive(Debug)]
pub(crate) struct KeyFilter {
    values: Vec<ValueId>,
    sorted: OnceLock<Vec<ValueId>>,
}

impl KeyFilter {
    /// A filter for these values, if they are few enough.
    pub(crate) fn new(values: &[ValueId]) -> Option<Self> {
        (values.len() <= KEYS_MAX).then(|| Self { values: values.to_vec(), sorted: OnceLock::new() })
    }

    /// The values, ascending, each once: sorted when first asked for.
    pub(crate) fn keys(&self) -> &[ValueId] {
        self.sorted.get_or_init(|| {
            let mut keys = self.values.clone();
            keys.sort_unstable();
            keys.dedup();
            keys
        })
    }
}

/// The first of `keys` (ascending), from number `from` on, that is not before `id`.
pub(crate) fn first_not_before(keys: &[ValueId], from: usize, id: ValueId) -> usize {
    gallop(from, keys.len(), |at| keys.get(at).is_some_and(|key| *key < id))
}

#[cfg(test)]
mod tests {
    use super::{KEYS_MAX, KeyFilter, first_not_before};
    use lode_rdf::ValueId;

    #[test]
    fn keys_are_sorted_and_distinct() {
        let ids = [5, 3, 5, 9].map(ValueId::from_bits);
        let filter = KeyFilter::new(&ids).unwrap();
        let keys = [3, 5, 9].map(ValueId::from_bits);
        assert_eq!(filter.keys(), keys);
        let at = |from, id| first_not_before(&keys, from, ValueId::from_bits(id));
        assert_eq!([at(0, 0), at(0, 3), at(0, 4), at(1, 9), at(0, 10), at(3, 1)], [0, 0, 1, 2, 3, 3]);
        assert!(KeyFilter::new(&vec![ValueId::UNDEF; KEYS_MAX + 1]).is_none());
    }
}
