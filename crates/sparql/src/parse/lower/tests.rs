//! What the grammar does not say, and what ours takes otherwise than the judge.

use crate::parse::{depth, parse_query, parse_update};
use crate::update::Operation;
use spargebra::algebra::GraphPattern;

const BASE: Option<&str> = Some("http://example.org/");

fn columns(text: &str) -> String {
    let mut query = parse_query(text, BASE).unwrap_or_else(|error| panic!("{text}: {error}"));
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
        ("SELECT ?b ?a { ?a <p> ?b }", "b a"),
        ("SELECT (COUNT(*) AS ?n) ?a { ?b <p> ?a } GROUP BY ?a", "n a"),
        ("SELECT ?c ?b { { SELECT * { ?b <p> ?c } } }", "c b"),
    ] {
        assert_eq!(columns(text), expected, "{text}");
    }
}

#[test]
fn what_is_right_is_taken() {
    for text in [
        "SELECT ?s { FILTER EXISTS { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } HAVING (COUNT(*) > 1) } }",
        "SELECT (SUM(IF(EXISTS { SELECT (MAX(?y) AS ?m) { ?x ?p ?y } }, 1, 0)) AS ?c) {}",
        "SELECT (SUM(?x) AS ?y) (?y * 2 AS ?z) { ?s ?p ?x }",
        "SELECT ?y { ?x ?p ?o } GROUP BY (?x AS ?y)",
        "SELECT ?s { ?s ?p ?a } GROUP BY ?s HAVING(COUNT(*) > 1) ORDER BY SUM(?a)",
        "CONSTRUCT { ?x <p> 1 } WHERE { ?x ?p ?o } GROUP BY ?x",
        "ASK { ?x ?p ?o } GROUP BY ?x HAVING (COUNT(*) > 1)",
        "DESCRIBE <a> <a>",
        "ASK { ?s !() ?o . ?s ?p TRUE . FILTER(CONCAT (?s, ?o) = 'x' || False) }",
        "ASK { _:a <p> ?x FILTER EXISTS { ?x <q> 1 } _:a <r> 2 }",
        "PREFIX e: <http://e/> ASK { e:a.b.c e:\u{10000} 1 }",
        "ASK { ?s <p> 'x'@ar--rtl, <<( <a> <b> <<( <c> <d> 1 )>> )>> }",
    ] {
        parse_query(text, BASE).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn what_is_wrong_is_refused() {
    for text in [
        "SELECTDISTINCT ?s { ?s ?p ?o }",
        "ASK { FILTER(?a<?b&&?b>1) }",
        "ASK { _:a <p> ?x BIND(1 AS ?y) _:a <q> ?x }",
        "ASK { _:a <p> ?x VALUES ?y { 1 } _:a <q> ?x }",
        "ASK { _:a <p> ?x OPTIONAL { _:a <q> ?x } }",
        "SELECT (COUNT(COUNT(*)) AS ?c) {}",
        "SELECT (COUNT(?x) AS ?c) { ?x ?p ?o BIND(?c AS ?x) }",
        "SELECT ?o { ?s ?p ?o } GROUP BY ?s",
        "SELECT (1 AS ?s) { ?s ?p ?o }",
        "SELECT * { ?s ?p ?o } GROUP BY ?s",
        "SELECT ?s ?s { ?s ?p ?o }",
        "ASK { VALUES (?x ?x) { (1 2) } }",
        "ASK { ?s <p>/<q> ?o {| <r> 1 |} }",
        "ASK { BIND(<<( 'a' <p> 1 )>> AS ?t) }",
        "ASK { ?s ?p - 1 }",
        "ASK { FILTER(2 IN (1, 3) - 1) }",
        "ASK { ?s ?p 'x'@ar--top }",
        "SELECT ?s { ?s ?p ?o } LIMIT 99999999999999999999999",
        "ASK { ?s ?p <http://[/> }",
    ] {
        assert!(parse_query(text, BASE).is_err(), "{text}");
    }
}

#[test]
fn long_chains_become_low_trees() {
    for (head, piece, tail) in [
        ("ASK { FILTER(1", " || 2", ") }"),
        ("ASK { FILTER(1", " && 2", ") }"),
        ("ASK { ?s (<p>", "/<q>", ")* ?o }"),
        ("ASK { {}", " UNION { ?s ?p ?o }", "}"),
        ("ASK { ", "{ ?s ?p ?o OPTIONAL { ?s ?q ?r } } ", "}"),
    ] {
        let text = format!("{head}{}{tail}", piece.repeat(5_000));
        let query = parse_query(&text, BASE).unwrap_or_else(|error| panic!("{piece}: {error}"));
        assert!(depth::of_query(&query).levels < 40, "{piece}");
    }
    let deep = format!("ASK {{ {} }}", "OPTIONAL { ?s ?p ?o } ".repeat(5_000));
    assert!(parse_query(&deep, BASE).expect_err("deep").message.contains("levels deep"));
}

#[test]
fn declarations_take_the_place_of_earlier_ones() {
    let text = "BASE <http://a/> PREFIX x: <1> INSERT DATA { x:s <p> 1 } ; PREFIX x: <2> BASE <b/> INSERT DATA { x:s <p> 1 }";
    let operations = parse_update(text, None).unwrap_or_else(|error| panic!("{error}")).operations;
    let quads: Vec<String> = operations
        .iter()
        .map(|operation| match operation {
            Operation::InsertData(quads) => quads[0].to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(quads[0].starts_with("<http://a/1s> <http://a/p>"), "{quads:?}");
    assert!(quads[1].starts_with("<http://a/2s> <http://a/b/p>"), "{quads:?}");
}
