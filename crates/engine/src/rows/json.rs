//! SPARQL 1.1 Query Results JSON Format, with RDF 1.2's triple terms and base directions.

use lode_exec::written::WrittenColumn;
use lode_rdf::{BaseDirection, TermRef, Variable};

/// Bytes looked at together for ones to be escaped.
const BLOCK: usize = 32;

pub fn head(variables: &[Variable], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"head\":{\"vars\":[");
    for (at, variable) in variables.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        string(variable.as_str(), out);
    }
    out.extend_from_slice(b"]},\"results\":{\"bindings\":[");
}

pub fn tail(out: &mut Vec<u8>) {
    out.extend_from_slice(b"]}}");
}

/// What stands before each variable's value.
pub fn names(variables: &[Variable]) -> Vec<Vec<u8>> {
    let name = |variable: &Variable| {
        let mut name = Vec::new();
        string(variable.as_str(), &mut name);
        name.push(b':');
        name
    };
    variables.iter().map(name).collect()
}

/// One solution: the bound variables.
pub fn row(columns: &[WrittenColumn], names: &[Vec<u8>], row: usize, first: bool, out: &mut Vec<u8>) {
    if !first {
        out.push(b',');
    }
    out.push(b'{');
    let mut separate = false;
    for (column, name) in columns.iter().zip(names) {
        let Some(text) = column.get(row) else { continue };
        if separate {
            out.push(b',');
        }
        separate = true;
        out.extend_from_slice(name);
        out.extend_from_slice(text);
    }
    out.push(b'}');
}

/// The same on a line of its own.
pub fn line(columns: &[WrittenColumn], names: &[Vec<u8>], row: usize, out: &mut Vec<u8>) {
    self::row(columns, names, row, true, out);
    out.push(b'\n');
}

pub fn term(term: TermRef<'_>, out: &mut Vec<u8>) {
    match term {
        TermRef::NamedNode(iri) => value("uri", iri.as_str(), out),
        TermRef::BlankNode(node) => value("bnode", node.as_str(), out),
        TermRef::Literal(literal) => {
            value("literal", literal.value(), out);
            if let Some(language) = literal.language() {
                out.extend_from_slice(b",\"xml:lang\":");
                string(language, out);
                match literal.direction() {
                    Some(BaseDirection::Ltr) => out.extend_from_slice(b",\"its:dir\":\"ltr\""),
                    Some(BaseDirection::Rtl) => out.extend_from_slice(b",\"its:dir\":\"rtl\""),
                    None => {}
                }
            } else if !lode_rdf::is_string(literal) {
                out.extend_from_slice(b",\"datatype\":");
                string(literal.datatype().as_str(), out);
            }
        }
        TermRef::Triple(triple) => {
            out.extend_from_slice(b"{\"type\":\"triple\",\"value\":{\"subject\":");
            self::term(triple.subject.as_ref().into(), out);
            out.extend_from_slice(b",\"predicate\":");
            self::term(triple.predicate.as_ref().into(), out);
            out.extend_from_slice(b",\"object\":");
            self::term(triple.object.as_ref(), out);
            out.push(b'}');
        }
    }
    out.push(b'}');
}

/// The beginning of an object: its kind and text.
fn value(kind: &str, text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"value\":");
    string(text, out);
}

/// A string (RFC 8259, section 7).
fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some((block, later)) = rest.split_first_chunk::<BLOCK>() {
        // Without a branch in it, so that it is a few vector instructions.
        let special = block.iter().fold(false, |any, byte| any | is_special(*byte));
        if special {
            escaped(block, out);
        } else {
            out.extend_from_slice(block);
        }
        rest = later;
    }
    escaped(rest, out);
    out.push(b'"');
}

#[inline]
fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

fn escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            0..b' ' => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
}
