//! Triples of one graph as N-Triples or Turtle, from texts of their terms: whoever writes a term once and its triples often saves most of
//! what the general serializers do.

use super::prefixes::Prefixes;
use crate::format::RdfFormat;
use oxrdf::LiteralRef;

const RDF_TYPE: &[u8] = b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const XSD_SUFFIX: &[u8] = b"^^<http://www.w3.org/2001/XMLSchema#";

/// How triples are written.
#[derive(Debug, Clone)]
pub enum GraphText {
    /// N-Triples.
    Lines,
    /// Turtle; triples of one subject in a row share it.
    Turtle(TurtleText),
}

/// What has been written of a Turtle document.
#[derive(Debug, Clone, Default)]
pub struct TurtleText {
    /// The last triple's; empty before the first, since no term's text is.
    subject: Vec<u8>,
    predicate: Vec<u8>,
    /// How IRIs may be written, and whether each prefix has been declared: that is done before the first statement that has it.
    prefixes: Prefixes,
    declared: Vec<bool>,
}

impl GraphText {
    /// For a format that writes a graph as this does; `None` for others. N-Quads and TriG do in the default graph.
    pub fn new(format: RdfFormat) -> Option<Self> {
        match format {
            RdfFormat::NTriples | RdfFormat::NQuads => Some(Self::Lines),
            RdfFormat::Turtle | RdfFormat::TriG => Some(Self::Turtle(TurtleText::default())),
            RdfFormat::RdfXml | RdfFormat::JsonLd => None,
        }
    }

    /// The same; where the format has prefixes, with these. Only those that are used are declared.
    #[must_use]
    pub fn with_prefixes(self, prefixes: &Prefixes) -> Self {
        match self {
            Self::Lines => Self::Lines,
            Self::Turtle(turtle) => Self::Turtle(TurtleText { prefixes: prefixes.clone(), ..turtle }),
        }
    }

    /// Appends a triple, whose terms are written as in N-Triples.
    pub fn write(&mut self, [subject, predicate, object]: [&[u8]; 3], out: &mut Vec<u8>) {
        match self {
            Self::Lines => {
                for term in [subject, predicate, object] {
                    out.extend_from_slice(term);
                    out.push(b' ');
                }
                out.extend_from_slice(b".\n");
            }
            Self::Turtle(turtle) => turtle.write([subject, predicate, object], out),
        }
    }

    /// Appends the end of the document.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if let Self::Turtle(turtle) = self {
            turtle.end(out);
        }
    }
}

impl TurtleText {
    fn write(&mut self, terms: [&[u8]; 3], out: &mut Vec<u8>) {
        if !self.prefixes.is_empty() {
            self.declare(terms, out);
        }
        let [subject, predicate, object] = terms;
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

    /// Declares what the terms have and was not declared before, which ends a statement that has begun.
    fn declare(&mut self, terms: [&[u8]; 3], out: &mut Vec<u8>) {
        for term in terms {
            let Some((_, number, _)) = self.split(term) else { continue };
            if self.declared.get(number).copied().unwrap_or(false) {
                continue;
            }
            self.end(out);
            if self.declared.len() <= number {
                self.declared.resize(number + 1, false);
            }
            if let Some(declared) = self.declared.get_mut(number) {
                *declared = true;
            }
            if let Some((name, namespace)) = self.prefixes.get(number) {
                out.extend_from_slice(format!("@prefix {name}: <{namespace}> .\n").as_bytes());
            }
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

/// A term's text in Turtle: numbers and truth values that need neither quotes nor a datatype go without.
fn short(term: &[u8]) -> &[u8] {
    let long = || {
        let quoted = term.strip_prefix(b"\"")?.strip_suffix(b">")?;
        // Names of datatypes that have a short form, none longer than seven letters, have no quote.
        let at = quoted.iter().rposition(|byte| *byte == b'"')?;
        let (text, datatype) = (quoted.get(..at)?, quoted.get(at + 1..)?.strip_prefix(XSD_SUFFIX)?);
        is_bare(text, datatype).then_some(text)
    };
    long().unwrap_or(term)
}

/// Whether Turtle writes a literal without quotes and datatype: a number or a truth value (Turtle, 2.5.2 and 2.5.3).
pub fn goes_bare(literal: LiteralRef<'_>) -> bool {
    let name = literal.datatype().as_str().strip_prefix("http://www.w3.org/2001/XMLSchema#");
    name.is_some_and(|name| is_bare(literal.value().as_bytes(), name.as_bytes()))
}

/// Whether Turtle reads a text without quotes as a literal of this datatype, of which the local name in XSD is given.
fn is_bare(text: &[u8], datatype: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"+").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
    match datatype {
        b"boolean" => matches!(text, b"true" | b"false"),
        b"integer" => !unsigned.is_empty() && digits(unsigned) == unsigned.len(),
        b"decimal" => is_decimal(unsigned),
        b"double" => is_double(unsigned),
        _ => false,
    }
}

/// How many digits a text begins with.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// `[0-9]* '.' [0-9]+`
fn is_decimal(text: &[u8]) -> bool {
    match text.split_at(digits(text)).1 {
        [b'.', fraction @ ..] => !fraction.is_empty() && digits(fraction) == fraction.len(),
        _ => false,
    }
}

/// `([0-9]+ '.' [0-9]* | '.' [0-9]+ | [0-9]+) [eE] [+-]? [0-9]+`
fn is_double(text: &[u8]) -> bool {
    let whole = digits(text);
    let (fraction, rest) = match text.split_at(whole).1 {
        [b'.', rest @ ..] => (digits(rest), rest.split_at(digits(rest)).1),
        rest => (0, rest),
    };
    let [b'e' | b'E', exponent @ ..] = rest else { return false };
    let exponent = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
    whole + fraction > 0 && !exponent.is_empty() && digits(exponent) == exponent.len()
}
