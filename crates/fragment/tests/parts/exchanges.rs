//! What is exchanged: groups of parts, or the rows themselves.

use crate::{plan, snapshot, wanted};
use lode_fragment::{Exchange, Wanted, take_apart};
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
