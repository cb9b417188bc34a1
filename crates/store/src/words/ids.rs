//! Ids of a segment's texts, and their numbers there.

use super::texts_of;
use crate::version::OpenSegment;
use lode_rdf::ValueId;
use lode_rdf::value_id::Section;

/// Ids of a segment's texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids {
    texts: [u64; 2],
    bases: [u64; 2],
}

const SECTIONS: [Section; 2] = [Section::String, Section::LangString];

impl Ids {
    pub(super) fn new(segment: &OpenSegment) -> Self {
        Self { texts: texts_of(segment), bases: SECTIONS.map(|section| segment.base(section)) }
    }

    /// How many there are.
    pub(super) fn texts(&self) -> u64 {
        self.texts.iter().sum()
    }

    pub(super) fn of(&self, text: u64) -> ValueId {
        let ([strings, _], [of_strings, of_tagged]) = (self.texts, self.bases);
        match text.checked_sub(strings) {
            Some(rank) => ValueId::new(Section::LangString.kind(), of_tagged + rank),
            None => ValueId::new(Section::String.kind(), of_strings + text),
        }
    }

    /// The text of an id; none where it is of something else.
    pub(super) fn text(&self, id: ValueId) -> Option<u64> {
        let at = SECTIONS.iter().position(|section| Some(section.kind()) == id.kind())?;
        let rank = id.payload().checked_sub(*self.bases.get(at)?)?;
        let before = if at == 0 { 0 } else { self.texts[0] };
        (rank < *self.texts.get(at)?).then_some(before + rank)
    }
}
