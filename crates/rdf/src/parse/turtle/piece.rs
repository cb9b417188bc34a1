//! A piece of a document and how it is parsed: statement by statement, by the scanner where it can, else by the general parser.

use super::super::error::{BadText, SyntaxError};
use super::super::kept::ParseNotes;
use super::context::{Block, Context, Prefix};
use super::directives::{Extent, begins_directive, directive_extent};
use super::general::{Ending, Statements, error_at, parse_statements};
use super::place::Place;
use super::scanner::{Input, Scanner};
use super::skip::{Event, Skipper, skip_space};
use crate::raw::RawQuad;
use oxiri_of_oxttl::Iri;
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// With how much of what follows an error is told where there may be many.
const FOLLOWING_BYTES: usize = 4 << 10;
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
    /// The document's own address, if it begins with that as its base.
    pub(super) own_base: Option<Arc<Iri<String>>>,
    /// Whether to keep what can be kept.
    pub(super) lenient: bool,
}

impl TurtlePiece {
    /// Whether the document ends with it.
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// Parses the piece to its end, its first error, or until the sink breaks.
    ///
    /// # Errors
    ///
    /// The first statement that is none (or, in lenient parsing, cannot be kept). All before it have been given to
    /// the sink.
    pub fn parse(
        &self,
        bytes: &[u8],
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SyntaxError> {
        self.parse_noting(bytes, &mut ParseNotes::default(), sink)
    }

    /// Like [`TurtlePiece::parse`]; what there is to say besides is added to `notes`.
    ///
    /// # Errors
    ///
    /// As [`TurtlePiece::parse`].
    pub fn parse_noting(
        &self,
        bytes: &[u8],
        notes: &mut ParseNotes,
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SyntaxError> {
        let text = Text::new(self, bytes);
        let mut run = Run::new(self, &text, notes, false);
        let result = run.parse(sink);
        run.note();
        result
    }

    /// Parses the piece past its errors: `on_bad` gets what has to be left out, and decides whether to go on. Of a statement with an
    /// error nothing is given out. Reading goes on where the statement ends, so far as that can be told.
    pub fn parse_past_errors(
        &self,
        bytes: &[u8],
        notes: &mut ParseNotes,
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
        on_bad: &mut dyn FnMut(BadText<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut piece, mut rest) = (self.clone(), bytes);
        loop {
            let text = Text::new(&piece, rest);
            let mut run = Run::new(&piece, &text, notes, true);
            let ended = run.parse_past_errors(rest, sink, on_bad);
            run.note();
            let Ended::BeforeBadByte = ended? else { return ControlFlow::Continue(()) };
            // What is behind a byte that is none of UTF-8 is a text of its own.
            let (at, context) = (run.scanner.at, run.scanner.context);
            let (before, after) = rest.split_at_checked(at).unwrap_or((rest, b""));
            piece = TurtlePiece { place: piece.place.after(before), context, ..piece.clone() };
            rest = after;
        }
    }
}

/// Where reading past errors has come to.
enum Ended {
    /// To the end of the piece.
    AtEnd,
    /// Behind the text that is valid UTF-8.
    BeforeBadByte,
}

/// A piece's bytes and as much of them as is text.
struct Text<'b> {
    bytes: Cow<'b, [u8]>,
    valid: usize,
}

impl<'b> Text<'b> {
    fn new(piece: &TurtlePiece, bytes: &'b [u8]) -> Self {
        if std::str::from_utf8(bytes).is_ok() {
            return Self { bytes: Cow::Borrowed(bytes), valid: bytes.len() };
        }
        let in_block = piece.context.block != Block::Outside;
        let cleaned = without_bad_comments(bytes, piece.with_graphs, in_block);
        let valid = valid_prefix(&cleaned).len();
        Self { bytes: Cow::Owned(cleaned), valid }
    }

