//! The fast scanner: statements of Turtle and TriG as slices of their text.
//!
//! It knows everything but the additions of RDF 1.2 and a few rare ways of writing; what it does not know it leaves to the general
//! parser by answering `None`, for the whole statement, of which nothing has been given out by then. So it may be strict where
//! that is simpler, but it must never accept what the general parser refuses, nor read it otherwise.

use super::chars::is_space;
use super::context::Context;
use super::span::{Item, Span, SpanTriple, Texts};
use crate::ntriples::{KnownIris, MistakeAt};
use crate::raw::RawQuad;
use memchr::memchr2;
use oxiri_of_oxttl::Iri;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Brackets in brackets beyond these are for the general parser, which does not recurse.
const DEPTH_MAX: usize = 64;
/// A statement with more triples, or with more text to be made, is for the general parser, which gives them out one by one.
const TRIPLES_MAX: usize = if cfg!(test) { 40 } else { 1 << 18 };
const SCRATCH_BYTES_MAX: usize = 64 << 20;

/// IRIs that the syntax has short forms for; the scratch string begins with them.
macro_rules! well_known {
    ($($name:ident = $iri:literal;)*) => {
        const WELL_KNOWN: &str = concat!($($iri),*);

        /// Their places in the scratch string.
        #[derive(Clone, Copy)]
        pub(super) struct WellKnown { $(pub $name: Span),* }

        impl WellKnown {
            fn new() -> Self {
                let mut end = 0;
                $(let start = end; end += $iri.len(); let $name = Span::scratch(start, end);)*
                debug_assert_eq!(end, WELL_KNOWN.len());
                Self { $($name),* }
            }
        }
    };
}

well_known! {
    rdf_type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
    rdf_first = "http://www.w3.org/1999/02/22-rdf-syntax-ns#first";
    rdf_rest = "http://www.w3.org/1999/02/22-rdf-syntax-ns#rest";
    rdf_nil = "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil";
    xsd_integer = "http://www.w3.org/2001/XMLSchema#integer";
    xsd_decimal = "http://www.w3.org/2001/XMLSchema#decimal";
    xsd_double = "http://www.w3.org/2001/XMLSchema#double";
    xsd_boolean = "http://www.w3.org/2001/XMLSchema#boolean";
}

pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) with_graphs: bool,
    /// Where the text begins in the document: blank nodes without labels are called by their places.
    offset: u64,
    /// What the labels of such nodes begin with.
    anonymous: &'t str,
    pub(super) context: Context,
    pub(super) known: KnownIris<'t>,
    pub(super) well_known: WellKnown,
    pub(super) scratch: String,
    triples: Vec<SpanTriple>,
    depth: usize,
    /// The document's own address, if that is the base it began with.
    pub(super) own_base: Option<&'t Arc<Iri<String>>>,
    /// Whether relative IRIs have been resolved against that.
    pub(super) used_own_address: bool,
    /// Whether to keep what can be kept.
    pub(super) lenient: bool,
    /// What was kept of the last statement.
    pub(super) mistakes: Vec<MistakeAt>,
}

