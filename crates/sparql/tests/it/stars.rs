//! Estimates of stars: what they say, and that they say it however the patterns are written.

use crate::shop::{NS, shop};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{PlanOptions, parse_query, plan_query};

/// Rows that the plan for these patterns is said to have.
fn estimated(patterns: &[&str]) -> f64 {
    let text = format!("PREFIX : <{NS}> SELECT * {{ {} }}", patterns.join(" . "));
    let query = parse_query(&text, None).expect("parses");
    let plan = plan_query(&query, &DatasetOverride::default(), &PlanOptions::default(), shop());
    plan.expect("plans").root.rows
}

/// The estimate of the patterns in every order, which is one but for how counts of default and named graphs are rounded.
fn in_every_order(patterns: &[&str]) -> f64 {
    let first = estimated(patterns);
    let mut order: Vec<&str> = patterns.to_vec();
    for swap in 0..patterns.len() * patterns.len() {
        order.swap(swap % patterns.len(), (swap * 7 + 1) % patterns.len());
        let again = estimated(&order);
        assert!((again - first).abs() <= 5e-3 * first, "{first} and {again} for {order:?}");
    }
    first
}

fn is_near(estimate: f64, actual: f64) {
    assert!((estimate / actual - 1.0).abs() < 0.02, "{estimate} for {actual}");
}

#[test]
fn what_is_optional_together_is_known() {
    // Every third product has a note, every product six features.
    is_near(in_every_order(&["?p :note ?n", "?p :label ?l", "?p :rank ?r"]), 667.0);
    is_near(in_every_order(&["?p :note ?n", "?p :feature ?f", "?p :producer ?m"]), 4_002.0);
    // Every second review has a rating, and no product has one.
    is_near(in_every_order(&["?r :rating ?n", "?r :reviewFor ?p", "?r :reviewer ?x"]), 3_000.0);
    assert!(in_every_order(&["?x :rating ?n", "?x :label ?l"]) <= 1.0);
}

#[test]
fn constants_keep_their_exact_counts() {
    let of_type = estimated(&["?p :type :Type1"]);
    // A class that a third of the products with a note are asked for.
    let with_note = in_every_order(&["?p :type :Type1", "?p :note ?n", "?p :label ?l"]);
    assert!((with_note / of_type - 1.0 / 3.0).abs() < 0.1, "{with_note} of {of_type}");
    is_near(in_every_order(&["?p :type :Type1", "?p :rank ?r", "?p :producer ?m"]), of_type);
    is_near(in_every_order(&["?p :producer :producer3", "?p :label ?l", "?p :rank ?r"]), 50.0);
}

#[test]
fn a_star_among_others_is_the_same_star() {
    // Five offers for each product.
    let patterns = ["?o :product ?p", "?o :price ?c", "?p :note ?n", "?p :label ?l", "?p :rank ?r"];
    is_near(in_every_order(&patterns), 3_335.0);
}

#[test]
fn others_meet_subjects_that_have_the_whole_star() {
    let with_producer = ["?o :product ?p", "?p :feature ?f", "?p :producer ?m"];
    is_near(in_every_order(&with_producer), 60_000.0);
    let with_note = ["?r :reviewFor ?p", "?p :note ?n", "?p :feature ?f"];
    assert!(in_every_order(&with_note) > 6_000.0);
}
