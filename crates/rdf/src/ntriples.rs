//! A fast scanner for lines of N-Triples and N-Quads.
//!
//! It takes what nearly all lines are made of and gives slices of the line. Whatever it does not know (wrong lines,
//! triple terms, rare characters in labels, blanks before `^^`) it leaves to the general parser, which then decides; so
//! it may be strict where that is simpler, but it must never accept what the general parser refuses, nor read it otherwise.

use crate::raw::{RawQuad, RawTerm};
use memchr::{memchr, memchr3};
use oxiri::Iri;
use oxrdf::BaseDirection;
use std::borrow::Cow;

#[cfg(test)]
mod tests;

const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";
const RDF_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const RDF_DIR_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// What a line held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Blanks or a comment.
    Empty,
    /// One statement.
    Quad(RawQuad<'a>),
}

/// Reads a line (without its `\n`). `None`: the general parser must decide.
#[inline]
pub(crate) fn scan_line(line: &str, with_graphs: bool) -> Option<Line<'_>> {
    let mut cursor = Cursor { line, at: 0 };
    match cursor.skip_blanks() {
        None => return Some(Line::Empty),
        Some(b'\r' | b'#') => return cursor.rest_is_empty().then_some(Line::Empty),
        Some(_) => {}
    }
    let subject = cursor.node()?;
    cursor.skip_blanks();
    let predicate = cursor.iri()?;
    cursor.skip_blanks();
    let object = cursor.object()?;
    let mut graph = None;
    if cursor.skip_blanks() != Some(b'.') {
        if !with_graphs {
            return None;
        }
        graph = Some(cursor.node()?);
        cursor.skip_blanks();
    }
    cursor.expect(b'.')?;
    cursor.skip_blanks();
    let quad = RawQuad { subject, predicate: Cow::Borrowed(predicate), object, graph };
    cursor.rest_is_empty().then_some(Line::Quad(quad))
}

/// How many terms a statement's line has, if it is one of these formats.
pub(crate) fn count_line_terms(line: &str) -> Option<usize> {
    match scan_line(line, true)? {
        Line::Quad(quad) => Some(if quad.graph.is_some() { 4 } else { 3 }),
        Line::Empty => None,
    }
}

struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.line.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.line.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Skips blanks and tabs; what follows.
    #[inline]
    fn skip_blanks(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Whether only a carriage return or a comment is left. A carriage return elsewhere would end the line early.
    #[inline]
    fn rest_is_empty(&self) -> bool {
        match self.rest() {
            [] | [b'\r'] => true,
            [b'#', comment @ ..] => memchr(b'\r', comment).is_none_or(|at| at + 1 == comment.len()),
            _ => false,
        }
    }

    #[inline]
    fn node(&mut self) -> Option<RawTerm<'a>> {
        match self.peek()? {
            b'<' => Some(RawTerm::Iri(Cow::Borrowed(self.iri()?))),
            b'_' => Some(RawTerm::Blank(Cow::Borrowed(self.blank_label()?))),
            _ => None,
        }
    }

    #[inline]
    fn object(&mut self) -> Option<RawTerm<'a>> {
        if self.peek()? == b'"' { self.literal() } else { self.node() }
    }

    #[inline]
    fn iri(&mut self) -> Option<&'a str> {
        self.expect(b'<')?;
        let end = memchr(b'>', self.rest())?;
        let iri = self.line.get(self.at..self.at + end)?;
        self.at += end + 1;
        is_valid_iri(iri).then_some(iri)
    }

    #[inline]
    fn blank_label(&mut self) -> Option<&'a str> {
        let bytes = self.rest().strip_prefix(b"_:")?;
        if !matches!(bytes.first()?, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') {
            return None;
        }
        let is_label =
            |byte: &u8| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.');
        let mut end = bytes.iter().position(|byte| !is_label(byte)).unwrap_or(bytes.len());
        // Labels with other letters are for the general parser.
        if bytes.get(end).is_some_and(|byte| !byte.is_ascii()) {
            return None;
        }
        // Dots at the end are not part of a label.
        while end > 0 && bytes.get(end - 1) == Some(&b'.') {
            end -= 1;
        }
        let from = self.at + 2;
        self.at = from + end;
        self.line.get(from..from + end)
    }

    #[inline]
    fn literal(&mut self) -> Option<RawTerm<'a>> {
        let lexical = self.quoted()?;
        match self.peek() {
            Some(b'^') => {
                self.at += 1;
                self.expect(b'^')?;
                self.typed(lexical)
            }
            Some(b'@') => {
                self.at += 1;
                self.lang_string(lexical)
            }
            _ => Some(RawTerm::String(lexical)),
        }
    }

    #[inline]
    fn typed(&mut self, lexical: Cow<'a, str>) -> Option<RawTerm<'a>> {
        match self.iri()? {
            XSD_STRING => Some(RawTerm::String(lexical)),
            RDF_LANG_STRING | RDF_DIR_LANG_STRING => None,
            datatype => Some(RawTerm::Typed { lexical, datatype: Cow::Borrowed(datatype) }),
        }
    }

    fn lang_string(&mut self, lexical: Cow<'a, str>) -> Option<RawTerm<'a>> {
        let bytes = self.rest();
        let end = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')?;
        let tag = self.line.get(self.at..self.at + end)?;
        self.at += end;
        let (language, direction) = match tag.split_once("--") {
            None => (tag, None),
            Some((language, "ltr")) => (language, Some(BaseDirection::Ltr)),
            Some((language, "rtl")) => (language, Some(BaseDirection::Rtl)),
            Some(_) => return None,
        };
        if !is_common_language(language) {
            return None;
        }
        let language = if language.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(language.to_ascii_lowercase())
        } else {
            Cow::Borrowed(language)
        };
        Some(RawTerm::LangString { lexical, language, direction })
    }

    /// The text between quotes, and past the closing one.
    #[inline]
    fn quoted(&mut self) -> Option<Cow<'a, str>> {
        self.expect(b'"')?;
        let end = memchr3(b'"', b'\\', b'\r', self.rest())?;
        let head = self.line.get(self.at..self.at + end)?;
        self.at += end;
        match self.peek()? {
            b'"' => {
                self.at += 1;
                Some(Cow::Borrowed(head))
            }
            b'\\' => self.escaped(head).map(Cow::Owned),
            _ => None,
        }
    }

    /// A text with escapes, from the first of them.
    fn escaped(&mut self, head: &str) -> Option<String> {
        let mut text = String::with_capacity(head.len() + 64);
        text.push_str(head);
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(text);
                }
                b'\\' => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                b'\r' => return None,
                _ => {
                    let end = memchr3(b'"', b'\\', b'\r', self.rest())?;
                    text.push_str(self.line.get(self.at..self.at + end)?);
                    self.at += end;
                }
            }
        }
    }

    /// The character of an escape, past its backslash.
    fn escape(&mut self) -> Option<char> {
        let kind = self.peek()?;
        self.at += 1;
        Some(match kind {
            b't' => '\t',
            b'b' => '\u{8}',
            b'n' => '\n',
            b'r' => '\r',
            b'f' => '\u{C}',
            b'"' => '"',
            b'\'' => '\'',
            b'\\' => '\\',
            b'u' => self.hex(4)?,
            b'U' => self.hex(8)?,
            _ => return None,
        })
    }

    fn hex(&mut self, digits: usize) -> Option<char> {
        let text = self.rest().get(..digits)?;
        let mut code = 0_u32;
        for &byte in text {
            code = code.checked_mul(16)? + char::from(byte).to_digit(16)?;
        }
        self.at += digits;
        char::from_u32(code)
    }
}

