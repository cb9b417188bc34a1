//! The answer to a query, as the test suites compare it, and the comparison.

use crate::dataset::triple_row;
use crate::isomorphism::isomorphic;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term, Triple, Variable};
use oxsdatatypes::{Decimal, Double, Float};
use std::collections::HashSet;

/// A row: one term or nothing per variable of the answer.
pub type Row = Vec<Option<Term>>;

/// What a query returned.
#[derive(Debug, Clone)]
pub enum Answer {
    /// SELECT.
    Solutions {
        /// Columns.
        variables: Vec<Variable>,
        /// Rows, a multiset, in the order delivered.
        rows: Vec<Row>,
    },
    /// ASK.
    Boolean(bool),
    /// CONSTRUCT and DESCRIBE: a set of triples, possibly listed more than once.
    Graph(Vec<Triple>),
}

impl Answer {
    /// Whether both are the same up to blank nodes: solutions as multisets of rows (in order if `ordered`), graphs as sets.
    pub fn same(&self, other: &Self, ordered: bool) -> bool {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Graph(a), Self::Graph(b)) => isomorphic(&graph_rows(a), &graph_rows(b)),
            (Self::Solutions { variables: va, rows: ra }, Self::Solutions { variables: vb, rows: rb }) => {
                let all = all_variables(va, vb);
                isomorphic(&arrange(&all, va, ra, ordered), &arrange(&all, vb, rb, ordered))
            }
            _ => false,
        }
    }

    /// The same answer with the canonical lexical form in place of that of each decimal, float and double.
    pub fn with_canonical_numbers(self) -> Self {
        match self {
            Self::Solutions { variables, rows } => {
                let canonical = |row: Row| row.into_iter().map(|t| t.map(canonical_number)).collect();
                Self::Solutions { variables, rows: rows.into_iter().map(canonical).collect() }
            }
            other => other,
        }
    }

    /// A few lines for messages.
    pub fn describe(&self) -> String {
        const SHOWN: usize = 30;
        match self {
            Self::Boolean(b) => b.to_string(),
            Self::Graph(triples) => {
                let mut lines: Vec<_> = triples.iter().map(|t| format!("{t} .")).collect();
                lines.sort();
                lines.dedup();
                format!("{} triples\n{}", lines.len(), head(&lines, SHOWN))
            }
            Self::Solutions { variables, rows } => {
                let names: Vec<_> = variables.iter().map(ToString::to_string).collect();
                let mut lines: Vec<_> = rows.iter().map(|r| show_row(variables, r)).collect();
                lines.sort();
                format!("{} rows of ({})\n{}", rows.len(), names.join(" "), head(&lines, SHOWN))
            }
        }
    }
}

fn canonical_number(term: Term) -> Term {
    let Term::Literal(literal) = &term else { return term };
    let text = literal.value();
    let canonical = match literal.datatype() {
        xsd::DECIMAL => text.parse::<Decimal>().ok().map(|v| v.to_string()),
        xsd::FLOAT => text.parse::<Float>().ok().map(|v| v.to_string()),
        xsd::DOUBLE => text.parse::<Double>().ok().map(|v| v.to_string()),
        _ => None,
    };
    canonical.map_or_else(
        || term.clone(),
        |text| Literal::new_typed_literal(text, literal.datatype().into_owned()).into(),
    )
}

fn head(lines: &[String], count: usize) -> String {
    let mut text = lines.iter().take(count).map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n");
    if lines.len() > count {
        text.push_str("\n  ...");
    }
    text
}

fn show_row(variables: &[Variable], row: &Row) -> String {
    let cells: Vec<_> =
        variables.iter().zip(row).filter_map(|(v, t)| t.as_ref().map(|t| format!("{v}={t}"))).collect();
    format!("{{ {} }}", cells.join(", "))
}

fn graph_rows(triples: &[Triple]) -> Vec<Row> {
    let set: HashSet<_> = triples.iter().collect();
    set.into_iter().map(triple_row).collect()
}

fn all_variables(a: &[Variable], b: &[Variable]) -> Vec<Variable> {
    let mut all: Vec<_> = a.iter().chain(b).cloned().collect();
    all.sort();
    all.dedup();
    all
}

/// The rows over the same columns; with `ordered` the row's number becomes part of the row.
fn arrange(all: &[Variable], variables: &[Variable], rows: &[Row], ordered: bool) -> Vec<Row> {
    let columns: Vec<_> = all.iter().map(|v| variables.iter().position(|x| x == v)).collect();
    rows.iter()
        .enumerate()
        .map(|(number, row)| {
            let mut out: Row =
                columns.iter().map(|c| c.and_then(|c| row.get(c).cloned().flatten())).collect();
            if ordered {
                out.push(Some(Literal::from(number as u64).into()));
            }
            out
        })
        .collect()
}
