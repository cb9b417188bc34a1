//! What the fast scanner leaves: statements for the general parser, which knows all of the syntax and says what is wrong.

use super::super::error::{SyntaxError, excerpt, hint, hint_at};
use super::super::library::{next_item, take_too_deep, too_deep_message};
use super::super::nesting::{BRACKETS_DEPTH_MAX, NestingGuard};
use super::super::window::Guard;
use super::context::{Block, Context};
use super::place::Place;
use crate::raw::RawQuad;
use memchr::{memchr2_iter, memmem};
use oxrdf::{GraphName, Quad};
use oxttl::{TriGParser, TurtleParser, TurtleSyntaxError};
use std::ops::ControlFlow;

/// How statements end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a dot, or with the end of a block that begins in them; more may follow.
    Whole,
    /// With the brace, which they include, that ends the block that they stand in.
    Block,
    /// With the document, or with an error before that.
    Document,
}

/// Statements for the general parser.
#[derive(Clone, Copy)]
pub(super) struct Statements<'t> {
    pub text: &'t [u8],
    pub ending: Ending,
    pub with_graphs: bool,
}

/// The text for the parser begins with this for statements inside a block. (A brace alone would be half a token for it.)
const OPENING: &str = "{ ";

/// Parses statements whose context is known. Directives among them change nothing behind them. An error's place is that in the
/// statements' text.
pub(super) fn parse_statements(
    statements: Statements<'_>,
    context: &Context,
    sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, SyntaxError> {
    let Statements { text, .. } = statements;
    let may_nest = || memchr2_iter(b'[', b'(', text).nth(BRACKETS_DEPTH_MAX).is_some();
    if memmem::find(text, b"<<(").is_some() || may_nest() {
        let mut guard = NestingGuard::new();
        guard.check(text).map_err(|(at, message)| error_at(text, at, message))?;
    }
    let in_block = context.block != Block::Outside;
    let mut padded = Vec::with_capacity(text.len() + 3);
    padded.extend_from_slice(if in_block { OPENING.as_bytes() } else { b"" });
    let opening = padded.len();
    padded.extend_from_slice(text);
    if statements.ending == Ending::Whole {
        // At the end of a text some tokens are read otherwise.
        padded.extend_from_slice(if in_block { b"\n}" } else { b"\n" });
    }
    let run = Run { text, opening, context };
    if statements.with_graphs {
        let mut items = run.trig_parser()?.for_slice(&padded);
        run.drain(|| items.next(), sink)
    } else {
        let mut items = run.turtle_parser()?.for_slice(&padded);
        run.drain(
            || items.next().map(|item| item.map(|triple| triple.in_graph(GraphName::DefaultGraph))),
            sink,
        )
    }
}

/// An error at a place of a text.
pub(super) fn error_at(text: &[u8], at: usize, message: String) -> SyntaxError {
    let at = at.min(text.len());
    let (before, after) = text.split_at(at);
    let place = Place::default().after(before);
    let text = excerpt(after.get(..400).unwrap_or(after));
    SyntaxError {
        line: place.line + 1,
        column: place.column + 1,
        offset: place.offset,
        approximate: false,
        hint: hint(&message, &text),
        message,
        excerpt: text,
    }
}

struct Run<'t> {
    text: &'t [u8],
    /// Bytes that were put before the text.
    opening: usize,
    context: &'t Context,
}

impl Run<'_> {
    /// The prefixes that the text may use: their names stand in it.
    fn prefixes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.context.prefixes.iter().filter_map(|prefix| {
            let wanted = [prefix.name.as_bytes(), b":"].concat();
            memmem::find(self.text, &wanted).map(|_| (&*prefix.name, &*prefix.namespace))
        })
    }

    /// Both were checked when they were declared.
    fn refused(&self, error: &dyn std::fmt::Display) -> SyntaxError {
        error_at(self.text, 0, error.to_string())
    }

    fn turtle_parser(&self) -> Result<TurtleParser, SyntaxError> {
        let mut parser = TurtleParser::new();
        for (name, namespace) in self.prefixes() {
            parser = parser.with_prefix(name, namespace).map_err(|error| self.refused(&error))?;
        }
        if let Some(base) = &self.context.base {
            parser = parser.with_base_iri(base.as_str()).map_err(|error| self.refused(&error))?;
        }
        Ok(parser)
    }

    fn trig_parser(&self) -> Result<TriGParser, SyntaxError> {
        let mut parser = TriGParser::new();
        for (name, namespace) in self.prefixes() {
            parser = parser.with_prefix(name, namespace).map_err(|error| self.refused(&error))?;
        }
        if let Some(base) = &self.context.base {
            parser = parser.with_base_iri(base.as_str()).map_err(|error| self.refused(&error))?;
        }
        Ok(parser)
    }

    fn drain(
        &self,
        mut next: impl FnMut() -> Option<Result<Quad, TurtleSyntaxError>>,
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SyntaxError> {
        let in_block = self.context.block.graph();
        loop {
            let item = next_item(&mut next).map_err(|message| error_at(self.text, 0, message))?;
            let quad = match item {
                None => return Ok(ControlFlow::Continue(())),
                Some(quad) => quad.map_err(|error| self.syntax_error(&error))?,
            };
            let quad = take_too_deep(quad).map_err(|()| error_at(self.text, 0, too_deep_message()))?;
            let mut raw = RawQuad::from(quad.as_ref());
            raw.graph = in_block.or(raw.graph);
            if sink(raw).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    fn syntax_error(&self, error: &TurtleSyntaxError) -> SyntaxError {
        let place = error.location();
        let opening = self.opening as u64;
        let index = |offset: u64| {
            usize::try_from(offset.saturating_sub(opening)).unwrap_or(usize::MAX).min(self.text.len())
        };
        let (start, end) = (index(place.start.offset), index(place.end.offset));
        let text = excerpt(self.text.get(start..end.max(start)).unwrap_or_default());
        let on_first_line = if place.start.line == 0 { opening } else { 0 };
        SyntaxError {
            line: place.start.line + 1,
            column: place.start.column.saturating_sub(on_first_line) + 1,
            offset: start as u64,
            approximate: false,
            message: error.message().to_owned(),
            hint: hint_at(error.message(), &text, self.text, start),
            excerpt: text,
        }
    }
}
