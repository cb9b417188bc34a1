//! Where a text has what a warning is of: the first such function, string, IRI or variable. The algebra that calls are found in has no places.

use super::shown::shown;
use crate::parse::vocabulary;
use lode_syntax::{Form, Token, TokenKind, unescaped};
use std::borrow::Cow;
use std::ops::Range;

/// What of a text a warning is of, as much of it as is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum About<'a> {
    /// A function that is called.
    Called(&'a str),
    /// A literal.
    Text(&'a str),
    /// An IRI that is an argument.
    Iri(&'a str),
    /// The name of a variable that is.
    Variable(&'a str),
}

/// A text, its tokens, and what its prefixes stand for.
pub(super) struct Places<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    prefixes: Vec<(&'t str, &'t str)>,
}

impl<'t> Places<'t> {
    pub fn of(text: &'t str, form: Form) -> Self {
        let tokens = lode_syntax::parse(text, form, vocabulary()).tree.tokens().to_vec();
        let mut places = Self { text, tokens, prefixes: Vec::new() };
        let written = |at: usize| places.written(at);
        let prefixes = (0..places.tokens.len()).filter(|at| written(*at).eq_ignore_ascii_case("PREFIX"));
        let declared =
            prefixes.filter_map(|at| Some((written(at + 1).strip_suffix(':')?, bare(written(at + 2)))));
        places.prefixes = declared.collect();
        places
    }

    fn written(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.span())).unwrap_or("")
    }

    /// The bytes of the first that it is.
    pub fn find(&self, about: About<'_>) -> Option<Range<usize>> {
        let mut all = (0..self.tokens.len()).filter(|at| self.is(*at, about)).peekable();
        // A string that stands elsewhere as well.
        let first = all.peek().copied();
        let found = all.find(|at| self.is_argument(*at)).or(first)?;
        self.tokens.get(found).map(|token| token.span())
    }

    fn is(&self, at: usize, about: About<'_>) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        let written = self.written(at);
        let is_called = self.written(at + 1) == "(";
        match (about, token.kind()) {
            (About::Called(iri), TokenKind::Iri | TokenKind::Name) => is_called && self.is_iri(written, iri),
            (About::Iri(iri), TokenKind::Iri | TokenKind::Name) => {
                !is_called && self.is_argument(at) && self.is_iri(written, iri)
            }
            // A boolean is a word.
            (About::Text(text), TokenKind::Number | TokenKind::Word) => {
                self.is_argument(at) && written == text
            }
            (About::Text(text), TokenKind::String) => {
                content(written).is_some_and(|content| *shown(&content) == *text)
            }
            (About::Variable(name), TokenKind::Variable) => {
                self.is_argument(at) && written.get(1..) == Some(name)
            }
            _ => false,
        }
    }

    /// Whether a token stands as an argument may: behind a bracket or a comma.
    fn is_argument(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| matches!(self.written(before), "(" | "," | "^^" | "-" | "+"))
    }

    fn is_iri(&self, written: &str, iri: &str) -> bool {
        let plain = match written.strip_prefix('<') {
            Some(_) => unescaped(bare(written)).map(|iri| shown(&iri)),
            None => written.split_once(':').and_then(|(prefix, local)| {
                let (_, start) = self.prefixes.iter().rev().find(|(name, _)| *name == prefix)?;
                Some(shown(&format!("{start}{local}")))
            }),
        };
        plain.is_some_and(|plain| *plain == *iri)
    }
}

/// An IRI without its brackets.
fn bare(iri: &str) -> &str {
    iri.trim_start_matches('<').trim_end_matches('>')
}

/// What a string without its quotes stands for.
fn content(written: &str) -> Option<Cow<'_, str>> {
    let quote = written.chars().next()?;
    let long = quote.to_string().repeat(3);
    let is_long = written.len() >= 6 && written.starts_with(&long);
    let quotes = if is_long { 3 } else { 1 };
    unescaped(written.get(quotes..written.len().checked_sub(quotes)?)?)
}
