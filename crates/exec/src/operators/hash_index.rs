//! The index of a hash join's table: chains of rows through flat arrays, begun at the place that a key's hash gives, or, where keys are
//! one variable's ids that lie close together, at the place that the id gives.

use lode_rdf::ValueId;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes that an index takes per row, about.
pub(crate) const INDEX_ROW_BYTES: usize = 12;

/// Places for each row, at most, of a dense index, so that it is no larger than one by hash.
const DENSE_PLACES_PER_ROW: u64 = 2;
/// Places of a dense index that are cheap whatever the number of rows, and how many rows it takes to have them.
const DENSE_PLACES_FREE: u64 = 1 << 16;
const DENSE_PLACES_PER_ROW_FREE: u64 = 64;

/// Where chains begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Places {
    /// By the low bits of a hash.
    Hash { mask: u64 },
    /// By the distance of an id from the first one. A chain has rows of one key only.
    Dense { first: u64 },
}

/// Chains of rows. Places and chains are atomic so that several threads can insert without a lock; the scope that runs them ends before
/// anybody reads.
#[derive(Debug)]
pub(crate) struct Index {
    places: Places,
    heads: Vec<AtomicU32>,
    next: Vec<AtomicU32>,
}

fn zeroes(n: usize) -> Vec<AtomicU32> {
    (0..n).map(|_| AtomicU32::new(0)).collect()
}

impl Index {
    /// An index by hash with room for `rows` rows.
    pub(crate) fn by_hash(rows: usize) -> Self {
        let slots = (rows.max(1) * 3 / 2).next_power_of_two();
        Self { places: Places::Hash { mask: slots as u64 - 1 }, heads: zeroes(slots), next: zeroes(rows) }
    }

    /// An index by id for rows with these keys; `None` where they lie too far apart.
    pub(crate) fn dense(keys: &[ValueId]) -> Option<Self> {
        let first = keys.iter().min()?.to_bits();
        let span = keys.iter().max()?.to_bits() - first;
        let rows = keys.len() as u64;
        let places_max =
            (rows * DENSE_PLACES_PER_ROW).max((rows * DENSE_PLACES_PER_ROW_FREE).min(DENSE_PLACES_FREE));
        if span >= places_max {
            return None;
        }
        let places = usize::try_from(span).ok()? + 1;
        Some(Self { places: Places::Dense { first }, heads: zeroes(places), next: zeroes(keys.len()) })
    }

    /// Whether rows are found by id.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.places, Places::Dense { .. })
    }

    /// Enters row `row` under its hash, or, where the index is dense, the bits of its id.
    pub(crate) fn insert(&self, row: usize, hash: u64) {
        let Some(head) = self.heads.get(self.place(hash)) else { return };
        let number = u32::try_from(row + 1).unwrap_or(u32::MAX);
        let before = head.swap(number, Ordering::Relaxed);
        self.next[row].store(before, Ordering::Relaxed);
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        let place = match self.places {
            Places::Hash { mask } => hash & mask,
            Places::Dense { first } => hash.wrapping_sub(first),
        };
        usize::try_from(place).unwrap_or(usize::MAX)
    }

    /// The first entry of the chain of a hash (dense: of an id's bits): its row number plus one; 0 ends.
    #[inline]
    pub(crate) fn head(&self, hash: u64) -> u32 {
        self.heads.get(self.place(hash)).map_or(0, |head| head.load(Ordering::Relaxed))
    }

    /// The entry after `entry`.
    #[inline]
    pub(crate) fn after(&self, entry: u32) -> u32 {
        self.next.get(entry as usize - 1).map_or(0, |n| n.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::Index;
    use lode_rdf::{Kind, ValueId};

    fn ids(numbers: &[u64]) -> Vec<ValueId> {
        numbers.iter().map(|n| ValueId::new(Kind::Iri, *n)).collect()
    }

    #[test]
    fn a_dense_index_has_the_rows_of_each_key() {
        let keys = ids(&[107, 100, 107, 103]);
        let index = Index::dense(&keys).unwrap();
        for (row, key) in keys.iter().enumerate() {
            index.insert(row, key.to_bits());
        }
        for probe in 90..120 {
            let mut rows = Vec::new();
            let mut entry = index.head(ids(&[probe])[0].to_bits());
            while entry != 0 {
                rows.push(entry as usize - 1);
                entry = index.after(entry);
            }
            rows.sort_unstable();
            let expected: Vec<usize> = keys
                .iter()
                .enumerate()
                .filter(|(_, key)| **key == ids(&[probe])[0])
                .map(|(row, _)| row)
                .collect();
            assert_eq!(rows, expected, "{probe}");
        }
        assert_eq!(index.head(0), 0);
        assert_eq!(index.head(u64::MAX), 0);
    }

    #[test]
    fn ids_far_apart_have_no_dense_index() {
        assert!(Index::dense(&ids(&[1, 1 << 40])).is_none());
        assert!(Index::dense(&[ValueId::UNDEF, ValueId::new(Kind::Iri, 1)]).is_none());
        assert!(Index::dense(&[]).is_none());
    }
}
