//! SPARQL 1.1 Query Results CSV and TSV Formats.

use lode_exec::written::WrittenColumn;
use lode_rdf::serialize::{goes_bare, write_iri};
use lode_rdf::{BaseDirection, LiteralRef, TermRef, Variable};

pub fn csv_head(variables: &[Variable], out: &mut Vec<u8>) {
    for (at, variable) in variables.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(variable.as_str().as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

pub fn tsv_head(variables: &[Variable], out: &mut Vec<u8>) {
    for (at, variable) in variables.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        out.push(b'?');
        out.extend_from_slice(variable.as_str().as_bytes());
    }
    out.push(b'\n');
}

/// One solution; what is unbound is empty.
pub fn row(columns: &[WrittenColumn], row: usize, separator: u8, end: &[u8], out: &mut Vec<u8>) {
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.push(separator);
        }
        out.extend_from_slice(column.get(row).unwrap_or_default());
    }
    out.extend_from_slice(end);
}

pub fn csv_term(term: TermRef<'_>, out: &mut Vec<u8>) {
    match term {
        TermRef::NamedNode(iri) => csv_text(iri.as_str().as_bytes(), out),
        TermRef::BlankNode(node) => {
            out.extend_from_slice(b"_:");
            out.extend_from_slice(node.as_str().as_bytes());
        }
        TermRef::Literal(literal) => csv_text(literal.value().as_bytes(), out),
        TermRef::Triple(_) => {
            // One field, whatever is in its parts.
            let mut text = String::new();
            plain(term, &mut text);
            csv_text(text.as_bytes(), out);
        }
    }
}

/// A term's text without what tells its kind; of a triple term, those of its parts.
fn plain(term: TermRef<'_>, text: &mut String) {
    match term {
        TermRef::NamedNode(iri) => text.push_str(iri.as_str()),
        TermRef::BlankNode(node) => {
            text.push_str("_:");
            text.push_str(node.as_str());
        }
        TermRef::Literal(literal) => text.push_str(literal.value()),
        TermRef::Triple(triple) => {
            plain(triple.subject.as_ref().into(), text);
            text.push(' ');
            plain(triple.predicate.as_ref().into(), text);
            text.push(' ');
            plain(triple.object.as_ref(), text);
        }
    }
}

/// A field (RFC 4180): in quotes where it has to be.
fn csv_text(text: &[u8], out: &mut Vec<u8>) {
    let quoted = text.iter().fold(false, |any, byte| any | matches!(byte, b'"' | b',' | b'\n' | b'\r'));
    if !quoted {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

pub fn tsv_term(term: TermRef<'_>, out: &mut Vec<u8>) {
    match term {
        TermRef::NamedNode(iri) => write_iri(iri.as_str(), out),
        TermRef::BlankNode(node) => {
            out.extend_from_slice(b"_:");
            out.extend_from_slice(node.as_str().as_bytes());
        }
        TermRef::Literal(literal) => tsv_literal(literal, out),
        TermRef::Triple(triple) => {
            out.extend_from_slice(b"<<( ");
            tsv_term(triple.subject.as_ref().into(), out);
            out.push(b' ');
            tsv_term(triple.predicate.as_ref().into(), out);
            out.push(b' ');
            tsv_term(triple.object.as_ref(), out);
            out.extend_from_slice(b" )>>");
        }
    }
}

fn tsv_literal(literal: LiteralRef<'_>, out: &mut Vec<u8>) {
    let text = literal.value();
    if let Some(language) = literal.language() {
        tsv_text(text, out);
        out.push(b'@');
        out.extend_from_slice(language.as_bytes());
        match literal.direction() {
            Some(BaseDirection::Ltr) => out.extend_from_slice(b"--ltr"),
            Some(BaseDirection::Rtl) => out.extend_from_slice(b"--rtl"),
            None => {}
        }
    } else if lode_rdf::is_string(literal) {
        tsv_text(text, out);
    } else if goes_bare(literal) {
        out.extend_from_slice(text.as_bytes());
    } else {
        tsv_text(text, out);
        out.extend_from_slice(b"^^");
        write_iri(literal.datatype().as_str(), out);
    }
}

fn tsv_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}
