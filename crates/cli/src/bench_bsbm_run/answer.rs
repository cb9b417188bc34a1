//! How many results an answer has: it is read to its end, and nothing of it is kept.

use anyhow::Context;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::fmt;
use std::io::{BufRead, BufReader, Read};

/// What a query is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Rows,
    Triples,
}

impl Shape {
    /// By the first word after the prologue.
    pub fn of_query(text: &str) -> Self {
        let is_prologue = |line: &str| {
            let word = line.split_whitespace().next().unwrap_or("#").to_ascii_uppercase();
            word.starts_with('#') || word == "PREFIX" || word == "BASE"
        };
        let first = text.lines().find(|line| !is_prologue(line)).unwrap_or_default().trim_start();
        let first = first.get(..4).unwrap_or_default();
        let is_graph = ["CONS", "DESC"].iter().any(|word| first.eq_ignore_ascii_case(word));
        if is_graph { Self::Triples } else { Self::Rows }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Rows => "application/sparql-results+json",
            Self::Triples => "application/n-triples",
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
}

#[derive(Deserialize)]
struct Document {
    results: Option<Results>,
    boolean: Option<bool>,
}

#[derive(Deserialize)]
struct Results {
    bindings: Count,
}

struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counter;
        impl<'de> Visitor<'de> for Counter {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of solutions")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Count, A::Error> {
                let mut count = 0;
                while rows.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Count(count))
            }
        }
        deserializer.deserialize_seq(Counter)
    }
}

/// Of JSON results; the answer to ASK is one.
fn count_rows(body: impl Read) -> anyhow::Result<u64> {
    let document: Document =
        serde_json::from_reader(body).context("the answer is cut or not JSON results")?;
    match (document.results, document.boolean) {
        (Some(results), _) => Ok(results.bindings.0),
        (None, Some(_)) => Ok(1),
        (None, None) => anyhow::bail!("the answer has neither results nor a boolean"),
    }
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

#[cfg(test)]
mod tests {
    //! Counts, and answers that are cut.
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

    #[test]
    fn shapes_of_queries() {
        assert_eq!(Shape::of_query("# select\nPREFIX a: <b>\n\n DESCRIBE ?x"), Shape::Triples);
        assert_eq!(Shape::of_query("prefix a: <b>\nconstruct { }"), Shape::Triples);
        assert_eq!(Shape::of_query("# construct\nSELECT *"), Shape::Rows);
    }
}
