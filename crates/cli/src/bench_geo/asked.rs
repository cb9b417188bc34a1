//! What is asked, and how long the database of the benchmark takes for an answer.

use anyhow::bail;
use lode_engine::{Database, QueryOptions, QueryResults};
use std::time::{Duration, Instant};

/// Windows by their middles and sizes, and places whose nearest are asked for.
pub struct Queries {
    pub windows: Vec<([f64; 2], f64)>,
    pub nearest: Vec<[f64; 2]>,
}

/// The first value of each row, and how long it took to have all.
pub fn asked(database: &Database, query: &str) -> anyhow::Result<(Vec<String>, Duration)> {
    let start = Instant::now();
    let answer = database.query(query, &QueryOptions::default())?;
    let QueryResults::Solutions(mut solutions) = answer else {
        bail!("a query of the benchmark is no SELECT")
    };
    let rows = solutions.collect_rows()?;
    let time = start.elapsed();
    let value = |term: &lode_rdf::Term| match term {
        lode_rdf::Term::Literal(literal) => literal.value().to_owned(),
        other => other.to_string(),
    };
    let first = |row: &Vec<Option<lode_rdf::Term>>| {
        row.first().and_then(Option::as_ref).map(value).unwrap_or_default()
    };
    Ok((rows.iter().map(first).collect(), time))
}
