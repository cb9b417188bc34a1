//! Terms of a statement while it is read: places in the text or in the scratch string, which may still grow.

use crate::raw::{RawQuad, RawTerm};
use oxrdf::BaseDirection;

/// Marks places in the scratch string.
const SCRATCH: u32 = 1 << 31;

/// A part of the text, or of the scratch string.
#[derive(Clone, Copy)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// A part of the text. Texts and scratch strings are shorter than 2 GiB, or their spans are empty.
    #[inline]
    pub(super) fn text(start: usize, end: usize) -> Self {
        match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) if end < SCRATCH => Self { start, end },
            _ => Self { start: 0, end: 0 },
        }
    }

    /// A part of the scratch string.
    #[inline]
    pub(super) fn scratch(start: usize, end: usize) -> Self {
        let span = Self::text(start, end);
        Self { start: span.start | SCRATCH, end: span.end }
    }

    #[inline]
    pub(super) fn get<'a>(self, texts: Texts<'a>) -> &'a str {
        let (text, start) = if self.start & SCRATCH == 0 {
            (texts.text, self.start)
        } else {
            (texts.scratch, self.start & !SCRATCH)
        };
        let part = text.get(start as usize..self.end as usize);
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

/// A term.
#[derive(Clone, Copy)]
pub(super) enum Item {
    Iri(Span),
    Blank(Span),
    String(Span),
    LangString { lexical: Span, language: Span, direction: Option<BaseDirection> },
    Typed { lexical: Span, datatype: Span },
}

impl Item {
    #[inline]
    fn resolve<'a>(self, texts: Texts<'a>) -> RawTerm<'a> {
        match self {
            Self::Iri(iri) => RawTerm::Iri(iri.get(texts)),
            Self::Blank(label) => RawTerm::Blank(label.get(texts)),
            Self::String(lexical) => RawTerm::String(lexical.get(texts)),
            Self::Typed { lexical, datatype } => {
                RawTerm::Typed { lexical: lexical.get(texts), datatype: datatype.get(texts) }
            }
            Self::LangString { lexical, language, direction } => {
                RawTerm::LangString { lexical: lexical.get(texts), language: language.get(texts), direction }
            }
        }
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
