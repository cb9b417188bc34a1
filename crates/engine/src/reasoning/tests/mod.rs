//! Queries that reason find what queries over written-out triples find.

mod examples;
mod random;
mod written_out;

use super::{Reasoning, SchemaRules};
use crate::testing::sorted_rows;
use crate::{Database, QueryOptions, UpdateOptions};

const PROLOGUE: &str = "PREFIX : <http://e/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> \
                        PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX owl: <http://www.w3.org/2002/07/owl#> ";

/// A database with what an update puts in.
fn database(update: &str) -> Database {
    let database = Database::in_memory().unwrap();
    database.update(&format!("{PROLOGUE}{update}"), &UpdateOptions::default()).unwrap();
    database
}

/// Options of a query by these rules.
fn by(rules: &str) -> QueryOptions {
    let reasoning = Reasoning::by(rules.parse::<SchemaRules>().unwrap());
    QueryOptions { reasoning, ..QueryOptions::default() }
}

/// The rows of an answer, sorted.
fn rows(database: &Database, query: &str, options: &QueryOptions) -> Vec<String> {
    sorted_rows(database, PROLOGUE, query, options)
}
