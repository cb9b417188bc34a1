//! Groups made in parts elsewhere are those made here, down to the lexical forms: sums that are wider than a word, promoted, overflowing or none at all, means, the
//! least and the greatest values, and values that are told apart.

use lode_conformance::answer::Answer;
use lode_conformance::engine_subject::EngineSubject;
use lode_conformance::rdf_files::RdfFormat;
use lode_conformance::subject::{QuerySettings, Subject};
use std::fmt::Write as _;

/// Predicates and their objects. What floats sum up to does not depend on the sequence: they are powers of two.
const OBJECTS: [(&str, &[&str]); 13] = [
    ("int", &["1", "-7", "36028797018963967", "-36028797018963968", "0"]),
    ("derived", &["1", "\"2\"^^xsd:byte", "\"-3\"^^xsd:long", "\"+04\"^^xsd:unsignedInt"]),
    ("wide", &["9223372036854775807", "9223372036854775807", "1"]),
    ("huge", &["\"99999999999999999999999999999999999999999999\"^^xsd:integer", "-1", "5"]),
    ("decimal", &["1.5", "-0.000001", "2.50", "999999999.999999"]),
    ("long", &["0.1234567890123456789012345", "1.0", "2"]),
    ("double", &["1.5E0", "-2.5E-1", "8.0E0", "\"0.5\"^^xsd:float"]),
    ("float", &["\"0.5\"^^xsd:float", "\"-0.25\"^^xsd:float", "3"]),
    ("infinite", &["\"INF\"^^xsd:double", "1.0E0", "\"NaN\"^^xsd:float"]),
    ("zero", &["\"-0\"^^xsd:double", "\"-0\"^^xsd:float"]),
    ("text", &["1", "\"two\"", "3"]),
    ("iri", &["1", ":a", "\"b\"@en", "_:c"]),
    ("day", &["\"2020-01-01\"^^xsd:date", "\"2021-01-01\"^^xsd:date"]),
];

/// So many things, each with a value of each predicate but the first of it, in one of so many groups.
fn data(things: usize, groups: usize) -> String {
    let mut data = "@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n".to_owned();
    for thing in 0..things {
        let _ = write!(data, ":t{thing} :in :g{} ; :next :t{}", thing * 7 % groups, thing * 11 % things);
        for (number, (predicate, objects)) in OBJECTS.iter().enumerate() {
            if thing % OBJECTS.len() != number {
                let _ = write!(data, " ; :{predicate} {}", objects[(thing * 31 + number) % objects.len()]);
            }
        }
        data += " .\n";
    }
    data
}

fn lines(answer: Answer) -> Vec<String> {
    let Answer::Solutions { rows, .. } = answer else { panic!("rows") };
    let mut lines: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    lines.sort_unstable();
    lines
}

/// Compares the answers here and by workers. How many parts these ran, and how many of them over rows of others.
fn compared(queries: impl Iterator<Item = String>) -> (u64, u64) {
    let (mut native, mut others) = (EngineSubject::default(), EngineSubject::with_workers());
    let text = data(240, 8);
    let dataset = native.read_rdf(text.as_bytes(), RdfFormat::TriG, "http://e/").unwrap();
    native.load(&dataset).unwrap();
    others.load(&dataset).unwrap();
    let settings = QuerySettings::default();
    for query in queries {
        let query =
            format!("PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT {query}");
        let here = lines(native.query(&query, &settings).unwrap());
        let there = lines(others.query(&query, &settings).unwrap());
        assert_eq!(here, there, "{query}");
        assert!(!here.is_empty(), "{query}");
    }
    let workers = others.workers().unwrap();
    (workers.fragments, workers.exchanges)
}

