//! A fast scanner for lines of N-Triples and N-Quads.
//!
//! It takes what nearly all lines are made of and gives slices of the line. Whatever it does not know (wrong lines,
//! triple terms, rare characters in labels, blanks before `^^`) it leaves to the general parser, which then decides; so
//! it may be strict where that is simpler, but it must never accept what the general parser refuses, nor read it otherwise.

use crate::inline;
use crate::mistake::{Mistake, can_be_kept, can_be_language, is_language, surrogate_pair};
use crate::raw::{RawQuad, RawTerm};
use memchr::{memchr, memchr3};
use oxiri::Iri;
use oxrdf::BaseDirection;
use std::ops::Range;

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

/// Reads a line (without its `\n`). `None`: the general parser must decide. Texts with escapes are decoded into `scratch`.
#[inline]
pub(crate) fn scan_line<'a, 't: 'a>(
    line: &'t str,
    with_graphs: bool,
    known: &mut KnownIris<'t>,
    scratch: &'a mut String,
) -> Option<Line<'a>> {
    scan(Cursor { line, at: 0, known, mistakes: None }, with_graphs, scratch)
}

/// A mistake, and the part of the line that it is.
pub(crate) type MistakeAt = (Mistake, Range<usize>);

/// Like [`scan_line`] for a line without escapes in IRIs ([`decode_iris`]), and keeps what can be kept.
#[cold]
pub(crate) fn scan_line_leniently<'a, 't: 'a>(
    line: &'t str,
    with_graphs: bool,
    scratch: &'a mut String,
    mistakes: &mut Vec<MistakeAt>,
) -> Option<Line<'a>> {
    let known = &mut KnownIris::new();
    scan(Cursor { line, at: 0, known, mistakes: Some(mistakes) }, with_graphs, scratch)
}

#[inline]
fn scan<'a, 't: 'a>(
    mut cursor: Cursor<'t, '_>,
    with_graphs: bool,
    scratch: &'a mut String,
) -> Option<Line<'a>> {
    let line = cursor.line;
    match cursor.skip_blanks() {
        None => return Some(Line::Empty),
        Some(b'\r' | b'#') => return cursor.rest_is_empty().then_some(Line::Empty),
        Some(_) => {}
    }
    let subject = cursor.node()?;
    cursor.skip_blanks();
    let predicate = cursor.iri()?;
    cursor.skip_blanks();
    let object = cursor.object(scratch)?;
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
    let object = object.resolve(line, scratch)?;
    cursor.rest_is_empty().then_some(Line::Quad(RawQuad { subject, predicate, object, graph }))
}

/// How many terms a statement's line has, if it is one of these formats.
pub(crate) fn count_line_terms(line: &str) -> Option<usize> {
    match scan_line(line, true, &mut KnownIris::new(), &mut String::new())? {
        Line::Quad(quad) => Some(if quad.graph.is_some() { 4 } else { 3 }),
        Line::Empty => None,
    }
}

/// A text: a part of the line, or of the scratch string if it had to be decoded.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    decoded: bool,
}

impl Span {
    #[inline]
    fn text<'a>(self, line: &'a str, scratch: &'a str) -> Option<&'a str> {
        if self.decoded { scratch } else { line }.get(self.start..self.end)
    }
}

/// An object while the scratch string may still grow.
enum Object<'a> {
    Term(RawTerm<'a>),
    String(Span),
    LangString { lexical: Span, language: Span, direction: Option<BaseDirection> },
    Typed { lexical: Span, datatype: &'a str },
}

impl<'a> Object<'a> {
    #[inline]
    fn resolve(self, line: &'a str, scratch: &'a str) -> Option<RawTerm<'a>> {
        Some(match self {
            Self::Term(term) => term,
            Self::String(lexical) => RawTerm::String(lexical.text(line, scratch)?),
            Self::Typed { lexical, datatype } => {
                RawTerm::Typed { lexical: lexical.text(line, scratch)?, datatype }
            }
            Self::LangString { lexical, language, direction } => RawTerm::LangString {
                lexical: lexical.text(line, scratch)?,
                language: language.text(line, scratch)?,
                direction,
            },
        })
    }
}

