//! Literals with the datatype of a geometry that are none: no condition holds for what has them, and nobody would see it.

use crate::number;
use crate::talk::say;
use lode_engine::store::{NoGeometry, PlacesReport};
use lode_engine::{Database, QueryOptions, QueryResults};
use lode_rdf::{Literal, NamedNode};

/// Letters that are shown of a text.
const LETTERS: usize = 60;

/// One of them.
pub struct Named {
    /// The beginning of its text.
    pub text: String,
    /// What has it, if that is found.
    pub subject: Option<String>,
    pub reason: String,
}

/// Warns of them: how many there are, and what has the first few of them.
pub fn tell_unreadable(database: &Database, report: &PlacesReport) {
    let count = report.unreadable;
    if count == 0 {
        return;
    }
    say!(
        "warning: {} the datatype of a geometry and cannot be read as one: no condition on geometries holds for what has them",
        if count == 1 {
            "1 literal has".to_owned()
        } else {
            format!("{} literals have", number::grouped(count))
        }
    );
    let named = named(database, report);
    for Named { text, subject, reason } in &named {
        match subject {
            Some(subject) => say!("  \"{text}\" of {subject}: {reason}"),
            None => say!("  \"{text}\": {reason}"),
        }
    }
    let more = count.saturating_sub(named.len() as u64);
    if more > 0 && !named.is_empty() {
        say!("  and {} more", number::grouped(more));
    }
}

/// The first few of them.
pub fn named(database: &Database, report: &PlacesReport) -> Vec<Named> {
    let named = |literal: &NoGeometry| Named {
        text: shown(&literal.text),
        subject: subject(database, literal),
        reason: literal.reason.clone(),
    };
    report.named.iter().map(named).collect()
}

/// On one line, or its beginning.
fn shown(text: &str) -> String {
    let letter = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = text.chars().take(LETTERS).map(letter).collect();
    if text.chars().count() > LETTERS {
        shown.push_str("...");
    }
    shown
}

/// Something that has a literal, in any graph.
fn subject(database: &Database, literal: &NoGeometry) -> Option<String> {
    let datatype = NamedNode::new(&literal.datatype).ok()?;
    let literal = Literal::new_typed_literal(&literal.text, datatype);
    let query =
        format!("SELECT ?s {{ {{ ?s ?p {literal} }} UNION {{ GRAPH ?g {{ ?s ?p {literal} }} }} }} LIMIT 1");
    let answer = database.query(&query, &QueryOptions::default()).ok()?;
    let QueryResults::Solutions(mut solutions) = answer else { return None };
    let rows = solutions.collect_rows().ok()?;
    Some(rows.first()?.first()?.as_ref()?.to_string())
}