#[test]
fn aggregates_in_parts() {
    let all = "(SUM(?x) AS ?a) (AVG(?x) AS ?b) (MIN(?x) AS ?c) (MAX(?x) AS ?d) (COUNT(?x) AS ?e)";
    let more =
        "(SUM(-?x) AS ?a) (AVG(?x * 2) AS ?b) (MIN(STR(?x)) AS ?c) (MAX(?x + 1) AS ?d) (COUNT(*) AS ?e)";
    let distinct =
        "(COUNT(DISTINCT ?x) AS ?a) (SUM(DISTINCT ?x) AS ?b) (MIN(?x) AS ?c) (AVG(DISTINCT ?x) AS ?d)";
    let mut queries = Vec::new();
    for (predicate, _) in OBJECTS {
        for aggregates in [all, more, distinct] {
            let some = format!("{{ ?t :in ?g OPTIONAL {{ ?t :{predicate} ?x }} }}");
            let sure = format!("{{ ?t :{predicate} ?x ; :in ?g }}");
            for rows in [&some, &sure] {
                queries.push(format!("?g {aggregates} {rows} GROUP BY ?g"));
                queries.push(format!("{aggregates} {rows}"));
                queries.push(format!("?t {aggregates} {rows} GROUP BY ?t"));
            }
            queries
                .push(format!("{aggregates} {{ ?t :in ?g ; :{predicate} ?x FILTER (?g = ?x && ?t = 7) }}"));
        }
        queries.push(format!("DISTINCT ?x {{ ?t :{predicate} ?x ; :in ?g }}"));
        queries.push(format!("DISTINCT ?g ?x {{ ?t :in ?g OPTIONAL {{ ?t :{predicate} ?x }} }}"));
    }
    let count = queries.len() as u64;
    let (parts, exchanges) = compared(queries.into_iter());
    assert!(parts > count / 2, "{parts} parts of {count} queries");
    assert!(exchanges > count / 8, "{exchanges} exchanges in {count} queries");
}

/// Joins of rows that come in other orders than that of what they are joined by.
#[test]
fn joins_of_exchanged_rows() {
    let sides = "{ ?a :next ?b ; :int ?x ; :in ?g . ?b :decimal ?y ; :in ?h ; :text ?z }";
    let queries = [
        format!("* {sides}"),
        format!("(COUNT(*) AS ?n) {sides}"),
        format!("?g (SUM(?x) AS ?s) (AVG(?y) AS ?m) (MAX(?z) AS ?n) {sides} GROUP BY ?g"),
        format!("?b (SUM(?x) AS ?s) (COUNT(DISTINCT ?g) AS ?n) {sides} GROUP BY ?b"),
        format!("DISTINCT ?g ?h {sides}"),
        "* { ?a :next ?b ; :int ?x OPTIONAL { ?b :decimal ?y ; :text ?z FILTER (?x < ?y) } }".to_owned(),
        "(COUNT(?y) AS ?n) (COUNT(*) AS ?m) { ?a :next ?b ; :int ?x OPTIONAL { ?b :decimal ?y ; :text ?z } }"
            .to_owned(),
        "?g (COUNT(*) AS ?n) { ?a :next ?b ; :in ?g MINUS { ?b :decimal ?y ; :text 3 } } GROUP BY ?g".to_owned(),
        "?g (COUNT(*) AS ?n) { ?a :next ?b ; :in ?g FILTER NOT EXISTS { ?b :float 3 ; :int ?i } } GROUP BY ?g"
            .to_owned(),
        "?g (COUNT(*) AS ?n) { ?a :next ?b ; :in ?g FILTER EXISTS { ?b :float 3 ; :int ?i } } GROUP BY ?g"
            .to_owned(),
        "?g ?s ?n { { SELECT ?g (SUM(?x) AS ?s) { ?t :int ?x ; :in ?g } GROUP BY ?g } { SELECT ?g (COUNT(*) AS ?n) { ?t :decimal ?x ; :in ?g } GROUP BY ?g } }"
            .to_owned(),
        "?s (COUNT(*) AS ?n) { { SELECT ?g (SUM(?x) AS ?s) { ?t :huge ?x ; :in ?g } GROUP BY ?g } } GROUP BY ?s"
            .to_owned(),
    ];
    let (parts, exchanges) = compared(queries.into_iter());
    assert!(parts > 12 && exchanges > 5, "{parts} parts, {exchanges} exchanges");
}
