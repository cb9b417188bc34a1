//! Directives, and the beginnings and ends of TriG's blocks.

use super::chars::{continues_name, is_base_char, is_label_start, is_name_char, is_special};
use super::context::Block;
use super::scanner::Scanner;
use super::skip::skip_space;
use super::span::{Item, Texts};
use crate::raw::RawTerm;
use memchr::memchr2;
use oxiri_of_oxttl::Iri;
use std::sync::Arc;

impl Scanner<'_> {
    #[inline]
    pub(super) fn in_block(&self) -> bool {
        self.context.block != Block::Outside
    }

    /// Reads a directive or one of a block's braces, if that comes next.
    #[inline]
    pub(super) fn directive_or_block(&mut self) -> Option<bool> {
        let first = self.peek()?;
        if self.in_block() {
            if first == b'}' {
                self.at += 1;
                self.context.block = Block::Outside;
                return Some(true);
            }
            return (self.context.block != Block::Lost).then_some(false);
        }
        match first {
            b'@' => self.at_directive().map(|()| true),
            b'b' | b'B' | b'p' | b'P' | b'v' | b'V' if !self.with_graphs => self.keyword_directive(),
            _ if self.with_graphs => self.block(),
            _ => Some(false),
        }
    }

    /// `@prefix` and the like, with their dots.
    #[cold]
    fn at_directive(&mut self) -> Option<()> {
        self.at += 1;
        let rest = self.rest();
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')?;
        self.at += length;
        let change = match rest.get(..length)? {
            b"prefix" => self.prefix()?,
            b"base" => self.base()?,
            b"version" => self.version()?,
            _ => return None,
        };
        self.skip_space();
        self.dot()?;
        self.apply(change);
        Some(())
    }

    /// `PREFIX` and the like, unless it is the beginning of a name.
    fn keyword_directive(&mut self) -> Option<bool> {
        let word = ["prefix", "base", "version"].iter().position(|word| self.is_keyword(word));
        let change = match word {
            Some(0) => self.keyword("prefix").prefix()?,
            Some(1) => self.keyword("base").base()?,
            Some(_) => self.keyword("version").version()?,
            None => return Some(false),
        };
        self.apply(change);
        Some(true)
    }

    fn is_keyword(&self, word: &str) -> bool {
        is_keyword(self.rest(), word)
    }

    fn keyword(&mut self, word: &str) -> &mut Self {
        self.at += word.len();
        self
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Prefix { name, namespace } => {
                Arc::make_mut(&mut self.context.prefixes).insert(&name, &namespace);
            }
            Change::Base(iri) => self.context.base = Some(Arc::new(Iri::parse_unchecked(iri))),
            Change::Nothing => {}
        }
    }

    fn prefix(&mut self) -> Option<Change> {
        self.skip_space();
        let rest = self.text.get(self.at..)?;
        let name = rest.get(..rest.find(|c: char| c != '.' && !is_name_char(c))?)?;
        let begins = name.chars().next().is_none_or(is_base_char);
        if !begins || name.ends_with('.') {
            return None;
        }
        self.at += name.len();
        self.expect(b':')?;
        // With anything behind the colon it is a whole name.
        if self.peek().is_some_and(|next| is_label_start(next) || is_special(next)) {
            return None;
        }
        let namespace = self.directive_iri()?;
        Some(Change::Prefix { name: name.to_owned(), namespace })
    }

    fn base(&mut self) -> Option<Change> {
        self.directive_iri().map(Change::Base)
    }

    fn version(&mut self) -> Option<Change> {
        let quote = self.skip_space().filter(|quote| matches!(quote, b'"' | b'\''))?;
        let is_long = self.rest().starts_with(&[quote, quote, quote]);
        // Two quotes that end a document are half of three for the general parser.
        let is_cut = self.rest().len() == 2;
        self.quoted(quote).filter(|_| !is_long && !is_cut).map(|_| Change::Nothing)
    }

    fn directive_iri(&mut self) -> Option<String> {
        if self.skip_space()? != b'<' {
            return None;
        }
        let iri = self.iri()?;
        Some(iri.get(Texts { text: self.text, scratch: &self.scratch }).to_owned())
    }

    /// The beginning of a block, or a directive, or neither.
    fn block(&mut self) -> Option<bool> {
        let start = self.at;
        let name = match self.peek()? {
            b'{' => None,
            b'b' | b'B' | b'p' | b'P' | b'v' | b'V' if self.keyword_directive()? => return Some(true),
            b'g' | b'G' if self.is_keyword("graph") => {
                self.keyword("graph").skip_space();
                Some(self.graph_name()?)
            }
            b'(' => return Some(false),
            b'[' => match self.graph_name() {
                None => return self.back_to(start),
                name => name,
            },
            _ => Some(self.graph_name()?),
        };
        if self.skip_space()? != b'{' {
            return self.back_to(start);
        }
        self.at += 1;
        // With a bar it would begin an annotation.
        if self.peek() == Some(b'|') {
            return None;
        }
        let texts = Texts { text: self.text, scratch: &self.scratch };
        self.context.block = match name.map(|name| name.resolve(texts)) {
            None => Block::Default,
            Some(RawTerm::Iri(iri)) => Block::Iri(iri.into()),
            Some(RawTerm::Blank(label)) => Block::Blank(label.into()),
            Some(_) => return None,
        };
        Some(true)
    }

    fn back_to(&mut self, start: usize) -> Option<bool> {
        self.at = start;
        Some(false)
    }

    fn graph_name(&mut self) -> Option<Item> {
        if self.peek()? != b'[' {
            return self.node();
        }
        let node = self.unnamed(false);
        self.at += 1;
        self.skip_space();
        self.expect(b']')?;
        Some(node)
    }
}

