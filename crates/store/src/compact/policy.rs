//! Which segments to compact in the background: always the newest, from some place on.
//!
//! A suffix is merged when all behind its first segment has become comparable to that segment. So the sizes of what stays descend
//! geometrically: there are about as many segments as the logarithm of the database's size over that of a flush, and each quad is
//! written again only a few times for each of these. Where quads were deleted, segments of insertions and of deletions that
//! were written together count as one, because merging only them would bring the same two again.

use crate::compact::merge_budget::MergeBudget;
use crate::manifest::{SegmentEntry, Sign};

/// What comes behind a segment is merged with it once it is so many times as large.
const RATIO: u64 = 3;
/// What a segment weighs besides its quads and terms: many tiny ones are worth merging.
const SEGMENT_WEIGHT: u64 = 1000;
/// All is merged when so many percent of all insertions are deleted again.
const DELETED_PERCENT_MAX: u128 = 20;
/// Segments that a merge of some of the newest may leave.
const LEFT_MAX: usize = 2;

/// The place of the first segment to merge with all behind it, of those that the memory budget allows; `None` where all is well.
pub fn choose_within(budget: MergeBudget, segments: &[SegmentEntry], segments_max: usize) -> Option<usize> {
    choose(segments, segments_max, budget.first_that_fits(segments))
}

/// The place of the first segment to merge with all behind it; `None` where all is well. The first place that the budget allows is
/// `least`.
fn choose(segments: &[SegmentEntry], segments_max: usize, least: usize) -> Option<usize> {
    let quads = |sign| -> u128 {
        segments.iter().filter(|entry| entry.sign == sign).map(|entry| u128::from(entry.quads)).sum()
    };
    let gone = quads(Sign::Deletions) + quads(Sign::TermsOnly);
    if least == 0 && gone * 100 > quads(Sign::Insertions) * DELETED_PERCENT_MAX {
        return Some(0);
    }
    if segments.len() < 2 {
        return None;
    }
    let units = units(segments);
    let (_, units_but_last) = units.split_last()?;
    let mut behind: u64 = units.iter().map(|unit| unit.weight).sum();
    for unit in units_but_last {
        behind -= unit.weight;
        if unit.first >= least && behind.saturating_mul(RATIO) >= unit.weight {
            return Some(unit.first);
        }
    }
    let too_many = segments.len() > segments_max.max(LEFT_MAX);
    let is_enough = |first: usize| first + LEFT_MAX <= segments_max.max(LEFT_MAX);
    let unit = units_but_last.iter().rev().find(|unit| is_enough(unit.first));
    unit.filter(|unit| too_many && unit.first >= least).map(|unit| unit.first)
}

/// Segments that one merge may leave.
struct Unit {
    first: usize,
    weight: u64,
}

fn units(segments: &[SegmentEntry]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut before = None;
    for (first, entry) in segments.iter().enumerate() {
        let weight = SEGMENT_WEIGHT + entry.quads + entry.terms.iter().sum::<u64>();
        // The oldest segment can take in all deletions.
        let belongs = first > 1 && (before, entry.sign) == (Some(Sign::Insertions), Sign::Deletions);
        match units.last_mut().filter(|_| belongs) {
            Some(unit) => unit.weight += weight,
            None => units.push(Unit { first, weight }),
        }
        before = Some(entry.sign);
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(sign: Sign, quads: u64) -> SegmentEntry {
        let terms = [quads / 4, 0, 0, 0, 0];
        SegmentEntry { number: 0, identity: 0, sign, quads, terms, fingerprint: 0 }
    }

    /// What a merge leaves where nothing cancels out.
    fn merge(segments: &mut Vec<SegmentEntry>, from: usize) -> u64 {
        let merged: Vec<SegmentEntry> = segments.drain(from..).collect();
        let sum = |sign| -> u64 { merged.iter().filter(|e| e.sign == sign).map(|e| e.quads).sum() };
        let (inserted, deleted) = (sum(Sign::Insertions), sum(Sign::Deletions));
        if from == 0 {
            segments.push(entry(Sign::Insertions, inserted.saturating_sub(deleted)));
        } else {
            segments.push(entry(Sign::Insertions, inserted));
            segments.extend((deleted > 0).then(|| entry(Sign::Deletions, deleted)));
        }
        inserted + deleted
    }

    proptest! {
        #[test]
        fn it_comes_to_an_end_with_few_segments(
            base in 0_u64..1_000_000_000,
            flushes in prop::collection::vec((0_u64..300_000, 0_u64..300_000, 0_u8..4), 1..200),
        ) {
            let mut segments = vec![entry(Sign::Insertions, base)];
            let (mut written, mut given) = (0, base);
            for (inserted, deleted, kind) in flushes {
                if kind != 0 {
                    segments.push(entry(Sign::Insertions, inserted));
                    given += inserted;
                }
                if kind < 2 {
                    segments.push(entry(Sign::Deletions, deleted));
                    given += deleted;
                }
                let mut rounds = 0;
                while let Some(from) = choose(&segments, 8, 0) {
                    prop_assert!(from + 1 < segments.len());
                    written += merge(&mut segments, from);
                    rounds += 1;
                    prop_assert!(rounds < 10, "{segments:?}");
                }
                prop_assert!(segments.len() <= 8, "{segments:?}");
            }
            prop_assert!(written <= 40 * given + 10_000_000, "{written} for {given}");
        }
    }

    #[test]
    fn flushes_of_the_same_size_are_written_a_few_times() {
        let mut segments = vec![entry(Sign::Insertions, 100_000_000)];
        let (mut written, mut most) = (0, 0);
        for _ in 0..1000 {
            segments.push(entry(Sign::Insertions, 10_000));
            while let Some(from) = choose(&segments, 8, 0) {
                written += merge(&mut segments, from);
            }
            most = most.max(segments.len());
        }
        assert!(most <= 6, "{most}");
        assert!(written < 15 * 10_000_000, "{written}");
    }

    #[test]
    fn what_is_too_large_is_left_and_the_rest_is_written_a_few_times() {
        // As much as the newest of several old segments cannot be merged any more.
        let mut segments = vec![entry(Sign::Insertions, 5_000_000), entry(Sign::Insertions, 4_000_000)];
        let first = |segments: &[SegmentEntry]| {
            let mut sum = 0;
            let newest = segments.iter().rev().take_while(|entry| {
                sum += entry.quads;
                sum <= 4_000_000
            });
            segments.len() - newest.count()
        };
        let mut written = 0;
        for _ in 0..1000 {
            segments.push(entry(Sign::Insertions, 10_000));
            while let Some(from) = choose(&segments, 8, first(&segments)) {
                assert!(from >= first(&segments));
                written += merge(&mut segments, from);
            }
            assert!(segments.len() < 16, "{segments:?}");
        }
        assert!(written < 15 * 10_000_000, "{written}");
    }

    #[test]
    fn many_deletions_are_worth_a_full_merge() {
        let base = entry(Sign::Insertions, 1_000_000);
        assert_eq!(choose(&[base.clone(), entry(Sign::Deletions, 150_000)], 8, 0), None);
        let deleted = [base.clone(), entry(Sign::Deletions, 250_000)];
        assert_eq!(choose(&deleted, 8, 0), Some(0));
        assert_eq!(choose(&deleted, 8, 1), None);
        assert_eq!(choose(&[base], 8, 0), None);
        assert_eq!(choose(&[], 8, 0), None);
    }
}
