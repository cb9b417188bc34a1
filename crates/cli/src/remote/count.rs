//! What is in a server's data: `lode stats URL`.

use super::{Asked, Remote};
use crate::number::grouped;
use lode_engine::CancelToken;
use serde_json::{Value, json};
use std::io::Write;

/// Graphs that are listed.
const GRAPHS: usize = 20;

/// What is counted, by what is written before it; servers answer the first ones from their indexes.
const COUNTS: [(&str, &str, &str); 5] = [
    ("default_graph_quads", "quads in the default graph", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"),
    ("named_graph_quads", "quads in named graphs", "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"),
    ("subjects", "distinct subjects", "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }"),
    ("predicates", "distinct predicates", "SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }"),
    ("objects", "distinct objects", "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }"),
];

/// Writes what queries tell of the data; distinct terms are those of the default graph.
pub fn stats(
    remote: &Remote,
    at: Option<&str>,
    as_json: bool,
    cancel: &CancelToken,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut counts = Vec::new();
    for (key, name, query) in COUNTS {
        let rows = rows(remote, query, at, cancel)?;
        counts.push((key, name, rows.first().map_or(0, count)));
    }
    let query = format!(
        "SELECT ?g (COUNT(*) AS ?n) {{ GRAPH ?g {{ ?s ?p ?o }} }} GROUP BY ?g ORDER BY DESC(?n) ?g LIMIT {GRAPHS}"
    );
    let graphs: Vec<(String, u64)> = rows(remote, &query, at, cancel)?
        .iter()
        .map(|row| (row.pointer("/g/value").and_then(Value::as_str).unwrap_or("").to_owned(), count(row)))
        .collect();
    if as_json {
        let mut told: serde_json::Map<String, Value> =
            counts.iter().map(|(key, _, count)| ((*key).to_owned(), json!(count))).collect();
        let graphs: Vec<Value> =
            graphs.iter().map(|(graph, quads)| json!({ "graph": graph, "quads": quads })).collect();
        told.insert("largest_graphs".to_owned(), graphs.into());
        serde_json::to_writer_pretty(&mut *out, &told)?;
        return Ok(writeln!(out)?);
    }
    for (_, name, count) in &counts {
        writeln!(out, "{name:<28} {:>16}", grouped(*count))?;
    }
    for (graph, quads) in &graphs {
        writeln!(out, "  {:>42}  <{graph}>", grouped(*quads))?;
    }
    Ok(())
}

fn count(row: &Value) -> u64 {
    row.pointer("/n/value").and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The rows of an answer, as JSON has them.
pub fn rows(
    remote: &Remote,
    query: &str,
    at: Option<&str>,
    cancel: &CancelToken,
) -> anyhow::Result<Vec<Value>> {
    let asked = Asked {
        media_type: "application/sparql-query",
        text: query,
        accept: "application/sparql-results+json",
        parameters: at.map_or(String::new(), |at| super::parameter("at", at)),
    };
    let mut response = remote.query(&asked, cancel)?;
    let text = response.body_mut().read_to_string()?;
    let answer: Value = serde_json::from_str(&text)?;
    Ok(answer.pointer("/results/bindings").and_then(Value::as_array).cloned().unwrap_or_default())
}
