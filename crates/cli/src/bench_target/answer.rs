//! An answer as it is sent: its rows are counted, or told as text.

use super::cell;
use super::json_results::{self, Kind};
use anyhow::Context;
use lode_engine::{OutputFormat, ResultKind};
use lode_rdf::{ParseOptions, RdfFormat, TermRef, parse::parse};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;

/// What a query is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Rows,
    Triples,
}

impl Shape {
    /// By the first word after the prologue.
    pub fn of_query(text: &str) -> Self {
        let first = Self::first_word(text);
        let is_graph = ["CONSTRUCT", "DESCRIBE"].iter().any(|word| first.eq_ignore_ascii_case(word));
        if is_graph { Self::Triples } else { Self::Rows }
    }

    /// The first word after the prologue.
    pub fn first_word(text: &str) -> &str {
        let is_prologue = |line: &str| {
            let word = line.split_whitespace().next().unwrap_or("#").to_ascii_uppercase();
            word.starts_with('#') || word == "PREFIX" || word == "BASE"
        };
        let line = text.lines().find(|line| !is_prologue(line)).unwrap_or_default().trim_start();
        line.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default()
    }

    /// What is asked for, best first; N-Triples have gone by other names.
    pub fn media_types(self) -> &'static [&'static str] {
        match self {
            Self::Rows => &["application/sparql-results+json"],
            Self::Triples => &["application/n-triples", "text/ntriples", "text/plain"],
        }
    }

    /// The same, of a database in this process.
    pub fn format(self) -> OutputFormat {
        match self {
            Self::Rows => OutputFormat::default_for(ResultKind::Solutions),
            Self::Triples => OutputFormat::Rdf(RdfFormat::NTriples),
        }
    }

    /// Reads an answer of this media type to its end; its rows or triples.
    pub fn count(self, body: impl Read) -> anyhow::Result<u64> {
        let body = BufReader::with_capacity(1 << 16, body);
        match self {
            Self::Rows => count_rows(body),
            Self::Triples => count_triples(body),
        }
    }

    /// Reads an answer of this media type to its end. Each row is told as text: `name=value` of the variables that are bound, in
    /// the order of their names, with tabs between; triples have names as well.
    pub fn rows(self, body: impl Read, take: &mut dyn FnMut(String)) -> anyhow::Result<()> {
        let body = BufReader::with_capacity(1 << 16, body);
        match self {
            Self::Rows => tell_rows(body, take),
            Self::Triples => tell_triples(body, take),
        }
    }
}

/// Of JSON results; the answer to ASK is one.
fn count_rows(body: impl Read) -> anyhow::Result<u64> {
    let mut count = 0;
    Ok(match json_results::read(body, &mut |_: IgnoredAny| count += 1)? {
        Kind::Solutions => count,
        Kind::Boolean(_) => 1,
    })
}

/// A term in JSON results.
#[derive(Deserialize)]
struct JsonTerm {
    #[serde(rename = "type")]
    kind: String,
    value: String,
    #[serde(default)]
    datatype: String,
    #[serde(rename = "xml:lang")]
    language: Option<String>,
}

impl JsonTerm {
    fn cell(&self) -> String {
        match self.kind.as_str() {
            "uri" => cell::iri(&self.value),
            "bnode" => cell::blank_node(),
            _ => cell::literal(&self.value, &self.datatype, self.language.as_deref()),
        }
    }
}

fn tell_rows(body: impl Read, take: &mut dyn FnMut(String)) -> anyhow::Result<()> {
    let mut tell_row = |row: BTreeMap<String, JsonTerm>| {
        let cells: Vec<String> = row.iter().map(|(name, term)| format!("{name}={}", term.cell())).collect();
        take(cells.join("\t"));
    };
    let kind = json_results::read(body, &mut tell_row)?;
    if let Kind::Boolean(boolean) = kind {
        take(format!("boolean={boolean}"));
    }
    Ok(())
}

