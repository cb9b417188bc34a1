//! Terms by their class and their number there, while they have no codes yet.

use super::class::Class;
use lode_rdf::ValueId;
use lode_rdf::value_id::PAYLOAD_BITS;

/// A term by its class and its number there, before all classes have been counted; an inline value that is in no list by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TermIndex(pub u64);

impl TermIndex {
    /// The term `number` of a class.
    pub fn new(class: Class, number: u64) -> Self {
        Self((class as u64) << PAYLOAD_BITS | number)
    }

    /// The term of an id; `inline` are all inline values, sorted.
    pub fn of_id(id: u64, inline: &[u64]) -> Self {
        let class = Class::of_id(id);
        let number = match class {
            Class::Inline => inline.binary_search(&id).map_or(0, |at| at as u64),
            _ => ValueId::from_bits(id).payload(),
        };
        Self::new(class, number)
    }

    /// The inline value of this rank.
    pub fn rank(rank: u64) -> Self {
        Self::new(Class::Inline, rank)
    }

    /// The inline value of this id. The bytes of kinds are beyond those of classes.
    pub fn value(id: u64) -> Self {
        debug_assert!(id >> PAYLOAD_BITS >= Class::COUNT as u64);
        Self(id)
    }

    /// The class.
    pub fn class(self) -> Class {
        match self.0 >> PAYLOAD_BITS {
            class if class < Class::COUNT as u64 => Class::from_bits(class),
            _ => Class::Inline,
        }
    }

    /// The number.
    pub fn number(self) -> u64 {
        self.0 & ((1 << PAYLOAD_BITS) - 1)
    }

    /// The id of an inline value, of which the first are in a list.
    pub fn inline_id(self, listed: &[u64]) -> u64 {
        match self.0 >> PAYLOAD_BITS {
            class if class == Class::Inline as u64 => {
                listed.get(self.number() as usize).copied().unwrap_or_default()
            }
            _ => self.0,
        }
    }
}
