//! Reading RDF: one interface over the parsers of all syntaxes, with errors that say where and what.
//!
//! [`parse`] reads any syntax from a stream; [`parse_line_chunk`] reads a piece of a line-based file, for loaders that
//! work on many pieces at once and may set bad lines aside. Parsers are strict, what the standards forbid is an error, unless they are told to be
//! lenient: then what can be kept is kept, and counted ([`Kept`]).

mod declared;
mod error;
mod json_ld;
mod kept;
mod lenient_quads;
mod library;
mod limit;
mod lines;
mod nesting;
mod options;
mod rdf_xml;
mod result_guard;
mod turtle;
mod window;
mod xml_guard;
mod xml_literal;
mod xml_names;

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod tests;

pub use crate::mistake::Mistake;
pub use declared::DeclaredPrefixes;
pub use error::{BadText, ParseError, SyntaxError};
pub use kept::{Kept, KeptExample, ParseNotes};
pub use limit::{StatementLimit, TOO_LONG_HINT};
pub use lines::{LineChunk, last_line_end, parse_line_chunk, parse_line_chunk_noting};
pub use options::{ContextLoader, ParseOptions, QuadSink};
pub use result_guard::ResultGuard;
pub use turtle::{BlankLabels, PieceCutter, TurtlePiece};

use crate::format::RdfFormat;
use oxrdf::{Quad, QuadRef};
use std::io::Read;
use std::ops::ControlFlow;

/// Parses a document to its end, to its first error, or until the sink breaks (which is no error).
///
/// Blank nodes have the document's labels, or random ones where the document has none.
///
/// # Errors
///
/// [`ParseError`] where the text is not what the syntax allows (or, in lenient parsing, cannot be kept), a statement
/// is too long, the base IRI is none, or the reader fails.
pub fn parse(
    format: RdfFormat,
    reader: impl Read,
    options: &ParseOptions,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    parse_noting(format, reader, options, &mut ParseNotes::default(), sink)
}

/// Like [`parse`]; what there is to say besides is added to `notes`.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_noting(
    format: RdfFormat,
    reader: impl Read,
    options: &ParseOptions,
    notes: &mut ParseNotes,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    match format {
        RdfFormat::NTriples | RdfFormat::NQuads => lines::parse(format, reader, options, notes, sink),
        RdfFormat::Turtle | RdfFormat::TriG => turtle::parse(format, reader, options, notes, sink),
        RdfFormat::RdfXml => rdf_xml::parse(reader, options, notes, sink),
        RdfFormat::JsonLd => json_ld::parse(reader, options, notes, sink),
    }
}

/// Parses a document in memory.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_slice(
    format: RdfFormat,
    text: &[u8],
    options: &ParseOptions,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    parse(format, text, options, sink)
}

/// Like [`parse_slice`]; the sink is told, too, in which line the statement begins that a quad is of. Only Turtle and TriG tell.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_with_lines(
    format: RdfFormat,
    text: &[u8],
    options: &ParseOptions,
    sink: &mut dyn FnMut(QuadRef<'_>, Option<u64>) -> ControlFlow<()>,
) -> Result<(), ParseError> {
    match format {
        RdfFormat::Turtle | RdfFormat::TriG => turtle::parse_with_lines(format, text, options, sink),
        _ => parse(format, text, options, &mut |quad| sink(quad, None)),
    }
}

/// Parses a document in memory into a list.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_to_vec(format: RdfFormat, text: &[u8], options: &ParseOptions) -> Result<Vec<Quad>, ParseError> {
    let mut quads = Vec::new();
    parse_slice(format, text, options, &mut |quad| {
        quads.push(quad.into_owned());
        ControlFlow::Continue(())
    })?;
    Ok(quads)
}
