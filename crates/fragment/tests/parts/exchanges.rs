//! What is exchanged: groups of parts, or the rows themselves.

use crate::{plan, snapshot, wanted};
use lode_fragment::{Exchange, Fragment, Wanted, read, take_apart};
use lode_sparql::{PlanNode, PlanOp, PlanOptions};

fn has_groups(node: &PlanNode) -> bool {
    matches!(node.op, PlanOp::Group { .. } | PlanOp::Distinct(_))
        || node.children().into_iter().any(has_groups)
}

/// Where nearly each row is a group of its own, groups of parts are made for nothing.
#[test]
fn groups_that_are_as_many_as_rows_are_made_once() {
    let snapshot = snapshot();
    let exchange = Some(Exchange { rows_min: 0.0, row_cost: 0.0, parts: 3, begin_cost: 0.0 });
    let mut in_parts = Vec::new();
    for text in [
        "SELECT ?v ?n (COUNT(*) AS ?c) { ?s :p ?v ; :name ?n } GROUP BY ?v ?n",
        "SELECT DISTINCT ?v ?n { ?s :p ?v ; :name ?n }",
        "SELECT (COUNT(*) AS ?c) { ?s :p ?v ; :name ?n }",
    ] {
        let plan = plan(text, &snapshot, None, &PlanOptions::default());
        let wanted = Wanted { exchange, ..wanted(None) };
        let apart = take_apart(&plan, &snapshot, &wanted).unwrap();
        let first = &apart.fragments[0].0;
        assert!(first.inputs.is_empty());
        in_parts.push((has_groups(&first.plan.root), apart.fragments.len()));
    }
    // The rows, and by them their groups; of one group for all there are parts, which the head adds up.
    assert_eq!(in_parts, [(false, 2), (false, 2), (true, 1)]);
}

fn names(fragment: &Fragment) -> Vec<&str> {
    fragment.plan.root.vars.iter().map(|var| fragment.plan.vars.name(*var)).collect()
}

/// A column by which a fragment joins its own patterns, and which nobody asks for elsewhere, does not go along.
#[test]
fn what_nobody_needs_is_not_exchanged() {
    let snapshot = snapshot();
    let exchange = Some(Exchange { rows_min: 0.0, row_cost: 0.0, parts: 3, begin_cost: 0.0 });
    let mut exchanged = std::collections::BTreeSet::new();
    for (text, never) in [
        ("SELECT ?n ?o { ?s :p ?v ; :name ?n OPTIONAL { ?t :p ?v ; :q ?o } }", &["s", "t"][..]),
        (
            "SELECT ?n (COUNT(*) AS ?c) { ?s :p ?v ; :name ?n OPTIONAL { ?t :p ?v ; :q ?o ; :name ?m } } GROUP BY ?n",
            &["s", "t", "o", "m"],
        ),
        (
            "SELECT ?n (COUNT(?o) AS ?c) { ?s :p ?v ; :name ?n ; :q ?z OPTIONAL { ?t :p ?v ; :q ?o ; :name ?m } } GROUP BY ?n",
            &["s", "t", "z", "m"],
        ),
        ("SELECT ?n ?o { ?s :p ?v ; :name ?n OPTIONAL { ?t :p ?v ; :q ?o FILTER (?t != ?s) } }", &[]),
    ] {
        let plan = plan(text, &snapshot, None, &PlanOptions::default());
        let apart = take_apart(&plan, &snapshot, &Wanted { exchange, ..wanted(None) }).unwrap();
        for input in apart.fragments.iter().flat_map(|(fragment, _)| &fragment.inputs) {
            let (fragment, bytes) = &apart.fragments[input.fragment as usize];
            let columns = names(fragment);
            assert!(input.by.iter().all(|place| *place < columns.len()), "{text}");
            assert!(columns.iter().all(|column| !never.contains(column)), "{text}: {columns:?}");
            // Names do not travel.
            assert_eq!(names(&read(bytes, &snapshot).unwrap()).len(), columns.len());
            exchanged.extend(columns.into_iter().map(str::to_owned));
        }
    }
    // What joins them goes, and what a condition is about.
    assert!(["v", "s", "t"].iter().all(|column| exchanged.contains(*column)), "{exchanged:?}");
}
