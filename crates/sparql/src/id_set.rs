//! A set of ids that columns of ids are tested against.

use lode_rdf::ValueId;
use std::any::Any;
use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Bits that a set has for each of its ids, at most, where it is a bitmap.
const BITS_PER_ID_MAX: u64 = 256;

/// What is kept as long as ids are, such as what their memory is counted by. Not looked into.
#[derive(Clone, Default)]
pub struct Held(Option<Arc<dyn Any + Send + Sync>>);

impl Held {
    /// Keeps this.
    pub fn new(kept: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(kept)))
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "held" } else { "free" })
    }
}

impl PartialEq for Held {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Ids that rows are begun with.
#[derive(Debug, Clone, PartialEq)]
pub struct IdList {
    /// Ascending, each once.
    pub ids: Vec<ValueId>,
    /// By what they are counted.
    pub held: Held,
}

/// Distinct ids. Names of one namespace are neighbours in a dictionary, so a bitmap over all ids of a kind between the least and the greatest is
/// often small; else it is a hash table.
#[derive(Debug, Clone, PartialEq)]
pub struct IdSet {
    len: usize,
    share: f64,
    members: Members,
    held: Held,
}

#[derive(Debug, Clone, PartialEq)]
enum Members {
    /// One for each kind of terms.
    Bitmaps(Vec<Bitmap>),
    Table(HashSet<ValueId>),
}

#[derive(Debug, Clone, PartialEq)]
struct Bitmap {
    first: u64,
    words: Vec<u64>,
}

impl Bitmap {
    #[inline]
    fn contains(&self, id: ValueId) -> bool {
        let at = id.to_bits().wrapping_sub(self.first);
        let word = usize::try_from(at / 64).ok().and_then(|word| self.words.get(word));
        word.is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn ids(&self) -> impl Iterator<Item = ValueId> + '_ {
        let bits = |(at, word): (u64, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        };
        let first = self.first;
        (0..).zip(&self.words).flat_map(bits).map(move |at| ValueId::from_bits(first + at))
    }
}

impl IdSet {
    /// Whether an id is in it.
    #[inline]
    pub fn contains(&self, id: ValueId) -> bool {
        match &self.members {
            Members::Bitmaps(bitmaps) => bitmaps.iter().any(|bitmap| bitmap.contains(id)),
            Members::Table(ids) => ids.contains(&id),
        }
    }

    /// All ids, in no order.
    pub fn ids(&self) -> Box<dyn Iterator<Item = ValueId> + '_> {
        match &self.members {
            Members::Bitmaps(bitmaps) => Box::new(bitmaps.iter().flat_map(Bitmap::ids)),
            Members::Table(ids) => Box::new(ids.iter().copied()),
        }
    }

    /// The same, of which it is expected that it keeps this part of the rows that are tested.
    #[must_use]
    pub fn keeping(self, share: f64) -> Self {
        Self { share: share.clamp(0.0, 1.0), ..self }
    }

    /// The same, and as long as it is there this is kept.
    #[must_use]
    pub fn holding(self, held: Held) -> Self {
        Self { held, ..self }
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

impl IdSet {
    /// Of ids that can be gone over twice, each once.
    pub fn of<I: Iterator<Item = ValueId>>(ids: impl Fn() -> I) -> Self {
        let extents = Extents::of(ids());
        let (len, share, held) = (extents.len, 0.5, Held::default());
        if extents.are_scattered() {
            return Self { len, share, members: Members::Table(ids().collect()), held };
        }
        let mut bitmaps: Vec<Bitmap> = extents
            .by_kind
            .iter()
            .map(|(_, ids)| {
                let (first, last) = (*ids.start(), *ids.end());
                Bitmap { first, words: vec![0; usize::try_from((last - first) / 64 + 1).unwrap_or(0)] }
            })
            .collect();
        for id in ids() {
            let kind = extents.by_kind.iter().position(|(kind, _)| *kind == id.kind_byte());
            let Some(Bitmap { first, words }) = kind.and_then(|at| bitmaps.get_mut(at)) else { continue };
            let at = id.to_bits() - *first;
            if let Some(word) = usize::try_from(at / 64).ok().and_then(|word| words.get_mut(word)) {
                *word |= 1 << (at % 64);
            }
        }
        Self { len, share, members: Members::Bitmaps(bitmaps), held }
    }

    /// Bytes that it takes with these ids.
    pub fn bytes_of(ids: impl Iterator<Item = ValueId>) -> usize {
        let extents = Extents::of(ids);
        if extents.are_scattered() {
            return extents.len.saturating_mul(TABLE_BYTES);
        }
        usize::try_from(extents.span / 8).unwrap_or(usize::MAX).saturating_add(8)
    }
}

/// What an id takes in a table, about.
const TABLE_BYTES: usize = 24;

/// How many ids there are, and between which.
struct Extents {
    len: usize,
    /// Those of a kind, by its byte.
    by_kind: Vec<(u8, RangeInclusive<u64>)>,
    /// Bits of all.
    span: u64,
}

impl Extents {
    fn of(ids: impl Iterator<Item = ValueId>) -> Self {
        let (mut len, mut by_kind) = (0, Vec::<(u8, RangeInclusive<u64>)>::new());
        for id in ids {
            let (kind, bits) = (id.kind_byte(), id.to_bits());
            len += 1;
            // Most come in order, or have few kinds.
            match by_kind.iter_mut().rev().find(|extent| extent.0 == kind) {
                Some((_, own)) => *own = bits.min(*own.start())..=bits.max(*own.end()),
                None => by_kind.push((kind, bits..=bits)),
            }
        }
        let bits = |ids: &RangeInclusive<u64>| ids.end() - ids.start() + u64::from(u64::BITS);
        let span = by_kind.iter().map(|(_, ids)| bits(ids)).sum();
        Self { len, by_kind, span }
    }

    fn are_scattered(&self) -> bool {
        self.span / BITS_PER_ID_MAX > self.len as u64
    }
}

impl FromIterator<ValueId> for IdSet {
    fn from_iter<I: IntoIterator<Item = ValueId>>(ids: I) -> Self {
        let mut ids: Vec<ValueId> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Self::of(|| ids.iter().copied())
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
