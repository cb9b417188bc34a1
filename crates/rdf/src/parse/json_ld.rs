//! JSON-LD. Contexts on the network are an error: a database does not fetch what a document names.

use super::base_error;
use super::error::{ParseError, SyntaxError, excerpt, hint};
use super::window::{Guard, Window, window};
use super::{ParseOptions, QuadSink, next_item, take_too_deep, too_deep_message};
use oxjsonld::{JsonLdErrorCode, JsonLdParseError, JsonLdParser, JsonLdSyntaxError};
use oxrdf::{GraphNameRef, NamedOrBlankNodeRef, QuadRef, TermRef};
use std::io::{BufReader, Read};

/// How much the parser gets at a time: little, because errors of the model are placed where reading had come to.
const STEP_BYTES: usize = 128;

/// Nothing to refuse: the JSON parser limits nesting itself.
struct NoGuard;

impl Guard for NoGuard {
    fn check(&mut self, _bytes: &[u8]) -> Result<(), (usize, String)> {
        Ok(())
    }
}

pub(super) fn parse(
    reader: impl Read,
    options: &ParseOptions,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    let mut parser = JsonLdParser::new();
    if let Some(base) = options.base_iri() {
        parser = parser.with_base_iri(base).map_err(|error| base_error(base, &error.to_string()))?;
    }
    let (reader, window) = window(BufReader::new(reader), NoGuard, STEP_BYTES);
    let mut items = parser.for_reader(reader);
    loop {
        let item = next_item(|| items.next()).map_err(|message| window.borrow().error_near_end(message))?;
        let quad = match item {
            None => return Ok(()),
            Some(Ok(quad)) => quad,
            Some(Err(JsonLdParseError::Io(error))) => return Err(window.borrow().io_error(error)),
            Some(Err(JsonLdParseError::Syntax(error))) => {
                return Err(syntax_error(&error, &window.borrow()).into());
            }
        };
        let quad = take_too_deep(quad).map_err(|()| window.borrow().error_near_end(too_deep_message()))?;
        if is_well_formed(quad.as_ref()) && sink(quad.as_ref()).is_break() {
            return Ok(());
        }
    }
}

/// Whether the labels of blank nodes follow Turtle's grammar. The library lets colons pass; the standard has quads with
/// other labels dropped, like those with ill-formed IRIs, which the library does drop.
fn is_well_formed(quad: QuadRef<'_>) -> bool {
    let subject = match quad.subject {
        NamedOrBlankNodeRef::BlankNode(node) => node.as_str(),
        NamedOrBlankNodeRef::NamedNode(_) => "",
    };
    let object = match quad.object {
        TermRef::BlankNode(node) => node.as_str(),
        _ => "",
    };
    let graph = match quad.graph_name {
        GraphNameRef::BlankNode(node) => node.as_str(),
        _ => "",
    };
    [subject, object, graph].iter().all(|label| !label.contains(':'))
}

/// A message of the JSON parser without the place, which is told anyway.
fn without_place(message: &str) -> &str {
    let rest = message.strip_prefix("Parser error at line ").and_then(|rest| rest.split_once(": "));
    rest.map_or(message, |(_, rest)| rest)
}

fn syntax_error(error: &JsonLdSyntaxError, window: &Window) -> SyntaxError {
    let message = match error.code() {
        Some(JsonLdErrorCode::LoadingRemoteContextFailed | JsonLdErrorCode::LoadingDocumentFailed) => {
            format!("the document needs a remote context, which is not loaded: {error}")
        }
        _ => without_place(&error.to_string()).to_owned(),
    };
    let Some(place) = error.location() else { return window.error_near_end(message) };
    let text = excerpt(window.text(place.start.offset, place.end.offset));
    SyntaxError {
        line: place.start.line + 1,
        column: place.start.column + 1,
        offset: place.start.offset,
        approximate: false,
        hint: hint(&message, &text),
        message,
        excerpt: text,
    }
}
