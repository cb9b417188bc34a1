//! The texts of a version that match a query, by the indexes of its segments; what has none is read, if that is little.

use super::build::with_text;
use super::texts_of;
use crate::error::StoreError;
use crate::snapshot::Snapshot;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_packed::PackedError;
use lode_rdf::ValueId;
use lode_rdf::value_id::Section;
use lode_text::{Matcher, Prepared};
use std::cell::Cell;

/// So many texts of segments without an index, and as many that are in no dictionary yet, are read,
const READ_MAX: u64 = 1 << 14;
/// or this part of those that an index has, if that is more.
const READ_PART: u64 = 16;
/// Entries of indexes that are looked at, at most.
const ENTRIES_MAX: u64 = 1 << 19;
/// Work between two looks at the cancel token.
const WORK_UNCHECKED: usize = 1 << 18;

/// Texts that match a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextHits {
    /// Their ids, ascending: all that match.
    pub ids: Vec<ValueId>,
    /// Whether all of them match.
    pub is_exact: bool,
}

impl Snapshot {
    /// The texts that match a query, and perhaps others, by the indexes of words; none where there are no indexes, or they are of no help.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, or it was cancelled. A damaged index is none.
    pub fn text_hits(&self, query: &Prepared, cancel: &CancelToken) -> Result<Option<TextHits>, StoreError> {
        let spending = Spending { cancel, work: Cell::new(0) };
        let mut hits = TextHits { ids: Vec::new(), is_exact: true };
        let (mut indexed, mut read) = (0, 0);
        // Whether there is an index at all costs less than to read anything.
        for segment in self.version().segments.iter() {
            let texts: u64 = texts_of(segment).iter().sum();
            let has = texts > 0 && segment.has_words();
            *(if has { &mut indexed } else { &mut read }) += texts;
        }
        let delta = &self.version().delta;
        let most = READ_MAX.max(indexed / READ_PART);
        if indexed == 0 || read > most || delta.terms_seen() > most {
            return Ok(None);
        }
        for segment in self.version().segments.iter() {
            if texts_of(segment) == [0, 0] {
                continue;
            }
            match self.indexed_hits(segment, query, &spending, &mut hits) {
                Ok(true) => {}
                Ok(false) => return cancel.check().map(|()| None).map_err(StoreError::from),
                Err(PackedError::Corruption { .. } | PackedError::Version { .. }) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        let mut matcher = Matcher::new(query);
        let mut is_stopped = false;
        delta.each_term(&mut |id, section, key| {
            let is_text = matches!(section, Section::String | Section::LangString);
            if is_stopped || !is_text {
                return;
            }
            let is_match = with_text(section, key, |text, language| {
                matcher.is_match(text, language, |work| spending.spend(work))
            });
            match is_match {
                Some(Some(true)) => hits.ids.push(id),
                Some(None) => is_stopped = true,
                _ => {}
            }
        });
        cancel.check()?;
        hits.ids.sort_unstable();
        Ok(Some(hits))
    }

    /// The hits of a segment; false where its index is of no help.
    fn indexed_hits(
        &self,
        segment: &OpenSegment,
        query: &Prepared,
        spending: &Spending<'_>,
        hits: &mut TextHits,
    ) -> Result<bool, PackedError> {
        let [strings, _] = texts_of(segment);
        let id = |number: u64| {
            let (section, rank) = match number.checked_sub(strings) {
                Some(rank) => (Section::LangString, rank),
                None => (Section::String, number),
            };
            ValueId::new(section.kind(), segment.base(section) + rank)
        };
        let spend = |work| spending.spend(work);
        if segment.has_words() {
            // It may have gone just now.
            let Some(words) = segment.words()? else { return Ok(false) };
            let Some(found) = query.texts_in(&self.words(&words), ENTRIES_MAX, &spend)? else {
                return Ok(false);
            };
            hits.is_exact &= found.is_exact;
            hits.ids.extend(found.texts.into_iter().map(id));
            return Ok(true);
        }
        let Some(dictionary) = segment.dictionary() else { return Ok(true) };
        let mut matcher = Matcher::new(query);
        let mut number = 0;
        for section in [Section::String, Section::LangString] {
            let mut keys = dictionary.iter(section);
            while let Some(key) = keys.next()? {
                let is_match =
                    with_text(section, key, |text, language| matcher.is_match(text, language, spend));
                match is_match.flatten() {
                    Some(true) => hits.ids.push(id(number)),
                    None if spending.cancel.check().is_err() => return Ok(false),
                    _ => {}
                }
                number += 1;
            }
        }
        Ok(true)
    }
}

struct Spending<'c> {
    cancel: &'c CancelToken,
    work: Cell<usize>,
}

impl Spending<'_> {
    fn spend(&self, work: usize) -> Option<()> {
        let all = self.work.get().saturating_add(work);
        self.work.set(all);
        if all < WORK_UNCHECKED {
            return Some(());
        }
        self.work.set(0);
        self.cancel.check().ok()
    }
}