    fn as_str(&self) -> &str {
        self.bytes.get(..self.valid).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

/// Where a statement with an error ends that begins at `start`; `block` is what holds there, and what holds behind it.
fn bad_end(bytes: &[u8], start: usize, with_graphs: bool, block: &mut Block) -> usize {
    if start >= bytes.len() {
        // Only a block's end is missing.
        *block = Block::Outside;
        return bytes.len();
    }
    if *block == Block::Outside
        && begins_directive(bytes, start)
        && let Extent::End(end) = directive_extent(bytes, start, true)
    {
        return end.min(bytes.len());
    }
    let mut skipper = Skipper::new(bytes, start, with_graphs, *block != Block::Outside);
    loop {
        let event = skipper.next_event();
        match event {
            Event::Statement(end) if *block != Block::Lost => return end,
            Event::Broken(end) if *block != Block::Lost && !loses_block(bytes, event, block) => return end,
            Event::Close(end) if *block == Block::Lost => {
                *block = Block::Outside;
                return end;
            }
            // The brace itself is fine.
            Event::Close(end) => return if end - 1 > start { end - 1 } else { end },
            Event::Open(_) | Event::Broken(_) => {
                *block = Block::Lost;
                skipper.in_block = true;
            }
            Event::Statement(_) => {}
            Event::More(_) => return bytes.len(),
        }
    }
}

/// Whether an error is the beginning of a block in another one: whose statements are which is not known from there on.
pub(super) fn loses_block(bytes: &[u8], event: Event, block: &Block) -> bool {
    let Event::Broken(end) = event else { return false };
    *block != Block::Outside && end.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'{')
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

struct Run<'p> {
    piece: &'p TurtlePiece,
    bytes: &'p [u8],
    scanner: Scanner<'p>,
    notes: &'p mut ParseNotes,
    /// Grows with every statement that is left to the general parser, and shrinks with every other.
    left: u32,
    /// Whether nothing is given out of a statement with an error, because reading goes on behind it.
    goes_on: bool,
}

impl<'p> Run<'p> {
    fn new(piece: &'p TurtlePiece, text: &'p Text<'_>, notes: &'p mut ParseNotes, goes_on: bool) -> Self {
        let input = Input {
            text: text.as_str(),
            offset: piece.place.offset,
            with_graphs: piece.with_graphs,
            anonymous: &piece.anonymous,
            own_base: piece.own_base.as_ref(),
        };
        let scanner = Scanner::new(input, piece.context.clone());
        Self { piece, bytes: &text.bytes, scanner, notes, left: 0, goes_on }
    }

