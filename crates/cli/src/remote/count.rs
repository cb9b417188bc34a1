//! What is in a server's data: `lode stats URL`, in the words of `lode stats FOLDER`, as far as queries tell it.

use super::{Asked, Remote};
use crate::number::grouped;
use lode_engine::CancelToken;
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
    subjects: u64,
    predicates: u64,
    objects: u64,
}

impl Told {
    fn ask(remote: &Remote, at: Option<&str>, cancel: &CancelToken) -> anyhow::Result<Self> {
        let number = |what: &str, pattern: &str| -> anyhow::Result<u64> {
            let rows = rows(remote, &format!("SELECT (COUNT({what}) AS ?n) {{ {pattern} }}"), at, cancel)?;
            Ok(rows.first().map_or(0, count))
        };
        const TRIPLE: &str = "?s ?p ?o";
        const NAMED: &str = "GRAPH ?g { ?s ?p ?o }";
        // Servers answer the first ones from their indexes.
        let (default_graph_quads, named_graph_quads) = (number("*", TRIPLE)?, number("*", NAMED)?);
        let both = format!("{{ {TRIPLE} }} UNION {{ {NAMED} }}");
        let all = if named_graph_quads == 0 { TRIPLE } else { &both };
        let query = format!(
            "SELECT ?g (COUNT(*) AS ?n) {{ {NAMED} }} GROUP BY ?g ORDER BY DESC(?n) ?g LIMIT {GRAPHS}"
        );
        let largest =
            rows(remote, &query, at, cancel)?.iter().map(|row| (term(row, "/g"), count(row))).collect();
        Ok(Self {
            default_graph_quads,
            named_graph_quads,
            named_graphs: number("DISTINCT ?g", NAMED)?,
            largest,
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
        json!({
            "quads": self.quads(),
            "default_graph_quads": self.default_graph_quads,
            "named_graphs": self.named_graphs,
            "largest_graphs": graphs,
            "distinct": {
                "subjects": self.subjects, "predicates": self.predicates, "objects": self.objects, "exact": true
            },
        })
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
    let asked = Asked {
        media_type: "application/sparql-query",
        text: query,
        accept: "application/sparql-results+json",
        parameters: at.map_or(String::new(), |at| super::parameter("at", at)),
    };
    let text = super::text_of(remote.query(&asked, cancel)?, cancel)?;
    let answer: Value = serde_json::from_str(&text)?;
    Ok(answer.pointer("/results/bindings").and_then(Value::as_array).cloned().unwrap_or_default())
}
