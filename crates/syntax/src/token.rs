//! What a text is made of.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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

/// A piece of the text.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}
