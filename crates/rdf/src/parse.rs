//! Reading RDF: one interface over the parsers of all syntaxes, with errors that say where and what.
//!
//! [`parse`] reads any syntax from a stream; [`parse_line_chunk`] reads a piece of a line-based file, for loaders that
//! work on many pieces at once and may set bad lines aside. Parsers are strict, what the standards forbid is an error, unless they are told to be
//! lenient: then what can be kept is kept, and counted ([`Kept`]).

mod error;
mod json_ld;
pub(crate) mod kept;
mod lenient_quads;
mod limit;
mod lines;
mod nesting;
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

pub use error::{ParseError, SyntaxError};
pub use kept::{Kept, KeptExample, Mistake, ParseNotes};
pub use limit::{StatementLimit, TOO_LONG_HINT};
pub use lines::{LineChunk, last_line_end, parse_line_chunk, parse_line_chunk_noting};
pub use result_guard::ResultGuard;
pub use turtle::{BlankLabels, PieceCutter, TurtlePiece};

use crate::format::RdfFormat;
use oxiri::Iri;
use oxrdf::{Quad, QuadRef, Term, Triple};
use std::fmt;
use std::io::Read;
use std::ops::ControlFlow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Finds the text of a JSON-LD context by its IRI, or says why there is none.
pub type ContextLoader = dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync + UnwindSafe + RefUnwindSafe;

/// What a parser needs to know besides the text.
#[derive(Clone, Default)]
pub struct ParseOptions {
    base_iri: Option<String>,
    statement_limit: StatementLimit,
    base_is_own: bool,
    lenient: bool,
    contexts: Option<Arc<ContextLoader>>,
}

impl fmt::Debug for ParseOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParseOptions")
            .field("base_iri", &self.base_iri)
            .field("statement_limit", &self.statement_limit)
            .field("base_is_own", &self.base_is_own)
            .field("lenient", &self.lenient)
            .field("contexts", &self.contexts.is_some())
            .finish()
    }
}

impl ParseOptions {
    /// Sets the IRI that relative IRIs are resolved against (in Turtle, TriG, RDF/XML and JSON-LD).
    pub fn with_base_iri(mut self, base_iri: &str) -> Result<Self, ParseError> {
        Iri::parse(base_iri)
            .map_err(|error| ParseError::BaseIri { iri: base_iri.to_owned(), message: error.to_string() })?;
        self.base_iri = Some(base_iri.to_owned());
        self.base_is_own = false;
        Ok(self)
    }

    /// Sets how long a statement may be.
    #[must_use]
    pub fn with_statement_limit(mut self, limit: StatementLimit) -> Self {
        self.statement_limit = limit;
        self
    }

    /// How long a statement may be.
    pub fn statement_limit(&self) -> StatementLimit {
        self.statement_limit
    }

    /// Sets the document's own address as the base IRI (RFC 3986, section 5.1.3), if none is set and it is an IRI.
    #[must_use]
    pub fn with_own_address(mut self, address: &str) -> Self {
        if self.base_iri.is_none() && Iri::parse(address).is_ok() {
            self.base_iri = Some(address.to_owned());
            self.base_is_own = true;
        }
        self
    }

    /// Keeps what can be kept although the standards forbid it.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// Sets where JSON-LD contexts come from that are named by IRIs; without, such documents are errors.
    #[must_use]
    pub fn with_contexts(mut self, contexts: Arc<ContextLoader>) -> Self {
        self.contexts = Some(contexts);
        self
    }

    /// The base IRI.
    pub fn base_iri(&self) -> Option<&str> {
        self.base_iri.as_deref()
    }

    /// Whether what can be kept is kept.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// The beginning of IRIs that only come from resolving relative ones, where that shall be noted.
    fn own_files(&self) -> Option<&'static str> {
        const FILES: &str = "file:";
        (self.base_is_own && self.base_iri.as_ref().is_some_and(|base| base.starts_with(FILES)))
            .then_some(FILES)
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
    parse_noting(format, reader, options, &mut ParseNotes::default(), sink)
}

/// Like [`parse`]; what there is to say besides is added to `notes`.
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

/// Statements that are none.
#[derive(Debug)]
pub struct BadText<'a> {
    /// Their text.
    pub text: &'a [u8],
    /// What is wrong, with the place in the file.
    pub error: SyntaxError,
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
