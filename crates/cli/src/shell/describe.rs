//! `.describe`: what is said of a thing, and where that is nothing, what is known of it and what may be meant.

use super::session::Session;
use crate::exit::wrong_usage;
use crate::number;
use crate::talk::say;
use lode_rdf::NamedNode;
use std::time::Duration;

/// Each question has so long.
const TIME: Duration = Duration::from_secs(2);
/// Names that are looked at for one that is meant, of each kind.
const CANDIDATES_MAX: usize = 2_000;
/// Names that are offered.
const OFFERED_MAX: usize = 5;
/// How like each other two names are at least, of which one may be meant by the other.
const LIKE: f64 = 0.86;

pub fn describe(session: &mut Session<'_>, word: &str) -> anyhow::Result<()> {
    let Some(thing) = term(word) else {
        let meant = if word.is_empty() { String::new() } else { meant(session, word) };
        return Err(wrong_usage(format!(".describe takes an IRI or a name with a prefix{meant}")));
    };
    if session.query(&format!("DESCRIBE {thing}"))? == Some(0) {
        let known = known(session, &thing);
        match known.is_empty() {
            true => say!("nothing is known of {word}{}", meant(session, local_name(word))),
            false => say!("no triple has the subject {word}; {}", known.join(", ")),
        }
    }
    Ok(())
}

/// An IRI, with or without brackets, or a name with a prefix, as a query has it.
pub fn term(word: &str) -> Option<String> {
    let bare = word.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(word);
    let is_iri = bare.len() < word.len() || bare.contains("://") || bare.starts_with("urn:");
    if is_iri {
        return NamedNode::new(bare).ok().map(|iri| iri.to_string());
    }
    let is_name =
        word.contains(':') && !word.contains(|c: char| c.is_whitespace() || "{}()<>;\"'".contains(c));
    is_name.then(|| word.to_owned())
}

/// Where else a thing stands.
fn known(session: &mut Session<'_>, thing: &str) -> Vec<String> {
    let of = [
        (
            format!("?s a {thing}"),
            "thing is",
            "things are",
            "of this class (.predicates tells what they have)",
        ),
        (format!("?s {thing} ?o"), "triple has", "triples have", "it as predicate"),
        (format!("?s ?p {thing} FILTER(?p != rdf:type)"), "triple has", "triples have", "it as object"),
        (format!("GRAPH {thing} {{ ?s ?p ?o }}"), "triple is", "triples are", "in the graph of this name"),
        (
            format!("GRAPH ?g {{ {thing} ?p ?o }}"),
            "triple has",
            "triples have",
            "it as subject in named graphs",
        ),
    ];
    let mut known = Vec::new();
    for (pattern, one, many, what) in of {
        let found = session.values(&format!("SELECT (COUNT(*) AS ?n) {{ {pattern} }}"), TIME);
        let count = found.first().and_then(|text| text.parse().ok()).unwrap_or(0_u64);
        if count > 0 {
            known.push(format!("{} {} {what}", number::grouped(count), if count == 1 { one } else { many }));
        }
    }
    known
}

/// `; did you mean foaf:Person?`, or nothing.
fn meant(session: &mut Session<'_>, name: &str) -> String {
    let mut near: Vec<(f64, String)> = Vec::new();
    let name = name.to_lowercase();
    for pattern in ["?s a ?x", "?s ?x ?o", "?x ?p ?o"] {
        let query = format!("SELECT DISTINCT ?x {{ {pattern} FILTER(ISIRI(?x)) }} LIMIT {CANDIDATES_MAX}");
        for iri in session.values(&query, TIME) {
            let like = strsim::jaro_winkler(&local_name(&iri).to_lowercase(), &name);
            if like >= LIKE && !near.iter().any(|(_, other)| *other == iri) {
                near.push((like, iri));
            }
        }
    }
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let written = |(_, iri): &(f64, String)| session.written(iri);
    let offered: Vec<String> = near.iter().take(OFFERED_MAX).map(written).collect();
    if offered.is_empty() { String::new() } else { format!("; did you mean {}?", offered.join(", ")) }
}

/// What of an IRI, or of a name with a prefix, tells it from others of its namespace.
fn local_name(iri: &str) -> &str {
    let whole = iri.trim_matches(['<', '>']).trim_end_matches(['#', '/']);
    whole.rsplit(['#', '/', ':']).next().unwrap_or(whole)
}
