//! From the numbers of terms before a compaction to those after it.
//!
//! The terms of one old dictionary keep their order among themselves, so their new numbers ascend: in blocks of 128 they are a
//! first number and small packed differences. That is about a byte a term where two dictionaries interleave at random, and
//! next to nothing where whole ranges of keys come from one.
//!
//! Where only the newest segments are compacted, the terms of older dictionaries keep their numbers; and so do those of
//! dictionaries that come later, since there are as many terms before them as there were.

use lode_base::bitpack::{pack_sequence, read_bits, width_of};
use lode_rdf::ValueId;
use lode_rdf::value_id::{PAYLOAD_BITS, PAYLOAD_MAX, Section};
use std::ops::Range;

/// Terms of a block.
const BLOCK_TERMS: usize = 128;
/// Bits of a block's place that hold the width.
const WIDTH_BITS: u32 = 8;

/// New numbers by old ones, for all sections.
#[derive(Debug, Default)]
pub struct TermMap {
    sections: [SectionMap; Section::COUNT],
}

#[derive(Debug, Default)]
struct SectionMap {
    /// Numbers before this one stay: the first number of the first old dictionary.
    start: u64,
    /// The old dictionaries that have terms of the section, by their first number.
    owners: Vec<Owner>,
    /// First number that was not given by the old dictionaries.
    end: u64,
    /// Numbers from `end` on stay, too, up to this one: nobody has given those.
    known: u64,
}

/// The terms of a section of one old dictionary.
#[derive(Debug)]
struct Owner {
    /// Old number of the first.
    base: u64,
    terms: u64,
    blocks: Vec<Block>,
    packed: Vec<u8>,
    /// New numbers that are no block yet.
    pending: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    /// The first new number.
    first: u64,
    /// Where the differences begin in `packed`, and in the low bits how wide they are.
    place: u64,
}

/// Old ids from which on new ids ascend, up to the next such id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ascent {
    /// The first old id.
    pub start: u64,
    /// No new id of them is before this one.
    pub floor: u64,
}

impl TermMap {
    /// A map that will get the terms of old dictionaries, the first of which begin at the numbers `start`.
    pub fn new(start: [u64; Section::COUNT]) -> Self {
        Self {
            sections: start.map(|start| SectionMap {
                start,
                end: start,
                known: start,
                ..SectionMap::default()
            }),
        }
    }

    /// Says that there are so many terms by now, in old dictionaries and in those that came later.
    pub fn set_known(&mut self, terms: [u64; Section::COUNT]) {
        self.sections.iter_mut().zip(terms).for_each(|(section, known)| section.known = known);
    }

    /// Whether all terms keep their numbers.
    pub fn is_identity(&self) -> bool {
        self.sections.iter().all(|section| section.owners.len() <= 1)
    }

    /// Says that the next old dictionary has `terms` terms of a section, the first of which has the number `base`. Returns the
    /// place to give to [`Self::push`].
    pub fn add_owner(&mut self, section: Section, base: u64, terms: u64) -> usize {
        let map = &mut self.sections[section as usize];
        (map.end, map.known) = (base + terms, map.known.max(base + terms));
        let owners = &mut map.owners;
        owners.push(Owner {
            base,
            terms,
            blocks: Vec::with_capacity(usize::try_from(terms).unwrap_or(0).div_ceil(BLOCK_TERMS)),
            packed: Vec::new(),
            pending: Vec::with_capacity(BLOCK_TERMS),
        });
        owners.len() - 1
    }

    /// Notes the place, in the new dictionary, of the next term of an old dictionary. Returns its new number.
    pub fn push(&mut self, section: Section, owner: usize, rank: u64) -> u64 {
        let map = &mut self.sections[section as usize];
        let number = map.start + rank;
        let Some(owner) = map.owners.get_mut(owner) else { return number };
        owner.pending.push(number);
        if owner.pending.len() == BLOCK_TERMS {
            owner.end_block();
        }
        number
    }

    /// Ends a section; false if an old dictionary had not as many terms as was said.
    pub fn finish(&mut self, section: Section) -> bool {
        let owners = &mut self.sections[section as usize].owners;
        for owner in &mut *owners {
            owner.end_block();
            owner.packed.shrink_to_fit();
            owner.pending = Vec::new();
        }
        owners.iter().all(|owner| owner.blocks.len() as u64 == owner.terms.div_ceil(BLOCK_TERMS as u64))
    }

    /// Bytes that the map takes.
    pub fn memory_bytes(&self) -> usize {
        let bytes = |owner: &Owner| owner.blocks.capacity() * size_of::<Block>() + owner.packed.capacity();
        self.sections.iter().flat_map(|section| &section.owners).map(bytes).sum()
    }

    /// The new id of an old one; none of ids that nobody has given.
    pub fn id(&self, id: u64) -> Option<u64> {
        self.lookup().id(id)
    }

    /// For many ids, most of which are terms of the dictionary that the one before them is of.
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup { map: self, start: 0, count: 0, owner: None }
    }

    /// Cuts the old ids into pieces on which new ids ascend.
    pub fn ascents(&self) -> Vec<Ascent> {
        let mut ascents = vec![Ascent { start: 0, floor: 0 }];
        for (section, map) in Section::ALL.into_iter().zip(&self.sections) {
            let id = |number| ValueId::new(section.kind(), number).to_bits();
            for owner in &map.owners {
                ascents.push(Ascent { start: id(owner.base), floor: id(map.start) });
            }
            if !map.owners.is_empty() {
                let end = id(map.end.min(PAYLOAD_MAX));
                ascents.push(Ascent { start: end, floor: end });
            }
        }
        ascents
    }
}