struct Cursor<'a, 'k> {
    line: &'a str,
    at: usize,
    known: &'k mut KnownIris<'a>,
    /// Takes what is kept although it is wrong; without, nothing wrong is.
    mistakes: Option<&'k mut Vec<MistakeAt>>,
}

impl<'a> Cursor<'a, '_> {
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
            b'<' => Some(RawTerm::Iri(self.iri()?)),
            b'_' => Some(RawTerm::Blank(self.blank_label()?)),
            _ => None,
        }
    }

    #[inline]
    fn object(&mut self, scratch: &mut String) -> Option<Object<'a>> {
        if self.peek()? == b'"' { self.literal(scratch) } else { self.node().map(Object::Term) }
    }

    /// What stands between angle brackets, unchecked.
    #[inline]
    fn bracketed(&mut self) -> Option<&'a str> {
        self.expect(b'<')?;
        let end = memchr(b'>', self.rest())?;
        let text = self.line.get(self.at..self.at + end)?;
        self.at += end + 1;
        Some(text)
    }

    #[inline]
    fn iri(&mut self) -> Option<&'a str> {
        let iri = self.bracketed()?;
        if self.known.is_valid(iri) { Some(iri) } else { self.invalid_iri(iri) }
    }

    /// An IRI that is none, from where it ends.
    #[cold]
    fn invalid_iri(&mut self, iri: &'a str) -> Option<&'a str> {
        let end = self.at - 1;
        let mistakes = self.mistakes.as_mut().filter(|_| can_be_kept(iri))?;
        mistakes.push((Mistake::of_iri(iri), end - iri.len()..end));
        Some(iri)
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
    fn literal(&mut self, scratch: &mut String) -> Option<Object<'a>> {
        scratch.clear();
        let lexical = self.quoted(scratch)?;
        match self.peek() {
            Some(b'^') => {
                self.at += 1;
                self.expect(b'^')?;
                self.typed(lexical)
            }
            Some(b'@') => {
                self.at += 1;
                self.lang_string(lexical, scratch)
            }
            _ => Some(Object::String(lexical)),
        }
    }

    #[inline]
    fn typed(&mut self, lexical: Span) -> Option<Object<'a>> {
        let datatype = self.bracketed()?;
        // The common ones need no check.
        if inline::datatype_kind(datatype).is_some() {
            return Some(Object::Typed { lexical, datatype });
        }
        match datatype {
            XSD_STRING => Some(Object::String(lexical)),
            RDF_LANG_STRING | RDF_DIR_LANG_STRING => None,
            _ if self.known.is_valid(datatype) => Some(Object::Typed { lexical, datatype }),
            _ => self.invalid_iri(datatype).map(|datatype| Object::Typed { lexical, datatype }),
        }
    }

    fn lang_string(&mut self, lexical: Span, scratch: &mut String) -> Option<Object<'a>> {
        let bytes = self.rest();
        let end = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')?;
        let from = self.at;
        let tag = self.line.get(from..from + end)?;
        self.at += end;
        let (language, direction) = match common_language(tag) {
            Some(language) if self.mistakes.is_none() => language,
            _ => self.odd_language(from)?,
        };
        let mut span = Span { start: from, end: from + language.len(), decoded: false };
        if language.bytes().any(|byte| byte.is_ascii_uppercase()) {
            let start = scratch.len();
            scratch.extend(language.chars().map(|c| c.to_ascii_lowercase()));
            span = Span { start, end: scratch.len(), decoded: true };
        }
        Some(Object::LangString { lexical, language: span, direction })
    }

    /// A language that is not a common one, or none.
    #[cold]
    fn odd_language(&mut self, from: usize) -> Option<(&'a str, Option<BaseDirection>)> {
        let mistakes = self.mistakes.as_mut()?;
        let text = self.line.get(from..)?;
        let tag = text.get(..language_length(text))?;
        self.at = from + tag.len();
        if let Some(language) = common_language(tag) {
            return Some(language);
        }
        if !is_language(tag) {
            mistakes.push((Mistake::Language, from..self.at));
        }
        can_be_language(tag).then_some((tag, None))
    }

    /// The text between quotes, and past the closing one.
    #[inline]
    fn quoted(&mut self, scratch: &mut String) -> Option<Span> {
        self.expect(b'"')?;
        let start = self.at;
        let end = start + memchr3(b'"', b'\\', b'\r', self.rest())?;
        self.at = end;
        match self.peek()? {
            b'"' => {
                self.at += 1;
                Some(Span { start, end, decoded: false })
            }
            b'\\' => {
                scratch.push_str(self.line.get(start..end)?);
                self.escaped(scratch)
            }
            _ => None,
        }
    }

    /// Decodes a text with escapes, from the first of them.
    fn escaped(&mut self, scratch: &mut String) -> Option<Span> {
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(Span { start: 0, end: scratch.len(), decoded: true });
                }
                b'\\' => {
                    let start = self.at;
                    self.at += 1;
                    let c = self.escape();
                    scratch.push(if c.is_some() { c } else { self.invalid_escape(start) }?);
                }
                b'\r' => return None,
                _ => {
                    let end = memchr3(b'"', b'\\', b'\r', self.rest())?;
                    scratch.push_str(self.line.get(self.at..self.at + end)?);
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

    /// What an escape at a place is kept as: its backslash, or a character in two halves.
    #[cold]
    fn invalid_escape(&mut self, start: usize) -> Option<char> {
        let mistakes = self.mistakes.as_mut()?;
        let pair = surrogate_pair(self.line.as_bytes().get(start + 1..)?);
        let (c, length) = pair.unwrap_or(('\\', 0));
        self.at = start + 1 + length;
        let shown = self.line.get(start..).and_then(|text| text.char_indices().nth(2));
        let end = shown.map_or(self.line.len(), |(at, _)| start + at);
        mistakes.push((Mistake::Escape, start..self.at.max(end)));
        Some(c)
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

/// How long a language tag is at the beginning of a text, underscores included.
pub(crate) fn language_length(text: &str) -> usize {
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.bytes().take_while(goes_on).count()
}

/// Decodes the escapes in the IRIs of a line, those that are none as what they are. `None`: that would change where IRIs end.
#[cold]
pub(crate) fn decode_iris(line: &str) -> Option<String> {
    let mut decoded = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr3(b'<', b'"', b'#', rest.as_bytes()) {
        let (before, token) = rest.split_at_checked(at)?;
        decoded.push_str(before);
        let length = match token.as_bytes() {
            [b'<', ..] => {
                let length = memchr(b'>', token.as_bytes())? + 1;
                decode_iri(token.get(..length)?, &mut decoded)?;
                rest = token.get(length..)?;
                continue;
            }
            [b'"', inside @ ..] => 1 + string_length(inside),
            _ => token.len(),
        };
        decoded.push_str(token.get(..length)?);
        rest = token.get(length..)?;
    }
    decoded.push_str(rest);
    Some(decoded)
}

/// Appends an IRI with its escapes decoded, and backslashes that begin none as they are.
pub(crate) fn decode_iri(iri: &str, decoded: &mut String) -> Option<()> {
    let mut rest = iri;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        let escape = unicode_escape(after.as_bytes()).or_else(|| surrogate_pair(after.as_bytes()));
        let (c, length) = escape.unwrap_or(('\\', 0));
        if matches!(c, '<' | '>') || u32::from(c) < 0x20 {
            return None;
        }
        decoded.push(c);
        rest = after.get(length..)?;
    }
    decoded.push_str(rest);
    Some(())
}

/// The character of a `\u` or `\U` escape, and the escape's length, both past the backslash.
pub(crate) fn unicode_escape(rest: &[u8]) -> Option<(char, usize)> {
    let digits = match rest.first()? {
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let mut code = 0_u32;
    for &byte in rest.get(1..=digits)? {
        code = code.checked_mul(16)? + char::from(byte).to_digit(16)?;
    }
    Some((char::from_u32(code)?, 1 + digits))
}

/// Bytes up to and with the quote that ends a string.
pub(crate) fn string_length(inside: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = inside.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    inside.len()
}

/// A language tag, and the base direction behind it if there is one. `None`: the general parser must decide.
#[inline]
pub(crate) fn common_language(tag: &str) -> Option<(&str, Option<BaseDirection>)> {
    let (language, direction) = match tag.split_once("--") {
        None => (tag, None),
        Some((language, "ltr")) => (language, Some(BaseDirection::Ltr)),
        Some((language, "rtl")) => (language, Some(BaseDirection::Rtl)),
        Some(_) => return None,
    };
    is_common_language(language).then_some((language, direction))
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

/// How many bytes are looked at together; compilers make vector code of it.
const LANES: usize = 16;

/// Whether a byte may stand anywhere in an IRI after `http://`. Without branches or tables, so that it works on many
/// bytes at a time; `!` and `$`, which may stand there too, are too rare to be worth their comparisons.
#[inline(always)]
const fn is_plain(byte: u8) -> bool {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    // From `&` to `9`: & ' ( ) * + , - . / and digits.
    let middle = byte.wrapping_sub(b'&') < 20;
    // ; ? and = ?, which differ in one bit each.
    let marks = ((byte | 0x04) == b'?') | ((byte | 0x02) == b'?') | (byte == b'_') | (byte == b'~');
    letter | middle | marks
}

#[inline]
fn is_all_plain(bytes: &[u8]) -> bool {
    let lanes = |chunk: &[u8; LANES]| chunk.iter().fold(true, |all, &byte| all & is_plain(byte));
    let (chunks, rest) = bytes.as_chunks::<LANES>();
    let all = chunks.iter().fold(true, |all, chunk| all & lanes(chunk));
    // The last bytes as a whole chunk again, which overlaps.
    match bytes.last_chunk::<LANES>() {
        Some(last) => all & lanes(last),
        None => rest.iter().all(|&byte| is_plain(byte)),
    }
}

/// Whether this is an absolute IRI: plain web addresses by their bytes, all else by the library.
///
/// After `http://` the plain bytes are valid in host, path, query and fragment alike. A colon or `@` may separate a port
/// or user, so they go the long way, as do percent signs and everything beyond ASCII. One `#` begins a fragment.
#[inline]
pub(crate) fn is_valid_iri(iri: &str) -> bool {
    let bytes = iri.as_bytes();
    let Some(rest) = bytes.strip_prefix(b"http://").or_else(|| bytes.strip_prefix(b"https://")) else {
        return Iri::parse(iri).is_ok();
    };
    is_all_plain(rest) || is_plain_with_fragment(rest) || Iri::parse(iri).is_ok()
}

#[cold]
fn is_plain_with_fragment(rest: &[u8]) -> bool {
    memchr(b'#', rest).and_then(|at| rest.split_at_checked(at)).is_some_and(|(before, after)| {
        is_all_plain(before) && is_all_plain(after.get(1..).unwrap_or_default())
    })
}

/// IRIs found valid a short while ago: predicates, classes and the subjects of neighbouring lines need no new check.
pub(crate) struct KnownIris<'t> {
    slots: [&'t str; KNOWN_SLOTS],
}

/// So few that they stay in the fastest cache.
const KNOWN_SLOTS: usize = 256;

impl<'t> KnownIris<'t> {
    pub(crate) const fn new() -> Self {
        Self { slots: [""; KNOWN_SLOTS] }
    }

    #[inline]
    pub(crate) fn is_valid(&mut self, iri: &'t str) -> bool {
        // The end of an IRI is what tells it from others.
        let end = iri.as_bytes().last_chunk::<8>().map_or(0, |end| u64::from_le_bytes(*end));
        let hash = (end ^ iri.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        // The high byte of the product: below the number of slots.
        let Some(slot) = self.slots.get_mut(hash as usize) else { return is_valid_iri(iri) };
        if *slot == iri && !iri.is_empty() {
            return true;
        }
        let valid = is_valid_iri(iri);
        if valid {
            *slot = iri;
        }
        valid
    }
}
