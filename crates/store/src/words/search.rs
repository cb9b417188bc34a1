//! The texts of a version that match a query, by the indexes of its segments; what has none is read, if that is little.

use super::coverage::TextScope;
use super::ids::Ids;
use super::limits::{Limits, is_damage};
use super::{texts_of, with_text};
use crate::error::StoreError;
use crate::snapshot::Snapshot;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_packed::PackedError;
use lode_rdf::value_id::Section;
use lode_rdf::{TermRef, ValueId};
use lode_text::analysis::Language;
use lode_text::index::{Means, TextSet};
use lode_text::{Matcher, Parts, Prepared};

/// So many texts of segments without an index, and as many that are in no dictionary yet, are read,
const READ_MAX: u64 = 1 << 14;
/// or this part of those that an index has, if that is more.
const READ_PART: u64 = 16;

/// Texts that match a query.
#[derive(Debug)]
pub struct TextHits {
    /// By segment.
    sets: Vec<SegmentHits>,
    /// Those that were read.
    read: Vec<ValueId>,
    /// Whether all of them match.
    pub is_exact: bool,
    /// What they take.
    pub memory: Reservation,
}

#[derive(Debug)]
struct SegmentHits {
    ids: Ids,
    set: TextSet,
}

impl TextHits {
    /// How many there are.
    pub fn len(&self) -> u64 {
        self.sets.iter().map(|hits| hits.set.len()).sum::<u64>() + self.read.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their ids, each once, in no order.
    pub fn iter(&self) -> impl Iterator<Item = ValueId> + '_ {
        let of_sets = self.sets.iter().flat_map(|hits| hits.set.iter().map(|text| hits.ids.of(text)));
        of_sets.chain(self.read.iter().copied())
    }
}

