//! Errors of parsers: where, what, and what may help.

use super::limit::TOO_LONG_HINT;
use std::fmt;
use std::io;
use thiserror::Error;

/// Why a document could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The source could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The text breaks the syntax's rules.
    #[error("{0}")]
    Syntax(#[from] Box<SyntaxError>),
    /// The base IRI is none.
    #[error("the base IRI '{iri}' is not an absolute IRI: {message}")]
    BaseIri {
        /// What was given.
        iri: String,
        /// What is wrong with it.
        message: String,
    },
}

/// A place where a text breaks its syntax's rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
    /// The byte offset, from 0.
    pub offset: u64,
    /// Whether the place is only near the error, because the parser noticed it later.
    pub approximate: bool,
    /// What is wrong.
    pub message: String,
    /// The text in question, cut to one short line; may be empty.
    pub excerpt: String,
    /// What may help.
    pub hint: Option<&'static str>,
}

/// Characters of an excerpt.
const EXCERPT_CHARS_MAX: usize = 80;

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near = if self.approximate { "near " } else { "" };
        write!(f, "{near}line {}, column {}: {}", self.line, self.column, self.message)?;
        if !self.excerpt.is_empty() {
            write!(f, ", at `{}`", self.excerpt)?;
        }
        match self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SyntaxError {}

impl SyntaxError {
    /// Moves a place inside a part of a document to its place in the document.
    pub(crate) fn shift(&mut self, lines: u64, bytes: u64) {
        self.line += lines;
        self.offset += bytes;
    }
}

/// One short line of a text, for messages.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.trim_start().lines().next().unwrap_or_default();
    let mut short: String =
        line.chars().take(EXCERPT_CHARS_MAX).map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if line.chars().nth(EXCERPT_CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

/// Advice for messages that have a usual cause.
pub(crate) fn hint(message: &str, excerpt: &str) -> Option<&'static str> {
    const HINTS: [(&str, &str); 18] = [
        ("a statement has more than", TOO_LONG_HINT),
        (
            "No scheme found",
            "relative IRIs need a base IRI: --base IRI, or @base in the text; --lenient keeps them as they are",
        ),
        ("has not been declared", "declare it with PREFIX or @prefix"),
        (
            "Invalid IRI code point ' '",
            "a blank in an IRI is written %20; --lenient keeps such IRIs as they are",
        ),
        (
            "Invalid IRI percent encoding",
            "a percent sign in an IRI is written %25; --lenient keeps such IRIs as they are",
        ),
        ("Invalid IRI code point", "--lenient keeps such IRIs as they are"),
        ("valid rdf:ID", "--lenient keeps it as it is"),
        ("valid unicode character", "--lenient keeps it as it is"),
        ("valid hexadecimal", "--lenient keeps it as it is"),
        ("language tag", "--lenient keeps it as it is"),
        ("Line jumps are not allowed in string", "a line break in a string is written \\n"),
        ("Unexpected escape character", "a backslash is written \\\\; --lenient takes it so"),
        ("must be followed by a dot", "is a '.' missing, or is this another format?"),
        ("A dot is expected", "is a '.' missing before this?"),
        ("of a triple must be an IRI", "IRIs stand in <>, strings in double quotes"),
        ("is not a valid subject", "IRIs stand in <>, or begin with a prefix and a colon"),
        ("Invalid UTF-8", "RDF is UTF-8; a Latin-1 text becomes so with: iconv -f LATIN1 -t UTF-8"),
        ("Unexpected end", "the text ends inside a statement"),
    ];
    if excerpt.starts_with('\u{FEFF}') {
        return Some("the text begins with a byte order mark, which must go");
    }
    HINTS.iter().find(|(part, _)| message.contains(part)).map(|&(_, hint)| hint)
}

/// The same of an error at a place of a text: also where a language tag goes on as none may, which its parser takes for the next word.
pub(crate) fn hint_at(message: &str, excerpt: &str, text: &[u8], start: usize) -> Option<&'static str> {
    let (before, rest) = text.split_at_checked(start)?;
    let is_of_tag = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let tag = before.iter().rev().take_while(|byte| is_of_tag(byte)).count();
    let before_tag = before.get(..before.len() - tag)?;
    let is_tag = tag > 0 && (before_tag.ends_with(b"\"@") || before_tag.ends_with(b"'@"));
    if is_tag && rest.starts_with(b"_") {
        return Some("a language tag has '-' and no '_', such as en-US; --lenient keeps it as it is");
    }
    hint(message, excerpt)
}

/// Statements that are none.
#[derive(Debug)]
pub struct BadText<'a> {
    /// Their text.
    pub text: &'a [u8],
    /// What is wrong, with the place in the file.
    pub error: SyntaxError,
}

pub(super) fn base_error(iri: &str, message: &str) -> ParseError {
    ParseError::BaseIri { iri: iri.to_owned(), message: message.to_owned() }
}
