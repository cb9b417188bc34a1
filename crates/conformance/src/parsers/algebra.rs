//! The algebra of a text as text, with names of blank nodes and of variables that nobody wrote replaced by numbers.

use lode_sparql::parse::update_algebra;
use lode_sparql::syntax::{Form, TokenKind};
use regex::Regex;
use spargebra::algebra::GraphPattern;
use spargebra::{GraphUpdateOperation, Query, SparqlParser};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The base IRI of all texts.
const BASE: &str = "http://example.org/base/";

/// What a parser makes of a text.
pub(super) enum Made {
    Algebra(String),
    Nothing(String),
}

/// What ours makes.
pub(super) fn ours(text: &str, form: Form) -> Made {
    let made = match form {
        Form::Query => lode_sparql::parse_query(text, Some(BASE)).map(|query| sorted(query, text)),
        Form::Update => update_algebra(text, Some(BASE)).map(|all| shown(&all)),
    };
    match made {
        Ok(algebra) => Made::Algebra(named(&algebra, text)),
        Err(error) => Made::Nothing(error.to_string()),
    }
}

/// What the judge makes.
pub(super) fn judged(text: &str, form: Form) -> Made {
    let Ok(parser) = SparqlParser::new().with_base_iri(BASE) else {
        return Made::Nothing("the base".to_owned());
    };
    let made = match form {
        Form::Query => parser.parse_query(text).map(|query| sorted(query, text)),
        Form::Update => parser.parse_update(text).map(|update| shown(&update.operations)),
    };
    match made {
        Ok(algebra) => Made::Algebra(named(&algebra, text)),
        Err(error) => Made::Nothing(error.to_string()),
    }
}

/// The query, the columns of `SELECT *` in the sequence of their names.
fn sorted(mut query: Query, text: &str) -> String {
    if let Query::Select { pattern, .. } = &mut query
        && text.contains('*')
    {
        sort_columns(pattern);
    }
    format!("{query:?}")
}

fn sort_columns(pattern: &mut GraphPattern) {
    match pattern {
        GraphPattern::Project { variables, .. } => variables.sort(),
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => sort_columns(inner),
        _ => {}
    }
}

/// Operations, one a line. CLEAR and DROP are one: graphs are there as long as they have quads.
fn shown(operations: &[GraphUpdateOperation]) -> String {
    let lines = operations.iter().map(|operation| match operation {
        GraphUpdateOperation::Clear { graph, .. } | GraphUpdateOperation::Drop { graph, .. } => {
            format!("clear {graph:?}")
        }
        other => format!("{other:?}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

static BLANK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"Anonymous \{ id: \[([^\]]*)\], str: IdStr\(\[[^\]]*\]\) \}").ok());
static VARIABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"Variable \{ name: "([^"]*)" \}"#).ok());
static SIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let number = r#"Literal\(Literal\(TypedLiteral \{ value: "([0-9.][^"]*)", datatype: (NamedNode \{ iri: "http://www.w3.org/2001/XMLSchema#(?:integer|decimal|double)" \}) \}\)\)"#;
    Regex::new(&format!(r"Unary(Minus|Plus)\({number}\)")).ok()
});

/// Numbers in place of names that were made, in the sequence of their places; `-1` as a literal.
fn named(algebra: &str, text: &str) -> String {
    let mut names = HashMap::new();
    let mut number = |name: &str| {
        let next = names.len();
        *names.entry(name.to_owned()).or_insert(next)
    };
    let mut algebra = algebra.to_owned();
    if let Some(blank) = &*BLANK {
        let numbered =
            |found: &regex::Captures<'_>| format!("_{}", number(found.get(1).map_or("", |m| m.as_str())));
        algebra = blank.replace_all(&algebra, numbered).into_owned();
    }
    let written: HashSet<&str> =
        lode_sparql::syntax::parse(text, Form::Query, lode_sparql::parse::vocabulary())
            .tree
            .tokens()
            .iter()
            .filter(|token| token.kind() == TokenKind::Variable)
            .filter_map(|token| text.get(token.start() + 1..token.end()))
            .collect();
    let mut names = HashMap::new();
    if let Some(variable) = &*VARIABLE {
        let numbered = |found: &regex::Captures<'_>| {
            let name = found.get(1).map_or("", |m| m.as_str());
            if written.contains(name) || matches!(name, "s" | "p" | "o") {
                return format!("?{name}");
            }
            let next = names.len();
            format!("?made-{}", *names.entry(name.to_owned()).or_insert(next))
        };
        algebra = variable.replace_all(&algebra, numbered).into_owned();
    }
    match &*SIGNED {
        Some(signed) => {
            let literal = |found: &regex::Captures<'_>| {
                let of = |group| found.get(group).map_or("", |m| m.as_str());
                let sign = if of(1) == "Minus" { "-" } else { "+" };
                format!(
                    "Literal(Literal(TypedLiteral {{ value: \"{sign}{}\", datatype: {} }}))",
                    of(2),
                    of(3)
                )
            };
            signed.replace_all(&algebra, literal).into_owned()
        }
        None => algebra,
    }
}
