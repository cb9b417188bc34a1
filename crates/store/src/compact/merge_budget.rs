//! Which of the newest segments can be merged at once within the memory that a compaction may take.
//!
//! Memory goes to the new numbers of terms, which grow with the terms, and to what is read side by side, which grows with the number of
//! segments. Both are estimated from the lines of the manifest, so that a compaction that would fail is not begun: many
//! segments are merged in rounds, and what is too large for its new numbers to fit is left as it is.

use crate::compact::orders::{BUFFERS, ROW_BYTES, SOURCE_ROWS_MIN};
use crate::manifest::{SegmentEntry, Sign};
use crate::segment_builder::working_bytes;
use lode_base::bitpack::width_of;
use lode_rdf::value_id::Section;

/// Bytes for the keys that are read ahead of one dictionary, at most,
const TERMS_BYTES_MAX: u64 = 320 << 10;
/// and of each term.
const TERM_BYTES: u64 = 48;
/// Rows of a block, and bytes that each takes in the block that a reader has open.
const BLOCK_ROWS: u64 = lode_packed::format::BLOCK_ROWS as u64;
const BLOCK_ROW_BYTES: u64 = 8;
/// Terms of a block of new numbers, and bytes that the block itself takes.
const NUMBERS: u64 = 128;
const NUMBERS_BYTES: u64 = 16;

/// The memory that merging segments may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeBudget {
    working_bytes: u64,
    threads: u64,
}

impl MergeBudget {
    /// That of a process that shall not exceed `memory_bytes`.
    pub fn new(memory_bytes: usize, threads: usize) -> Self {
        Self { working_bytes: working_bytes(memory_bytes) as u64, threads: threads.max(1) as u64 }
    }

    /// None: nothing is merged but what must be, as little at a time as can be.
    #[cfg(test)]
    pub fn none() -> Self {
        Self { working_bytes: 0, threads: 1 }
    }

    /// The smaller of two.
    pub fn min(self, other: Self) -> Self {
        Self { working_bytes: self.working_bytes.min(other.working_bytes), ..self }
    }

    /// So many `parts` of `all`.
    pub fn share(self, parts: u64, all: u64) -> Self {
        let bytes = u128::from(self.working_bytes) * u128::from(parts) / u128::from(all.max(1));
        Self { working_bytes: u64::try_from(bytes).unwrap_or(u64::MAX), ..self }
    }

    /// The first place from which on all segments can be merged at once.
    pub fn first_that_fits(&self, segments: &[SegmentEntry]) -> usize {
        let mut sizes = Sizes::default();
        let newest_first = segments.iter().enumerate().rev();
        let fitting = newest_first.map_while(|(place, entry)| {
            sizes.add(entry);
            let rest = segments.get(place..).unwrap_or_default();
            self.fits(&sizes, rest).then_some(place)
        });
        fitting.last().unwrap_or(segments.len())
    }

    /// The first place of what the next round of a compaction of all merges: as much as fits, but at least so much that
    /// there are fewer segments afterwards.
    pub fn next_round(&self, segments: &[SegmentEntry]) -> usize {
        let least = (0..segments.len()).rev().find(|from| makes_fewer(segments, *from)).unwrap_or(0);
        self.first_that_fits(segments).min(least)
    }

    fn fits(&self, sizes: &Sizes, segments: &[SegmentEntry]) -> bool {
        let numbers = sizes.numbers_bytes(segments);
        let in_memory = sizes.rows.saturating_mul((BUFFERS * size_of::<u128>()) as u64);
        let by_order = self.threads.saturating_mul(sizes.sources_bytes(segments));
        let rows = in_memory.min(by_order).saturating_add(numbers);
        numbers <= self.working_bytes / 2 && rows.max(sizes.readers_bytes) <= self.working_bytes
    }
}

/// Whether a merge of the segments from a place on leaves fewer.
fn makes_fewer(segments: &[SegmentEntry], from: usize) -> bool {
    let merged = segments.get(from..).unwrap_or_default();
    let deletes = from > 0 && merged.iter().any(|entry| entry.sign == Sign::Deletions);
    merged.len() > 1 + usize::from(deletes)
}

/// Sums over segments.
#[derive(Debug, Default)]
struct Sizes {
    rows: u64,
    terms: [u64; Section::COUNT],
    /// What is open to read dictionaries, or first columns, of all segments at once.
    readers_bytes: u64,
    has_deletions: bool,
}

impl Sizes {
    fn add(&mut self, entry: &SegmentEntry) {
        let rows = if entry.sign == Sign::TermsOnly { 0 } else { entry.quads };
        self.rows = self.rows.saturating_add(rows);
        self.terms.iter_mut().zip(entry.terms).for_each(|(sum, terms)| *sum = sum.saturating_add(terms));
        self.has_deletions |= entry.sign != Sign::Insertions;
        let keys = (terms_of(entry).saturating_mul(TERM_BYTES)).min(TERMS_BYTES_MAX);
        self.readers_bytes += keys.max(block_bytes(rows));
    }

