//! Rules that people write: paths, negation, arithmetic, aggregates, new terms, no end.

use super::{apply, ask, by, database, refused, rows};
use crate::{CancelToken, DefaultGraph, EngineError, MaterialiseOptions, QueryOptions};

#[test]
fn recursion_through_other_rules_and_paths() {
    let all = database(":a :up :b . :b :up :c . :c :up :d . :x :sees :a . :d :is :top");
    apply(
        &all,
        &["CONSTRUCT { ?x :above ?y } WHERE { ?x :up ?y } ;
           CONSTRUCT { ?x :above ?z } WHERE { ?x :up ?y . ?y :above ?z } ;
           CONSTRUCT { ?x :sees ?y } WHERE { ?x :sees/:above+ ?y } ;
           CONSTRUCT { ?y :up :e } WHERE { ?x :sees ?y . ?y :is :top }"],
    );
    assert_eq!(
        rows(&all, "SELECT ?y { :a :above ?y }", &QueryOptions::default()),
        ["<:b>", "<:c>", "<:d>", "<:e>"]
    );
    assert_eq!(rows(&all, "SELECT ?y { :x :sees ?y }", &QueryOptions::default()).len(), 5);
}

#[test]
fn transitive_rules_meet_others() {
    // Pairs of the one lead to steps of the other, and back.
    let rules = "CONSTRUCT { ?x :t ?z } WHERE { ?x :t ?y . ?y :t ?z } ;
                 CONSTRUCT { ?y :u ?x } WHERE { ?x :t ?y } ;
                 CONSTRUCT { ?x ?p ?z } WHERE { ?p a owl:TransitiveProperty . ?x ?p ?y . ?y ?p ?z } ;
                 CONSTRUCT { ?x :t ?y } WHERE { ?x :u ?y . ?y :also ?x } ;
                 CONSTRUCT { :u a owl:TransitiveProperty } WHERE { :a :t :d }";
    let all = database(":a :t :b . :b :t :c . :c :t :d . :a :also :d . :b :also :d");
    apply(&all, &[rules]);
    // The pair of :d and :a makes a circle of all.
    assert_eq!(rows(&all, "SELECT * { ?x :t ?y }", &QueryOptions::default()).len(), 16);
    assert_eq!(rows(&all, "SELECT * { ?x :u ?y }", &QueryOptions::default()).len(), 16);
}

#[test]
fn negation_arithmetic_and_aggregates() {
    let all = database(":a :has 3, 4 . :b :has 5 . :c a :Thing . :a a :Thing . :b a :Thing");
    let report = apply(
        &all,
        &["# rule sum
           CONSTRUCT { ?x :sum ?sum ; :twice ?twice } WHERE { { SELECT ?x (SUM(?n) AS ?sum) { ?x :has ?n } GROUP BY ?x } BIND(2 * ?sum AS ?twice) FILTER(?sum > 5) };
           # rule poor
           CONSTRUCT { ?x a :Poor } WHERE { ?x a :Thing FILTER NOT EXISTS { ?x :sum ?s } };
           # rule named
           CONSTRUCT { ?x :name ?name } WHERE { ?x a :Poor BIND(CONCAT('poor ', STR(?x)) AS ?name) }"],
    );
    assert!(ask(&all, ":a :sum 7 ; :twice 14") && !ask(&all, ":b :sum 5"));
    assert_eq!(rows(&all, "SELECT ?x { ?x a :Poor }", &QueryOptions::default()), ["<:b>", "<:c>"]);
    assert!(ask(&all, ":b :name 'poor http://e/b'"));
    assert_eq!(report.inferred, 6);
    let by_rule: Vec<_> = report.rules.iter().map(|rule| (rule.rule.as_str(), rule.triples)).collect();
    assert_eq!(by_rule, [("sum", 2), ("poor", 2), ("named", 2)]);
}

#[test]
fn what_cannot_be_a_triple_is_left_out() {
    let all = database(":a :p 1 . :a :q :b");
    // A variable without a value, a literal as a subject.
    let rules = "CONSTRUCT { ?y :u ?u } WHERE { { ?x :p|:q ?y } UNION { ?u :none ?y } } ; CONSTRUCT { ?y :of ?x } WHERE { ?x :p|:q ?y }";
    let report = apply(&all, &[rules]);
    assert_eq!(report.inferred, 1);
    assert!(ask(&all, ":b :of :a"));
}

#[test]
fn rules_over_named_graphs() {
    let all = database("GRAPH :schema { :Cat rdfs:subClassOf :Animal } GRAPH :g { :tom a :Cat } :kit a :Cat");
    assert_eq!(apply(&all, &["rdfs"]).inferred, 0, "the default graph alone");
    let own = "CONSTRUCT { ?x a ?d } WHERE { GRAPH :schema { ?c rdfs:subClassOf ?d } ?x a ?c } ; CONSTRUCT { ?g :has ?x } WHERE { GRAPH ?g { ?x ?p ?y } }";
    assert_eq!(apply(&all, &[own]).inferred, 3, "and others by name, but not the program's own");
    assert!(ask(&all, ":kit a :Animal") && ask(&all, ":g :has :tom") && !ask(&all, ":tom a :Animal"));
    let union = MaterialiseOptions { default_graph: Some(DefaultGraph::Union), ..by(&["rdfs"]) };
    assert_eq!(all.materialise(&union).unwrap().inferred, 2, "or all");
    assert!(ask(&all, ":kit a :Animal . :tom a :Animal"));
    // That is kept, too.
    super::update(&all, "INSERT DATA { GRAPH :h { :rex a :Cat } }");
    assert_eq!(all.materialise(&by(&[])).unwrap().inferred, 3);
}

#[test]
fn what_has_no_end_ends_with_an_error() {
    let all = database(":a :n 1");
    let endless = "CONSTRUCT { ?x :n ?m } WHERE { ?x :n ?n BIND(?n + 1 AS ?m) }";
    let options = MaterialiseOptions { rounds_max: 50, ..by(&[endless]) };
    let error = refused(&all, &options);
    assert!(matches!(&error, EngineError::Rules(text) if text.contains("after 50 rounds")), "{error}");
    let texts = "CONSTRUCT { ?x :n ?m } WHERE { ?x :n ?n BIND(CONCAT(STR(?n), STR(?n)) AS ?m) }";
    let evaluation = QueryOptions { memory_bytes: 8 << 20, ..QueryOptions::default() };
    let error = refused(&all, &MaterialiseOptions { evaluation, ..by(&[texts]) });
    assert!(matches!(&error, EngineError::Execution(_)), "{error}");
    let cancel = CancelToken::default();
    cancel.cancel();
    let evaluation = QueryOptions { cancel, ..QueryOptions::default() };
    let error = refused(&all, &MaterialiseOptions { evaluation, ..by(&["rdfs"]) });
    assert!(matches!(&error, EngineError::Cancelled(_)), "{error}");
    // Nothing was changed.
    assert_eq!(rows(&all, "SELECT * { ?s ?p ?o }", &QueryOptions::default()).len(), 1);
    assert!(all.inferences(&all.snapshot()).unwrap().is_none());
}

#[test]
fn long_chains_end_where_rules_make_no_terms() {
    let chain: Vec<String> = (0..120).map(|i| format!(":n{i} :next :n{}", i + 1)).collect();
    let all = database(&format!("{} . :n0 a :Reached", chain.join(" . ")));
    let rules = "CONSTRUCT { ?y a :Reached } WHERE { ?x a :Reached . ?x :next ?y };
                 CONSTRUCT { ?x :text ?t } WHERE { ?x a :Reached . ?x :is ?y BIND(STR(?y) AS ?t) }";
    let report = all.materialise(&MaterialiseOptions { rounds_max: 20, ..by(&[rules]) }).unwrap();
    assert_eq!((report.inferred, report.rounds > 120), (120, true));
}

#[test]
fn memory_ends_with_an_error_and_changes_nothing() {
    let things: Vec<String> = (0..300).map(|i| format!(":x{i} a :T")).collect();
    let all = database(&things.join(" . "));
    let pairs = "CONSTRUCT { ?x :with ?y } WHERE { ?x a :T . ?y a :T }";
    let evaluation = QueryOptions { memory_bytes: 4 << 20, ..QueryOptions::default() };
    let error = refused(&all, &MaterialiseOptions { evaluation, ..by(&[pairs]) });
    assert!(matches!(&error, EngineError::Execution(_)), "{error}");
    assert!(!ask(&all, "?x :with ?y"));
    assert_eq!(apply(&all, &[pairs]).inferred, 90_000);
}

#[test]
fn wrong_rules_are_told_with_their_text() {
    let all = database(":a :p 1");
    for (rules, message) in [
        ("CONSTRUCT { ?x :p ?y } WHERE { ?x :q }", "own.rq: line 2"),
        (
            "\n# rule odd\nCONSTRUCT { ?x :p ?y } WHERE { ?x :q ?z }",
            "own.rq: rule odd (line 4): ?y is in its head",
        ),
        ("CONSTRUCT { ?x a :A } WHERE { ?x :p ?y FILTER NOT EXISTS { ?x a :A } }", "there is no sequence"),
        ("owl2", "there is no set of rules owl2: there are rdfs,"),
    ] {
        let error = refused(&all, &by(&[rules])).to_string();
        assert!(error.contains(message), "{rules}\n{error}");
    }
    assert!(refused(&all, &by(&[])).to_string().contains("keeps no rules"));
}

#[test]
fn paths_without_a_step_are_of_terms_that_others_add() {
    let all = database(":a :r :b");
    let rules = "CONSTRUCT { ?x :self ?y } WHERE { ?x :p* ?y } ; CONSTRUCT { ?x :q :new } WHERE { ?x :r ?y }";
    apply(&all, &[rules]);
    assert!(ask(&all, ":new :self :new . :b :self :b"));
}
