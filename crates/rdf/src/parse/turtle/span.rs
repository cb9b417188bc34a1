//! Terms of a statement while it is read: places in the text or in the scratch string, which may still grow.
//!
//! They are numbers, so that terms pass from function to function in registers: as structures in memory they cost a fifth of
//! all time.

use crate::raw::{RawQuad, RawTerm};
use oxrdf::BaseDirection;
use std::num::NonZeroU64;

/// A part of the text, or of the scratch string: from the highest bit, whether it is of the scratch string, 31 bits of its
/// start, 31 of its length, and a one.
#[derive(Clone, Copy)]
pub(super) struct Span(NonZeroU64);

const SCRATCH: u64 = 1 << 63;
const BITS: u32 = 31;

impl Span {
    /// A part of the text. Texts and scratch strings are shorter than 2 GiB; beyond, spans are empty.
    #[inline]
    pub(super) fn text(start: usize, end: usize) -> Self {
        let (start, length) = (start as u64, end.wrapping_sub(start) as u64);
        debug_assert!((start | length) >> BITS == 0, "texts are short");
        let value = if (start | length) >> BITS == 0 { start << 32 | length << 1 } else { 0 };
        Self(NonZeroU64::MIN | value)
    }

    /// A part of the scratch string.
    #[inline]
    pub(super) fn scratch(start: usize, end: usize) -> Self {
        Self(Self::text(start, end).0 | SCRATCH)
    }

    #[inline]
    pub(super) fn get<'a>(self, texts: Texts<'a>) -> &'a str {
        let value = self.0.get();
        let text = if value & SCRATCH == 0 { texts.text } else { texts.scratch };
        let start = ((value & !SCRATCH) >> 32) as usize;
        let length = (value as u32 >> 1) as usize;
        let part = text.get(start..start + length);
        debug_assert!(part.is_some(), "spans are whole characters of their text");
        part.unwrap_or_default()
    }
}

/// What spans are parts of.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub text: &'a str,
    pub scratch: &'a str,
}

/// A term: its text, and either what it is or, with the lowest bit set, the span of its datatype or language, of whose length the
/// highest bits say which.
#[derive(Clone, Copy)]
pub(super) struct Item {
    text: Span,
    kind: u64,
}

const IRI: u64 = 0;
const BLANK: u64 = 2;
const STRING: u64 = 4;
/// Bits of the length of a datatype or language.
const SHORT_BITS: u32 = 28;
const TYPED: u64 = 0;
const LANGUAGE: u64 = 1;
const LANGUAGE_LTR: u64 = 2;
const LANGUAGE_RTL: u64 = 3;

impl Item {
    #[inline]
    pub(super) fn iri(iri: Span) -> Self {
        Self { text: iri, kind: IRI }
    }

    #[inline]
    pub(super) fn blank(label: Span) -> Self {
        Self { text: label, kind: BLANK }
    }

    #[inline]
    pub(super) fn string(lexical: Span) -> Self {
        Self { text: lexical, kind: STRING }
    }

    /// `None`: the datatype's IRI is longer than there is room for.
    #[inline]
    pub(super) fn typed(lexical: Span, datatype: Span) -> Option<Self> {
        Self::literal(lexical, datatype, TYPED)
    }

    pub(super) fn lang_string(
        lexical: Span,
        language: Span,
        direction: Option<BaseDirection>,
    ) -> Option<Self> {
        let kind = match direction {
            None => LANGUAGE,
            Some(BaseDirection::Ltr) => LANGUAGE_LTR,
            Some(BaseDirection::Rtl) => LANGUAGE_RTL,
        };
        Self::literal(lexical, language, kind)
    }

    #[inline]
    fn literal(lexical: Span, other: Span, kind: u64) -> Option<Self> {
        let other = other.0.get();
        let is_short = (other as u32) >> (SHORT_BITS + 1) == 0;
        is_short.then_some(Self { text: lexical, kind: other | kind << (SHORT_BITS + 1) })
    }

    #[inline]
    pub(super) fn resolve<'a>(self, texts: Texts<'a>) -> RawTerm<'a> {
        let text = self.text.get(texts);
        let other = match self.kind {
            IRI => return RawTerm::Iri(text),
            BLANK => return RawTerm::Blank(text),
            STRING => return RawTerm::String(text),
            other => other,
        };
        let kind = (other as u32 >> (SHORT_BITS + 1)) as u64;
        let span = NonZeroU64::MIN | (other & !(3 << (SHORT_BITS + 1)));
        let other = Span(span).get(texts);
        let direction = match kind {
            TYPED => return RawTerm::Typed { lexical: text, datatype: other },
            LANGUAGE => None,
            LANGUAGE_LTR => Some(BaseDirection::Ltr),
            _ => Some(BaseDirection::Rtl),
        };
        RawTerm::LangString { lexical: text, language: other, direction }
    }
}

/// A triple; its graph is the block's.
#[derive(Clone, Copy)]
pub(super) struct SpanTriple {
    pub subject: Item,
    pub predicate: Span,
    pub object: Item,
}

impl SpanTriple {
    #[inline]
    pub(super) fn resolve<'a>(self, texts: Texts<'a>, graph: Option<RawTerm<'a>>) -> RawQuad<'a> {
        RawQuad {
            subject: self.subject.resolve(texts),
            predicate: self.predicate.get(texts),
            object: self.object.resolve(texts),
            graph,
        }
    }
}
