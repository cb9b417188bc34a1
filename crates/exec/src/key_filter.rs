//! Run-time filters: the keys of a hash join's table, handed down to what feeds its other side.
//!
//! A scan that is sorted by the join's variable reads from the least key to the greatest, or, where keys are few, goes from key to key, and
//! neither reads nor decodes the blocks between. Any scan that has the variable drops rows with other values before they are joined with
//! something else.

use lode_base::gallop::gallop;
use lode_eval::hash::mix;
use lode_rdf::ValueId;
use std::sync::OnceLock;

/// Keys that a scan goes to one by one, at most: to sort more costs what a scan does.
const FEW_KEYS: usize = 1 << 12;
/// Keys of a filter, at most: it is made by one thread, without a pause.
const KEYS_MAX: usize = 1 << 22;
/// Bits of a bitmap over the keys' range, per key, at most; else a Bloom filter takes their place.
const BITMAP_BITS_PER_KEY: u64 = 32;
/// Bits of a Bloom filter per key, at least: with three of them set in one word, one other value in fifty passes.
const BLOOM_BITS_PER_KEY: usize = 12;

/// Bytes that the members of a filter take per key, at most; few keys are listed, too.
pub(crate) const FILTER_KEY_BYTES: usize = 4;

/// Values of a variable: rows where it is bound to another one are of no use.
#[derive(Debug)]
pub(crate) struct KeyFilter {
    least: ValueId,
    greatest: ValueId,
    members: Members,
    /// Where they are few.
    few: Option<Vec<ValueId>>,
    sorted: OnceLock<Vec<ValueId>>,
}

impl KeyFilter {
    /// A filter for these values; `None` where there is none, or too many to be passed over within milliseconds.
    pub(crate) fn new(values: &[ValueId]) -> Option<Self> {
        if values.len() > KEYS_MAX {
            return None;
        }
        let (least, greatest) = (*values.iter().min()?, *values.iter().max()?);
        Some(Self {
            least,
            greatest,
            members: Members::new(values, least, greatest),
            few: Self::are_few(values.len()).then(|| values.to_vec()),
            sorted: OnceLock::new(),
        })
    }

    /// Whether so many keys can be visited one by one.
    pub(crate) fn are_few(keys: usize) -> bool {
        keys <= FEW_KEYS
    }

    /// The values, ascending, each once, if they are few: sorted when first asked for.
    pub(crate) fn keys(&self) -> Option<&[ValueId]> {
        let few = self.few.as_ref()?;
        Some(self.sorted.get_or_init(|| {
            let mut keys = few.clone();
            keys.sort_unstable();
            keys.dedup();
            keys
        }))
    }

    /// The least and the greatest value.
    pub(crate) fn bounds(&self) -> (ValueId, ValueId) {
        (self.least, self.greatest)
    }

    /// Leaves those of the rows of `selection` whose value may be one of the keys.
    pub(crate) fn retain(&self, ids: &[ValueId], selection: &mut Vec<u32>) {
        match &self.members {
            Members::Bitmap { first, words } => {
                selection.retain(|row| in_bitmap(words, ids[*row as usize].to_bits().wrapping_sub(*first)));
            }
            Members::Bloom(words) => selection.retain(|row| in_bloom(words, ids[*row as usize])),
        }
    }
}

/// Who is in.
#[derive(Debug)]
enum Members {
    /// A bit for each value from `first` on.
    Bitmap { first: u64, words: Vec<u64> },
    /// A power of two of words. Three bits of a word that the value's hash chooses are set (Putze, Sanders, Singler: Cache-, Hash- and
    /// Space-Efficient Bloom Filters, 2007).
    Bloom(Vec<u64>),
}