    fn note(&mut self) {
        self.notes.used_own_address |= self.scanner.used_own_address;
        // Pieces without a directive, which are most, share what they begin with.
        let (before, now) = (&self.piece.context.prefixes, &self.scanner.context.prefixes);
        if !Arc::ptr_eq(before, now) {
            let is_new = |prefix: &&Prefix| !before.has(prefix);
            for prefix in now.iter().filter(is_new) {
                self.notes.prefixes.add(self.piece.place.offset, &prefix.name, &prefix.namespace);
            }
        }
    }

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
        if self.piece.is_last && self.scanner.in_block() && self.scanner.context.block != Block::Lost {
            // The general parser says what is missing.
            let _ = self.general(self.bytes.len(), Ending::Document, sink)?;
            return Err(self.error_here("the block is not closed"));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn parse_past_errors(
        &mut self,
        original: &[u8],
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
        on_bad: &mut dyn FnMut(BadText<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<(), Ended> {
        loop {
            let error = match self.parse(sink) {
                Ok(ControlFlow::Break(())) => return ControlFlow::Break(()),
                Ok(ControlFlow::Continue(())) => return ControlFlow::Continue(Ended::AtEnd),
                Err(error) => error,
            };
            let bad = self.skip_bad();
            on_bad(BadText { text: original.get(bad).unwrap_or_default(), error })?;
            if self.scanner.at > self.scanner.text.len() && self.scanner.at < self.bytes.len() {
                return ControlFlow::Continue(Ended::BeforeBadByte);
            }
        }
    }

    /// Passes over the statement with an error that begins here, in the way that the document was cut into pieces; where it is.
    fn skip_bad(&mut self) -> Range<usize> {
        let start = skip_space(self.bytes, self.scanner.at);
        self.left = 0;
        if self.scanner.context.block == Block::Outside && begins_directive(self.bytes, start) {
            self.scanner.context.forget(self.bytes.get(start..).unwrap_or_default());
        }
        let end = bad_end(self.bytes, start, self.piece.with_graphs, &mut self.scanner.context.block);
        self.scanner.at = end;
        start..end
    }

    /// Leaves a statement to the general parser, and some behind it if that happens often.
    #[cold]
    fn leave(
        &mut self,
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SyntaxError> {
        if self.scanner.context.block == Block::Lost {
            return Err(
                self.error_here("the block's beginning is wrong, so nobody knows what graph this is in")
            );
        }
        if self.piece.lenient {
            let start = self.scanner.at;
            if self.scanner.statement_leniently(start) {
                self.note_mistakes();
                return Ok(self.scanner.emit(sink));
            }
            self.scanner.at = start;
        }
        let directive = !self.scanner.in_block() && begins_directive(self.bytes, self.scanner.at);
        let (mut end, mut ending) = self.statements_end(1 << (self.left / 2).min(RUN_BITS_MAX));
        self.left += 2;
        let start = self.scanner.at;
        if (self.goes_on || self.piece.lenient) && self.check(end, ending).is_err() {
            // Those before the one that is wrong are right.
            self.left = 0;
            (end, ending) = self.statements_end(1);
            self.check(end, ending)?;
        }
        let flow = self.general(end, ending, sink)?;
        if directive {
            // What it declares would not be known.
            self.scanner.at = start;
            return Err(self.error_here("this directive is not understood"));
        }
        Ok(flow)
    }

    #[cold]
    fn note_mistakes(&mut self) {
        for (mistake, range) in std::mem::take(&mut self.scanner.mistakes) {
            let (bytes, place) = (self.bytes, self.piece.place);
            let text = self.scanner.text.get(range.clone()).unwrap_or_default();
            self.notes.kept.add(mistake, text, || {
                let place = place.after(bytes.get(..range.start).unwrap_or_default());
                (place.line + 1, place.column + 1)
            });
        }
    }

    /// Has the general parser look at the text up to a place, and gives nothing out.
    fn check(&mut self, end: usize, ending: Ending) -> Result<(), SyntaxError> {
        let at = self.scanner.at;
        let result = self.general(end, ending, &mut |_| ControlFlow::Continue(()));
        self.scanner.at = at;
        result.map(drop)
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
        let own_files = self.own_files();
        let mut used = false;
        let mut sink = |quad: RawQuad<'_>| {
            used |= own_files.is_some_and(|files| quad.iris().any(|iri| iri.starts_with(files)));
            sink(quad)
        };
        let result = parse_statements(statements, &self.scanner.context, &mut sink);
        self.notes.used_own_address |= used;
        let flow = match result {
            Ok(flow) => flow,
            Err(error) => return Err(self.in_document(self.with_more_text(statements, error))),
        };
        // The scanner takes the brace, too.
        self.scanner.at = if ending == Ending::Block { end - 1 } else { end };
        Ok(flow)
    }

    /// What IRIs begin with that come from relative ones, as long as the base is the document's own address in a folder.
    fn own_files(&self) -> Option<&'static str> {
        let base = self.scanner.context.base.as_ref()?;
        let is_own = self.piece.own_base.as_ref().is_some_and(|own| Arc::ptr_eq(own, base));
        (is_own && base.starts_with("file:")).then_some("file:")
    }

    /// Errors are told with what really follows: some quote it, and a string may go wrong because it does not end.
    #[cold]
    fn with_more_text(&self, statements: Statements<'_>, error: SyntaxError) -> SyntaxError {
        let mut text = self.bytes.get(self.scanner.at..).unwrap_or_default();
        if self.goes_on || self.piece.lenient {
            // There may be many errors.
            text = text.get(..statements.text.len() + FOLLOWING_BYTES).unwrap_or(text);
        }
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
