//! Patterns joined at once: where that is chosen, where it is right, and what such a plan looks like.

use crate::fake::Quads;
use lode_rdf::{NamedNode, Term};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{PlanOptions, explain, parse_query, plan_query, validate};

const NS: &str = "http://g/";

fn iri(name: &str) -> Term {
    NamedNode::new_unchecked(format!("{NS}{name}")).into()
}

/// 400 people who know 60 others each, and live in 20 cities.
fn people() -> Quads {
    let person = |n: u32| iri(&format!("person{}", n % 400));
    let mut quads = Vec::new();
    for i in 0..400_u32 {
        for j in 0..60 {
            quads.push((person(i), iri("knows"), person(i * 7 + j * j * 3 + 1), None));
        }
        quads.push((person(i), iri("city"), iri(&format!("city{}", i % 20)), None));
    }
    quads.push((person(0), iri("knows"), person(1), Some(iri("graph"))));
    Quads::new(&quads)
}

fn plan(stats: &Quads, query: &str, joins_multiway: bool) -> String {
    let query = parse_query(&format!("PREFIX : <{NS}>\nSELECT * {{ {query} }}"), None).expect("a query");
    let options = PlanOptions { joins_multiway, ..PlanOptions::default() };
    let plan = plan_query(&query, &DatasetOverride::default(), &options, stats).expect("a plan");
    validate::validate(&plan).expect("a valid plan");
    let short = |id| stats.text(id).replace(NS, ":");
    explain(&plan, &short).to_text(&|_| String::new())
}

#[test]
fn a_triangle_with_more_around_it() {
    let stats = people();
    let found = plan(&stats, "?a :knows ?b . ?b :knows ?c . ?c :knows ?a . ?c :city ?d", false);
    let join = found.lines().find(|line| line.contains("MultiwayJoin")).expect(&found);
    assert!(join.contains(" of psog { ?"), "{join}");
    assert_eq!(join.matches("<:knows>").count(), 3, "{join}");
    assert!(join.contains("sorted by "), "{join}");
    // What is no part of the cycle is joined with the result.
    assert!(found.contains("<:city>") && !join.contains("<:city>"), "{found}");
}

#[test]
fn what_is_over_the_same_variables_is_joined_with_them() {
    let stats = people();
    let found = plan(&stats, "?a :knows ?b . ?b :knows ?c . ?a :knows ?c . ?a :city :city3", false);
    assert!(found.contains("MultiwayJoin by ?a") && !found.contains("IndexScan"), "{found}");
}

#[test]
fn not_without_a_cycle() {
    let stats = people();
    for query in [
        "?a :knows ?b . ?b :knows ?c . ?c :knows ?d",
        "?a :knows ?b . ?a :knows ?c . ?a :city ?d . ?b :city ?d2",
        "?a :knows ?b . ?b :knows ?a . ?a :city ?d",
        "?a ?p ?b . ?a ?p ?c . ?a ?q ?b",
    ] {
        let found = plan(&stats, query, false);
        assert!(!found.contains("MultiwayJoin"), "{found}");
    }
}

#[test]
fn not_where_a_match_is_more_than_a_row() {
    let stats = people();
    for query in [
        "GRAPH ?g { ?a :knows ?b . ?b :knows ?c . ?c :knows ?a }",
        "?a :knows ?a . ?b (:knows/:knows) [] . ?b ?p ?b",
    ] {
        let found = plan(&stats, query, true);
        assert!(!found.contains("MultiwayJoin"), "{found}");
    }
}

#[test]
fn many_variables_are_put_in_sequence() {
    let stats = people();
    let mut clique = String::new();
    for i in 0..5 {
        for j in i + 1..5 {
            clique += &format!("?v{i} :knows ?v{j} . ");
        }
    }
    let found = plan(&stats, &clique, false);
    assert!(found.contains("MultiwayJoin"), "{found}");
    let ring: String = (0..9).map(|i| format!("?v{i} :knows ?v{} . ", (i + 1) % 9)).collect();
    for always in [false, true] {
        plan(&stats, &ring, always);
    }
}
