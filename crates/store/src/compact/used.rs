//! Which terms of the dictionaries that are merged are used by a quad.
//!
//! A term is used if more rows insert quads with it than delete some. Nobody but the merged segments uses their terms: older ones cannot,
//! so what they say of quads with these terms is all that there is to say. Numbers of rows are enough: the rows themselves need
//! not be compared, since no quad is deleted more often than it is inserted.

use crate::compact::first_column::{FIRST_COLUMN_ORDERS, visit_first_ids};
use crate::delta::{Delta, is_delta_term};
use crate::manifest::Sign;
use crate::segment_builder::BuildError;
use crate::throttle::Throttle;
use crate::version::OpenSegment;
use lode_packed::Order;
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, ValueId};

/// A bit for each term of the merged dictionaries, by its old number.
#[derive(Debug)]
pub struct UsedTerms {
    /// The first numbers.
    start: [u64; Section::COUNT],
    bits: [Vec<u64>; Section::COUNT],
    unused: [u64; Section::COUNT],
}

impl UsedTerms {
    /// The terms with numbers from `start` to `end` that quads of the layers use, or that the delta inserts. None if that is all of
    /// them. Calls `note` with all ids of the layers, by the order that they begin.
    pub fn find(
        layers: &[(&OpenSegment, Sign)],
        delta: &Delta,
        start: [u64; Section::COUNT],
        end: [u64; Section::COUNT],
        throttle: &Throttle,
        note: &mut dyn FnMut(Order, u64),
    ) -> Result<Option<Self>, BuildError> {
        let counts: [u64; Section::COUNT] = std::array::from_fn(|at| end[at].saturating_sub(start[at]));
        let bits = counts.map(|terms| vec![0; usize::try_from(terms.div_ceil(64)).unwrap_or(usize::MAX)]);
        let mut used = Self { start, bits, unused: counts };
        for order in FIRST_COLUMN_ORDERS {
            visit_first_ids(layers, order, throttle, &mut |id, rows| {
                note(order, id);
                if rows > 0 {
                    used.mark(id);
                }
            })?;
        }
        for change_set in delta.change_sets() {
            change_set.inserts.rows(Order::Spog).as_flattened().iter().for_each(|id| used.mark(*id));
        }
        Ok((used.unused() > 0).then_some(used))
    }

    fn mark(&mut self, bits: u64) {
        let id = ValueId::from_bits(bits);
        let Some(section) = id.kind().and_then(Kind::section).filter(|_| !is_delta_term(id)) else { return };
        let section = section as usize;
        let Some(place) = id.payload().checked_sub(self.start[section]) else { return };
        if let Some(word) = self.bits[section].get_mut((place / 64) as usize) {
            let bit = 1 << (place % 64);
            self.unused[section] -= u64::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// Whether a term is used.
    pub fn contains(&self, section: Section, number: u64) -> bool {
        let place = number.wrapping_sub(self.start[section as usize]);
        let word = self.bits[section as usize].get((place / 64) as usize);
        word.is_some_and(|word| (word >> (place % 64)) & 1 == 1)
    }

    /// How many terms are not.
    pub fn unused(&self) -> u64 {
        self.unused.iter().sum()
    }

    /// Bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        self.bits.iter().map(|words| words.len() * size_of::<u64>()).sum()
    }
}
