//! A set of ids that columns of ids are tested against.

use lode_rdf::ValueId;
use std::collections::HashSet;

/// Bits that a set has for each of its ids, at most, where it is a bitmap.
const BITS_PER_ID_MAX: u64 = 256;

/// Distinct ids. Names of one namespace are neighbours in a dictionary, so a bitmap over all ids between the least and the greatest is
/// often small; else it is a hash table.
#[derive(Debug, Clone, PartialEq)]
pub struct IdSet {
    len: usize,
    share: f64,
    members: Members,
}

#[derive(Debug, Clone, PartialEq)]
enum Members {
    Bitmap { first: u64, words: Vec<u64> },
    Table(HashSet<ValueId>),
}

impl IdSet {
    /// Whether an id is in it.
    #[inline]
    pub fn contains(&self, id: ValueId) -> bool {
        match &self.members {
            Members::Bitmap { first, words } => {
                let at = id.to_bits().wrapping_sub(*first);
                let word = usize::try_from(at / 64).ok().and_then(|word| words.get(word));
                word.is_some_and(|word| word >> (at % 64) & 1 == 1)
            }
            Members::Table(ids) => ids.contains(&id),
        }
    }

    /// All ids, in no order.
    pub fn ids(&self) -> Box<dyn Iterator<Item = ValueId> + '_> {
        match &self.members {
            Members::Bitmap { first, words } => {
                let bits = |(at, word): (u64, &u64)| {
                    let word = *word;
                    (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
                };
                Box::new((0..).zip(words).flat_map(bits).map(move |at| ValueId::from_bits(first + at)))
            }
            Members::Table(ids) => Box::new(ids.iter().copied()),
        }
    }

    /// The same, of which it is expected that it keeps this part of the rows that are tested.
    #[must_use]
    pub fn keeping(self, share: f64) -> Self {
        Self { share: share.clamp(0.0, 1.0), ..self }
    }

    /// The part of rows that is expected to be kept.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<ValueId> for IdSet {
    fn from_iter<I: IntoIterator<Item = ValueId>>(ids: I) -> Self {
        let ids: Vec<u64> = ids.into_iter().map(ValueId::to_bits).collect();
        let (first, last) = (ids.iter().min().unwrap_or(&0), ids.iter().max().unwrap_or(&0));
        let span = last - first;
        if span / BITS_PER_ID_MAX > ids.len() as u64 {
            let ids: HashSet<ValueId> = ids.into_iter().map(ValueId::from_bits).collect();
            return Self { len: ids.len(), share: 0.5, members: Members::Table(ids) };
        }
        let mut words = vec![0_u64; usize::try_from(span / 64 + 1).unwrap_or(0)];
        for at in ids.iter().map(|id| id - first) {
            if let Some(word) = usize::try_from(at / 64).ok().and_then(|word| words.get_mut(word)) {
                *word |= 1 << (at % 64);
            }
        }
        let len = words.iter().map(|word| word.count_ones() as usize).sum();
        Self { len, share: 0.5, members: Members::Bitmap { first: *first, words } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_scattered_sets_have_what_was_put_in() {
        let steps: [&[u64]; 5] = [&[], &[7], &[1, 3, 1, 0, 300], &[1, u64::MAX, 1 << 56], &[0, u64::MAX]];
        for step in steps {
            let mut at = 1000_u64;
            let ids: Vec<u64> = step
                .iter()
                .map(|step| {
                    at = at.saturating_add(*step);
                    at
                })
                .collect();
            let set: IdSet = ids.iter().map(|id| ValueId::from_bits(*id)).collect();
            assert_eq!(set.len(), ids.iter().collect::<HashSet<_>>().len());
            assert_eq!(set.is_empty(), ids.is_empty());
            let listed: HashSet<u64> = set.ids().map(ValueId::to_bits).collect();
            assert_eq!((listed, set.ids().count()), (ids.iter().copied().collect(), set.len()));
            let near = ids.iter().flat_map(|id| [id.saturating_sub(1), *id, id.saturating_add(1), id ^ 64]);
            for id in near.chain([0, 1000, u64::MAX]) {
                assert_eq!(set.contains(ValueId::from_bits(id)), ids.contains(&id), "{id} of {ids:?}");
            }
        }
    }
}
