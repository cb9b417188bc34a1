//! A piece of a document and how it is parsed: statement by statement, by the scanner where it can, else by the general parser.

use super::super::error::SyntaxError;
use super::chars::is_space;
use super::context::{Block, Context};
use super::directives::begins_directive;
use super::general::{Ending, Statements, error_at, parse_statements};
use super::place::Place;
use super::scanner::{Input, Scanner};
use super::skip::{Event, Skipper};
use crate::raw::RawQuad;
use memchr::memchr2;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The general parser gets up to 2 to the power of this many statements together, if one after another is left to it.
const RUN_BITS_MAX: u32 = 8;

/// All that is known of a piece besides its text.
#[derive(Debug, Clone)]
pub struct TurtlePiece {
    pub(super) place: Place,
    pub(super) context: Context,
    pub(super) anonymous: Arc<str>,
    pub(super) with_graphs: bool,
    pub(super) is_last: bool,
}

impl TurtlePiece {
    /// Whether the document ends with it.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// Parses the piece to its end, its first error, or until the sink breaks.
    pub fn parse(
        &self,
        bytes: &[u8],
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SyntaxError> {
        let cleaned;
        let (bytes, text) = match std::str::from_utf8(bytes) {
            Ok(text) => (bytes, text),
            Err(_) => {
                let in_block = self.context.block != Block::Outside;
                cleaned = without_bad_comments(bytes, self.with_graphs, in_block);
                (&*cleaned, valid_prefix(&cleaned))
            }
        };
        let input = Input {
            text,
            offset: self.place.offset,
            with_graphs: self.with_graphs,
            anonymous: &self.anonymous,
        };
        let mut run = Run { piece: self, bytes, scanner: Scanner::new(input, self.context.clone()), left: 0 };
        run.parse(sink)
    }
}

/// Comments may hold any bytes; those that are not UTF-8 are made question marks, so that all else can be taken as text.
pub(super) fn without_bad_comments(bytes: &[u8], with_graphs: bool, in_block: bool) -> Vec<u8> {
    let mut skipper = Skipper::new(bytes, 0, with_graphs, in_block);
    skipper.comments = Some(Vec::new());
    while !matches!(skipper.next_event(), Event::More(_)) {}
    let mut cleaned = bytes.to_vec();
    for comment in skipper.comments.unwrap_or_default() {
        let mut at = comment.start;
        for chunk in bytes.get(comment).unwrap_or_default().utf8_chunks() {
            let bad = at + chunk.valid().len()..at + chunk.valid().len() + chunk.invalid().len();
            at = bad.end;
            if let Some(bad) = cleaned.get_mut(bad) {
                bad.fill(b'?');
            }
        }
    }
    cleaned
}

/// The text up to the first byte that is not UTF-8.
fn valid_prefix(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// Skips blanks and comments from a place.
pub(super) fn skip_space(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b'#') => {
                let rest = bytes.get(at..).unwrap_or_default();
                at += memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            }
            Some(&byte) if is_space(byte) => at += 1,
            _ => return at,
        }
    }
}

struct Run<'p> {
    piece: &'p TurtlePiece,
    bytes: &'p [u8],
    scanner: Scanner<'p>,
    /// Grows with every statement that is left to the general parser, and shrinks with every other.
    left: u32,
}

impl Run<'_> {
    fn parse(
        &mut self,
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SyntaxError> {
        loop {
            self.scanner.skip_space();
            let start = self.scanner.at;
            if start >= self.bytes.len() {
                break;
            }
            let flow = if self.scanner.statement().is_some() {
                self.left = self.left.saturating_sub(1);
                self.scanner.emit(sink)
            } else {
                self.scanner.at = start;
                self.leave(sink)?
            };
            if flow.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if self.piece.is_last && self.scanner.in_block() {
            // The general parser says what is missing.
            let _ = self.general(self.bytes.len(), Ending::Document, sink)?;
            return Err(self.error_here("the block is not closed"));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Leaves a statement to the general parser, and some behind it if that happens often.
    #[cold]
    fn leave(
        &mut self,
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SyntaxError> {
        let directive = !self.scanner.in_block() && begins_directive(self.bytes, self.scanner.at);
        let (end, ending) = self.statements_end(1 << (self.left / 2).min(RUN_BITS_MAX));
        self.left += 2;
        let start = self.scanner.at;
        let flow = self.general(end, ending, sink)?;
        if directive {
            // What it declares would not be known.
            self.scanner.at = start;
            return Err(self.error_here("this directive is not understood"));
        }
        Ok(flow)
    }

    /// Where up to so many statements end, and how.
    fn statements_end(&self, wanted: usize) -> (usize, Ending) {
        let in_block = self.scanner.in_block();
        let mut skipper = Skipper::new(self.bytes, self.scanner.at, self.piece.with_graphs, in_block);
        let mut last = None;
        let mut found = 0;
        loop {
            match skipper.next_event() {
                Event::Statement(end) if skipper.in_block == in_block => {
                    found += 1;
                    last = Some(end);
                    let next = skip_space(self.bytes, end);
                    let is_enough = found >= wanted
                        || next == self.bytes.len()
                        || (!in_block && begins_directive(self.bytes, next));
                    if is_enough {
                        // Behind the very last dot there is nothing that could make a difference.
                        let is_last = self.piece.is_last && end == self.bytes.len() && !in_block;
                        return (end, if is_last { Ending::Document } else { Ending::Whole });
                    }
                }
                Event::Statement(_) => {}
                Event::Open(_) => {
                    if let Some(end) = last {
                        return (end, Ending::Whole);
                    }
                }
                Event::Close(end) if in_block => return (end, Ending::Block),
                Event::Close(end) => return (end, Ending::Whole),
                Event::Broken(_) | Event::More(_) => return (self.bytes.len(), Ending::Document),
            }
        }
    }

    /// Hands the text up to a place to the general parser.
    fn general(
        &mut self,
        end: usize,
        ending: Ending,
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SyntaxError> {
        let text = self.bytes.get(self.scanner.at..end).unwrap_or_default();
        let statements = Statements { text, ending, with_graphs: self.piece.with_graphs };
        let flow = match parse_statements(statements, &self.scanner.context, sink) {
            Ok(flow) => flow,
            Err(error) => return Err(self.in_document(self.with_more_text(statements, error))),
        };
        // The scanner takes the brace, too.
        self.scanner.at = if ending == Ending::Block { end - 1 } else { end };
        Ok(flow)
    }

    /// Errors are told with what really follows: some quote it, and a string may go wrong because it does not end.
    #[cold]
    fn with_more_text(&self, statements: Statements<'_>, error: SyntaxError) -> SyntaxError {
        let text = self.bytes.get(self.scanner.at..).unwrap_or_default();
        let longer = Statements { text, ending: Ending::Document, ..statements };
        parse_statements(longer, &self.scanner.context, &mut |_| ControlFlow::Continue(()))
            .err()
            .unwrap_or(error)
    }

    #[cold]
    fn error_here(&self, message: &str) -> SyntaxError {
        let text = self.bytes.get(self.scanner.at..).unwrap_or_default();
        self.in_document(error_at(text, 0, message.to_owned()))
    }

    /// Moves an error from the place in the text that begins here to its place in the document.
    #[cold]
    fn in_document(&self, error: SyntaxError) -> SyntaxError {
        let before = self.bytes.get(..self.scanner.at).unwrap_or_default();
        self.piece.place.after(before).shift(error)
    }
}