    /// What the new numbers of all terms take, where dictionaries interleave at random.
    fn numbers_bytes(&self, segments: &[SegmentEntry]) -> u64 {
        let mut bytes = 0_u64;
        for entry in segments {
            for (terms, all) in entry.terms.into_iter().zip(self.terms).filter(|(terms, _)| *terms > 0) {
                let others = u128::from(all - terms) * u128::from(NUMBERS) / u128::from(terms);
                let width = u64::from(width_of(u64::try_from(others).unwrap_or(u64::MAX)));
                let packed = u128::from(terms) * u128::from(width) / 8;
                let blocks = u128::from(terms.div_ceil(NUMBERS)) * u128::from(NUMBERS_BYTES);
                bytes = bytes.saturating_add(u64::try_from(packed + blocks).unwrap_or(u64::MAX));
            }
        }
        let all: u64 = self.terms.iter().fold(0, |sum, terms| sum.saturating_add(*terms));
        // A bit for those that are used; where some are not, also one for those that are kept, and as much for counts of them.
        let bits = if self.has_deletions { 3 } else { 0 };
        bytes.saturating_add(all / 8 * bits)
    }

    /// What is read side by side of one order: each segment in as many pieces as there are dictionaries before it.
    fn sources_bytes(&self, segments: &[SegmentEntry]) -> u64 {
        let (mut bytes, mut dictionaries) = (0_u64, 2);
        for entry in segments.iter().filter(|entry| entry.sign != Sign::TermsOnly) {
            dictionaries += u64::from(terms_of(entry) > 0);
            let rows_min = SOURCE_ROWS_MIN as u64;
            let sources = dictionaries.min(entry.quads / rows_min + 1);
            let rows = rows_min.min(entry.quads);
            let of_source = rows * ROW_BYTES as u64 + block_bytes(entry.quads);
            bytes = bytes.saturating_add(sources.saturating_mul(of_source));
        }
        bytes
    }
}

fn terms_of(entry: &SegmentEntry) -> u64 {
    entry.terms.iter().fold(0, |sum, terms| sum.saturating_add(*terms))
}

fn block_bytes(rows: u64) -> u64 {
    rows.min(BLOCK_ROWS) * BLOCK_ROW_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(sign: Sign, quads: u64) -> SegmentEntry {
        let terms = [quads / 4, quads / 8, 0, 0, 0];
        SegmentEntry { number: 0, identity: 0, sign, quads, terms, fingerprint: 0 }
    }

    fn segments() -> impl Strategy<Value = Vec<SegmentEntry>> {
        let sign =
            prop_oneof![4 => Just(Sign::Insertions), 2 => Just(Sign::Deletions), 1 => Just(Sign::TermsOnly)];
        let quads = prop_oneof![1..10_u64, 1..100_000_u64, 1..10_000_000_000_u64];
        prop::collection::vec((sign, quads).prop_map(|(sign, quads)| entry(sign, quads)), 1..60)
    }

    /// What a merge leaves at most.
    fn merge(segments: &mut Vec<SegmentEntry>, from: usize) {
        let merged: Vec<SegmentEntry> = segments.drain(from..).collect();
        let sum = |sign| -> u64 { merged.iter().filter(|e| e.sign == sign).map(|e| e.quads).sum() };
        segments.push(entry(Sign::Insertions, sum(Sign::Insertions)));
        let deleted = sum(Sign::Deletions);
        segments.extend((from > 0 && deleted > 0).then(|| entry(Sign::Deletions, deleted)));
    }

    proptest! {
        #[test]
        fn rounds_come_to_an_end(mut segments in segments(), memory in 0_usize..(1 << 33), threads in 1_usize..9) {
            let budget = MergeBudget::new(memory, threads);
            loop {
                let (from, before) = (budget.next_round(&segments), segments.len());
                merge(&mut segments, from);
                if from == 0 {
                    break;
                }
                prop_assert!(segments.len() < before, "{before} segments from {from} on");
            }
            prop_assert_eq!(segments.len(), 1);
        }

        #[test]
        fn more_memory_merges_more(segments in segments(), memory in 0_usize..(1 << 32), more in 0_usize..(1 << 32)) {
            let [less, more] = [memory, memory + more].map(|memory| MergeBudget::new(memory, 2).first_that_fits(&segments));
            prop_assert!(more <= less);
        }
    }

    #[test]
    fn tiny_segments_fit_by_the_hundred_and_large_ones_do_not() {
        let smallest = MergeBudget::new(16 << 20, 2);
        let tiny = vec![entry(Sign::Insertions, 1); 1000];
        assert_eq!(smallest.first_that_fits(&tiny), 0);
        let mut with_base = vec![entry(Sign::Insertions, 10_000_000_000)];
        with_base.extend(tiny);
        assert_eq!(smallest.first_that_fits(&with_base), 1);
        assert_eq!(MergeBudget::new(64 << 30, 2).first_that_fits(&with_base), 0);
        // What does not fit is tried where nothing else is left to do.
        assert_eq!(smallest.next_round(&with_base), 1);
        assert_eq!(smallest.next_round(&with_base[..2]), 0);
        let large = vec![entry(Sign::Insertions, 1_000_000); 300];
        let from = MergeBudget::new(256 << 20, 2).next_round(&large);
        assert!((100..298).contains(&from), "{from}");
    }
}
