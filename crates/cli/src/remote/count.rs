//! What is in a server's data: `lode stats URL`, in the words of `lode stats FOLDER`, as far as queries tell it.

use super::{Asked, Remote};
use crate::number::grouped;
use lode_engine::{CancelToken, INFERRED_GRAPH};
use serde_json::{Value, json};
use std::io::Write;

/// Graphs that are listed.
const GRAPHS: usize = 20;

/// What queries tell.
struct Told {
    default_graph_quads: u64,
    named_graph_quads: u64,
    named_graphs: u64,
    /// The largest ones, as terms.
    largest: Vec<(String, u64)>,
    /// Triples that rules have added, which are in a graph of their own.
    inferred: u64,
    subjects: u64,
    predicates: u64,
    objects: u64,
}

impl Told {
    fn ask(remote: &Remote, at: Option<&str>, cancel: &CancelToken) -> anyhow::Result<Self> {
        let ask = |query: &str, parameters: &str| rows_with(remote, query, at, parameters, cancel);
        let number_with = |what: &str, pattern: &str, parameters: &str| -> anyhow::Result<u64> {
            let rows = ask(&format!("SELECT (COUNT({what}) AS ?n) {{ {pattern} }}"), parameters)?;
            Ok(rows.first().map_or(0, count))
        };
        let number = |what: &str, pattern: &str| number_with(what, pattern, "");
        const TRIPLE: &str = "?s ?p ?o";
        const NAMED: &str = "GRAPH ?g { ?s ?p ?o }";
        // A server shows them in the default graph as well, and not among the named ones, as far as it is not asked otherwise.
        let in_graph = number("*", &format!("GRAPH <{INFERRED_GRAPH}> {{ {TRIPLE} }}"))?;
        // Without rules its name is one like others.
        let is_named = in_graph > 0 && number("*", &format!("{NAMED} FILTER(?g = <{INFERRED_GRAPH}>)"))? > 0;
        let inferred = if is_named { 0 } else { in_graph };
        let stated = if inferred > 0 { super::parameter("infer", "false") } else { String::new() };
        // Servers answer the first ones from their indexes.
        let default_graph_quads = number_with("*", TRIPLE, &stated)?;
        let named_graph_quads = number_with("*", NAMED, &stated)?;
        let both = format!("{{ {TRIPLE} }} UNION {{ {NAMED} }}");
        let all = if named_graph_quads == 0 { TRIPLE } else { &both };
        let query = format!(
            "SELECT ?g (COUNT(*) AS ?n) {{ {NAMED} }} GROUP BY ?g ORDER BY DESC(?n) ?g LIMIT {GRAPHS}"
        );
        let mut largest: Vec<(String, u64)> =
            ask(&query, &stated)?.iter().map(|row| (term(row, "/g"), count(row))).collect();
        if inferred > 0 {
            let at = largest.partition_point(|(_, quads)| *quads >= inferred);
            largest.insert(at, (format!("<{INFERRED_GRAPH}>"), inferred));
            largest.truncate(GRAPHS);
        }
        Ok(Self {
            default_graph_quads,
            named_graph_quads: named_graph_quads + inferred,
            named_graphs: number_with("DISTINCT ?g", NAMED, &stated)? + u64::from(inferred > 0),
            largest,
            inferred,
            subjects: number("DISTINCT ?s", all)?,
            predicates: number("DISTINCT ?p", all)?,
            objects: number("DISTINCT ?o", all)?,
        })
    }

    fn quads(&self) -> u64 {
        self.default_graph_quads.saturating_add(self.named_graph_quads)
    }

    fn as_json(&self) -> Value {
        let graphs: Vec<Value> =
            self.largest.iter().map(|(graph, quads)| json!({ "graph": graph, "quads": quads })).collect();
        let mut json = json!({
            "quads": self.quads(),
            "default_graph_quads": self.default_graph_quads,
            "named_graphs": self.named_graphs,
            "largest_graphs": graphs,
            "distinct": {
                "subjects": self.subjects, "predicates": self.predicates, "objects": self.objects, "exact": true
            },
        });
        if self.inferred > 0 {
            json["inferences"] = json!({ "triples": self.inferred });
        }
        json
    }

    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let line = |name: &str, n: u64, out: &mut dyn Write| writeln!(out, "{name:<24} {:>16}", grouped(n));
        line("quads", self.quads(), out)?;
        line("  in the default graph", self.default_graph_quads, out)?;
        line("  in named graphs", self.named_graph_quads, out)?;
        line("named graphs", self.named_graphs, out)?;
        for (graph, quads) in &self.largest {
            writeln!(out, "  {:>38}  {graph}", grouped(*quads))?;
        }
        if self.inferred > 0 {
            line("inferred triples", self.inferred, out)?;
        }
        line("distinct subjects", self.subjects, out)?;
        line("distinct predicates", self.predicates, out)?;
        line("distinct objects", self.objects, out)
    }
}

/// Writes what queries tell of the data.
pub fn stats(
    remote: &Remote,
    at: Option<&str>,
    as_json: bool,
    cancel: &CancelToken,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let told = Told::ask(remote, at, cancel)?;
    if as_json {
        serde_json::to_writer_pretty(&mut *out, &told.as_json())?;
        return Ok(writeln!(out)?);
    }
    Ok(told.write(out)?)
}

/// An IRI or a blank node as N-Quads write it.
fn term(row: &Value, at: &str) -> String {
    let part = |name: &str| row.pointer(&format!("{at}/{name}")).and_then(Value::as_str).unwrap_or("");
    match part("type") {
        "bnode" => format!("_:{}", part("value")),
        _ => format!("<{}>", part("value")),
    }
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
    rows_with(remote, query, at, "", cancel)
}

/// The same with further parameters of the request.
fn rows_with(
    remote: &Remote,
    query: &str,
    at: Option<&str>,
    parameters: &str,
    cancel: &CancelToken,
) -> anyhow::Result<Vec<Value>> {
    let at = at.map(|at| super::parameter("at", at));
    let all: Vec<&str> =
        at.as_deref().into_iter().chain([parameters]).filter(|one| !one.is_empty()).collect();
    let asked = Asked {
        media_type: "application/sparql-query",
        text: query,
        accept: "application/sparql-results+json",
        parameters: all.join("&"),
    };
    let text = super::text_of(remote.query(&asked, cancel)?, cancel)?;
    let answer: Value = serde_json::from_str(&text)?;
    Ok(answer.pointer("/results/bindings").and_then(Value::as_array).cloned().unwrap_or_default())
}
