//! The texts of a version that match a query best, by the indexes of its segments, so that few are read.

use super::coverage::TextScope;
use super::ids::Ids;
use super::limits::{Limits, is_damage};
use super::search::each_text;
use super::{texts_of, with_text};
use crate::error::StoreError;
use crate::snapshot::Snapshot;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_packed::PackedError;
use lode_rdf::ValueId;
use lode_text::analysis::Language;
use lode_text::index::Means;
use lode_text::{Matcher, Prepared};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Texts that are looked at for each row that is wanted, and at least: beyond that it is better to sort all.
const TRIES_PER_ROW: usize = 4;
const TRIES_MIN: usize = 4096;
/// Texts that are read together, at first and later.
const READ_AT_ONCE_MIN: usize = 32;
const READ_AT_ONCE_MAX: usize = 512;
/// Texts as good as the last one that are taken along, so that whoever sorts them has the choice.
const EQUALS_MAX: usize = 1024;

/// How many rows a text makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsOf {
    /// None.
    None,
    /// As many or more; 0 where nobody knows.
    AtLeast(u64),
}

/// The best texts of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestTexts {
    /// Their ids, ascending.
    pub ids: Vec<ValueId>,
    /// Whether all texts that are as good as the worst of them are among them.
    pub has_all_equals: bool,
}

/// A text, and how good it is: exactly, or at most.
#[derive(Debug, PartialEq)]
struct Candidate {
    score: f64,
    is_exact: bool,
    id: ValueId,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    /// The best is the greatest; of equals the one that was read last, so that it is known when the first of them is taken.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score);
        by_score.then(other.is_exact.cmp(&self.is_exact)).then(other.id.cmp(&self.id))
    }
}

impl BestTexts {
    fn sorted(mut self) -> Self {
        self.ids.sort_unstable();
        self
    }
}

/// The best so far.
struct Found {
    best: Vec<Candidate>,
    /// As many are looked at.
    tries: usize,
    /// Whether others were left out, none of them better.
    is_cut: bool,
    /// As many were found that are at least as good: what is worse is left out.
    floor: f64,
}

impl Found {
    fn extend(&mut self, more: impl IntoIterator<Item = Candidate>, limits: &Limits<'_>) {
        for candidate in more {
            if candidate.score < self.floor {
                self.is_cut = true;
                continue;
            }
            if self.best.len() >= self.tries.saturating_mul(2)
                && let Some(last) = self.tries.checked_sub(1)
            {
                let (_, last, _) = self.best.select_nth_unstable_by(last, |a, b| b.cmp(a));
                self.floor = last.score;
                self.best.truncate(self.tries);
                self.is_cut = true;
            }
            if self.best.len() == self.best.capacity() {
                let more = self.best.len().max(64);
                if !limits.hold(more * size_of::<Candidate>()) {
                    return;
                }
                self.best.reserve_exact(more);
            }
            self.best.push(candidate);
        }
    }
}

