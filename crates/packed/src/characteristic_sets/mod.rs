//! Which predicates the subjects of a segment have together: characteristic sets (Neumann and Moerkotte, "Characteristic Sets:
//! Accurate Cardinality Estimation for RDF Queries with Multiple Joins", ICDE 2011).
//!
//! The planner estimates by them how many subjects have all predicates of a *star*, patterns with the same subject. A star's rows are
//! far from what independent predicates would give: ratings are there together or not at all, no offer has a label. For each set
//! it is also known how many of its subjects are of which class (objects of `rdf:type`), the one constant that says what else a subject has.

mod codec;
mod gather;
mod star;

pub use gather::{gather, gather_columns};
pub use star::{Star, StarMember};

use std::collections::BTreeMap;

/// Sets that are kept; subjects with others are counted together.
pub const SETS_MAX: usize = 2_048;
/// Predicates of all sets that are kept, each counted once for each set.
const SET_PREDICATES_MAX: usize = 1 << 16;
/// Predicates that are counted for the subjects without a set of their own.
const OTHERS_MAX: usize = 1 << 16;
/// Classes of all sets, each counted once for each set.
const CLASSES_MAX: usize = 1 << 17;

/// Subjects that have the same predicates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct StarSet {
    /// How many there are.
    subjects: u64,
    /// Their predicates, ascending, each with the number of quads.
    predicates: Vec<(u64, u64)>,
    /// Their classes, ascending, each with its subjects; `None` where these were too many.
    classes: Option<Vec<(u64, u64)>>,
}

/// A predicate among subjects without a set of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Other {
    subjects: u64,
    quads: u64,
}

/// The characteristic sets of a segment. Ids are raw bits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CharacteristicSets {
    /// The predicate whose objects are classes; 0 where the segment's dictionary does not have it.
    class_predicate: u64,
    /// The sets with the most subjects.
    sets: Vec<StarSet>,
    /// Subjects with other sets.
    others: u64,
    /// Their predicates.
    other_predicates: BTreeMap<u64, Other>,
    /// For each predicate the sets that have it, with its number of quads there; follows from `sets`.
    by_predicate: BTreeMap<u64, Vec<(u32, u64)>>,
}

impl CharacteristicSets {
    fn new(
        class_predicate: u64,
        sets: Vec<StarSet>,
        others: u64,
        other_predicates: BTreeMap<u64, Other>,
    ) -> Self {
        let mut by_predicate: BTreeMap<u64, Vec<(u32, u64)>> = BTreeMap::new();
        for (number, set) in (0..).zip(&sets) {
            for (predicate, quads) in &set.predicates {
                by_predicate.entry(*predicate).or_default().push((number, *quads));
            }
        }
        Self { class_predicate, sets, others, other_predicates, by_predicate }
    }

    /// The predicate whose objects are counted as classes, if the segment's dictionary has it.
    pub fn class_predicate(&self) -> Option<u64> {
        (self.class_predicate != 0).then_some(self.class_predicate)
    }

    /// How many sets there are, those of [`CharacteristicSets::others`] aside.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether there are no sets.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Subjects whose sets are too rare to be kept.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Quads of a predicate, as far as they were counted.
    pub fn quads_of(&self, predicate: u64) -> u64 {
        let in_sets = self.by_predicate.get(&predicate).into_iter().flatten().map(|(_, quads)| quads);
        in_sets.sum::<u64>() + self.other_predicates.get(&predicate).map_or(0, |other| other.quads)
    }
}

#[cfg(test)]
mod tests;
