//! Writing RDF: all six syntaxes, quad by quad.
//!
//! N-Triples and N-Quads are written by our own code, because dumps are mostly that: straight from keys and ids, with a
//! copy of the text where nothing needs an escape. So are Turtle and TriG where texts of terms are at hand ([`GraphText`]). The other syntaxes are
//! written by the libraries that also read them.

mod bare;
mod graph_text;
mod prefixes;
mod text;

#[cfg(test)]
mod tests;

pub use bare::goes_bare;
pub use graph_text::GraphText;
pub use prefixes::Prefixes;
use text::{is_plain, write_escaped_iri};
pub use text::{write_inline_ntriples, write_iri, write_key_ntriples, write_quoted, write_term_ntriples};

use crate::format::RdfFormat;
use oxjsonld::{JsonLdSerializer, WriterJsonLdSerializer};
use oxrdf::{
    GraphName, GraphNameRef, Literal, NamedNode, NamedOrBlankNode, Quad, QuadRef, Term, TermRef, TripleRef,
};
use oxrdfxml::{RdfXmlSerializer, WriterRdfXmlSerializer};
use oxttl::trig::{TriGSerializer, WriterTriGSerializer};
use oxttl::turtle::{TurtleSerializer, WriterTurtleSerializer};
use std::io::{self, Write};

/// How much text is collected before it is written.
const BUFFER_BYTES: usize = 1 << 16;

/// A stream of quads in some format. Nothing is complete before [`QuadWriter::finish`].
pub struct QuadWriter<W: Write> {
    format: RdfFormat,
    inner: Inner<W>,
}

enum Inner<W: Write> {
    Lines { writer: W, buffer: Vec<u8> },
    Turtle(WriterTurtleSerializer<W>),
    TriG(WriterTriGSerializer<W>),
    RdfXml(Box<WriterRdfXmlSerializer<W>>),
    JsonLd(Box<WriterJsonLdSerializer<W>>),
}

fn invalid(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error.to_string())
}

impl<W: Write> QuadWriter<W> {
    /// Starts a document.
    ///
    /// # Errors
    ///
    /// As [`QuadWriter::start_with_prefixes`], which without prefixes has none.
    pub fn start(format: RdfFormat, writer: W) -> io::Result<Self> {
        Self::start_with_prefixes(format, writer, &[])
    }

    /// Starts a document with prefixes (name, IRI); N-Triples and N-Quads have none and ignore them.
    ///
    /// # Errors
    ///
    /// `InvalidInput` where the IRI of a prefix is none.
    pub fn start_with_prefixes(format: RdfFormat, writer: W, prefixes: &[(&str, &str)]) -> io::Result<Self> {
        let inner = match format {
            RdfFormat::NTriples | RdfFormat::NQuads => {
                Inner::Lines { writer, buffer: Vec::with_capacity(BUFFER_BYTES) }
            }
            RdfFormat::Turtle => {
                let mut serializer = TurtleSerializer::new();
                for (name, iri) in prefixes {
                    serializer = serializer.with_prefix(*name, *iri).map_err(invalid)?;
                }
                Inner::Turtle(serializer.for_writer(writer))
            }
            RdfFormat::TriG => {
                let mut serializer = TriGSerializer::new();
                for (name, iri) in prefixes {
                    serializer = serializer.with_prefix(*name, *iri).map_err(invalid)?;
                }
                Inner::TriG(serializer.for_writer(writer))
            }
            RdfFormat::RdfXml => {
                let mut serializer = RdfXmlSerializer::new();
                for (name, iri) in prefixes {
                    serializer = serializer.with_prefix(*name, *iri).map_err(invalid)?;
                }
                Inner::RdfXml(Box::new(serializer.for_writer(writer)))
            }
            RdfFormat::JsonLd => {
                let mut serializer = JsonLdSerializer::new();
                for (name, iri) in prefixes {
                    serializer = serializer.with_prefix(*name, *iri).map_err(invalid)?;
                }
                Inner::JsonLd(Box::new(serializer.for_writer(writer)))
            }
        };
        Ok(Self { format, inner })
    }

