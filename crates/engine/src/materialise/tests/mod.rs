//! What is inferred, by each rule and by all together; who sees it; what becomes of it.

mod background;
mod closures;
mod crash;
mod equality;
mod going_on;
mod life;
pub(crate) mod random;
mod sets;
mod texts;
mod upkeep;
mod upkeep_rules;
mod views;

use super::{MaterialiseOptions, MaterialiseReport, RuleSource};
use crate::testing::sorted_rows;
use crate::{
    CancelToken, Database, EngineError, GraphRules, QuadPattern, QueryOptions, QueryResults, UpdateOptions,
};
use std::collections::BTreeSet;

const PROLOGUE: &str = "PREFIX : <http://e/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> \
                        PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX owl: <http://www.w3.org/2002/07/owl#> \
                        PREFIX skos: <http://www.w3.org/2004/02/skos/core#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> ";

fn update(database: &Database, request: &str) {
    let text = format!("{PROLOGUE}{request}");
    database.update(&text, &UpdateOptions::default()).unwrap_or_else(|error| panic!("{request}: {error}"));
}

fn database(data: &str) -> Database {
    let database = Database::in_memory().unwrap();
    update(&database, &format!("INSERT DATA {{ {data} }}"));
    database
}

fn by(sources: &[&str]) -> MaterialiseOptions {
    let source = |text: &&str| match text.contains('{') {
        true => RuleSource::Text { name: "own.rq".to_owned(), text: format!("{PROLOGUE}\n{text}") },
        false => RuleSource::Set((*text).to_owned()),
    };
    MaterialiseOptions { rules: sources.iter().map(source).collect(), ..MaterialiseOptions::default() }
}

fn apply(database: &Database, sources: &[&str]) -> MaterialiseReport {
    database.materialise(&by(sources)).unwrap_or_else(|error| panic!("{sources:?}: {error}"))
}

/// The same, and commits do not bring what follows up to date.
fn apply_async(database: &Database, sources: &[&str]) -> MaterialiseReport {
    let options = MaterialiseOptions { maintained: Some(false), ..by(sources) };
    database.materialise(&options).unwrap_or_else(|error| panic!("{sources:?}: {error}"))
}

fn ask(database: &Database, pattern: &str) -> bool {
    let answer = database.query(&format!("{PROLOGUE}ASK {{ {pattern} }}"), &QueryOptions::default());
    match answer.unwrap_or_else(|error| panic!("{pattern}: {error}")) {
        QueryResults::Boolean(answer) => answer,
        _ => panic!("an ASK"),
    }
}

/// The rows of an answer, sorted.
fn rows(database: &Database, query: &str, options: &QueryOptions) -> Vec<String> {
    sorted_rows(database, PROLOGUE, query, options)
}

/// All triples of the default graph, as a query sees it.
fn triples(database: &Database, inferred: bool) -> BTreeSet<String> {
    let options = QueryOptions { inferred, ..QueryOptions::default() };
    rows(database, "SELECT * { ?s ?p ?o }", &options).into_iter().collect()
}

fn statements(database: &Database) -> u64 {
    QuadPattern::default()
        .count(&database.snapshot(), &GraphRules::default(), &CancelToken::default())
        .unwrap()
}

fn refused(database: &Database, options: &MaterialiseOptions) -> EngineError {
    match database.materialise(options) {
        Ok(report) => panic!("{report:?}"),
        Err(error) => error,
    }
}