impl Snapshot {
    /// The texts in such quads that match a query, and perhaps others, by the indexes of words; none where there are no indexes, or they are of no help. What they take
    /// is reserved of `budget`.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, it was cancelled, or the budget is too small. A damaged index is none.
    pub fn text_hits(
        &self,
        query: &Prepared,
        scope: TextScope,
        budget: &MemoryBudget,
        cancel: &CancelToken,
    ) -> Result<Option<TextHits>, StoreError> {
        let Some(most) = self.texts_to_read() else { return Ok(None) };
        let limits = Limits::new(budget, cancel);
        let mut hits =
            TextHits { sets: Vec::new(), read: Vec::new(), is_exact: true, memory: budget.reserve_empty() };
        for segment in self.version().segments.iter() {
            if texts_of(segment) == [0, 0] {
                continue;
            }
            let found = self.indexed_hits(segment, query, &limits, &mut hits);
            limits.finish()?;
            match found {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) if is_damage(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        let mut matcher = Matcher::new(query);
        self.each_new_text(&mut |id, section, key| {
            let is_match = with_text(section, key, |text, language| {
                matcher.is_match(text, language, |work| limits.spend(work))
            });
            if is_match.flatten() == Some(true) && limits.hold(size_of::<ValueId>()) {
                hits.read.push(id);
            }
        });
        limits.finish()?;
        let uncovered = self.uncovered(scope, most, &limits)?;
        limits.finish()?;
        let Some(uncovered) = uncovered else { return Ok(None) };
        if !uncovered.is_empty() {
            self.each_text_of(&uncovered, &mut |id, text, language| {
                let is_match = matcher.is_match(text, language, |work| limits.spend(work));
                if is_match == Some(true) && limits.hold(size_of::<ValueId>()) {
                    hits.read.push(id);
                }
            })?;
            limits.finish()?;
            // An index that has come meanwhile may not have what was read without it.
            hits.read.sort_unstable();
            hits.read.dedup();
        }
        hits.memory = limits.room.into_inner();
        Ok(Some(hits))
    }

    /// How many texts more may be read, where there are indexes, and their segments leave little to be read. That costs less than to read anything.
    pub(super) fn texts_to_read(&self) -> Option<u64> {
        let (mut indexed, mut read) = (0, 0);
        for segment in self.version().segments.iter() {
            let texts: u64 = texts_of(segment).iter().sum();
            let has = texts > 0 && segment.has_words();
            *(if has { &mut indexed } else { &mut read }) += texts;
        }
        let most = READ_MAX.max(indexed / READ_PART);
        (indexed > 0 && read <= most && self.version().delta.terms_seen() <= most).then(|| most - read)
    }

    /// Whether there is an index of words, of any segment.
    pub fn has_words(&self) -> bool {
        self.version().segments.iter().any(OpenSegment::has_words)
    }

    /// Calls `found` with texts and their languages.
    pub(super) fn each_text_of(
        &self,
        ids: &[ValueId],
        found: &mut dyn FnMut(ValueId, &str, Language),
    ) -> Result<(), StoreError> {
        self.term_refs::<StoreError>(ids, &mut |at, term| {
            if let (Some(id), TermRef::Literal(literal)) = (ids.get(at), term) {
                found(*id, literal.value(), literal.language().map_or(Language::NONE, Language::of_tag));
            }
            Ok(())
        })
    }

    /// The texts in such quads that may have strings, ascending, and perhaps others, where otherwise so many would be read; none where there are no indexes, or it is better to read them.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, or it was cancelled. A damaged index is none.
    pub fn texts_with(
        &self,
        parts: &Parts,
        scope: TextScope,
        rows: u64,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<ValueId>>, StoreError> {
        if self.texts_to_read().is_none() {
            return Ok(None);
        }
        // No more than a bit for each text.
        let budget = MemoryBudget::unlimited();
        let limits = Limits::new(&budget, cancel);
        let mut found: Vec<ValueId> = Vec::new();
        for segment in self.version().segments.iter() {
            let (ids, texts) = (Ids::new(segment), texts_of(segment).iter().sum::<u64>());
            if !segment.has_words() {
                // Few: who tests them reads them.
                found.extend((0..texts).map(|text| ids.of(text)));
                continue;
            }
            let indexed = match segment.words() {
                Ok(Some(words)) => parts.texts_in(&self.words(&words), rows, &limits),
                Ok(None) => return Ok(None),
                Err(error) => Err(error),
            };
            limits.finish()?;
            match indexed {
                Ok(Some(set)) => found.extend(set.iter().map(|text| ids.of(text))),
                Ok(None) => return Ok(None),
                Err(error) if is_damage(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            if found.len() as u64 > rows / 2 {
                return Ok(None);
            }
        }
        self.each_new_text(&mut |id, _, _| found.push(id));
        let Some(uncovered) = self.uncovered(scope, rows / 2, &limits)? else {
            limits.finish()?;
            return Ok(None);
        };
        found.extend_from_slice(&uncovered);
        found.sort_unstable();
        found.dedup();
        Ok((found.len() as u64 <= rows / 2).then_some(found))
    }

    /// Calls `found` with the texts that are in no dictionary yet.
    pub(super) fn each_new_text(&self, found: &mut dyn FnMut(ValueId, Section, &[u8])) {
        self.version().delta.each_term(&mut |id, section, key| {
            if matches!(section, Section::String | Section::LangString) {
                found(id, section, key);
            }
        });
    }

    /// The hits of a segment; false where its index is of no help.
    fn indexed_hits(
        &self,
        segment: &OpenSegment,
        query: &Prepared,
        limits: &Limits<'_>,
        hits: &mut TextHits,
    ) -> Result<bool, PackedError> {
        let ids = Ids::new(segment);
        if segment.has_words() {
            // It may have gone just now.
            let Some(words) = segment.words()? else { return Ok(false) };
            let Some(found) = query.texts_in(&self.words(&words), limits)? else { return Ok(false) };
            hits.is_exact &= found.is_exact;
            hits.sets.push(SegmentHits { ids, set: found.set });
            return Ok(true);
        }
        let mut matcher = Matcher::new(query);
        each_text(segment, |number, section, key| {
            let is_match = with_text(section, key, |text, language| {
                matcher.is_match(text, language, |work| limits.spend(work))
            });
            if is_match.flatten() == Some(true) && limits.hold(size_of::<ValueId>()) {
                hits.read.push(ids.of(number));
            }
            limits.goes_on()
        })?;
        Ok(limits.goes_on())
    }
}

/// Calls `found` with each text of a segment, by its number, until it says no.
pub(super) fn each_text(
    segment: &OpenSegment,
    mut found: impl FnMut(u64, Section, &[u8]) -> bool,
) -> Result<(), PackedError> {
    let Some(dictionary) = segment.dictionary() else { return Ok(()) };
    let mut number = 0;
    for section in [Section::String, Section::LangString] {
        let mut keys = dictionary.iter(section);
        while let Some(key) = keys.next()? {
            if !found(number, section, key) {
                return Ok(());
            }
            number += 1;
        }
    }
    Ok(())
}