impl Members {
    fn new(values: &[ValueId], least: ValueId, greatest: ValueId) -> Self {
        let (first, span) = (least.to_bits(), greatest.to_bits() - least.to_bits());
        let bits_max = BITMAP_BITS_PER_KEY.saturating_mul(values.len() as u64);
        match usize::try_from(span / 64) {
            Ok(last) if span < bits_max => {
                let mut words = vec![0; last + 1];
                for value in values {
                    let bit = value.to_bits() - first;
                    if let Some(word) = usize::try_from(bit / 64).ok().and_then(|at| words.get_mut(at)) {
                        *word |= 1 << (bit % 64);
                    }
                }
                Self::Bitmap { first, words }
            }
            _ => {
                let mut words = vec![0; (values.len() * BLOOM_BITS_PER_KEY).div_ceil(64).next_power_of_two()];
                for value in values {
                    let (place, bits) = bloom_bits(words.len(), *value);
                    words[place] |= bits;
                }
                Self::Bloom(words)
            }
        }
    }
}

#[inline]
fn in_bitmap(words: &[u64], bit: u64) -> bool {
    let word = usize::try_from(bit / 64).ok().and_then(|at| words.get(at));
    word.is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

#[inline]
fn in_bloom(words: &[u64], value: ValueId) -> bool {
    let (place, bits) = bloom_bits(words.len(), value);
    words.get(place).is_some_and(|word| word & bits == bits)
}

/// The word of a value, and its bits there.
#[inline]
fn bloom_bits(words: usize, value: ValueId) -> (usize, u64) {
    let hash = mix(0, value.to_bits());
    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
    let place = hash as usize & (words - 1);
    (place, 1 << (hash >> 46 & 63) | 1 << (hash >> 52 & 63) | 1 << (hash >> 58))
}

/// The first of `keys` (ascending), from number `from` on, that is not before `id`.
pub(crate) fn first_not_before(keys: &[ValueId], from: usize, id: ValueId) -> usize {
    gallop(from, keys.len(), |at| keys.get(at).is_some_and(|key| *key < id))
}

#[cfg(test)]
mod tests {
    use super::{FEW_KEYS, FILTER_KEY_BYTES, KeyFilter, Members, first_not_before};
    use lode_eval::hash::mix;
    use lode_rdf::ValueId;

    fn passes(filter: &KeyFilter, bits: u64) -> bool {
        let mut selection = vec![0];
        filter.retain(&[ValueId::from_bits(bits)], &mut selection);
        !selection.is_empty()
    }

    #[test]
    fn keys_are_sorted_and_distinct() {
        let ids = [5, 3, 5, 9].map(ValueId::from_bits);
        let filter = KeyFilter::new(&ids).unwrap();
        let keys = [3, 5, 9].map(ValueId::from_bits);
        assert_eq!(filter.keys().unwrap(), keys);
        let at = |from, id| first_not_before(&keys, from, ValueId::from_bits(id));
        assert_eq!([at(0, 0), at(0, 3), at(0, 4), at(1, 9), at(0, 10), at(3, 1)], [0, 0, 1, 2, 3, 3]);
        assert!(KeyFilter::new(&vec![ValueId::UNDEF; FEW_KEYS + 1]).unwrap().keys().is_none());
        assert!(KeyFilter::new(&[]).is_none());
    }

    #[test]
    fn near_keys_are_exact() {
        let keys: Vec<ValueId> = (0..1000).map(|n| ValueId::from_bits(70 + n * 7)).collect();
        let filter = KeyFilter::new(&keys).unwrap();
        assert!(matches!(filter.members, Members::Bitmap { .. }));
        for bits in 0..8000 {
            assert_eq!(passes(&filter, bits), keys.contains(&ValueId::from_bits(bits)), "{bits}");
        }
        assert!(!passes(&filter, u64::MAX));
    }

    #[test]
    fn far_keys_all_pass_and_few_others() {
        for count in [2, 100, 5000] {
            let keys: Vec<ValueId> = (0..count).map(|n| ValueId::from_bits(mix(7, n))).collect();
            let filter = KeyFilter::new(&keys).unwrap();
            let Members::Bloom(words) = &filter.members else { panic!("{count}") };
            assert!(words.len() * 8 <= FILTER_KEY_BYTES * keys.len().max(16));
            assert!(keys.iter().all(|key| passes(&filter, key.to_bits())));
            let others = (10_000..20_000).filter(|n| passes(&filter, mix(7, *n))).count();
            assert!(others < 500, "{others} of 10,000 pass");
        }
    }
}
