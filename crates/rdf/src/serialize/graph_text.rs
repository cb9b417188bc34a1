//! Triples and quads as N-Triples, N-Quads, Turtle or TriG, from texts of their terms: whoever writes a term once and its triples often saves most of
//! what the general serializers do.

use super::bare::short;
use super::prefixes::Prefixes;
use super::text::{write_iri, write_term_ntriples};
use crate::format::RdfFormat;
use oxrdf::{GraphNameRef, QuadRef};

const RDF_TYPE: &[u8] = b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
/// So much of a document waits for the prefixes that stand before it.
const HELD_BYTES: usize = 32 << 10;

/// How triples are written.
#[derive(Debug, Clone)]
pub enum GraphText {
    /// N-Triples, and N-Quads.
    Lines,
    /// Turtle, and TriG; triples of one subject in a row share it.
    Turtle(Box<TurtleText>),
}

/// What has been written of a Turtle or TriG document.
#[derive(Debug, Clone, Default)]
pub struct TurtleText {
    /// The last triple's; empty before the first, since no term's text is.
    subject: Vec<u8>,
    predicate: Vec<u8>,
    /// The graph that is open; empty for the default graph.
    graph: Vec<u8>,
    /// How IRIs may be written, and whether each prefix has been declared: before the first statement that has it.
    prefixes: Prefixes,
    declared: Vec<bool>,
    /// The beginning of the document, until what it declares is known.
    held: Vec<u8>,
    has_begun: bool,
}

impl GraphText {
    /// For a format that writes a graph as this does; `None` for others. N-Quads and TriG do in the default graph.
    pub fn new(format: RdfFormat) -> Option<Self> {
        match format {
            RdfFormat::NTriples | RdfFormat::NQuads => Some(Self::Lines),
            RdfFormat::Turtle | RdfFormat::TriG => Some(Self::Turtle(Box::default())),
            RdfFormat::RdfXml | RdfFormat::JsonLd => None,
        }
    }

    /// The same; where the format has prefixes, with these. Those that the beginning of the document uses are declared before it, and before a long
    /// one also [`Prefixes::expected`]; others where they are used first.
    #[must_use]
    pub fn with_prefixes(self, prefixes: &Prefixes) -> Self {
        match self {
            Self::Lines => Self::Lines,
            Self::Turtle(mut turtle) => {
                turtle.prefixes.clone_from(prefixes);
                Self::Turtle(turtle)
            }
        }
    }

    /// Appends a triple, whose terms are written as in N-Triples.
    pub fn write(&mut self, terms: [&[u8]; 3], out: &mut Vec<u8>) {
        self.write_in(&[], terms, out);
    }

    /// Appends a quad of a graph, whose name is written likewise, and empty for the default graph. Formats of one graph have no other.
    pub fn write_in(&mut self, graph: &[u8], terms: [&[u8]; 3], out: &mut Vec<u8>) {
        match self {
            Self::Lines => {
                for term in terms.iter().chain([&graph]).filter(|term| !term.is_empty()) {
                    out.extend_from_slice(term);
                    out.push(b' ');
                }
                out.extend_from_slice(b".\n");
            }
            Self::Turtle(turtle) => turtle.write(graph, terms, out),
        }
    }

    /// Appends a quad.
    pub fn write_quad(&mut self, quad: QuadRef<'_>, out: &mut Vec<u8>) {
        let mut texts: [Vec<u8>; 4] = Default::default();
        let [subject, predicate, object, graph] = &mut texts;
        write_term_ntriples(quad.subject.into(), subject);
        write_iri(quad.predicate.as_str(), predicate);
        write_term_ntriples(quad.object, object);
        match quad.graph_name {
            GraphNameRef::DefaultGraph => {}
            GraphNameRef::NamedNode(node) => write_iri(node.as_str(), graph),
            GraphNameRef::BlankNode(node) => write_term_ntriples(node.into(), graph),
        }
        let [subject, predicate, object, graph] = &texts;
        self.write_in(graph, [subject, predicate, object], out);
    }

    /// Appends the end of the document.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if let Self::Turtle(turtle) = self {
            turtle.begin(out);
            turtle.end_graph(out);
        }
    }
}

