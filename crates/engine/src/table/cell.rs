//! Terms as texts of cells.

use super::width::width;
use lode_rdf::serialize::{Prefixes, goes_bare};
use lode_rdf::{Literal, Term};
use std::borrow::Cow;
use std::fmt::Write as _;

/// A term's text, in which nothing controls a terminal.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub text: String,
    /// Of a number, and what it is worth.
    pub number: Option<f64>,
    /// Columns of its end by which people tell it from others, where it is a name: they stay when it is cut.
    pub end: usize,
}

impl Cell {
    /// As in Turtle: numbers and booleans bare, all else as N-Triples, with line breaks escaped so that a row stays a line.
    pub fn whole(term: &Term) -> Self {
        let text = match term {
            Term::Literal(literal) if goes_bare(literal.as_ref()) => literal.value().to_owned(),
            other => other.to_string(),
        };
        Self { text: harmless(&text, usize::MAX), ..Self::default() }
    }

    /// The same with prefixes, and of a long one a character more than so many columns can show, since rows wait here; of a long name also its end.
    pub fn short(term: &Term, prefixes: &Prefixes, columns: usize) -> Self {
        if let Term::NamedNode(node) = term {
            return Self::name(node.as_str(), prefixes, columns);
        }
        let chars_max = columns.saturating_add(1);
        let mut text = Beginning { text: String::new(), left: chars_max };
        // What is left out does not fit.
        let _ = write_short(term, prefixes, &mut text);
        let number = match term {
            Term::Literal(literal) if goes_bare(literal.as_ref()) => literal.value().parse().ok(),
            _ => None,
        };
        Self { text: harmless(&text.text, chars_max), number, end: 0 }
    }

    /// An IRI, whose last part tells it from its like.
    fn name(iri: &str, prefixes: &Prefixes, columns: usize) -> Self {
        let written = match shortened(iri, prefixes) {
            Some(short) => short,
            None => format!("<{}>", both_ends(iri, columns)),
        };
        let text = harmless(&written, usize::MAX);
        let end = text.get(last_part(&text)..).map_or(0, width);
        Self { text, number: None, end }
    }
}

/// A text; of one of which no column shows all, its beginning and its end, each a character longer than can be shown.
fn both_ends(text: &str, columns: usize) -> Cow<'_, str> {
    let half = columns.saturating_add(1);
    let begin = text.char_indices().nth(half).map(|(at, _)| at);
    let end = text.char_indices().rev().nth(half).map(|(at, _)| at);
    match (begin, end) {
        (Some(begin), Some(end)) if begin < end => {
            Cow::Owned([text.get(..begin), text.get(end..)].into_iter().flatten().collect())
        }
        _ => Cow::Borrowed(text),
    }
}

/// Where the last part of an IRI or of a name with a prefix begins, with what parts it from those before.
fn last_part(text: &str) -> usize {
    let whole = text.trim_end_matches(['/', '#', '>']);
    whole.rfind(['/', '#']).or_else(|| whole.rfind(':')).unwrap_or(0)
}

/// A text that takes so many characters, and then no more.
struct Beginning {
    text: String,
    left: usize,
}

impl std::fmt::Write for Beginning {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        match text.char_indices().nth(self.left) {
            Some((end, _)) => {
                self.text.push_str(text.get(..end).unwrap_or(""));
                self.left = 0;
                Err(std::fmt::Error)
            }
            None => {
                self.left -= text.chars().count();
                self.text.push_str(text);
                Ok(())
            }
        }
    }
}

fn write_short(term: &Term, prefixes: &Prefixes, out: &mut Beginning) -> std::fmt::Result {
    match term {
        Term::NamedNode(node) => write_iri(node.as_str(), prefixes, out),
        Term::BlankNode(node) => write!(out, "{node}"),
        Term::Literal(literal) if goes_bare(literal.as_ref()) => out.write_str(literal.value()),
        Term::Literal(literal) => write_literal(literal, prefixes, out),
        Term::Triple(triple) => {
            out.write_str("<<( ")?;
            write_short(&triple.subject.clone().into(), prefixes, out)?;
            out.write_char(' ')?;
            write_iri(triple.predicate.as_str(), prefixes, out)?;
            out.write_char(' ')?;
            write_short(&triple.object, prefixes, out)?;
            out.write_str(" )>>")
        }
    }
}

fn write_literal(literal: &Literal, prefixes: &Prefixes, out: &mut Beginning) -> std::fmt::Result {
    // The beginning is enough of what is long.
    let value: String = literal.value().chars().take(out.left).collect();
    write!(out, "{}", Literal::new_simple_literal(value))?;
    if let Some(language) = literal.language() {
        write!(out, "@{language}")?;
        return literal.direction().map_or(Ok(()), |direction| write!(out, "--{direction}"));
    }
    if literal.datatype().as_str() == "http://www.w3.org/2001/XMLSchema#string" {
        return Ok(());
    }
    out.write_str("^^")?;
    write_iri(literal.datatype().as_str(), prefixes, out)
}

/// Turtle has a word for it and so no prefix; a table has.
const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

fn shortened(iri: &str, prefixes: &Prefixes) -> Option<String> {
    prefixes.shorten(iri).or_else(|| (iri == RDF_TYPE).then(|| "rdf:type".to_owned()))
}

fn write_iri(iri: &str, prefixes: &Prefixes, out: &mut Beginning) -> std::fmt::Result {
    match shortened(iri, prefixes) {
        Some(short) => out.write_str(&short),
        None => {
            out.write_char('<')?;
            out.write_str(iri)?;
            out.write_char('>')
        }
    }
}

/// A text without characters that control something, whose codes stand for them, and of so many characters at most.
fn harmless(text: &str, chars_max: usize) -> String {
    if !text.chars().any(controls) {
        return text.to_owned();
    }
    let escape = |c: char| if controls(c) { format!("\\u{:04X}", u32::from(c)) } else { c.to_string() };
    text.chars().take(chars_max).map(escape).collect()
}

/// Whether a character controls what a terminal shows: C0, C1, and what changes the direction or ends a line.
fn controls(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