/// The section of an id's kind.
#[inline]
fn section_of(id: u64) -> Option<Section> {
    Some(match id >> PAYLOAD_BITS {
        0x10 => Section::Iri,
        0x20 => Section::String,
        0x21 => Section::LangString,
        0x50 => Section::TypedLiteral,
        0x60 => Section::TripleTerm,
        _ => return None,
    })
}

/// Looks new ids up, and remembers in which stretch of old ids the last one was.
#[derive(Debug)]
pub struct Lookup<'a> {
    map: &'a TermMap,
    /// The first old id of the stretch.
    start: u64,
    /// Ids in it.
    count: u64,
    /// Whose ids they are; nobody's: they stay.
    owner: Option<&'a Owner>,
}

impl Lookup<'_> {
    /// The new id of an old one; none of ids that nobody has given.
    #[inline]
    pub fn id(&mut self, id: u64) -> Option<u64> {
        if id.wrapping_sub(self.start) >= self.count {
            self.find(id)?;
        }
        match self.owner {
            None => Some(id),
            Some(owner) => Some((id & !PAYLOAD_MAX) | owner.number(id - self.start)?),
        }
    }

    /// Finds the stretch that an id is in.
    fn find(&mut self, id: u64) -> Option<()> {
        let kind = id & !PAYLOAD_MAX;
        let (numbers, owner) = match section_of(id) {
            None => (0..PAYLOAD_MAX + 1, None),
            Some(section) => self.map.sections[section as usize].stretch(id & PAYLOAD_MAX)?,
        };
        (self.start, self.count, self.owner) = (kind | numbers.start, numbers.end - numbers.start, owner);
        Some(())
    }
}

impl SectionMap {
    /// Old numbers that one dictionary has given, or that stay.
    fn stretch(&self, old: u64) -> Option<(Range<u64>, Option<&Owner>)> {
        if old < self.start {
            return Some((0..self.start, None));
        }
        if old >= self.end {
            return (old < self.known).then_some((self.end..self.known, None));
        }
        let after = self.owners.partition_point(|owner| owner.base <= old);
        let owner = self.owners.get(after.checked_sub(1)?)?;
        Some((owner.base..owner.base + owner.terms, Some(owner)))
    }
}

impl Owner {
    /// The new number of a term that it has.
    #[inline]
    fn number(&self, rank: u64) -> Option<u64> {
        let (block, at) = (rank as usize / BLOCK_TERMS, rank as usize % BLOCK_TERMS);
        let Block { first, place } = *self.blocks.get(block)?;
        let (start, width) = (place >> WIDTH_BITS, place as u32 & ((1 << WIDTH_BITS) - 1));
        let more = read_bits(&self.packed, start as usize * 8 + at * width as usize, width);
        Some(first + at as u64 + more)
    }

    fn end_block(&mut self) {
        let (Some(first), Some(last)) = (self.pending.first().copied(), self.pending.last().copied()) else {
            return;
        };
        // Numbers ascend strictly, so what is left of them after their place in the block ascends, too.
        let rest = last - first - (self.pending.len() as u64 - 1);
        let width = width_of(rest);
        let place = (self.packed.len() as u64) << WIDTH_BITS | u64::from(width);
        for (at, number) in (0_u64..).zip(&mut self.pending) {
            *number -= first + at;
        }
        pack_sequence(&self.pending, width, &mut self.packed);
        self.pending.clear();
        self.blocks.push(Block { first, place });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lode_rdf::Kind;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(owners in proptest::collection::vec(0_usize..4, 0..1500), gap in 1_u64..(1 << 40), start in 0_u64..300) {
            let mut counts = [0_u64; 4];
            owners.iter().for_each(|owner| counts[*owner] += 1);
            let mut map = TermMap::new([start; Section::COUNT]);
            let (mut base, mut bases) = (start, [0; 4]);
            for (owner, count) in counts.into_iter().enumerate() {
                bases[owner] = base;
                map.add_owner(Section::String, base, count);
                base += count;
            }
            let mut ranks = [0; 4];
            let mut expected = vec![0; owners.len()];
            for (at, owner) in owners.iter().enumerate() {
                let number = at as u64 * if at % 7 == 0 { 1 } else { gap } ;
                let number = number.max(expected.iter().copied().max().map_or(0, |n| n + 1));
                prop_assert_eq!(map.push(Section::String, *owner, number), start + number);
                expected[(bases[*owner] - start + ranks[*owner]) as usize] = number;
                ranks[*owner] += 1;
            }
            prop_assert!(map.finish(Section::String));
            let id = |number| ValueId::new(Kind::String, number).to_bits();
            for (old, new) in (start..).zip(expected) {
                prop_assert_eq!(map.id(id(old)), Some(id(start + new)));
            }
            prop_assert!((0..start).all(|old| map.id(id(old)) == Some(id(old))));
            prop_assert_eq!(map.id(id(base)), None);
            map.set_known([base + 2; Section::COUNT]);
            prop_assert_eq!([0, 1, 2].map(|more| map.id(id(base + more))), [Some(id(base)), Some(id(base + 1)), None]);
            prop_assert_eq!(map.id(ValueId::new(Kind::Blank, 7).to_bits()), Some(ValueId::new(Kind::Blank, 7).to_bits()));
        }
    }
}
