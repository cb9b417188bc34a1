//! How much a plan would read, for who decides whether it may run: the planner's estimate of the rows that indexes and searches deliver, and
//! of those that joins make of them. A LIMIT counts where its rows are made one after the other.

use crate::aggregate::Counts;
use crate::expr::{Aggregate, Expr};
use crate::plan::{Plan, PlanNode, PlanOp, QueryForm, VarId};
use crate::stack;

/// Time that reading a row takes where an operator searches, in nanoseconds as the cost model has it: rows that it looks at and does not
/// deliver are in its cost only.
const SEARCHED_ROW_NS: f64 = 40.0;
/// A test by EXISTS, where it is no join, takes as long as reading so many rows: some look-ups for each triple pattern, and its part of a plan.
const EXISTS_ROWS: f64 = 32.0;
/// Counting a group of an index takes as long as reading so many rows.
const COUNTED_GROUP_ROWS: f64 = 512.0;

/// The estimate.
pub fn reads(plan: &Plan) -> f64 {
    let wanted = match plan.form {
        QueryForm::Ask => 1.0,
        QueryForm::Select(_) | QueryForm::Construct(_) | QueryForm::Describe(_) => f64::INFINITY,
    };
    stack::deep(plan.depth, || of(&plan.root, wanted))
}

/// What so many rows of a node take, or all.
fn of(node: &PlanNode, wanted: f64) -> f64 {
    let part = if node.rows > wanted { wanted / node.rows } else { 1.0 };
    let in_part = |input: &PlanNode| of(input, if part < 1.0 { part * input.rows } else { f64::INFINITY });
    let whole = |input: &PlanNode| of(input, f64::INFINITY);
    let inputs = node.children();
    let all_in_part = || inputs.iter().copied().map(in_part).sum::<f64>();
    match &node.op {
        PlanOp::Unit | PlanOp::Empty | PlanOp::Values(_) | PlanOp::Ids(_) | PlanOp::Domain => 0.0,
        PlanOp::IndexScan(_) | PlanOp::GraphNames { .. } => part * node.rows,
        PlanOp::MultiwayJoin(_)
        | PlanOp::ForEachGraph { .. }
        | PlanOp::Lateral { .. }
        | PlanOp::Path { .. } => {
            let own = node.cost - inputs.iter().map(|input| input.cost).sum::<f64>();
            all_in_part() + part * node.rows.max(own / SEARCHED_ROW_NS)
        }
        PlanOp::MergeJoin { .. } | PlanOp::LookupJoin { .. } | PlanOp::Service { .. } => {
            all_in_part() + part * node.rows
        }
        PlanOp::HashJoin { left, right, .. } => in_part(left) + whole(right) + part * node.rows,
        PlanOp::Filter { input, exprs } => all_in_part() + part * tests(input, exprs),
        PlanOp::Extend { input, expr, .. } => all_in_part() + part * tests(input, std::slice::from_ref(expr)),
        PlanOp::Slice { input, start, length } => {
            let length = length.map_or(f64::INFINITY, |length| length as f64);
            of(input, *start as f64 + length.min(wanted))
        }
        PlanOp::Sort { .. } | PlanOp::Group { sorted: false, .. } => {
            counted_or(node, inputs.iter().copied().map(whole).sum())
        }
        // Made once, whoever reads it.
        PlanOp::Spool { .. } => inputs.iter().copied().map(whole).sum(),
        // The others work on rows as they come.
        _ => counted_or(node, all_in_part()),
    }
}

/// What tests by EXISTS in expressions read for all rows of an input.
fn tests(input: &PlanNode, exprs: &[Expr]) -> f64 {
    input.rows * EXISTS_ROWS * exprs.iter().filter(|expr| expr.has_exists()).count() as f64
}

/// What a Group reads that the index counts for, instead of `rows`; of others these.
fn counted_or(node: &PlanNode, rows: f64) -> f64 {
    match &node.op {
        PlanOp::Group { input, keys, aggregates, .. } if is_counted(input, keys, aggregates) => {
            rows.min(node.rows * if keys.is_empty() { 1.0 } else { COUNTED_GROUP_ROWS })
        }
        _ => rows,
    }
}

/// Whether a Group only counts the rows of a scan, in all or by one variable.
fn is_counted(input: &PlanNode, keys: &[VarId], aggregates: &[Aggregate]) -> bool {
    let mut scan = input;
    while let PlanOp::Project(below) = &scan.op {
        scan = below;
    }
    let counts = |aggregate: &Aggregate| match (aggregate.function.counts, &aggregate.argument) {
        _ if aggregate.distinct => false,
        (Counts::Rows, _) => true,
        (Counts::Bound { .. }, Some(Expr::Var(var))) => scan.certain.contains(var),
        _ => false,
    };
    matches!(scan.op, PlanOp::IndexScan(_)) && keys.len() <= 1 && aggregates.iter().all(counts)
}
