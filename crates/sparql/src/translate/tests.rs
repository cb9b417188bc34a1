//! Tests of the text of SERVICE bodies: parsing it gives the same algebra back.

use super::service_terms::{self, Terms};
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

fn asked(body: &GraphPattern) -> String {
    format!("SELECT * WHERE {{ {}}}", service_text::body(body))
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
        let text = asked(&original);
        assert_eq!(pattern(&text), original, "{body}\n{text}");
    }
}

#[test]
fn groups_become_sub_queries() {
    let body = "{ SELECT ?s (COUNT(*) AS ?n) (GROUP_CONCAT(DISTINCT ?o; SEPARATOR=\",\") AS ?all) WHERE { ?s :p ?o } GROUP BY ?s HAVING(SUM(?o) > 3) }";
    let text = asked(&pattern(&format!("SELECT * WHERE {{ {body} }}")));
    assert!(text.contains("GROUP BY ?s"), "{text}");
    pattern(&text);
}

#[test]
fn terms_are_put_in_the_place_of_variables() {
    let terms = Terms::from([
        ("c".to_owned(), Term::from(NamedNode::new_unchecked("http://e/c"))),
        ("one".to_owned(), Term::from(Literal::from(1))),
        ("b".to_owned(), Term::from(BlankNode::new_unchecked("b1"))),
    ]);
    for (body, expected) in [
        ("?s :p ?c . ?c ?c ?one", "?s :p :c . :c :c 1"),
        ("?s :p ?o MINUS { ?e :s ?c }", "?s :p ?o MINUS { ?e :s :c }"),
        ("?s :p ?o { ?s :q ?x FILTER(?one < ?x) }", "?s :p ?o { ?s :q ?x FILTER(1 < ?x) }"),
        ("?s :p ?o FILTER(BOUND(?c) && BOUND(?o))", "?s :p ?o FILTER(true && BOUND(?o))"),
        ("?s :p ?o OPTIONAL { ?s :q ?x FILTER(?x = ?c) }", "?s :p ?o OPTIONAL { ?s :q ?x FILTER(?x = :c) }"),
        ("?s :p ?o FILTER(EXISTS { ?c :p ?s })", "?s :p ?o FILTER(EXISTS { :c :p ?s })"),
        ("VALUES (?c ?o) { (:c 1) (:d 2) (UNDEF 3) }", "VALUES (?o) { (1) (3) }"),
        ("?s :p ?o BIND(?o + 1 AS ?one)", "?s :p ?o FILTER(COALESCE(sameTerm(?o + 1, 1), true))"),
        ("GRAPH ?c { ?s ?p ?c }", "GRAPH :c { ?s ?p :c }"),
        ("SERVICE ?c { ?s ?p ?one }", "SERVICE :c { ?s ?p 1 }"),
        // Below a projection, only what it has.
        ("{ SELECT ?s ?c WHERE { ?s :p ?c, ?one } }", "{ SELECT ?s ?c WHERE { ?s :p :c, ?one } }"),
        // What no quad has.
        ("?s ?one ?o", "VALUES () {}"),
        ("GRAPH ?one { ?s ?p ?o }", "VALUES () {}"),
        ("{ ?s :p ?b } UNION { ?s :q ?o }", "{ VALUES () {} } UNION { ?s :q ?o }"),
        ("?s ?p <<( ?b :p :o )>>", "VALUES () {}"),
        ("?b :p+ ?c", "VALUES () {}"),
        ("?b :p* ?c", "VALUES () {}"),
        ("?b :p* ?b", ""),
        ("?b :p* ?x", "BIND(BNODE(\"b1\") AS ?x)"),
        // A label has the value that a path without length gives it, wherever it stands.
        ("[] (:p*)? ?b", ""),
        ("_:l :p? ?b . ?s :q ?o", "?s :q ?o"),
        ("_:l :p? _:m . _:m :q* ?b", ""),
        ("_:l :p? ?b . _:l :q ?o", "VALUES () {}"),
        ("_:l :p ?b", "VALUES () {}"),
        (
            "?s :p ?o FILTER(ISBLANK(?b) && ?b = ?b)",
            "?s :p ?o FILTER(ISBLANK(BNODE(\"b1\")) && BNODE(\"b1\") = BNODE(\"b1\"))",
        ),
    ] {
        let put_in = service_terms::replaced(pattern(&format!("SELECT * WHERE {{ {body} }}")), &terms);
        assert_eq!(put_in, pattern(&format!("SELECT * WHERE {{ {expected} }}")), "{body}");
        assert_eq!(pattern(&asked(&put_in)), put_in, "{body}");
    }
}
