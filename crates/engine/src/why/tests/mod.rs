//! Explanations: of each kind, of what does not follow, for who may read little; and of random data, where each proof is checked and its height compared.

mod consistency;
mod examples;
mod heights;
mod large;
mod proofs;

use super::{Explanation, Goal, WhyOptions};
use crate::{Database, EngineError, MaterialiseOptions, RuleSource, UpdateOptions};
use lode_rdf::serialize::Prefixes;

const NAMES: [(&str, &str); 7] = [
    ("", "http://e/"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("aux", "urn:lodestore:rules:"),
];

fn prefixes() -> Prefixes {
    Prefixes::new(NAMES)
}

fn prologue() -> String {
    NAMES.iter().map(|(name, iri)| format!("PREFIX {name}: <{iri}>\n")).collect()
}

fn update(database: &Database, request: &str) {
    let text = format!("{}{request}", prologue());
    database.update(&text, &UpdateOptions::default()).unwrap_or_else(|error| panic!("{request}: {error}"));
}

fn database(data: &str) -> Database {
    let database = Database::in_memory().unwrap();
    update(&database, &format!("INSERT DATA {{ {data} }}"));
    database
}

fn apply(database: &Database, rules: &str) {
    apply_maintained(database, rules, true);
}

fn apply_maintained(database: &Database, rules: &str, maintained: bool) {
    let source = match rules.contains('{') {
        true => RuleSource::Text { name: "own.rq".to_owned(), text: format!("{}\n{rules}", prologue()) },
        false => RuleSource::Set(rules.to_owned()),
    };
    let maintained = Some(maintained);
    let options = MaterialiseOptions { rules: vec![source], maintained, ..MaterialiseOptions::default() };
    database.materialise(&options).unwrap_or_else(|error| panic!("{rules}: {error}"));
}

fn why(database: &Database, triple: &str) -> Explanation {
    asked(database, triple, &WhyOptions::default()).unwrap_or_else(|error| panic!("{triple}: {error}"))
}

fn asked(database: &Database, triple: &str, options: &WhyOptions) -> Result<Explanation, EngineError> {
    database.why(database.snapshot(), &Goal::parse(triple, &prefixes())?, options)
}

fn text(explanation: &Explanation) -> String {
    let mut text = Vec::new();
    explanation.write_text(&prefixes(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The explanation of a triple as a text.
fn told(database: &Database, triple: &str) -> String {
    text(&why(database, triple))
}
