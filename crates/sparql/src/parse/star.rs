//! `SELECT *`: the parser sorts its columns by name; people want them as the text has them.

use super::limits::tokens;
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::Variable;
use std::collections::HashMap;

/// Puts the columns of a query that selects all variables in the order in which these first appear in its text. Sub-queries stay as
/// they are: nobody sees the order of their columns.
pub(super) fn order_columns(query: &mut Query, text: &str) {
    let Query::Select { pattern, .. } = query else { return };
    let Some(columns) = projection(pattern) else { return };
    if columns.len() < 2 || !selects_all(text) {
        return;
    }
    let mut places = HashMap::new();
    for range in tokens(text) {
        if let Some(name) = text.get(range.clone()).and_then(|token| token.strip_prefix(['?', '$'])) {
            places.entry(name).or_insert(range.start);
        }
    }
    columns.sort_by_key(|variable| places.get(variable.as_str()).copied().unwrap_or(usize::MAX));
}

/// The columns of a SELECT.
fn projection(pattern: &mut GraphPattern) -> Option<&mut Vec<Variable>> {
    match pattern {
        GraphPattern::Project { variables, .. } => Some(variables),
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => projection(inner),
        _ => None,
    }
}

/// Whether a text's first SELECT is one of `*`.
fn selects_all(text: &str) -> bool {
    let mut words = tokens(text)
        .filter_map(|range| text.get(range))
        .filter(|token| !token.trim().is_empty() && !token.starts_with('#'))
        .peekable();
    let is = |token: &str, word: &str| token.eq_ignore_ascii_case(word);
    while let Some(token) = words.next() {
        // `PREFIX select: <...>`
        let is_prefix = words.peek() == Some(&":");
        if is(token, "select") && !is_prefix {
            words.next_if(|next| is(next, "distinct") || is(next, "reduced"));
            return words.next() == Some("*");
        }
    }
    false
}

#[cfg(test)]
mod tests {
    //! Columns of queries.
    use crate::parse::parse_query;
    use spargebra::algebra::GraphPattern;

    fn columns(text: &str) -> String {
        let mut query = parse_query(text, Some("http://example.org/")).unwrap();
        let spargebra::Query::Select { pattern, .. } = &mut query else { panic!("no SELECT") };
        let GraphPattern::Project { variables, .. } = peeled(pattern) else { panic!("no projection") };
        variables.iter().map(|variable| variable.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn peeled(pattern: &GraphPattern) -> &GraphPattern {
        match pattern {
            GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => peeled(inner),
            other => other,
        }
    }

    #[test]
    fn all_variables_stand_as_the_text_has_them() {
        for (text, expected) in [
            ("SELECT * { ?s ?p ?o }", "s p o"),
            ("select\n# all\n* { $z <p> ?a . ?b <q> ?z }", "z a b"),
            ("SELECT DISTINCT * { ?z <p> ?a } ORDER BY ?a LIMIT 3", "z a"),
            ("SELECT REDUCED*{ ?z <p> ?a }", "z a"),
            ("SELECT * { FILTER(?n > 1) ?s <p> ?n }", "n s"),
            ("SELECT * { ?s <p> ?n BIND(?n * 2 AS ?m) OPTIONAL { ?s <q> ?a } }", "s n m a"),
            ("SELECT * { GRAPH ?z { ?b <p> ?a } } VALUES ?c { 1 }", "z b a c"),
            ("SELECT * { { SELECT ?y ?x { ?x <p> ?y } } ?a <q> ?x }", "y x a"),
            ("PREFIX select: <http://example.org/> SELECT * { ?b select:p \"?a\", ?a }", "b a"),
            ("BASE <http://example.org/?a> SELECT * { ?c <?b> ?b, ?a }", "c b a"),
            ("SELECT * { ?ü <p> ?a }", "ü a"),
        ] {
            assert_eq!(columns(text), expected, "{text}");
        }
    }

    #[test]
    fn columns_that_are_named_stay() {
        assert_eq!(columns("SELECT ?b ?a { ?a <p> ?b }"), "b a");
        assert_eq!(columns("SELECT (COUNT(*) AS ?n) ?a { ?b <p> ?a } GROUP BY ?a"), "n a");
        assert_eq!(columns("SELECT ?c ?b { { SELECT * { ?b <p> ?c } } }"), "c b");
    }
}
