//! Turtle and TriG.

use super::error::{ParseError, SyntaxError, excerpt, hint};
use super::nesting::NestingGuard;
use super::window::{Window, window};
use super::{ParseOptions, QuadSink, next_item, take_too_deep, too_deep_message};
use oxrdf::{GraphName, Quad};
use oxttl::{TriGParser, TurtleParseError, TurtleParser, TurtleSyntaxError};
use std::cell::RefCell;
use std::io::Read;

/// How much the parser gets at a time.
const STEP_BYTES: usize = 1 << 16;

pub(super) fn parse_turtle(
    reader: impl Read,
    options: &ParseOptions,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    let mut parser = TurtleParser::new();
    if let Some(base) = options.base_iri() {
        parser = parser.with_base_iri(base).map_err(|error| base_error(base, &error.to_string()))?;
    }
    let (reader, window) = window(reader, NestingGuard::new(), STEP_BYTES);
    let mut items = parser.for_reader(reader);
    let next = || items.next().map(|item| item.map(|triple| triple.in_graph(GraphName::DefaultGraph)));
    drain(next, &window, sink)
}

pub(super) fn parse_trig(
    reader: impl Read,
    options: &ParseOptions,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    let mut parser = TriGParser::new();
    if let Some(base) = options.base_iri() {
        parser = parser.with_base_iri(base).map_err(|error| base_error(base, &error.to_string()))?;
    }
    let (reader, window) = window(reader, NestingGuard::new(), STEP_BYTES);
    let mut items = parser.for_reader(reader);
    drain(|| items.next(), &window, sink)
}

pub(super) fn base_error(iri: &str, message: &str) -> ParseError {
    ParseError::BaseIri { iri: iri.to_owned(), message: message.to_owned() }
}

fn drain(
    mut next: impl FnMut() -> Option<Result<Quad, TurtleParseError>>,
    window: &RefCell<Window>,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    loop {
        let item = next_item(&mut next).map_err(|message| window.borrow().error_near_end(message))?;
        let quad = match item {
            None => return Ok(()),
            Some(Ok(quad)) => quad,
            Some(Err(TurtleParseError::Io(error))) => return Err(window.borrow().io_error(error)),
            Some(Err(TurtleParseError::Syntax(error))) => {
                return Err(syntax_error(&error, &window.borrow()).into());
            }
        };
        let quad = take_too_deep(quad).map_err(|()| window.borrow().error_near_end(too_deep_message()))?;
        if sink(quad.as_ref()).is_break() {
            return Ok(());
        }
    }
}

fn syntax_error(error: &TurtleSyntaxError, window: &Window) -> SyntaxError {
    let place = error.location();
    let text = excerpt(window.text(place.start.offset, place.end.offset));
    SyntaxError {
        line: place.start.line + 1,
        column: place.start.column + 1,
        offset: place.start.offset,
        approximate: false,
        message: error.message().to_owned(),
        hint: hint(error.message(), &text),
        excerpt: text,
    }
}
