//! Tests of the oracle, where the suites are silent: the cases in which evaluators like to differ.

use super::{Options, evaluate};
use crate::answer::Answer;
use crate::dataset::Dataset;
use crate::rdf_files::{RdfFormat, parse};
use spargebra::SparqlParser;

const PREFIX: &str = "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> ";

fn data(trig: &str) -> Dataset {
    parse(format!("{PREFIX} {trig}").as_bytes(), RdfFormat::TriG, "http://e/").unwrap()
}

/// The rows, each as its terms joined by blanks, sorted.
fn rows(trig: &str, query: &str) -> Vec<String> {
    let query = SparqlParser::new().parse_query(&format!("{PREFIX} {query}")).unwrap();
    match evaluate(&query, &data(trig), &Options::default()).unwrap() {
        Answer::Solutions { rows, .. } => {
            let show =
                |t: &Option<oxrdf::Term>| t.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            let mut lines: Vec<String> =
                rows.iter().map(|r| r.iter().map(show).collect::<Vec<_>>().join(" ")).collect();
            lines.sort();
            lines
        }
        other => vec![other.describe()],
    }
}

#[test]
fn sequence_paths_keep_duplicates_and_stars_do_not() {
    let diamond = ":a :p :b, :c . :b :p :d . :c :p :d .";
    assert_eq!(rows(diamond, "SELECT ?x { :a :p/:p ?x }"), ["<http://e/d>", "<http://e/d>"]);
    assert_eq!(
        rows(diamond, "SELECT (COUNT(*) AS ?n) { :a :p* ?x }"),
        ["\"4\"^^<http://www.w3.org/2001/XMLSchema#integer>"]
    );
}

#[test]
fn a_path_of_length_zero_matches_a_constant_that_the_graph_lacks() {
    assert_eq!(rows(":a :p :b .", "SELECT ?x { :nowhere :p* ?x }"), ["<http://e/nowhere>"]);
    assert!(rows(":a :p :b .", "SELECT ?x { VALUES ?x { :nowhere } ?x :p* ?y }").is_empty());
}

#[test]
fn minus_needs_a_shared_variable() {
    let some = ":a :p 1 . :b :q 2 .";
    assert_eq!(rows(some, "SELECT ?s { ?s :p ?o MINUS { ?x :q ?y } }"), ["<http://e/a>"]);
    assert!(rows(some, "SELECT ?s { ?s :p ?o MINUS { ?s :p ?y } }").is_empty());
}

#[test]
fn the_filter_of_an_optional_sees_the_left_side() {
    let some = ":a :p 1 ; :q 2 . :b :p 3 ; :q 2 .";
    assert_eq!(
        rows(some, "SELECT ?s ?y { ?s :p ?x OPTIONAL { ?s :q ?y FILTER(?x < ?y) } }"),
        ["<http://e/a> \"2\"^^<http://www.w3.org/2001/XMLSchema#integer>", "<http://e/b> -"]
    );
    assert_eq!(
        rows(some, "SELECT ?s ?y { ?s :p ?x OPTIONAL { { ?s :q ?y FILTER(?x < ?y) } } }"),
        ["<http://e/a> -", "<http://e/b> -"]
    );
}

#[test]
fn exists_is_substituted_but_not_below_a_projection() {
    let some = ":a :p 1 . :b :p 2 .";
    assert_eq!(rows(some, "SELECT ?s { ?s :p ?x FILTER EXISTS { FILTER(?x = 1) } }"), ["<http://e/a>"]);
    assert_eq!(
        rows(some, "SELECT ?s { ?s :p ?x FILTER EXISTS { SELECT ?z { ?z :p ?x FILTER(?x = 2) } } }").len(),
        2
    );
}

#[test]
fn a_value_as_a_string_is_in_its_canonical_form() {
    let query = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT (xsd:string(?x) AS ?s) { VALUES ?x {
        01 'PT24H'^^xsd:dayTimeDuration 'P12M'^^xsd:duration 'P1Y'^^xsd:yearMonthDuration } }";
    assert_eq!(rows("", query), ["\"1\"", "\"P1D\"", "\"P1Y\"", "\"P1Y\""]);
}

#[test]
fn one_error_spoils_a_sum_but_not_a_count() {
    let some = ":a :p 1, \"x\" .";
    assert_eq!(
        rows(some, "SELECT (SUM(?x) AS ?s) (COUNT(?x + 1) AS ?c) { :a :p ?x }"),
        ["- \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>"]
    );
}

#[test]
fn a_step_limit_ends_large_evaluations() {
    let some = data(":a :p 1, 2, 3, 4, 5, 6, 7, 8, 9 .");
    let query =
        SparqlParser::new().parse_query("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }").unwrap();
    let options = Options { steps_max: 1000, ..Options::default() };
    assert!(evaluate(&query, &some, &options).is_err());
}
