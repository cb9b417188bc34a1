//! The second phase: chooses the keys that bound the parts, so that these have about as many terms, and rows of subjects, each.

use super::context::TaskContext;
use super::read::ShardRuns;
use super::record::{Record, RecordReader};
use super::task::{Phase, Task};
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::segment_builder::Class;
use lode_rdf::value_id::Section;
use std::path::Path;

/// The file with them.
pub const FILE: &str = "bounds";

/// The keys that bound the parts, and what else is known of all shards together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PartBounds {
    /// Of each class the keys where the second part, the third and so on begin, ascending.
    keys: [Vec<Vec<u8>>; Class::COUNT],
    /// Runs of the shards before each.
    runs_before: Vec<u64>,
    /// Whether triple terms have blank nodes in them.
    pub has_open_triples: bool,
}

/// Chooses the bounds.
pub fn cut_parts(folder: &Path, context: &TaskContext<'_>) -> Result<(), LoadError> {
    let mut keys: [Vec<(Vec<u8>, u64)>; Class::COUNT] = Default::default();
    let (mut runs_before, mut runs, mut has_open_triples) = (Vec::new(), 0, false);
    for number in 0..context.plan.shards.len() {
        let shard = context.board.input(Task::new(Phase::Read, number))?;
        runs_before.push(runs);
        for run in ShardRuns::read(&shard, context)?.runs {
            context.cancel.check()?;
            runs += 1;
            has_open_triples |= !run.classes[Class::OpenTriple as usize].is_empty();
            for (keys, marks) in keys.iter_mut().zip(run.marks) {
                keys.extend(marks.into_iter().map(|mark| (mark.key, mark.weight)));
            }
        }
    }
    let mut record = Record::default();
    for keys in keys.map(|keys| choose(keys, context.plan.parts)) {
        record.number(keys.len() as u64);
        keys.iter().for_each(|key| record.bytes(key));
    }
    record.numbers(runs_before.into_iter());
    record.number(u64::from(has_open_triples));
    if has_open_triples {
        context.board.put_open_triples()?;
    }
    Ok(record.write(&**context.vfs(), &folder.join(FILE))?)
}

/// One key less than there are parts, between which what keys stand for is about as much.
fn choose(mut keys: Vec<(Vec<u8>, u64)>, parts: usize) -> Vec<Vec<u8>> {
    keys.sort_unstable();
    let total: u128 = keys.iter().map(|(_, weight)| u128::from(*weight)).sum();
    let (mut bounds, mut before) = (Vec::with_capacity(parts), 0_u128);
    for (key, weight) in &keys {
        while bounds.len() + 1 < parts && before * parts as u128 >= total * (bounds.len() + 1) as u128 {
            bounds.push(key.clone());
        }
        before += u128::from(*weight);
    }
    // Where there are fewer keys, the last parts have nothing.
    while bounds.len() + 1 < parts {
        bounds.push(keys.last().map_or_else(Vec::new, |(key, _)| behind(key)));
    }
    bounds
}

/// A key that is behind all that begin with this one as far as marks have them.
fn behind(key: &[u8]) -> Vec<u8> {
    let mut behind = key.to_vec();
    while let Some(last) = behind.pop() {
        if last < u8::MAX {
            behind.push(last + 1);
            return behind;
        }
    }
    behind
}

impl PartBounds {
    /// Those that were chosen.
    pub fn read(context: &TaskContext<'_>) -> Result<Self, StoreError> {
        let folder = context.board.input(Task::new(Phase::Cut, 0))?;
        let mut record = RecordReader::open(&**context.vfs(), &folder.join(FILE))?;
        let mut bounds = Self::default();
        for keys in &mut bounds.keys {
            for _ in 0..record.count()? {
                keys.push(record.bytes()?);
            }
        }
        bounds.runs_before = record.numbers()?;
        bounds.has_open_triples = record.number()? != 0;
        Ok(bounds)
    }

    /// Runs of the shards before one.
    pub fn runs_before(&self, shard: usize) -> usize {
        self.runs_before.get(shard).map_or(0, |runs| *runs as usize)
    }

    /// From where to where keys of a class are of a part; none where the class is not merged by parts.
    pub fn of(&self, part: usize, class: Class) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        if self.has_open_triples && class.section() == Some(Section::TripleTerm) {
            return None;
        }
        let keys = &self.keys[class as usize];
        let from = part.checked_sub(1).and_then(|before| keys.get(before)).cloned().unwrap_or_default();
        Some((from, keys.get(part).cloned()))
    }
}

#[cfg(test)]
mod tests {
    //! That parts are alike, and that no key is in none of them or in two.
    use super::*;

    #[test]
    fn parts_have_about_as_much_each() {
        let keys: Vec<_> = (0..100_u8).map(|key| (vec![key], 10)).collect();
        assert_eq!(choose(keys.clone(), 4), [vec![25], vec![50], vec![75]]);
        assert_eq!(choose(keys, 1), Vec::<Vec<u8>>::new());
        let skewed: Vec<_> = (0..10_u8).map(|key| (vec![key], if key == 3 { 1000 } else { 1 })).collect();
        assert_eq!(choose(skewed, 4), [vec![4], vec![4], vec![4]]);
    }

    #[test]
    fn bounds_never_descend() {
        for keys in 0..6_u8 {
            for parts in 1..9 {
                let chosen = choose((0..keys).map(|key| (vec![key], 1)).collect(), parts);
                assert_eq!(chosen.len(), parts - 1);
                assert!(chosen.is_sorted(), "{chosen:?}");
            }
        }
    }
}
