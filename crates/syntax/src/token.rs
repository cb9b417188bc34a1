//! What a text is made of.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A keyword, or the name of a function: letters, digits and `_`, without a colon.
    Word,
    /// `?name` or `$name`.
    Variable,
    /// `<...>`.
    Iri,
    /// `prefix:local`, `prefix:` or `:local`.
    Name,
    /// `_:label`.
    Blank,
    /// `@en`, `@en--ltr`.
    LanguageTag,
    /// Without a sign.
    Number,
    /// In any of the four kinds of quotes.
    String,
    /// Brackets, operators, punctuation.
    Mark,
    /// What can be nothing; it has been told of.
    Bad,
    /// The end of the text.
    End,
}

/// A piece of the text. White space and comments are what lies between two of them.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    start: u32,
    end: u32,
}

impl Token {
    /// A token of these bytes; texts are at most as long as [`crate::BYTES_MAX`].
    pub(crate) fn new(kind: Kind, start: usize, end: usize) -> Self {
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { kind, start: small(start), end: small(end) }
    }

    /// Where it begins, in bytes of the text.
    pub fn start(&self) -> usize {
        self.start as usize
    }

    /// Where it ends.
    pub fn end(&self) -> usize {
        self.end as usize
    }

    /// Its bytes.
    pub fn span(&self) -> Range<usize> {
        self.start()..self.end()
    }
}
