//! Cuts a document into pieces where statements end, and keeps what has been declared by then.

use super::super::error::{ParseError, SyntaxError, base_error};
use super::super::limit::{StatementLimit, TOO_LONG_HINT};
use super::super::options::ParseOptions;
use super::context::{Block, Context};
use super::directives::{Extent, begins_directive, directive_extent};
use super::general::error_at;
use super::piece::{TurtlePiece, loses_block, without_bad_comments};
use super::place::Place;
use super::scanner::{Input, Scanner};
use super::skip::{Event, Skipper, skip_space};
use crate::format::RdfFormat;
use oxiri_of_oxttl::Iri;
use oxrdf::BlankNode;
use std::sync::Arc;

/// How blank nodes without labels are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlankLabels {
    /// With labels that may be written in any syntax. They begin randomly, so that no document has them.
    Valid,
    /// With short ones that no document can have, because its syntax does not allow them.
    Short,
}

/// Cuts a document.
#[derive(Debug)]
pub struct PieceCutter {
    /// The next piece, as far as it is known.
    next: TurtlePiece,
    /// What holds where the search has come to.
    context: Context,
    search: Search,
    limit: StatementLimit,
}

/// How far a search for a piece's end has come; places are in the text that begins with the piece.
#[derive(Debug, Clone, Copy)]
struct Search {
    at: usize,
    /// Where the statement begins that is being read.
    statement: usize,
    /// Whether it is not known yet what the statement is.
    fresh: bool,
    name_dot: usize,
}

impl Search {
    const START: Self = Self { at: 0, statement: 0, fresh: true, name_dot: usize::MAX };

    fn statement_at(&mut self, at: usize) {
        (self.at, self.statement, self.fresh) = (at, at, true);
    }
}

impl PieceCutter {
    /// Begins a document of Turtle or TriG.
    ///
    /// # Errors
    ///
    /// [`ParseError::BaseIri`] where the base IRI is none.
    pub fn new(format: RdfFormat, options: &ParseOptions, labels: BlankLabels) -> Result<Self, ParseError> {
        let base = match options.base_iri() {
            Some(base) => {
                let iri =
                    Iri::parse(base.to_owned()).map_err(|error| base_error(base, &error.to_string()))?;
                Some(Arc::new(iri))
            }
            None => None,
        };
        let anonymous: Arc<str> = match labels {
            // Half of a random label is random enough, and labels get shorter.
            BlankLabels::Valid => BlankNode::default().as_str().get(..16).unwrap_or("b").into(),
            BlankLabels::Short => ".".into(),
        };
        let own_base = base.clone().filter(|_| options.base_is_own);
        let context = Context { base, ..Context::default() };
        let next = TurtlePiece {
            place: Place::default(),
            context: context.clone(),
            anonymous,
            with_graphs: format == RdfFormat::TriG,
            is_last: false,
            own_base,
            lenient: options.is_lenient(),
        };
        Ok(Self { next, context, search: Search::START, limit: options.statement_limit() })
    }

    /// The next piece and its length, if the text has a place to cut it behind `wanted` bytes, or ends the document. If not, the
    /// same text is wanted again with more behind it.
    pub fn cut(&mut self, text: &[u8], wanted: usize, at_end: bool) -> Option<(TurtlePiece, usize)> {
        if at_end && text.len() <= wanted {
            let last = TurtlePiece { is_last: true, ..self.next.clone() };
            return Some((last, text.len()));
        }
        let mut skipper = Skipper::new(text, 0, self.next.with_graphs, self.in_block());
        skipper.at_end = at_end;
        skipper.name_dot = self.search.name_dot;
        let end = self.piece_end(&mut skipper, wanted);
        self.search.name_dot = skipper.name_dot;
        match end {
            // Nothing but the end of the document is left for another piece.
            Some(end) if !(at_end && end == text.len()) => {
                let end = line_end(text, end);
                let following = TurtlePiece {
                    place: self.next.place.after(text.get(..end).unwrap_or_default()),
                    context: self.context.clone(),
                    ..self.next.clone()
                };
                self.search = Search::START;
                Some((std::mem::replace(&mut self.next, following), end))
            }
            _ if at_end => Some((TurtlePiece { is_last: true, ..self.next.clone() }, text.len())),
            _ => None,
        }
    }

