//! What the sets say of one star: of patterns with the same subject.

use super::{CharacteristicSets, StarSet};
use std::collections::BTreeMap;

/// A pattern of a star.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StarMember {
    /// Its predicate.
    pub predicate: u64,
    /// Its object, if that is a constant.
    pub object: Option<u64>,
}

/// Subjects that have the same ones of a star's members.
#[derive(Debug, Clone, Default, PartialEq)]
struct StarGroup {
    subjects: f64,
    /// Quads of each member; 0 where they do not have it.
    quads: Vec<f64>,
}

/// How many subjects have which members of a star. Answers for any subset of the members, given as a set of bits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Star {
    members: usize,
    /// By the set of members that the subjects have.
    groups: BTreeMap<u32, StarGroup>,
    /// Subjects of which it is not known which members they have together, once for each segment: how many there are, and for
    /// each member subjects and quads.
    others: Vec<(f64, Vec<(f64, f64)>)>,
}

impl Star {
    /// Members that a star can have.
    pub const MEMBERS_MAX: usize = 12;

    /// A star of so many members, of which nothing is known yet.
    pub fn new(members: usize) -> Self {
        assert!(members <= Self::MEMBERS_MAX, "a star of {members} members");
        Self { members, ..Self::default() }
    }

    /// Subjects that have all of these members (a bit for each).
    pub fn subjects(&self, wanted: u32) -> f64 {
        self.rows_where(wanted, 0)
    }

    /// Solutions of the join of these members (a bit for each): for each subject the product of how often it has each.
    pub fn rows(&self, wanted: u32) -> f64 {
        self.rows_where(wanted, wanted)
    }

    /// The same, over those subjects only that have all members of `has`.
    pub fn rows_where(&self, has: u32, wanted: u32) -> f64 {
        let has = has | wanted;
        let of = |bits: u32| (0..self.members).filter(move |member| bits & (1 << member) != 0);
        let mut rows = 0.0;
        for (_, group) in self.groups.iter().filter(|(members, _)| *members & has == has) {
            let each = |member| group.quads.get(member).copied().unwrap_or(0.0) / group.subjects;
            rows += group.subjects * of(wanted).map(each).product::<f64>();
        }
        for (others, members) in &self.others {
            let counts = |member| members.get(member).copied().unwrap_or_default();
            let mut parts: Vec<f64> = of(has).map(|member| counts(member).0 / others).collect();
            // Predicates come together more often than not: each further one says less.
            parts.sort_by(f64::total_cmp);
            let part = (0..).zip(parts).map(|(i, part)| part.powf(0.5_f64.powi(i))).product::<f64>();
            let each = |(subjects, quads)| if subjects > 0.0 { quads / subjects } else { 0.0 };
            rows += others * part * of(wanted).map(|member| each(counts(member))).product::<f64>();
        }
        rows
    }

    fn add(&mut self, has: u32, subjects: f64, quads: impl Iterator<Item = f64>) {
        // Subjects with one member alone matter too: they are what the others are compared with.
        if has == 0 || subjects <= 0.0 {
            return;
        }
        let members = self.members;
        let empty = || StarGroup { subjects: 0.0, quads: vec![0.0; members] };
        let group = self.groups.entry(has).or_insert_with(empty);
        group.subjects += subjects;
        group.quads.iter_mut().zip(quads).for_each(|(sum, quads)| *sum += quads);
    }
}

impl CharacteristicSets {
    /// Adds to `star` what the segment's sets say of its members.
    pub fn add_to(&self, members: &[StarMember], star: &mut Star) {
        let mut quads_of_sets = vec![0.0; self.sets.len() * members.len()];
        for (at, member) in members.iter().enumerate() {
            for (set, quads) in self.by_predicate.get(&member.predicate).into_iter().flatten() {
                let count = quads_of_sets.get_mut(*set as usize * members.len() + at);
                count.into_iter().for_each(|count| *count = *quads as f64);
            }
        }
        for (set, quads) in self.sets.iter().zip(quads_of_sets.chunks(members.len().max(1))) {
            self.add_set(set, quads, members, star);
        }
        if self.others > 0 {
            let of = |member: &StarMember| {
                let other = self.other_predicates.get(&member.predicate).copied().unwrap_or_default();
                (other.subjects as f64, other.quads as f64)
            };
            star.others.push((self.others as f64, members.iter().map(of).collect()));
        }
    }

    /// Adds the subjects of a set, those of the classes asked for and those that are not apart. Classes are taken to lie inside one another.
    fn add_set(&self, set: &StarSet, quads: &[f64], members: &[StarMember], star: &mut Star) {
        let mut has: u32 = 0;
        for (at, _) in quads.iter().enumerate().filter(|(_, quads)| **quads > 0.0) {
            has |= 1 << at;
        }
        if has == 0 {
            return;
        }
        let subjects = set.subjects as f64;
        // Members that ask for a class, with its subjects, the largest class first.
        let mut classes: Vec<(f64, usize)> = Vec::new();
        for (at, member) in members.iter().enumerate() {
            if member.predicate == self.class_predicate
                && let (Some(class), Some(counts)) = (member.object, &set.classes)
            {
                let found = counts.binary_search_by_key(&class, |(id, _)| *id).ok();
                let count = found.and_then(|at| counts.get(at)).map_or(0, |(_, count)| *count);
                classes.push((count as f64, at));
            }
        }
        classes.sort_by(|a, b| b.0.total_cmp(&a.0));
        let is_class = |at: usize| classes.iter().any(|(_, member)| *member == at);
        let mut add = |has: u32, count: f64| {
            let of = |(at, quads): (usize, &f64)| match has & (1 << at) != 0 {
                true if is_class(at) => count,
                true => quads * count / subjects,
                false => 0.0,
            };
            star.add(has, count, quads.iter().enumerate().map(of));
        };
        let mut now = classes.iter().fold(has, |has, (_, at)| has & !(1 << at));
        let mut outside = subjects;
        for (count, at) in &classes {
            add(now, outside - count);
            outside = *count;
            now |= 1 << at;
        }
        add(now, outside);
    }
}
