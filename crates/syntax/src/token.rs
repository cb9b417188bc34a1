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

/// A piece of the text, in eight bytes. White space and comments are what lies between two of them.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    start: u32,
    /// Its length, and in the lowest bits what it is.
    length: u32,
}

/// Bits of the kind.
const KIND_BITS: u32 = 4;

/// Tokens are shorter than this.
pub(crate) const TOKEN_BYTES_MAX: usize = (u32::MAX >> KIND_BITS) as usize;

/// All kinds, in their sequence.
const KINDS: [Kind; 11] = [
    Kind::Word,
    Kind::Variable,
    Kind::Iri,
    Kind::Name,
    Kind::Blank,
    Kind::LanguageTag,
    Kind::Number,
    Kind::String,
    Kind::Mark,
    Kind::Bad,
    Kind::End,
];

impl Token {
    /// A token of these bytes; texts are at most as long as [`crate::BYTES_MAX`], and tokens as [`TOKEN_BYTES_MAX`].
    pub(crate) fn new(kind: Kind, start: usize, end: usize) -> Self {
        let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let length = small((end - start).min(TOKEN_BYTES_MAX));
        Self { start: small(start), length: length << KIND_BITS | kind as u32 }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        let place = self.length & ((1 << KIND_BITS) - 1);
        KINDS.get(place as usize).copied().unwrap_or(Kind::Bad)
    }

    /// Where it begins, in bytes of the text.
    pub fn start(&self) -> usize {
        self.start as usize
    }

    /// Where it ends.
    pub fn end(&self) -> usize {
        self.start() + (self.length >> KIND_BITS) as usize
    }

    /// Its bytes.
    pub fn span(&self) -> Range<usize> {
        self.start()..self.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_kept() {
        for kind in KINDS {
            let token = Token::new(kind, 3, 7);
            assert_eq!((token.kind(), token.span()), (kind, 3..7));
        }
        assert_eq!(size_of::<Token>(), 8);
    }
}
