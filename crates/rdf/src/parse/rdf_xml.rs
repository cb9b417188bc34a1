//! RDF/XML.

use super::error::{ParseError, SyntaxError, base_error};
use super::kept::ParseNotes;
use super::lenient_quads::look;
use super::library::{next_item, take_too_deep, too_deep_message};
use super::options::{ParseOptions, QuadSink};
use super::window::{Window, window};
use super::xml_guard::XmlGuard;
use super::xml_literal::canonicalize;
use super::xml_names::NameMender;
use oxrdf::GraphName;
use oxrdfxml::{RdfXmlParseError, RdfXmlParser};
use std::io::Read;

/// How much the parser gets at a time.
const STEP_BYTES: usize = 1 << 16;

pub(super) fn parse(
    reader: impl Read,
    options: &ParseOptions,
    notes: &mut ParseNotes,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    let mut parser = RdfXmlParser::new();
    let mut reader: Box<dyn Read + '_> = Box::new(reader);
    if options.is_lenient() {
        parser = parser.lenient();
        reader = Box::new(NameMender::new(reader));
    }
    if let Some(base) = options.base_iri() {
        parser = parser.with_base_iri(base).map_err(|error| base_error(base, &error.to_string()))?;
    }
    let (reader, window) = window(reader, XmlGuard::new(), STEP_BYTES, options.statement_limit());
    let mut items = parser.for_reader(reader);
    loop {
        let item = next_item(|| items.next()).map_err(|message| window.borrow().error_near_end(message))?;
        let mut triple = match item {
            None => return Ok(()),
            Some(Ok(triple)) => triple,
            Some(Err(RdfXmlParseError::Io(error))) => return Err(window.borrow().io_error(error)),
            Some(Err(RdfXmlParseError::Syntax(error))) => {
                let end = items.buffer_position();
                return Err(syntax_error(error.to_string(), end, &window.borrow()).into());
            }
        };
        window.borrow_mut().finish_statement();
        canonicalize(&mut triple);
        let mut quad = take_too_deep(triple.in_graph(GraphName::DefaultGraph))
            .map_err(|()| window.borrow().error_near_end(too_deep_message()))?;
        if options.is_lenient() {
            let end = items.buffer_position();
            let place = || {
                let error = syntax_error(String::new(), end, &window.borrow());
                (error.line, error.column)
            };
            if !look(&mut quad, &mut notes.kept, &place) {
                let message = "this cannot be kept, not even leniently: an IRI that is empty or has '<', '>' or control characters, \
                               or a language tag with other characters than letters, digits, '-' and '_'";
                return Err(syntax_error(message.to_owned(), end, &window.borrow()).into());
            }
        }
        notes.see_address(options, quad.as_ref());
        if sink(quad.as_ref()).is_break() {
            return Ok(());
        }
    }
}

/// The parser tells the end of the markup that it did not like; the error is shown at its start.
fn syntax_error(message: String, end: u64, window: &Window) -> SyntaxError {
    let start = window.last_before(b'<', end).unwrap_or(end);
    window.error_at(start, message, false)
}