fn is_keyword(text: &[u8], word: &str) -> bool {
    text.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
        && text.get(word.len()).is_none_or(|&next| !continues_name(next) && next != b'.')
}

/// Whether a directive begins at a statement's first byte.
pub(super) fn begins_directive(bytes: &[u8], at: usize) -> bool {
    let text = bytes.get(at..).unwrap_or_default();
    text.starts_with(b"@") || ["prefix", "base", "version"].iter().any(|word| is_keyword(text, word))
}

/// Where a directive is that may begin at a statement's first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// None begins here.
    None,
    /// It ends here, if it is one.
    End(usize),
    /// More text is needed.
    More,
}

/// Finds the end of a directive: of its IRI or version, or the dot behind it. `text_ends`: nothing follows the bytes.
pub(super) fn directive_extent(bytes: &[u8], start: usize, text_ends: bool) -> Extent {
    /// With as many bytes a keyword is a whole word.
    const KEYWORD_BYTES: usize = 9;
    let short = if text_ends { Extent::None } else { Extent::More };
    let first = bytes.get(start).copied();
    if !matches!(first, None | Some(b'@' | b'b' | b'B' | b'p' | b'P' | b'v' | b'V')) {
        return Extent::None;
    }
    if bytes.len() < start + KEYWORD_BYTES && !text_ends {
        return Extent::More;
    }
    if !begins_directive(bytes, start) {
        return Extent::None;
    }
    let mut at = start;
    let closing = loop {
        match bytes.get(at) {
            None => return short,
            Some(b'<') => break b'>',
            Some(&quote @ (b'"' | b'\'')) => break quote,
            Some(b'#') => at = skip_space(bytes, at),
            Some(_) => at += 1,
        }
    };
    let rest = bytes.get(at + 1..).unwrap_or_default();
    let Some(length) = memchr2(closing, b'\n', rest) else { return short };
    at += length + 2;
    if first != Some(b'@') {
        return Extent::End(at);
    }
    at = skip_space(bytes, at);
    match bytes.get(at) {
        None => short,
        Some(_) => Extent::End(at + 1),
    }
}

/// What a directive changes.
enum Change {
    Prefix { name: String, namespace: String },
    Base(String),
    Nothing,
}
