//! Tests of the text of SERVICE bodies: parsing it gives the same algebra back.

use super::service_text;
use lode_rdf::{BlankNode, Literal, NamedNode, Term};
use spargebra::algebra::GraphPattern;
use spargebra::{Query, SparqlParser};

/// The pattern of `SELECT * { body }`, under its projection.
fn pattern(text: &str) -> GraphPattern {
    let prefixed = format!("PREFIX : <http://e/> {text}");
    match SparqlParser::new().parse_query(&prefixed).unwrap_or_else(|e| panic!("{text}: {e}")) {
        Query::Select { pattern: GraphPattern::Project { inner, .. }, .. } => *inner,
        other => panic!("{other:?}"),
    }
}

fn asked(body: &GraphPattern, replaced: &[(String, Term)]) -> String {
    format!("SELECT * WHERE {{ {}}}", service_text::body(body, replaced))
}

#[test]
fn bodies_parse_back() {
    for body in [
        "",
        "?s :p ?o . ?o :q 1.5, \"a\\\"b\\n\"@en",
        "?s :p/(:q|^:r)*/!(:s|^:t) ?o . ?s :v+ ?w",
        "?s :p ?o FILTER((?o + 1) * 2 - -?o / 3 > 4 && !(?o = 1 || ?s != :x))",
        "?s :p ?o OPTIONAL { ?s :q ?x FILTER(?x > ?o) }",
        "?s :p ?o OPTIONAL { { ?s :q ?x FILTER(?x > 1) } }",
        "?s :p ?o OPTIONAL { { ?s :q ?x FILTER(?x > 1) } FILTER(?o > 1) }",
        "{ ?s :p ?o FILTER(?o > 1) } ?s :q ?x",
        "?s :p ?o { ?s :q ?x FILTER(?o > 1) }",
        "?s :p ?o { ?s :q ?x OPTIONAL { ?s :r ?y } }",
        "?s :p ?o MINUS { ?s :q ?x FILTER(?x = 2) } ?s :r ?y",
        "{ ?s :p ?o } UNION { ?s :q ?o FILTER(BOUND(?o)) } UNION { ?s :r ?o }",
        "GRAPH ?g { ?s :p ?o } GRAPH :h { ?s :q ?x }",
        "BIND(1 AS ?a) BIND(?a + 1 AS ?b) ?s :p ?b",
        "{ ?s :p ?o FILTER(?o > 1) } BIND(?o AS ?x)",
        "VALUES (?a ?b) { (1 UNDEF) (:x \"y\"@en) } ?a :p ?b",
        "?s :p ?o FILTER(?o IN (1, :x, \"z\") && ?s NOT IN (:a) && IF(?o, COALESCE(?s, 1), STR(?o)) = \"a\")",
        "?s :p ?o FILTER(EXISTS { ?s :q ?x FILTER(?x = ?o) } && NOT EXISTS { ?o :r ?y })",
        "?s :p ?o FILTER(REGEX(SUBSTR(?o, 1, 2), \"a\", \"i\") && sameTerm(?s, ?o) && :f(?o, 1) && RAND() > 0)",
        "?s :p ?o { SELECT DISTINCT ?s WHERE { ?s :q ?x FILTER(?x > 1) } ORDER BY DESC(?x) ?s OFFSET 2 LIMIT 3 }",
        "SERVICE SILENT :e { ?s :p ?o } SERVICE ?e { ?o :q ?x }",
        "?r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ?s :p <<( :a :b ?c )>> )>>",
    ] {
        let original = pattern(&format!("SELECT * WHERE {{ {body} }}"));
        let text = asked(&original, &[]);
        assert_eq!(pattern(&text), original, "{body}\n{text}");
    }
}

#[test]
fn groups_become_sub_queries() {
    let body = "{ SELECT ?s (COUNT(*) AS ?n) (GROUP_CONCAT(DISTINCT ?o; SEPARATOR=\",\") AS ?all) WHERE { ?s :p ?o } GROUP BY ?s HAVING(SUM(?o) > 3) }";
    let text = asked(&pattern(&format!("SELECT * WHERE {{ {body} }}")), &[]);
    assert!(text.contains("GROUP BY ?s"), "{text}");
    pattern(&text);
}

#[test]
fn replaced_variables_become_values() {
    let body = pattern("SELECT * WHERE { ?s :p ?o }");
    let terms = [
        ("s".to_owned(), Term::from(NamedNode::new_unchecked("http://e/a"))),
        ("o".to_owned(), Term::from(BlankNode::new_unchecked("b1"))),
        ("x".to_owned(), Term::from(Literal::from(1))),
    ];
    let text = asked(&body, &terms);
    assert!(text.contains("VALUES (?s) { (<http://e/a>) }"), "{text}");
    assert!(!text.contains("b1"), "a blank node means nothing to others: {text}");
    pattern(&text);
}
