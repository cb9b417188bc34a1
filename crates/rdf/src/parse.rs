//! Reading RDF: one interface over the parsers of all syntaxes, with errors that say where and what.
//!
//! [`parse`] reads any syntax from a stream; [`parse_line_chunk`] reads a piece of a line-based file, for loaders that
//! work on many pieces at once and may set bad lines aside. All parsers are strict: what the standards forbid is an error.

mod error;
mod json_ld;
mod lines;
mod nesting;
mod rdf_xml;
mod turtle;
mod window;
mod xml_guard;
mod xml_literal;

#[cfg(test)]
mod tests;

pub use error::{ParseError, SyntaxError};
pub use lines::{BadLine, LINE_BYTES_MAX, LineChunk, last_line_end, parse_line_chunk};
pub use turtle::{BlankLabels, PieceCutter, STATEMENT_BYTES_MAX, TurtlePiece};

use crate::format::RdfFormat;
use oxiri::Iri;
use oxrdf::{Quad, QuadRef, Term, Triple};
use std::io::Read;
use std::ops::ControlFlow;

/// What a parser needs to know besides the text.
#[derive(Debug, Clone, Default)]
pub struct ParseOptions {
    base_iri: Option<String>,
}

impl ParseOptions {
    /// Sets the IRI that relative IRIs are resolved against (in Turtle, TriG, RDF/XML and JSON-LD).
    pub fn with_base_iri(mut self, base_iri: &str) -> Result<Self, ParseError> {
        Iri::parse(base_iri)
            .map_err(|error| ParseError::BaseIri { iri: base_iri.to_owned(), message: error.to_string() })?;
        self.base_iri = Some(base_iri.to_owned());
        Ok(self)
    }

    /// The base IRI.
    pub fn base_iri(&self) -> Option<&str> {
        self.base_iri.as_deref()
    }
}

/// Receives quads until it breaks.
pub type QuadSink<'s> = dyn FnMut(QuadRef<'_>) -> ControlFlow<()> + 's;

/// Parses a document to its end, to its first error, or until the sink breaks (which is no error).
///
/// Blank nodes have the document's labels, or random ones where the document has none.
pub fn parse(
    format: RdfFormat,
    reader: impl Read,
    options: &ParseOptions,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    match format {
        RdfFormat::NTriples | RdfFormat::NQuads => lines::parse(format, reader, sink),
        RdfFormat::Turtle | RdfFormat::TriG => turtle::parse(format, reader, options, sink),
        RdfFormat::RdfXml => rdf_xml::parse(reader, options, sink),
        RdfFormat::JsonLd => json_ld::parse(reader, options, sink),
    }
}

/// Parses a document in memory.
pub fn parse_slice(
    format: RdfFormat,
    text: &[u8],
    options: &ParseOptions,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    parse(format, text, options, sink)
}

/// Parses a document in memory into a list.
pub fn parse_to_vec(format: RdfFormat, text: &[u8], options: &ParseOptions) -> Result<Vec<Quad>, ParseError> {
    let mut quads = Vec::new();
    parse_slice(format, text, options, &mut |quad| {
        quads.push(quad.into_owned());
        ControlFlow::Continue(())
    })?;
    Ok(quads)
}

fn base_error(iri: &str, message: &str) -> ParseError {
    ParseError::BaseIri { iri: iri.to_owned(), message: message.to_owned() }
}

/// Takes the next item of a library's parser. A panic in there is a bug of the library, but not a reason to end a server.
fn next_item<T>(mut next: impl FnMut() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut next))
        .map_err(|_| "the parser failed on this text, which is a bug in it".to_owned())
}

/// Whether a quad's triple terms nest deeper than the store keeps. If so the quad is taken apart without recursion,
/// because dropping a chain of a million boxes would overflow the stack.
fn take_too_deep(quad: Quad) -> Result<Quad, ()> {
    let mut depth = 0;
    let mut object = &quad.object;
    while let Term::Triple(triple) = object {
        depth += 1;
        object = &triple.object;
    }
    if depth <= crate::key::TRIPLE_DEPTH_MAX {
        return Ok(quad);
    }
    let mut object = quad.object;
    while let Term::Triple(triple) = object {
        let Triple { object: inner, .. } = *triple;
        object = inner;
    }
    Err(())
}

/// The message for triple terms that nest too deep.
fn too_deep_message() -> String {
    format!("triple terms nest more than {} deep", crate::key::TRIPLE_DEPTH_MAX)
}
