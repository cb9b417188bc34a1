//! From the ids before a compaction to those after it.
//!
//! First each term gets a number among all terms that are merged ([`TermMap`]), also where no quad uses it and it is dropped: so the rows
//! of a merge keep an order that is strict until what is inserted and deleted has gone. Only what remains is numbered
//! without gaps, by counting the kept terms before each.
//!
//! What others have written since the merge began may use a dropped term again. Then the term is *revived*: it gets a new number
//! in a segment of its own, and so its new id is no longer in the order of the old ones.

mod term_map;

use lode_rdf::value_id::{PAYLOAD_MAX, Section};
use lode_rdf::{Kind, ValueId};
use std::collections::HashMap;

pub use term_map::{Ascent, Lookup, TermMap};

/// New ids by old ones.
#[derive(Debug)]
pub struct IdRemap {
    /// Numbers among all terms that were merged, dropped ones too.
    pub map: TermMap,
    dropped: Option<Dropped>,
}

/// What becomes of the numbers of [`TermMap`] where some terms are dropped.
#[derive(Debug)]
struct Dropped {
    /// First numbers of the terms that were merged.
    start: [u64; Section::COUNT],
    kept: [Kept; Section::COUNT],
    /// Dictionaries that came later: their first number, and their first new one.
    later: [Vec<(u64, u64)>; Section::COUNT],
    /// Ids, of [`TermMap`], of dropped terms that are used again, and their new ones.
    revived: HashMap<u64, u64>,
}

/// Which terms of a section are kept, by their number among all.
#[derive(Debug, Default)]
pub struct Kept {
    words: Vec<u64>,
    /// Kept terms before each word.
    ranks: Vec<u64>,
    terms: u64,
    kept: u64,
}

impl Kept {
    /// Says whether the next term is kept.
    pub fn push(&mut self, is_kept: bool) {
        let at = self.terms % 64;
        if at == 0 {
            self.words.push(0);
            self.ranks.push(self.kept);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(is_kept) << at;
        }
        self.terms += 1;
        self.kept += u64::from(is_kept);
    }

    /// How many kept terms are before a kept one.
    fn rank(&self, place: u64) -> Option<u64> {
        let (word, bit) = ((place / 64) as usize, 1 << (place % 64));
        let kept = *self.words.get(word)?;
        (kept & bit != 0).then(|| self.ranks[word] + u64::from((kept & (bit - 1)).count_ones()))
    }

    /// Bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        (self.words.capacity() + self.ranks.capacity()) * size_of::<u64>()
    }
}

impl IdRemap {
    /// The numbers of `map`; where not all terms are kept, those of the kept ones follow each other. The first of them are `start`.
    pub fn new(map: TermMap, kept: Option<[Kept; Section::COUNT]>, start: [u64; Section::COUNT]) -> Self {
        let dropped =
            kept.map(|kept| Dropped { start, kept, later: Default::default(), revived: HashMap::new() });
        Self { map, dropped }
    }

