//! Shapes: what is a parameter, and what tells queries apart.

use super::{Literals, Shape};
use crate::parse_query;

fn shape(text: &str, literals: Literals) -> Option<Shape> {
    let text = format!("PREFIX : <http://x/> {text}");
    Shape::new(&parse_query(&text, None).unwrap(), literals)
}

fn key(text: &str) -> Vec<u8> {
    shape(text, Literals::Parameters).unwrap().key
}

fn parameters(text: &str) -> Vec<String> {
    let shape = shape(text, Literals::Parameters).unwrap();
    shape.parameters.iter().map(|term| term.to_string().replace("http://x/", ":")).collect()
}

#[test]
fn constants_of_patterns_and_expressions_are_parameters() {
    let text = "SELECT ?x { :a :p ?x . ?x :q :b FILTER(?x > 5 && ?x != :a && ?y = true) } LIMIT 3";
    assert_eq!(parameters(text), ["\"5\"^^<http://www.w3.org/2001/XMLSchema#integer>", "<:a>", "<:b>"]);
    let fixed = shape(text, Literals::Fixed).unwrap();
    assert_eq!(fixed.parameters.len(), 2);
}

#[test]
fn queries_that_differ_in_parameters_share_a_key() {
    for (a, b) in [
        ("SELECT ?x { :a :p ?x }", "SELECT ?x { :b :p ?x }"),
        ("SELECT ?x { ?x :p ?y FILTER(?y < 5) }", "SELECT ?x { ?x :p ?z FILTER(?z < 7.5) }"),
        ("ASK { :a :p [] . [] :q :c }", "ASK { :b :p [] . [] :q :d }"),
        ("SELECT (COUNT(?x) AS ?n) { ?x a :A }", "SELECT (COUNT(?y) AS ?n) { ?y a :B }"),
    ] {
        assert_eq!(key(a), key(b), "{a} and {b}");
    }
}

#[test]
fn everything_else_tells_queries_apart() {
    let texts = [
        "SELECT ?x { :a :p ?x }",
        "SELECT ?y { :a :p ?y }",
        "SELECT DISTINCT ?x { :a :p ?x }",
        "SELECT ?x { :a :q ?x }",
        "SELECT ?x { ?x :p :a }",
        "SELECT ?x { :a :p ?x . :a :p ?y }",
        "SELECT ?x { :a :p ?x . :b :p ?y }",
        "SELECT ?x { :a :p ?x } LIMIT 1",
        "SELECT ?x { :a :p ?x } OFFSET 1",
        "SELECT ?x { :a :p ?x } ORDER BY ?x",
        "SELECT ?x { :a :p ?x } ORDER BY DESC(?x)",
        "SELECT ?x FROM :g { :a :p ?x }",
        "SELECT ?x { GRAPH :g { :a :p ?x } }",
        "SELECT ?x { GRAPH :h { :a :p ?x } }",
        "SELECT ?x { :a :p+ ?x }",
        "SELECT ?x { :b :p+ ?x }",
        "SELECT ?x { :a :p ?x FILTER(?x = true) }",
        "SELECT ?x { :a :p ?x FILTER(?x = false) }",
        "SELECT ?x { :a :p ?x FILTER(?x = 1) }",
        "SELECT ?x { :a :p ?x FILTER(?x = :c) }",
        "SELECT ?x { :a :p ?x FILTER(?x < 1) }",
        "SELECT ?x { :a :p ?x FILTER(ABS(?x) < 1) }",
        "SELECT ?x { :a :p ?x VALUES ?x { :c } }",
        "SELECT ?x { :a :p ?x VALUES ?x { :d } }",
        "SELECT ?x { :a :p ?x OPTIONAL { ?x :p ?y } }",
        "SELECT ?x { :a :p ?x MINUS { ?x :p ?y } }",
        "SELECT ?x { { :a :p ?x } UNION { ?x :p ?y } }",
        "SELECT ?x { :a :p ?x FILTER EXISTS { ?x :p ?y } }",
        "CONSTRUCT { ?x :p :c } { :a :p ?x }",
        "CONSTRUCT { ?x :p :d } { :a :p ?x }",
        "ASK { :a :p ?x }",
        "SELECT (COUNT(?x) AS ?n) { ?x a :A }",
        "SELECT (COUNT(DISTINCT ?x) AS ?n) { ?x a :A }",
        "SELECT (SUM(?x) AS ?n) { ?x a :A }",
    ];
    for (i, a) in texts.iter().enumerate() {
        for b in &texts[i + 1..] {
            assert_ne!(key(a), key(b), "{a} and {b}");
        }
    }
}

#[test]
fn what_is_both_has_no_shape() {
    // As a parameter :p could become something else, as a predicate it must not.
    assert_eq!(shape("SELECT ?x { :p :p ?x }", Literals::Parameters), None);
    // So it is with what the graphs and the paths of a query are made of.
    for text in [
        "SELECT ?x FROM :g { ?x :r :g }",
        "SELECT ?x FROM NAMED :g { GRAPH ?g { ?x :r ?y } FILTER(?g = :g) }",
        "SELECT * { ?x :p|:q ?v . :p :label ?l }",
        "SELECT * { ?x !(:p|^:q) ?v . :q :label ?l }",
        "SELECT * { ?x (:r/^(:p+)?)* ?v . :p :label ?l }",
    ] {
        assert_eq!(shape(text, Literals::Parameters), None, "{text}");
    }
    assert_eq!(shape("SELECT ?x { SERVICE :s { ?x :p :o } }", Literals::Parameters), None);
    assert_eq!(shape("SELECT ?x { <<( :a :p ?x )>> :p :o }", Literals::Parameters), None);
}