impl TurtleText {
    fn write(&mut self, graph: &[u8], terms: [&[u8]; 3], out: &mut Vec<u8>) {
        if self.prefixes.is_empty() {
            return self.statement(graph, terms, out);
        }
        let [subject, predicate, object] = terms;
        self.declare([graph, subject, predicate, object], out);
        if self.has_begun {
            return self.statement(graph, terms, out);
        }
        let mut held = std::mem::take(&mut self.held);
        self.statement(graph, terms, &mut held);
        self.held = held;
        if self.held.len() >= HELD_BYTES {
            for number in self.prefixes.expected() {
                self.note_declared(number);
            }
            self.begin(out);
        }
    }

    /// Writes what is declared at the beginning, and what has waited for that.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        for number in (0..self.declared.len()).filter(|number| self.is_declared(*number)) {
            self.declaration(number, out);
        }
        out.append(&mut std::mem::take(&mut self.held));
    }

    fn statement(&mut self, graph: &[u8], [subject, predicate, object]: [&[u8]; 3], out: &mut Vec<u8>) {
        if graph != self.graph {
            self.end_graph(out);
            set(&mut self.graph, graph);
            self.term(graph, out);
            out.extend_from_slice(b" {\n");
        }
        if subject != self.subject {
            self.end(out);
            set(&mut self.subject, subject);
            set(&mut self.predicate, predicate);
            self.term(subject, out);
            out.push(b' ');
            self.predicate(predicate, out);
        } else if predicate != self.predicate {
            set(&mut self.predicate, predicate);
            out.extend_from_slice(b" ;\n\t");
            self.predicate(predicate, out);
        } else {
            out.extend_from_slice(b" , ");
        }
        self.term(object, out);
    }

    /// Notes what the terms have and was not declared before; behind the beginning it is declared at once, which ends what has begun.
    fn declare(&mut self, terms: [&[u8]; 4], out: &mut Vec<u8>) {
        for term in terms {
            let Some((_, number, _)) = self.split(term) else { continue };
            if self.is_declared(number) {
                continue;
            }
            self.note_declared(number);
            if self.has_begun {
                self.end_graph(out);
                self.declaration(number, out);
            }
        }
    }

    fn is_declared(&self, number: usize) -> bool {
        self.declared.get(number).copied().unwrap_or(false)
    }

    fn note_declared(&mut self, number: usize) {
        if self.declared.len() <= number {
            self.declared.resize(number + 1, false);
        }
        if let Some(declared) = self.declared.get_mut(number) {
            *declared = true;
        }
    }

    fn declaration(&self, number: usize, out: &mut Vec<u8>) {
        if let Some((name, namespace)) = self.prefixes.get(number) {
            out.extend_from_slice(format!("@prefix {name}: <{namespace}> .\n").as_bytes());
        }
    }

    /// What of a term stands before its IRI, the number of the IRI's prefix, and the rest of the IRI.
    fn split<'t>(&self, term: &'t [u8]) -> Option<(&'t [u8], usize, &'t str)> {
        let end = term.strip_suffix(b">")?;
        let start = match term.first()? {
            b'<' if term.get(1) != Some(&b'<') => 0,
            // Of a literal, the datatype; those that go bare have none.
            b'"' if short(term).first() == Some(&b'"') => end.iter().rposition(|byte| *byte == b'<')?,
            _ => return None,
        };
        let iri = std::str::from_utf8(end.get(start + 1..)?).ok()?;
        let (number, rest) = self.prefixes.split(iri)?;
        Some((term.get(..start)?, number, rest))
    }

    fn term(&self, term: &[u8], out: &mut Vec<u8>) {
        let found = if self.prefixes.is_empty() { None } else { self.split(term) };
        match found.and_then(|(before, number, rest)| Some((before, self.prefixes.get(number)?.0, rest))) {
            Some((before, name, rest)) => {
                for part in [before, name.as_bytes(), b":", rest.as_bytes()] {
                    out.extend_from_slice(part);
                }
            }
            None => out.extend_from_slice(short(term)),
        }
    }

    fn predicate(&self, predicate: &[u8], out: &mut Vec<u8>) {
        if predicate == RDF_TYPE {
            out.push(b'a');
        } else {
            self.term(predicate, out);
        }
        out.push(b' ');
    }

    fn end_graph(&mut self, out: &mut Vec<u8>) {
        self.end(out);
        if !self.graph.is_empty() {
            out.extend_from_slice(b"}\n");
            self.graph.clear();
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if !self.subject.is_empty() {
            out.extend_from_slice(b" .\n");
            self.subject.clear();
        }
    }
}

fn set(text: &mut Vec<u8>, to: &[u8]) {
    text.clear();
    text.extend_from_slice(to);
}