/// Lines of N-Triples.
fn count_triples(mut body: impl BufRead) -> anyhow::Result<u64> {
    let (mut count, mut line) = (0, Vec::new());
    while body.read_until(b'\n', &mut line).context("the answer is cut")? > 0 {
        count += u64::from(!matches!(line.trim_ascii_start().first(), None | Some(b'#')));
        line.clear();
    }
    Ok(count)
}

fn tell_triples(body: impl Read, take: &mut dyn FnMut(String)) -> anyhow::Result<()> {
    parse(RdfFormat::NTriples, body, &ParseOptions::default(), &mut |quad| {
        let subject = term_cell(quad.subject.into());
        let predicate = cell::iri(quad.predicate.as_str());
        take(format!("s={subject}\tp={predicate}\to={}", term_cell(quad.object)));
        ControlFlow::Continue(())
    })?;
    Ok(())
}

fn term_cell(term: TermRef<'_>) -> String {
    match term {
        TermRef::NamedNode(node) => cell::iri(node.as_str()),
        TermRef::BlankNode(_) => cell::blank_node(),
        TermRef::Literal(literal) => {
            cell::literal(literal.value(), literal.datatype().as_str(), literal.language())
        }
        TermRef::Triple(triple) => triple.to_string(),
    }
}

#[cfg(test)]
mod tests {
    //! Counts, rows as text, and answers that are cut.
    use super::*;

    #[test]
    fn results_are_counted() {
        let json = r#"{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"a"}},{}]}}"#;
        assert_eq!(Shape::Rows.count(json.as_bytes()).unwrap(), 2);
        assert_eq!(Shape::Rows.count(&br#"{"head":{},"boolean":false}"#[..]).unwrap(), 1);
        assert_eq!(Shape::Triples.count(&b"<a> <b> <c> .\n\n# no\n<a> <b> \"c\" ."[..]).unwrap(), 2);
        assert_eq!(Shape::Triples.count(&b""[..]).unwrap(), 0);
        for bad in [&json[..json.len() - 3], "{}", "<html>", ""] {
            assert!(Shape::Rows.count(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    fn rows(shape: Shape, text: &str) -> Vec<String> {
        let mut rows = Vec::new();
        shape.rows(text.as_bytes(), &mut |row| rows.push(row)).unwrap();
        rows
    }

    #[test]
    fn rows_are_told_as_text() {
        let json = r#"{"head":{"vars":["b","a"]},"results":{"distinct":false,"bindings":[
            {"b":{"type":"uri","value":"http://e/"},"a":{"type":"literal","xml:lang":"DE","value":"x\ty"}},
            {"a":{"type":"typed-literal","datatype":"http://www.w3.org/2001/XMLSchema#decimal","value":"2.50"}},
            {"b":{"type":"bnode","value":"b0"}},{}]}}"#;
        assert_eq!(rows(Shape::Rows, json), ["a=\"x\\ty\"@de\tb=<http://e/>", "a=2.5", "b=_:", ""]);
        assert_eq!(rows(Shape::Rows, r#"{"head":{},"boolean":true}"#), ["boolean=true"]);
        let triples = "<a:b> <a:c> \"d\\u00E9\"@EN .\n_:x <a:c> \"1.0\"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n";
        assert_eq!(rows(Shape::Triples, triples), ["s=<a:b>\tp=<a:c>\to=\"dé\"@en", "s=_:\tp=<a:c>\to=1"]);
        assert!(Shape::Rows.rows(&json.as_bytes()[..200], &mut |_| ()).is_err());
        assert!(Shape::Triples.rows(&b"<a:b> <a:c> "[..], &mut |_| ()).is_err());
    }

    #[test]
    fn shapes_of_queries() {
        assert_eq!(Shape::of_query("# select\nPREFIX a: <b>\n\n DESCRIBE ?x"), Shape::Triples);
        assert_eq!(Shape::of_query("prefix a: <b>\nconstruct { }"), Shape::Triples);
        assert_eq!(Shape::of_query("# construct\nSELECT *"), Shape::Rows);
    }
}