    /// Bytes of the statement that a text ends in the midst of.
    pub fn unfinished(&self, text: &[u8]) -> usize {
        text.len().saturating_sub(self.search.statement)
    }

    /// How much to read before the next try to cut a text.
    pub fn step(&self, text: &[u8], least: usize) -> usize {
        self.limit.step(self.unfinished(text), least)
    }

    /// The error for a text that ends in the midst of a statement which is longer than one may be.
    pub fn too_long(&self, text: &[u8]) -> Option<SyntaxError> {
        if self.unfinished(text) <= self.limit.bytes() {
            return None;
        }
        let start = skip_space(text, self.search.statement);
        let (before, statement) = text.split_at(start.min(text.len()));
        let message = self.limit.message("a statement");
        let mut error = error_at(statement.get(..200).unwrap_or(statement), 0, message);
        error.hint = Some(TOO_LONG_HINT);
        Some(self.next.place.after(before).shift(error))
    }

    fn in_block(&self) -> bool {
        self.context.block != Block::Outside
    }

    fn piece_end(&mut self, skipper: &mut Skipper<'_>, wanted: usize) -> Option<usize> {
        let text = skipper.bytes;
        loop {
            if self.search.fresh && !self.in_block() {
                self.directives(text, skipper.at_end)?;
            }
            self.search.fresh = false;
            skipper.at = self.search.at;
            let event = skipper.next_event();
            match event {
                Event::Statement(end) => self.search.statement_at(end),
                Event::Broken(end) => {
                    if loses_block(text, event, &self.context.block) {
                        self.context.block = Block::Lost;
                    }
                    self.search.statement_at(end);
                }
                Event::Open(end) => {
                    self.read(text, self.search.statement, end);
                    if !self.in_block() {
                        self.context.block = Block::Lost;
                    }
                    self.search.at = end;
                }
                Event::Close(end) => {
                    self.context.block = Block::Outside;
                    self.search.statement_at(end);
                }
                Event::More(at) => {
                    self.search.at = at;
                    return None;
                }
            }
            // A document that is broken may have braces that the context does not know of.
            skipper.in_block = self.in_block();
            if self.search.fresh && self.search.at >= wanted {
                return Some(self.search.at);
            }
        }
    }

    /// Reads the directives that come next. `None`: more text is needed.
    fn directives(&mut self, text: &[u8], at_end: bool) -> Option<()> {
        loop {
            let start = skip_space(text, self.search.at);
            match directive_extent(text, start, at_end) {
                Extent::None => return Some(()),
                Extent::More => return None,
                Extent::End(end) => {
                    self.read(text, start, end);
                    self.search.statement_at(end);
                }
            }
        }
    }

    /// Has the scanner read a directive or the beginning of a block, for what it does to the context. If it cannot, there is an
    /// error here, and nothing behind it matters.
    fn read(&mut self, text: &[u8], start: usize, end: usize) {
        let bytes = text.get(skip_space(text, start)..end).unwrap_or_default();
        let cleaned;
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => {
                cleaned = without_bad_comments(bytes, self.next.with_graphs, false);
                match std::str::from_utf8(&cleaned) {
                    Ok(text) => text,
                    Err(_) => return self.forget(&cleaned),
                }
            }
        };
        let offset = self.next.place.offset + (end - bytes.len()) as u64;
        let input = Input {
            text,
            offset,
            with_graphs: self.next.with_graphs,
            anonymous: &self.next.anonymous,
            own_base: None,
        };
        let mut scanner = Scanner::new(input, std::mem::take(&mut self.context));
        let mut is_read = scanner.statement().is_some();
        if !is_read && self.next.lenient {
            is_read = scanner.statement_leniently(0);
        }
        self.context = scanner.context;
        if !is_read {
            self.forget(text.as_bytes());
        }
    }

    /// What a directive with an error was to replace is not known any more.
    #[cold]
    fn forget(&mut self, text: &[u8]) {
        if begins_directive(text, 0) {
            self.context.forget(text);
        }
    }
}

/// Past the blanks and the line's end behind a place, if nothing else stands there.
fn line_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    if rest.get(blanks) == Some(&b'\n') { from + blanks + 1 } else { from }
}
