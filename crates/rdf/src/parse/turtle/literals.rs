//! Literals: strings in all their quotes, numbers, booleans.

use super::chars::is_name;
use super::scanner::Scanner;
use super::span::{Item, Span, Texts};
use crate::mistake::{Mistake, can_be_language, is_language, surrogate_pair};
use crate::ntriples::{common_language, language_length, unicode_escape};
use memchr::memchr2;
use oxrdf::BaseDirection;

const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";
const RDF_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const RDF_DIR_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

impl<'t> Scanner<'t> {
    /// A string with its datatype or language. Blanks before these are left to the general parser.
    #[inline]
    pub(super) fn literal(&mut self, quote: u8) -> Option<Item> {
        let lexical = self.quoted(quote)?;
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
            _ => Some(Item::string(lexical)),
        }
    }

    #[inline]
    fn typed(&mut self, lexical: Span) -> Option<Item> {
        let datatype = if self.peek()? == b'<' { self.iri() } else { self.prefixed_name() }?;
        match datatype.get(Texts { text: self.text, scratch: &self.scratch }) {
            XSD_STRING => Some(Item::string(lexical)),
            RDF_LANG_STRING | RDF_DIR_LANG_STRING => None,
            _ => Item::typed(lexical, datatype),
        }
    }

    fn lang_string(&mut self, lexical: Span) -> Option<Item> {
        let bytes = self.rest();
        let end = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')?;
        let from = self.at;
        let tag = self.text.get(from..from + end)?;
        self.at += end;
        let (language, direction) = match common_language(tag) {
            Some(language) if !self.lenient => language,
            _ => self.odd_language(from)?,
        };
        let mut span = Span::text(from, from + language.len());
        if language.bytes().any(|byte| byte.is_ascii_uppercase()) {
            let start = self.scratch.len();
            self.scratch.extend(language.chars().map(|c| c.to_ascii_lowercase()));
            span = Span::scratch(start, self.scratch.len());
        }
        Item::lang_string(lexical, span, direction)
    }

    /// A language that is not a common one, or none.
    #[cold]
    fn odd_language(&mut self, from: usize) -> Option<(&'t str, Option<BaseDirection>)> {
        let text = self.text.get(from..).filter(|_| self.lenient)?;
        let tag = text.get(..language_length(text))?;
        self.at = from + tag.len();
        if let Some(language) = common_language(tag) {
            return Some(language);
        }
        if !is_language(tag) {
            self.mistakes.push((Mistake::Language, from..self.at));
        }
        can_be_language(tag).then_some((tag, None))
    }

    /// What an escape here is kept as: its backslash, or a character in two halves; and its length without the backslash.
    #[cold]
    fn invalid_escape(&mut self) -> Option<(char, usize)> {
        let rest = self.rest().get(1..).filter(|_| self.lenient)?;
        let (c, length) = surrogate_pair(rest).unwrap_or(('\\', 0));
        let shown = self.text.get(self.at..).and_then(|text| text.char_indices().nth(2));
        let end = shown.map_or(self.text.len(), |(at, _)| self.at + at);
        self.mistakes.push((Mistake::Escape, self.at..end.max(self.at + 1 + length)));
        Some((c, length))
    }

    /// The text between quotes, one or three, and past the closing ones.
    #[inline]
    pub(super) fn quoted(&mut self, quote: u8) -> Option<Span> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes().get(start..)?;
        if bytes.starts_with(&[quote, quote]) {
            return self.long_quoted(quote);
        }
        let end = memchr2(quote, b'\\', bytes)?;
        let content = bytes.get(..end)?;
        if memchr2(b'\n', b'\r', content).is_some() {
            return None;
        }
        self.at = start + end;
        if *bytes.get(end)? == quote {
            self.at += 1;
            return Some(Span::text(start, start + end));
        }
        self.escaped(quote, start, false)
    }

    fn long_quoted(&mut self, quote: u8) -> Option<Span> {
        let start = self.at + 3;
        self.at = start;
        loop {
            self.at += memchr2(quote, b'\\', self.rest())?;
            let rest = self.rest();
            if rest.starts_with(b"\\") {
                return self.escaped(quote, start, true);
            }
            if rest.starts_with(&[quote, quote, quote]) {
                let span = Span::text(start, self.at);
                self.at += 3;
                return Some(span);
            }
            self.at += 1;
        }
    }

    /// Decodes a string from `start`; the first escape is here.
    fn escaped(&mut self, quote: u8, start: usize, long: bool) -> Option<Span> {
        let scratch = self.scratch.len();
        self.scratch.push_str(self.text.get(start..self.at)?);
        loop {
            let rest = self.rest();
            if *rest.first()? == b'\\' {
                let escape = escape(rest.get(1..)?);
                let (c, length) = if escape.is_some() { escape } else { self.invalid_escape() }?;
                self.scratch.push(c);
                self.at += 1 + length;
            } else if !long || rest.starts_with(&[quote, quote, quote]) {
                self.at += if long { 3 } else { 1 };
                return Some(Span::scratch(scratch, self.scratch.len()));
            } else {
                self.scratch.push(char::from(quote));
                self.at += 1;
            }
            let from = self.at;
            let end = from + memchr2(quote, b'\\', self.rest())?;
            let content = self.text.get(from..end)?;
            if !long && memchr2(b'\n', b'\r', content.as_bytes()).is_some() {
                return None;
            }
            self.scratch.push_str(content);
            self.at = end;
        }
    }

    /// A number; one at the very end of the text is left to the general parser.
    #[inline]
    pub(super) fn number(&mut self) -> Option<Item> {
        let start = self.at;
        let mut at = start;
        if matches!(self.byte(at)?, b'+' | b'-') {
            at += 1;
        }
        let before = self.digits(&mut at);
        let mut datatype = self.well_known.xsd_integer;
        let mut end = at;
        let mut after = 0;
        if self.byte(at)? == b'.' {
            at += 1;
            after = self.digits(&mut at);
            if after > 0 {
                (datatype, end) = (self.well_known.xsd_decimal, at);
            }
        }
        if matches!(self.byte(at)?, b'e' | b'E') {
            at += 1;
            if matches!(self.byte(at)?, b'+' | b'-') {
                at += 1;
            }
            if self.digits(&mut at) == 0 {
                return None;
            }
            (datatype, end) = (self.well_known.xsd_double, at);
            self.byte(at)?;
        }
        if before + after == 0 {
            return None;
        }
        self.at = end;
        Item::typed(Span::text(start, end), datatype)
    }

    #[inline]
    fn digits(&self, at: &mut usize) -> usize {
        let from = *at;
        while self.byte(*at).is_some_and(|byte| byte.is_ascii_digit()) {
            *at += 1;
        }
        *at - from
    }

    /// `true` or `false`, unless it is the beginning of a name.
    pub(super) fn boolean(&mut self) -> Option<Item> {
        let length = match self.rest() {
            [b't', b'r', b'u', b'e', ..] => 4,
            [b'f', b'a', b'l', b's', b'e', ..] => 5,
            _ => return None,
        };
        let end = self.at + length;
        let goes_on = |byte: u8| is_name(byte) || byte == b':' || !byte.is_ascii();
        let next = self.byte(end)?;
        let after_dot = || self.byte(end + 1).is_some_and(|byte| goes_on(byte) || byte == b'.');
        if goes_on(next) || (next == b'.' && after_dot()) {
            return None;
        }
        let lexical = Span::text(self.at, end);
        self.at = end;
        Item::typed(lexical, self.well_known.xsd_boolean)
    }
}

/// The character of an escape in a string, and the escape's length, both past the backslash.
fn escape(rest: &[u8]) -> Option<(char, usize)> {
    let c = match *rest.first()? {
        b't' => '\t',
        b'b' => '\u{8}',
        b'n' => '\n',
        b'r' => '\r',
        b'f' => '\u{C}',
        byte @ (b'"' | b'\'' | b'\\') => char::from(byte),
        _ => return unicode_escape(rest),
    };
    Some((c, 1))
}
