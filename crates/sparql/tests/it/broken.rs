//! The validator finds plans that break the contract.

use crate::shop::{NS, shop};
use lode_sparql::plan::DatasetOverride;
use lode_sparql::{Plan, PlanNode, PlanOp, PlanOptions, VarId, parse_query, plan_query, validate};
use std::sync::Arc;

fn plan() -> Plan {
    let query =
        format!("PREFIX : <{NS}> SELECT ?x ?l {{ ?x :label ?l ; :rank ?k ; :note ?n FILTER(?n != ?l) }}");
    let query = parse_query(&query, None).expect("a query");
    plan_query(&query, &DatasetOverride::default(), &PlanOptions::default(), shop()).expect("a plan")
}

fn each(node: &mut PlanNode, change: &mut dyn FnMut(&mut PlanNode)) {
    change(node);
    let inputs: Vec<&mut PlanNode> = match &mut node.op {
        PlanOp::MergeJoin { left, right, .. } | PlanOp::HashJoin { left, right, .. } => {
            vec![Arc::make_mut(left), Arc::make_mut(right)]
        }
        PlanOp::LookupJoin { input, .. } | PlanOp::Filter { input, .. } | PlanOp::Project(input) => {
            vec![Arc::make_mut(input)]
        }
        _ => Vec::new(),
    };
    inputs.into_iter().for_each(|input| each(input, change));
}

fn problem(change: &mut dyn FnMut(&mut PlanNode)) -> String {
    let mut plan = plan();
    each(&mut plan.root, change);
    validate::validate(&plan).expect_err("a broken plan")
}

#[test]
fn broken_plans_are_found() {
    validate::validate(&plan()).expect("valid");
    let merges = |node: &mut PlanNode| matches!(node.op, PlanOp::MergeJoin { .. });
    assert!(problem(&mut |n| n.id = 0).contains("dense"));
    assert!(
        problem(&mut |n| {
            if let PlanOp::IndexScan(_) = n.op {
                n.sorted_by.clear();
            }
        })
        .contains("not sorted")
    );
    assert!(
        problem(&mut |n| {
            if let PlanOp::IndexScan(p) = &mut n.op {
                p.order = lode_packed::Order::Ospg;
            }
        })
        .contains("no prefix")
    );
    assert!(
        problem(&mut |n| {
            if let PlanOp::Filter { exprs, .. } = &mut n.op {
                exprs.push(lode_sparql::Expr::Var(VarId(999)));
            }
        })
        .contains("mentions")
    );
    assert!(
        problem(&mut |n| {
            if merges(n)
                && let PlanOp::MergeJoin { condition, .. } = &mut n.op
            {
                condition.on.clear();
            }
        })
        .contains("on what")
    );
    assert!(problem(&mut |n| n.rows = f64::NAN).contains("rows"));
}