    /// How many terms were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped.iter().flat_map(|dropped| &dropped.kept).map(|kept| kept.terms - kept.kept).sum()
    }

    /// Whether all ids stay.
    pub fn is_identity(&self) -> bool {
        self.dropped.is_none() && self.map.is_identity()
    }

    /// The new id of an old one; none of ids that nobody has given, and of dropped terms.
    pub fn id(&self, id: u64) -> Option<u64> {
        self.last_id(self.map.id(id)?)
    }

    /// The new id of an id that [`TermMap`] has given.
    pub fn last_id(&self, bits: u64) -> Option<u64> {
        let Some(dropped) = &self.dropped else { return Some(bits) };
        let Some((section, number)) = number_of(bits) else { return Some(bits) };
        let at = section as usize;
        let Some(place) = number.checked_sub(dropped.start[at]) else { return Some(bits) };
        let number = if place < dropped.kept[at].terms {
            match dropped.kept[at].rank(place) {
                Some(rank) => dropped.start[at] + rank,
                None => return dropped.revived.get(&bits).copied(),
            }
        } else {
            let later = &dropped.later[at];
            let (old, new) = later.get(later.partition_point(|(old, _)| *old <= number).checked_sub(1)?)?;
            number - old + new
        };
        Some((bits & !PAYLOAD_MAX) | number)
    }

    /// Whether an old id is that of a dropped term, which may have been revived.
    pub fn is_dropped(&self, id: u64) -> bool {
        let Some(dropped) = &self.dropped else { return false };
        let Some((section, number)) = self.map.id(id).and_then(number_of) else { return false };
        let (start, kept) = (dropped.start[section as usize], &dropped.kept[section as usize]);
        let place = number.checked_sub(start);
        place.is_some_and(|place| place < kept.terms && kept.rank(place).is_none())
    }

    /// Gives a dropped term (old id) a new id.
    pub fn revive(&mut self, id: u64, new: u64) {
        if let (Some(dropped), Some(merged)) = (&mut self.dropped, self.map.id(id)) {
            dropped.revived.insert(merged, new);
        }
    }

    /// Says that the terms of a dictionary that came later have other first numbers.
    pub fn add_later(&mut self, before: [u64; Section::COUNT], now: [u64; Section::COUNT]) {
        if let Some(dropped) = &mut self.dropped {
            for (later, pair) in dropped.later.iter_mut().zip(before.into_iter().zip(now)) {
                later.push(pair);
            }
        }
    }

    /// Gives rows of ids that [`TermMap`] has given their last ids; the error is one that has none.
    pub fn finish(&self, rows: &mut [[u64; 4]]) -> Result<(), u64> {
        if self.dropped.is_none() {
            return Ok(());
        }
        // Columns of sorted rows repeat themselves.
        let mut known = [(0, 0); 4];
        for row in rows {
            for (id, known) in row.iter_mut().zip(&mut known) {
                if known.0 != *id {
                    *known = (*id, self.last_id(*id).ok_or(*id)?);
                }
                *id = known.1;
            }
        }
        Ok(())
    }

    /// Bytes that it takes, but for revived terms.
    pub fn memory_bytes(&self) -> usize {
        let kept = self.dropped.iter().flat_map(|dropped| &dropped.kept);
        self.map.memory_bytes() + kept.map(Kept::memory_bytes).sum::<usize>()
    }
}

fn number_of(bits: u64) -> Option<(Section, u64)> {
    let id = ValueId::from_bits(bits);
    Some((id.kind().and_then(Kind::section)?, id.payload()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn kept_terms_follow_each_other(kept in prop::collection::vec(any::<bool>(), 1..300), start in 0_u64..100) {
            let id = |number| ValueId::new(Kind::Iri, number).to_bits();
            let mut map = TermMap::new([start; Section::COUNT]);
            let terms = kept.len() as u64;
            map.add_owner(Section::Iri, start, terms);
            for rank in 0..terms {
                map.push(Section::Iri, 0, rank);
            }
            prop_assert!(map.finish(Section::Iri));
            map.set_known([start + terms + 5; Section::COUNT]);
            let mut of_sections: [Kept; Section::COUNT] = Default::default();
            kept.iter().for_each(|is_kept| of_sections[Section::Iri as usize].push(*is_kept));
            let mut numbering = IdRemap::new(map, Some(of_sections), [start; Section::COUNT]);
            let mut next = start;
            for (number, is_kept) in (start..).zip(&kept) {
                prop_assert_eq!(numbering.id(id(number)), is_kept.then(|| id(next)));
                prop_assert_eq!(numbering.is_dropped(id(number)), !is_kept);
                next += u64::from(*is_kept);
            }
            prop_assert_eq!(numbering.dropped(), terms - (next - start));
            prop_assert_eq!(numbering.id(id(start + terms)), None);
            let before = std::array::from_fn(|_| start + terms);
            numbering.add_later(before, [next + 7; Section::COUNT]);
            prop_assert_eq!(numbering.id(id(start + terms + 4)), Some(id(next + 11)));
            if let Some(gone) = kept.iter().position(|is_kept| !is_kept) {
                let gone = id(start + gone as u64);
                numbering.revive(gone, id(next));
                prop_assert_eq!(numbering.id(gone), Some(id(next)));
                prop_assert!(numbering.is_dropped(gone));
            }
            for old in 0..start {
                prop_assert_eq!(numbering.id(id(old)), Some(id(old)));
            }
            let blank = ValueId::new(Kind::Blank, 7).to_bits();
            prop_assert_eq!(numbering.id(blank), Some(blank));
        }
    }
}
