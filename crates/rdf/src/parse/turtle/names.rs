//! Names: IRIs, prefixed names, labels of blank nodes.

use super::chars::{
    is_base_char, is_label_start, is_label_start_char, is_name, is_name_char, is_prefix_start, is_special,
};
use super::context::{HASH_START, hash_step};
use super::scanner::Scanner;
use super::span::Span;
use crate::mistake::{Mistake, can_be_kept, has_scheme};
use crate::ntriples::{decode_iri, is_valid_iri, unicode_escape};
use memchr::memchr;
use oxiri_of_oxttl::Iri;
use std::sync::Arc;

impl Scanner<'_> {
    /// An IRI in angle brackets.
    #[inline]
    pub(super) fn iri(&mut self) -> Option<Span> {
        let start = self.at + 1;
        let end = start + memchr(b'>', self.text.as_bytes().get(start..)?)?;
        let iri = self.text.get(start..end)?;
        self.at = end + 1;
        // What is absolute stays as it is, whatever the base.
        if self.known.is_valid(iri) { Some(Span::text(start, end)) } else { self.rare_iri(iri) }
    }

    /// An IRI that is relative or has escapes.
    #[cold]
    fn rare_iri(&mut self, text: &str) -> Option<Span> {
        if text.starts_with('<') {
            return None;
        }
        let mut decoded = String::new();
        let mut iri = text;
        let mut is_text = true;
        if memchr(b'\\', iri.as_bytes()).is_some() {
            is_text = decode_unicode(iri, &mut decoded).is_some();
            iri = &decoded;
        }
        let resolved = match &self.context.base {
            _ if !is_text => None,
            Some(base) => base.resolve(iri).map(Iri::into_inner).ok(),
            None => Iri::parse(iri).ok().map(|iri| iri.as_str().to_owned()),
        };
        let start = self.scratch.len();
        match resolved {
            Some(resolved) => {
                self.used_own_address |= self.is_own_base() && !has_scheme(iri);
                self.scratch.push_str(&resolved);
            }
            None => self.invalid_iri(text)?,
        }
        Some(Span::scratch(start, self.scratch.len()))
    }

    /// Whether relative IRIs are resolved against the document's own address.
    fn is_own_base(&self) -> bool {
        match (&self.context.base, self.own_base) {
            (Some(base), Some(own)) => Arc::ptr_eq(base, own),
            _ => false,
        }
    }

    /// Keeps the IRI that ends here, which is none.
    #[cold]
    fn invalid_iri(&mut self, text: &str) -> Option<()> {
        let mut iri = String::new();
        decode_iri(text, &mut iri).filter(|()| self.lenient && can_be_kept(&iri))?;
        let end = self.at - 1;
        self.mistakes.push((Mistake::of_iri(&iri), end - text.len()..end));
        match &self.context.base {
            Some(base) if !has_scheme(&iri) => self.scratch.push_str(&base.resolve_unchecked(&iri)),
            _ => self.scratch.push_str(&iri),
        }
        Some(())
    }

    /// A prefixed name as its IRI.
    #[inline]
    pub(super) fn prefixed_name(&mut self) -> Option<Span> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let (mut at, mut hash) = (start, HASH_START);
        let colon = loop {
            match *bytes.get(at)? {
                b':' => break at,
                byte if is_name(byte) || byte == b'.' => hash = hash_step(hash, byte),
                byte if !byte.is_ascii() => {
                    at = self.rare_prefix(start)?;
                    hash = bytes.get(start..at)?.iter().fold(HASH_START, |hash, &byte| hash_step(hash, byte));
                    break at;
                }
                _ => return None,
            }
            at += 1;
        };
        let name = bytes.get(start..colon)?;
        let fine_ends = match name {
            [] => true,
            [first, ..] => {
                (is_prefix_start(*first) || !first.is_ascii())
                    && name.last().is_some_and(|&last| last != b'.')
            }
        };
        if !fine_ends {
            return None;
        }
        let prefix = self.context.prefixes.get(name, hash)?;
        let scratch = self.scratch.len();
        self.scratch.push_str(&prefix.namespace);
        let mut check = prefix.needs_check;
        let from = colon + 1;
        let end = self.local_end(from);
        if self.byte(end).is_some_and(is_special) {
            self.at = from;
            self.rare_local()?;
            check = true;
        } else {
            let end = from + trim_dots(self.text.get(from..end)?);
            self.scratch.push_str(self.text.get(from..end)?);
            self.at = end;
        }
        if check && !self.scratch.get(scratch..).is_some_and(is_valid_iri) {
            if !self.lenient {
                return None;
            }
            self.mistakes.push((Mistake::Iri, start..self.at));
        }
        Some(Span::scratch(scratch, self.scratch.len()))
    }

    /// Where the plain part of a local name ends, dots at its end included.
    #[inline]
    fn local_end(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        match bytes.get(at) {
            Some(&byte) if is_label_start(byte) => at += 1,
            _ => return at,
        }
        while bytes.get(at).is_some_and(|&byte| is_name(byte) || byte == b'.') {
            at += 1;
        }
        at
    }

    /// The end of a prefix's name that has letters beyond ASCII.
    #[cold]
    fn rare_prefix(&self, start: usize) -> Option<usize> {
        let mut chars = self.text.get(start..)?.char_indices();
        if !is_base_char(chars.next()?.1) {
            return None;
        }
        loop {
            match chars.next()? {
                (at, ':') => return Some(start + at),
                (_, c) if is_name_char(c) || c == '.' => {}
                _ => return None,
            }
        }
    }

    /// A local name with colons, escapes, or letters beyond ASCII. It may not end with the text, because there the general
    /// parser loses what stands before.
    #[cold]
    fn rare_local(&mut self) -> Option<()> {
        let text = self.text.get(self.at..)?;
        let mut chars = text.char_indices().peekable();
        let (mut dots, mut at_start) = (0, true);
        let end = loop {
            let (at, c) = chars.next()?;
            match c {
                '%' => {
                    let digits = text.get(at + 1..at + 3).unwrap_or_default();
                    self.scratch.push('%');
                    if digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                        self.scratch.push_str(digits);
                        chars.nth(1);
                    } else if !self.lenient {
                        return None;
                    }
                }
                '\\' => match chars.next()?.1 {
                    c if "_~.-!$&'()*+,;=/?#@%".contains(c) => self.scratch.push(c),
                    _ => return None,
                },
                '.' if !at_start => {
                    dots += 1;
                    self.scratch.push('.');
                    continue;
                }
                c if c == ':' || is_label_start_char(c) || (!at_start && is_name_char(c)) => {
                    self.scratch.push(c)
                }
                _ => break at,
            }
            (dots, at_start) = (0, false);
        };
        self.scratch.truncate(self.scratch.len() - dots);
        self.at += end - dots;
        Some(())
    }

    /// The label of a blank node.
    #[inline]
    pub(super) fn blank_label(&mut self) -> Option<Span> {
        let bytes = self.rest().strip_prefix(b"_:")?;
        let from = self.at + 2;
        let end = if is_label_start(*bytes.first()?) { self.local_end(from) } else { from };
        let end = match self.byte(end) {
            Some(byte) if !byte.is_ascii() => self.rare_label_end(from)?,
            _ => end,
        };
        let length = trim_dots(self.text.get(from..end)?);
        self.at = from + length;
        (length > 0).then_some(Span::text(from, from + length))
    }

    #[cold]
    fn rare_label_end(&self, from: usize) -> Option<usize> {
        let text = self.text.get(from..)?;
        if !is_label_start_char(text.chars().next()?) {
            return None;
        }
        let end = text.char_indices().find(|&(_, c)| !(is_name_char(c) || c == '.'));
        Some(from + end.map_or(text.len(), |(at, _)| at))
    }
}

/// The length of a name without the dots at its end.
#[inline]
fn trim_dots(name: &str) -> usize {
    name.trim_end_matches('.').len()
}

/// Decodes the escapes of an IRI.
fn decode_unicode(iri: &str, decoded: &mut String) -> Option<()> {
    let mut rest = iri;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        let (c, length) = unicode_escape(after.as_bytes())?;
        decoded.push(c);
        rest = after.get(length..)?;
    }
    decoded.push_str(rest);
    Some(())
}