/// What a scanner reads.
#[derive(Clone, Copy)]
pub(super) struct Input<'t> {
    pub text: &'t str,
    pub offset: u64,
    pub with_graphs: bool,
    pub anonymous: &'t str,
    pub own_base: Option<&'t Arc<Iri<String>>>,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(input: Input<'t>, context: Context) -> Self {
        Self {
            text: input.text,
            at: 0,
            with_graphs: input.with_graphs,
            offset: input.offset,
            anonymous: input.anonymous,
            context,
            known: KnownIris::new(),
            well_known: WellKnown::new(),
            scratch: WELL_KNOWN.to_owned(),
            triples: Vec::new(),
            depth: 0,
            own_base: input.own_base,
            used_own_address: false,
            lenient: false,
            mistakes: Vec::new(),
        }
    }

    /// Reads a statement from a place once more, keeping what can be kept; false where there is nothing wrong that could be. What was
    /// kept is in `mistakes`.
    #[cold]
    pub(super) fn statement_leniently(&mut self, start: usize) -> bool {
        self.at = start;
        self.mistakes.clear();
        self.lenient = true;
        let kept = self.statement().is_some() && !self.mistakes.is_empty();
        self.lenient = false;
        kept
    }

    /// Reads a statement, a directive, or the beginning or end of a block, from its first byte. Its triples stay until the next.
    /// `None`: the general parser must decide, and where this one stands then means nothing.
    #[inline]
    pub(super) fn statement(&mut self) -> Option<()> {
        self.scratch.truncate(WELL_KNOWN.len());
        self.triples.clear();
        self.depth = 0;
        match self.directive_or_block() {
            Some(true) => Some(()),
            Some(false) => self.triples(),
            None => None,
        }
    }

    /// Gives out the triples of the last statement.
    #[inline]
    pub(super) fn emit(&self, sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let texts = Texts { text: self.text, scratch: &self.scratch };
        let graph = self.context.block.graph();
        self.triples.iter().try_for_each(|triple| sink(triple.resolve(texts, graph)))
    }

    #[inline]
    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Skips blanks and comments; what follows.
    #[inline]
    pub(super) fn skip_space(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b'#' => self.skip_comment(),
                byte if is_space(byte) => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    #[cold]
    fn skip_comment(&mut self) {
        let rest = self.rest();
        self.at += memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    }

    /// A dot that ends a statement: with a digit behind it, it would begin a number.
    #[inline]
    pub(super) fn dot(&mut self) -> Option<()> {
        self.expect(b'.')?;
        self.peek().is_none_or(|next| !next.is_ascii_digit()).then_some(())
    }

    #[inline]
    fn triples(&mut self) -> Option<()> {
        let subject = match self.peek()? {
            b'[' => {
                let (subject, has_list) = self.brackets()?;
                let next = self.skip_space();
                if has_list && matches!(next, Some(b'.' | b'}')) {
                    return self.end();
                }
                subject
            }
            b'(' => {
                let list = self.collection()?;
                self.skip_space();
                list
            }
            _ => {
                let subject = self.node()?;
                self.skip_space();
                subject
            }
        };
        self.predicates(subject)?;
        self.end()
    }

    /// The end of a statement: its dot, or the end of the block, which comes next.
    #[inline]
    fn end(&mut self) -> Option<()> {
        match self.skip_space()? {
            b'}' if self.in_block() => Some(()),
            _ => self.dot(),
        }
    }

    /// Predicates and objects, from the first predicate on.
    #[inline]
    fn predicates(&mut self, subject: Item) -> Option<()> {
        loop {
            let predicate = self.verb()?;
            loop {
                self.skip_space();
                let object = self.object()?;
                self.push(SpanTriple { subject, predicate, object })?;
                match self.skip_space()? {
                    b',' => self.at += 1,
                    b';' => break,
                    _ => return Some(()),
                }
            }
            while self.skip_space()? == b';' {
                self.at += 1;
            }
            if matches!(self.peek()?, b'.' | b']' | b'}') {
                return Some(());
            }
        }
    }

    #[inline]
    fn push(&mut self, triple: SpanTriple) -> Option<()> {
        self.triples.push(triple);
        (self.triples.len() <= TRIPLES_MAX && self.scratch.len() <= SCRATCH_BYTES_MAX).then_some(())
    }

    #[inline]
    fn verb(&mut self) -> Option<Span> {
        match self.peek()? {
            b'<' => self.iri(),
            b'a' if self.byte(self.at + 1).is_some_and(|next| is_space(next) || next == b'<') => {
                self.at += 1;
                Some(self.well_known.rdf_type)
            }
            _ => self.prefixed_name(),
        }
    }

    #[inline]
    pub(super) fn node(&mut self) -> Option<Item> {
        match self.peek()? {
            b'<' => self.iri().map(Item::iri),
            b'_' => self.blank_label().map(Item::blank),
            _ => self.prefixed_name().map(Item::iri),
        }
    }

    #[inline]
    fn object(&mut self) -> Option<Item> {
        match self.peek()? {
            quote @ (b'"' | b'\'') => self.literal(quote),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            b'[' => self.brackets().map(|(item, _)| item),
            b'(' => self.collection(),
            b't' | b'f' => match self.boolean() {
                None => self.node(),
                boolean => boolean,
            },
            _ => self.node(),
        }
    }

    /// `[]` or a list of properties in brackets: the node, and whether there is a list.
    fn brackets(&mut self) -> Option<(Item, bool)> {
        let node = self.unnamed(false);
        self.at += 1;
        if self.skip_space()? == b']' {
            self.at += 1;
            return Some((node, false));
        }
        self.enter()?;
        self.predicates(node)?;
        self.depth -= 1;
        self.skip_space();
        self.expect(b']')?;
        Some((node, true))
    }

    fn collection(&mut self) -> Option<Item> {
        self.at += 1;
        if self.skip_space()? == b')' {
            self.at += 1;
            return Some(Item::iri(self.well_known.rdf_nil));
        }
        self.enter()?;
        let WellKnown { rdf_first, rdf_rest, rdf_nil, .. } = self.well_known;
        let head = self.unnamed(true);
        let mut node = head;
        loop {
            let object = self.object()?;
            self.push(SpanTriple { subject: node, predicate: rdf_first, object })?;
            let at_end = self.skip_space()? == b')';
            let next = if at_end { Item::iri(rdf_nil) } else { self.unnamed(true) };
            self.push(SpanTriple { subject: node, predicate: rdf_rest, object: next })?;
            if at_end {
                self.at += 1;
                self.depth -= 1;
                return Some(head);
            }
            node = next;
        }
    }

    fn enter(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEPTH_MAX).then_some(())
    }

    /// A blank node without a label, called by its place: that of its bracket, or of the list's element.
    pub(super) fn unnamed(&mut self, of_list: bool) -> Item {
        let start = self.scratch.len();
        self.scratch.push_str(self.anonymous);
        let place = (self.offset + self.at as u64) << 1 | u64::from(of_list);
        // Strings take all that is written.
        let _ = write!(self.scratch, "{place:x}");
        Item::blank(Span::scratch(start, self.scratch.len()))
    }
}