/// A language of two or three letters, perhaps with a script and a region. Other tags are for the general parser.
#[inline]
fn is_common_language(tag: &str) -> bool {
    let letters = |part: &[u8]| part.iter().all(u8::is_ascii_alphabetic);
    let mut parts = tag.as_bytes().split(|&byte| byte == b'-');
    let language_is_common = parts.next().is_some_and(|part| matches!(part.len(), 2 | 3) && letters(part));
    let Some(mut part) = parts.next() else { return language_is_common };
    if part.len() == 4 && letters(part) {
        match parts.next() {
            None => return language_is_common,
            Some(next) => part = next,
        }
    }
    language_is_common && part.len() == 2 && letters(part) && parts.next().is_none()
}

const PLAIN: u8 = 0;
const HASH: u8 = 1;
const SLOW: u8 = 2;

/// What each byte means in an IRI after its scheme: allowed anywhere, allowed once, or a matter for the full check.
static IRI_CLASSES: [u8; 256] = {
    let mut classes = [SLOW; 256];
    let mut at = 0;
    while at < 128 {
        let byte = at as u8;
        if byte.is_ascii_alphanumeric() {
            classes[at] = PLAIN;
        }
        at += 1;
    }
    let plain = b"-._~!$&'()*+,;=/?";
    let mut at = 0;
    while at < plain.len() {
        classes[plain[at] as usize] = PLAIN;
        at += 1;
    }
    classes[b'#' as usize] = HASH;
    classes
};

/// Whether this is an absolute IRI: by a table for plain web addresses, by the library for all else.
///
/// After `http://` the table allows only bytes that are valid in host, path, query and fragment alike. A colon or `@`
/// may separate a port or user, so they go the long way, as do percent signs and everything beyond ASCII.
#[inline]
pub(crate) fn is_valid_iri(iri: &str) -> bool {
    let bytes = iri.as_bytes();
    let Some(rest) = bytes.strip_prefix(b"http://").or_else(|| bytes.strip_prefix(b"https://")) else {
        return Iri::parse(iri).is_ok();
    };
    let mut seen = 0;
    for &byte in rest {
        seen |= IRI_CLASSES[usize::from(byte)];
    }
    match seen {
        PLAIN => true,
        HASH => memchr(b'#', rest)
            .is_some_and(|at| memchr(b'#', rest.get(at + 1..).unwrap_or_default()).is_none()),
        _ => Iri::parse(iri).is_ok(),
    }
}