    /// Writes a quad. Quads of one subject (and graph) in a row make shorter documents.
    ///
    /// # Errors
    ///
    /// `InvalidInput` where the format cannot hold the quad: named graphs in formats of one graph, predicates without
    /// a local name or control characters in RDF/XML, triple terms in JSON-LD. Else where the writer fails.
    pub fn write(&mut self, quad: QuadRef<'_>) -> io::Result<()> {
        if !self.format.supports_datasets() && !quad.graph_name.is_default_graph() {
            return Err(invalid(format_args!(
                "{} cannot hold the named graph {}",
                self.format, quad.graph_name
            )));
        }
        let escaped;
        let mut quad = quad;
        if matches!(self.inner, Inner::Turtle(_) | Inner::TriG(_)) && !is_writable(quad) {
            escaped = with_escapes(quad);
            quad = escaped.as_ref();
        }
        let triple = TripleRef { subject: quad.subject, predicate: quad.predicate, object: quad.object };
        match &mut self.inner {
            Inner::Lines { writer, buffer } => {
                write_quad_line(quad, buffer);
                if buffer.len() >= BUFFER_BYTES {
                    writer.write_all(buffer)?;
                    buffer.clear();
                }
                Ok(())
            }
            Inner::Turtle(serializer) => serializer.serialize_triple(triple),
            Inner::TriG(serializer) => serializer.serialize_quad(quad),
            Inner::RdfXml(serializer) => {
                check_xml(quad.object)?;
                serializer.serialize_triple(triple)
            }
            Inner::JsonLd(serializer) => {
                if matches!(quad.object, TermRef::Triple(_)) {
                    return Err(invalid("JSON-LD cannot hold triple terms"));
                }
                serializer.serialize_quad(quad)
            }
        }
    }

    /// Ends the document and gives the writer back, flushed.
    ///
    /// # Errors
    ///
    /// Where the writer fails.
    pub fn finish(self) -> io::Result<W> {
        let mut writer = match self.inner {
            Inner::Lines { mut writer, buffer } => {
                writer.write_all(&buffer)?;
                writer
            }
            Inner::Turtle(serializer) => serializer.finish()?,
            Inner::TriG(serializer) => serializer.finish()?,
            Inner::RdfXml(serializer) => serializer.finish()?,
            Inner::JsonLd(serializer) => serializer.finish()?,
        };
        writer.flush()?;
        Ok(writer)
    }
}

/// Whether all IRIs of a quad can stand between angle brackets, where the library does not escape them.
fn is_writable(quad: QuadRef<'_>) -> bool {
    let datatype = match quad.object {
        TermRef::Literal(literal) => is_plain(literal.datatype().as_str().as_bytes()),
        _ => true,
    };
    datatype && crate::raw::RawQuad::from(quad).iris().all(|iri| is_plain(iri.as_bytes()))
}

/// A quad with escapes in its IRIs.
#[cold]
fn with_escapes(quad: QuadRef<'_>) -> Quad {
    let escaped = |iri: &mut NamedNode| {
        let mut text = Vec::new();
        write_escaped_iri(iri.as_str(), &mut text);
        *iri = NamedNode::new_unchecked(String::from_utf8_lossy(&text));
    };
    let mut quad = quad.into_owned();
    if let NamedOrBlankNode::NamedNode(node) = &mut quad.subject {
        escaped(node);
    }
    escaped(&mut quad.predicate);
    match &mut quad.object {
        Term::NamedNode(node) => escaped(node),
        Term::Literal(literal) if literal.language().is_none() => {
            let mut datatype = literal.datatype().into_owned();
            escaped(&mut datatype);
            *literal = Literal::new_typed_literal(literal.value(), datatype);
        }
        _ => {}
    }
    if let GraphName::NamedNode(node) = &mut quad.graph_name {
        escaped(node);
    }
    quad
}

/// XML has no way to write most control characters, and a parser reads a carriage return as a line feed.
fn check_xml(object: TermRef<'_>) -> io::Result<()> {
    let mut object = object;
    while let TermRef::Triple(triple) = object {
        object = triple.object.as_ref();
    }
    let TermRef::Literal(literal) = object else { return Ok(()) };
    let is_xml = |c: char| !matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}');
    if literal.value().chars().all(is_xml) {
        return Ok(());
    }
    Err(invalid("RDF/XML cannot hold a literal with control characters"))
}

/// Appends a quad as a line of N-Quads (or of N-Triples, in the default graph).
pub fn write_quad_line(quad: QuadRef<'_>, out: &mut Vec<u8>) {
    write_term_ntriples(quad.subject.into(), out);
    out.push(b' ');
    write_iri(quad.predicate.as_str(), out);
    out.push(b' ');
    write_term_ntriples(quad.object, out);
    match quad.graph_name {
        GraphNameRef::DefaultGraph => {}
        GraphNameRef::NamedNode(node) => {
            out.push(b' ');
            write_iri(node.as_str(), out);
        }
        GraphNameRef::BlankNode(node) => {
            out.extend_from_slice(b" _:");
            out.extend_from_slice(node.as_str().as_bytes());
        }
    }
    out.extend_from_slice(b" .\n");
}
