//! Counts the sets in one pass over the subject order, in bounded memory. The outcome depends on the quads alone.

use super::{CLASSES_MAX, CharacteristicSets, OTHERS_MAX, Other, SET_PREDICATES_MAX, SETS_MAX, StarSet};
use crate::error::PackedError;
use crate::order::Order;
use crate::permutation::Permutation;
use lode_base::cancel::Cancelled;
use lode_base::checksum::checksum;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Sets while gathering; then the rarer half is given up (after Manku and Motwani, "Approximate Frequency Counts over Data Streams",
/// VLDB 2002: a set that comes again begins anew, so only rare ones are counted too low).
const GATHERED_MAX: usize = if cfg!(test) { 64 } else { 10_000 };
/// Predicates of all sets while gathering.
const GATHERED_PREDICATES_MAX: usize = 1 << 19;
/// Predicates of one subject: further ones are not counted.
const SUBJECT_PREDICATES_MAX: usize = 1_024;
/// Classes of one set.
const SET_CLASSES_MAX: usize = 4_096;

/// Counts the sets of a segment from its `Spog` permutation. `class_predicate`: the predicate whose objects are classes, if it is known. `check` is asked for
/// each block.
///
/// # Errors
///
/// [`PackedError::Cancelled`] where `check` says so; else as [`Permutation::for_each_block`].
pub fn gather(
    spog: &Permutation,
    class_predicate: Option<u64>,
    check: &dyn Fn() -> Result<(), Cancelled>,
) -> Result<CharacteristicSets, PackedError> {
    assert_eq!(spog.order(), Order::Spog, "sets are gathered subject by subject");
    let mut gatherer = Gatherer { class_predicate: class_predicate.unwrap_or(0), ..Gatherer::default() };
    let columns = if class_predicate.is_some() { 0b0111 } else { 0b0011 };
    spog.for_each_block(columns, &mut |[subjects, predicates, objects, _]| {
        check()?;
        gatherer.add(subjects, predicates, objects);
        Ok(())
    })?;
    Ok(gatherer.finish())
}

/// Counts the sets of quads in memory, given as three columns sorted by subject, predicate and object.
pub fn gather_columns(
    class_predicate: Option<u64>,
    [subjects, predicates, objects]: [&[u64]; 3],
) -> CharacteristicSets {
    let mut gatherer = Gatherer { class_predicate: class_predicate.unwrap_or(0), ..Gatherer::default() };
    gatherer.add(subjects, predicates, objects);
    gatherer.finish()
}

/// Hashes slices of ids.
#[derive(Default)]
struct SetHasher(u64);

impl Hasher for SetHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(32) ^ checksum(bytes);
    }

    fn write_usize(&mut self, value: usize) {
        self.0 = value as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A set while it is counted.
#[derive(Default)]
struct Gathered {
    predicates: Box<[u64]>,
    subjects: u64,
    quads: Vec<u64>,
    classes: Option<BTreeMap<u64, u64>>,
}

#[derive(Default)]
struct Gatherer {
    class_predicate: u64,
    /// The subject whose rows come (0: none came yet), its predicates with their quads, and its classes.
    subject: u64,
    predicates: Vec<u64>,
    quads: Vec<u64>,
    classes: Vec<u64>,
    sets: Vec<Gathered>,
    by_predicates: HashMap<Box<[u64]>, usize, BuildHasherDefault<SetHasher>>,
    /// The set of the subject before: neighbours are most often alike.
    last: usize,
    set_predicates: usize,
    set_classes: usize,
    others: u64,
    other_predicates: BTreeMap<u64, Other>,
}

impl Gatherer {
    /// Adds rows that follow those before. `objects` may be empty where classes are not known.
    fn add(&mut self, subjects: &[u64], predicates: &[u64], objects: &[u64]) {
        let mut predicate = self.predicates.last().copied();
        for (row, (s, p)) in subjects.iter().zip(predicates).enumerate() {
            if *s != self.subject {
                self.end_subject();
                (self.subject, predicate) = (*s, None);
            }
            if predicate == Some(*p) {
                self.quads.last_mut().into_iter().for_each(|quads| *quads += 1);
            } else if self.predicates.len() < SUBJECT_PREDICATES_MAX {
                predicate = Some(*p);
                self.predicates.push(*p);
                self.quads.push(1);
            }
            if *p == self.class_predicate
                && let Some(class) = objects.get(row)
                && self.classes.last() != Some(class)
            {
                self.classes.push(*class);
            }
        }
    }

    fn end_subject(&mut self) {
        if self.predicates.is_empty() {
            return;
        }
        let same = self.sets.get(self.last).is_some_and(|set| *set.predicates == *self.predicates);
        if !same {
            self.last = match self.by_predicates.get(self.predicates.as_slice()) {
                Some(number) => *number,
                None => self.add_set(),
            };
        }
        if let Some(set) = self.sets.get_mut(self.last) {
            set.subjects += 1;
            set.quads.iter_mut().zip(&self.quads).for_each(|(sum, quads)| *sum += quads);
            let before = set.classes.as_ref().map_or(0, BTreeMap::len);
            if let Some(counts) = &mut set.classes {
                self.classes.iter().for_each(|class| *counts.entry(*class).or_default() += 1);
                self.set_classes += counts.len() - before;
            }
            let classes = set.classes.as_ref().map_or(0, BTreeMap::len);
            if classes > SET_CLASSES_MAX || self.set_classes > CLASSES_MAX {
                set.classes = None;
                self.set_classes -= classes;
            }
        }
        self.predicates.clear();
        self.quads.clear();
        self.classes.clear();
    }

    /// Begins the set of the current subject; its number.
    fn add_set(&mut self) -> usize {
        let full = self.sets.len() >= GATHERED_MAX
            || self.set_predicates + self.predicates.len() > GATHERED_PREDICATES_MAX;
        if full {
            self.keep(GATHERED_MAX / 2, GATHERED_PREDICATES_MAX / 2);
        }
        let predicates: Box<[u64]> = self.predicates.as_slice().into();
        self.set_predicates += predicates.len();
        self.by_predicates.insert(predicates.clone(), self.sets.len());
        let classes = predicates.contains(&self.class_predicate).then(BTreeMap::new);
        self.sets.push(Gathered { quads: vec![0; predicates.len()], predicates, subjects: 0, classes });
        self.sets.len() - 1
    }

    /// Keeps the sets with the most subjects, and counts the subjects of the rest together.
    fn keep(&mut self, sets_max: usize, predicates_max: usize) {
        let mut sets = std::mem::take(&mut self.sets);
        sets.sort_unstable_by(|a, b| {
            b.subjects.cmp(&a.subjects).then_with(|| a.predicates.cmp(&b.predicates))
        });
        let mut room = predicates_max;
        let fits = |set: &&Gathered| {
            let left = room.checked_sub(set.predicates.len());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let kept = sets.iter().take(sets_max).take_while(fits).count();
        for set in sets.drain(kept..) {
            self.others += set.subjects;
            for (predicate, quads) in set.predicates.iter().zip(&set.quads) {
                let has_room = self.other_predicates.len() < OTHERS_MAX;
                if has_room || self.other_predicates.contains_key(predicate) {
                    let other = self.other_predicates.entry(*predicate).or_default();
                    other.subjects += set.subjects;
                    other.quads += quads;
                }
            }
        }
        self.by_predicates =
            sets.iter().enumerate().map(|(number, set)| (set.predicates.clone(), number)).collect();
        self.set_predicates = sets.iter().map(|set| set.predicates.len()).sum();
        self.set_classes = sets.iter().filter_map(|set| set.classes.as_ref()).map(BTreeMap::len).sum();
        self.sets = sets;
    }

    fn finish(mut self) -> CharacteristicSets {
        self.end_subject();
        self.keep(SETS_MAX, SET_PREDICATES_MAX);
        let sets = self.sets.into_iter().map(|set| StarSet {
            subjects: set.subjects,
            predicates: set.predicates.iter().copied().zip(set.quads).collect(),
            classes: set.classes.map(|counts| counts.into_iter().collect()),
        });
        CharacteristicSets::new(self.class_predicate, sets.collect(), self.others, self.other_predicates)
    }
}