impl Snapshot {
    /// The texts in such quads that match a query best, as many as make `rows` rows by `rows_of`; none where the indexes are of no help, or it is better to look at all.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, or it was cancelled. A damaged index is none.
    pub fn best_texts(
        &self,
        query: &Prepared,
        scope: TextScope,
        rows: u64,
        rows_of: &mut dyn FnMut(ValueId) -> RowsOf,
        budget: &MemoryBudget,
        cancel: &CancelToken,
    ) -> Result<Option<BestTexts>, StoreError> {
        let Some(most) = self.texts_to_read().filter(|_| rows > 0) else { return Ok(None) };
        let limits = Limits::new(budget, cancel);
        let wanted = usize::try_from(rows).unwrap_or(usize::MAX);
        let tries = TRIES_MIN.max(wanted.saturating_mul(TRIES_PER_ROW));
        let mut found = Found { best: Vec::new(), tries, is_cut: false, floor: f64::NEG_INFINITY };
        for segment in self.version().segments.iter() {
            if texts_of(segment) == [0, 0] {
                continue;
            }
            let ranked = self.ranked(segment, query, &limits, &mut found);
            cancel.check()?;
            match ranked {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) if is_damage(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        let mut matcher = Matcher::new(query);
        self.each_new_text(&mut |id, section, key| {
            let score =
                with_text(section, key, |text, language| score(&mut matcher, text, language, &limits));
            found.extend(score.flatten().map(|score| Candidate { score, is_exact: true, id }), &limits);
        });
        cancel.check()?;
        let Some(uncovered) = self.uncovered(scope, most, &limits)? else {
            cancel.check()?;
            return Ok(None);
        };
        // An index that has come meanwhile may not have what was read without it.
        let before = found.best.len();
        found.best.retain(|candidate| uncovered.binary_search(&candidate.id).is_err());
        if found.is_cut && found.best.len() < before {
            // In their places others might be that were left out.
            return Ok(None);
        }
        self.each_text_of(&uncovered, &mut |id, text, language| {
            let score = score(&mut matcher, text, language, &limits);
            found.extend(score.map(|score| Candidate { score, is_exact: true, id }), &limits);
        })?;
        cancel.check()?;
        if !limits.goes_on() {
            return Ok(None);
        }
        self.best(query, found, rows, rows_of, &limits)
    }

    /// Takes the best until they make enough rows.
    fn best(
        &self,
        query: &Prepared,
        found: Found,
        rows: u64,
        rows_of: &mut dyn FnMut(ValueId) -> RowsOf,
        limits: &Limits<'_>,
    ) -> Result<Option<BestTexts>, StoreError> {
        let Found { best, mut tries, is_cut, .. } = found;
        let mut matcher = Matcher::new(query);
        let mut heap = BinaryHeap::from(best);
        let mut best = BestTexts { ids: Vec::new(), has_all_equals: true };
        let (mut made, mut worst, mut equals, mut at_once) = (0_u64, f64::INFINITY, 0, READ_AT_ONCE_MIN);
        loop {
            let Some(next) = heap.pop() else {
                // Whoever was left out is next.
                return Ok((!is_cut).then(|| best.sorted()));
            };
            if made >= rows && next.score < worst {
                break;
            }
            if tries == 0 {
                return Ok(None);
            }
            tries -= 1;
            if !next.is_exact {
                let mut ids = vec![next.id];
                // Those after it will be next, most of them. Texts that lie beside each other are read together.
                while ids.len() < at_once
                    && tries > 0
                    && let Some(other) = heap.peek().filter(|other| !other.is_exact)
                    && (made < rows || other.score >= worst)
                {
                    ids.push(other.id);
                    heap.pop();
                    tries -= 1;
                }
                at_once = (at_once * 2).min(READ_AT_ONCE_MAX);
                self.score_texts(&ids, &mut matcher, limits, &mut heap)?;
                continue;
            }
            let RowsOf::AtLeast(of_text) = rows_of(next.id) else { continue };
            if made >= rows {
                equals += 1;
                if equals > EQUALS_MAX {
                    best.has_all_equals = false;
                    break;
                }
            }
            made = made.saturating_add(of_text);
            worst = next.score;
            best.ids.push(next.id);
        }
        Ok(Some(best.sorted()))
    }

    /// Reads texts, and puts those that match back with their scores.
    fn score_texts(
        &self,
        ids: &[ValueId],
        matcher: &mut Matcher<'_>,
        limits: &Limits<'_>,
        heap: &mut BinaryHeap<Candidate>,
    ) -> Result<(), StoreError> {
        self.each_text_of(ids, &mut |id, text, language| {
            let score = score(matcher, text, language, limits);
            heap.extend(score.map(|score| Candidate { score, is_exact: true, id }));
        })?;
        limits.finish()
    }

    /// The texts of a segment with their scores; false where its index is of no help.
    fn ranked(
        &self,
        segment: &OpenSegment,
        query: &Prepared,
        limits: &Limits<'_>,
        found: &mut Found,
    ) -> Result<bool, PackedError> {
        let ids = Ids::new(segment);
        if segment.has_words() {
            let Some(words) = segment.words()? else { return Ok(false) };
            let done = query.ranked_in(&self.words(&words), limits, &mut |ranked| {
                let (score, is_exact) = (ranked.score, ranked.is_exact);
                found.extend([Candidate { score, is_exact, id: ids.of(ranked.text) }], limits);
            })?;
            return Ok(done && limits.goes_on());
        }
        let mut matcher = Matcher::new(query);
        each_text(segment, |number, section, key| {
            let score = with_text(section, key, |text, language| score(&mut matcher, text, language, limits));
            let id = ids.of(number);
            found.extend(score.flatten().map(|score| Candidate { score, is_exact: true, id }), limits);
            limits.goes_on()
        })?;
        Ok(limits.goes_on())
    }
}

/// The score of a text that matches.
fn score(matcher: &mut Matcher<'_>, text: &str, language: Language, limits: &Limits<'_>) -> Option<f64> {
    let is_match = matcher.is_match(text, language, |work| limits.spend(work))?;
    if is_match { matcher.score(text, language, |work| limits.spend(work)) } else { None }
}
