//! Random plans, run in all ways, against the naive evaluator.

use super::generate::{Generator, Random, joined_vars, node};
use super::naive::{self, Row};
use super::{Setup, cases, context, empty_snapshot, plan, run, setups};
use lode_rdf::ValueId;
use lode_sparql::{JoinKind, PlanNode, PlanOp, VarId};
use lode_store::Snapshot;
use proptest::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_unstable();
    rows
}

/// Runs a plan in all ways; each must give the naive evaluator's rows. With `exact`, also in its order.
pub(super) fn check(root: PlanNode, setups: &[Setup], exact: bool) {
    check_over(&empty_snapshot(), &[], root, setups, exact);
}

/// The same over a database with these quads.
pub(crate) fn check_over(
    snapshot: &Snapshot,
    quads: &[[ValueId; 4]],
    root: PlanNode,
    setups: &[Setup],
    exact: bool,
) {
    let plan = plan(root);
    for setup in setups {
        let cx = context(snapshot, *setup);
        let world = naive::World { cx: &cx, quads, spools: RefCell::default() };
        let Some(expected) = naive::eval(&world, &plan.root) else { return };
        let found = match run(&plan, &cx) {
            Ok(rows) => rows,
            Err(error) => panic!("{setup:?}: {error}\n{}", shown(&plan.root)),
        };
        let (found, expected) =
            if exact { (found, expected.rows) } else { (sorted(found), sorted(expected.rows)) };
        assert_eq!(found, expected, "{setup:?}\n{}", shown(&plan.root));
        // Threads may still be letting go of what they had when the rows ended; terms made stay, in blocks of 64 KiB.
        let terms = cx.local.len() * (64 << 10);
        let started = std::time::Instant::now();
        while cx.budget.used() > terms && started.elapsed().as_secs() < 20 {
            std::thread::yield_now();
        }
        assert!(cx.budget.used() <= terms, "memory was not given back");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_plans(seed: u64) {
        let random = Random(seed);
        let mut generator = Generator { random, rows_max: 9, distinct: 4 };
        let depth = 1 + generator.random.below(4);
        check(generator.plan(depth), &setups(), false);
    }

    #[test]
    fn merge_joins(seed: u64) {
        let random = Random(seed);
        let mut generator = Generator { random, rows_max: 12, distinct: 4 };
        check(merge_join(&mut generator), &setups(), false);
    }

    #[test]
    fn sorted_groups(seed: u64) {
        let random = Random(seed);
        let mut generator = Generator { random, rows_max: 14, distinct: 4 };
        let mut input = generator.values();
        sort_values(&mut input);
        let keys: Vec<VarId> = input.vars[..generator.random.below(input.vars.len() + 1)].to_vec();
        let aggregates = generator.aggregates(&input.vars);
        let mut vars = keys.clone();
        vars.extend(aggregates.iter().map(|aggregate| aggregate.output));
        let op = PlanOp::Group { input: Arc::new(input), keys, aggregates, sorted: true };
        check(node(op, vars, Vec::new()), &setups(), false);
    }

    #[test]
    fn order_is_kept(seed: u64) {
        let random = Random(seed);
        let mut generator = Generator { random, rows_max: 30, distinct: 5 };
        check(ordered_plan(&mut generator), &setups(), true);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn larger_plans(seed: u64) {
        let random = Random(seed);
        let mut generator = Generator { random, rows_max: 2500, distinct: 1200 };
        let root = generator.plan(2);
        let spilling = |batch_rows, threads| Setup { batch_rows, threads, budget: 20_000 };
        check(root, &[spilling(100, 1), spilling(4096, 2), spilling(777, 2)], false);
    }
}

/// Sorts the rows of inline data by their ids, column by column.
pub(super) fn sort_values(input: &mut PlanNode) {
    let cx = context(&empty_snapshot(), setups()[0]);
    if let PlanOp::Values(rows) = &mut input.op {
        let id = |term: &Option<_>| term.as_ref().map_or(ValueId::UNDEF, |t| cx.intern(t).unwrap());
        rows.sort_by_key(|row| row.iter().map(id).collect::<Vec<_>>());
        input.sorted_by.clone_from(&input.vars);
    }
}

fn merge_join(generator: &mut Generator) -> PlanNode {
    let (mut left, mut right) = (generator.values(), generator.values());
    let kinds = [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti];
    let kind = generator.random.pick(&kinds);
    let filter = generator.random.chance(30);
    let condition = generator.condition(&left, &right, filter);
    let order = |node: &mut PlanNode| {
        // The join's variables must come first.
        let mut columns: Vec<usize> = (0..node.vars.len()).collect();
        let place = |i: &usize| condition.on.iter().position(|v| *v == node.vars[*i]).unwrap_or(usize::MAX);
        columns.sort_by_key(place);
        let vars = columns.iter().map(|i| node.vars[*i]).collect();
        if let PlanOp::Values(rows) = &mut node.op {
            for row in rows.iter_mut() {
                *row = columns.iter().map(|i| row[*i].clone()).collect();
            }
        }
        node.vars = vars;
        sort_values(node);
    };
    order(&mut left);
    order(&mut right);
    let (vars, certain) = joined_vars(&left, &right, kind);
    let (left, right) = (Arc::new(left), Arc::new(right));
    node(PlanOp::MergeJoin { left, right, kind, condition }, vars, certain)
}

/// A sort, and operators above it that keep its order.
fn ordered_plan(generator: &mut Generator) -> PlanNode {
    let input = generator.values();
    let (vars, certain) = (input.vars.clone(), input.certain.clone());
    let keys = vars.iter().take(2).map(|var| lode_sparql::plan::SortKey {
        expr: lode_sparql::Expr::Var(*var),
        descending: generator.random.chance(50),
    });
    let keys = keys.collect();
    let limit = generator.random.chance(30).then(|| generator.random.below(20));
    let mut root = node(PlanOp::Sort { input: Arc::new(input), keys, limit }, vars, certain);
    for _ in 0..generator.random.below(3) {
        let (vars, certain) = (root.vars.clone(), root.certain.clone());
        root = match generator.random.below(3) {
            0 => node(PlanOp::Distinct(Arc::new(root)), vars, certain),
            1 => {
                let (start, length) = (generator.random.below(4), Some(generator.random.below(25)));
                node(PlanOp::Slice { input: Arc::new(root), start, length }, vars, certain)
            }
            _ => {
                let right = generator.values();
                let kinds = [JoinKind::Semi, JoinKind::Anti, JoinKind::Minus];
                let kind = generator.random.pick(&kinds);
                let condition = generator.condition(&root, &right, false);
                let (left, right) = (Arc::new(root), Arc::new(right));
                node(PlanOp::HashJoin { left, right, kind, condition }, vars, certain)
            }
        };
    }
    root
}

/// A plan in few lines.
fn show(node: &PlanNode, indent: usize, out: &mut String) {
    use std::fmt::Write;
    let vars: Vec<u32> = node.vars.iter().map(|var| var.0).collect();
    let term = |t: &Option<lode_rdf::Term>| match t {
        Some(lode_rdf::Term::Literal(literal)) => literal.value().to_owned(),
        _ => "-".to_owned(),
    };
    let what = match &node.op {
        PlanOp::Values(rows) if rows.len() < 20 => {
            let row = |row: &Vec<_>| row.iter().map(term).collect::<Vec<_>>().join(" ");
            format!("Values {}", rows.iter().map(row).collect::<Vec<_>>().join(" | "))
        }
        PlanOp::Values(rows) => format!("Values of {} rows", rows.len()),
        PlanOp::HashJoin { kind, condition, .. } => format!("HashJoin {kind:?} {condition:?}"),
        PlanOp::MergeJoin { kind, condition, .. } => format!("MergeJoin {kind:?} {condition:?}"),
        PlanOp::Filter { exprs, .. } => format!("Filter {exprs:?}"),
        PlanOp::Extend { var, expr, .. } => format!("Extend {var:?} {expr:?}"),
        PlanOp::Sort { keys, limit, .. } => format!("Sort {keys:?} {limit:?}"),
        PlanOp::Slice { start, length, .. } => format!("Slice {start} {length:?}"),
        PlanOp::IndexScan(pattern) => format!("{pattern:?}"),
        PlanOp::LookupJoin { pattern, kind, condition, .. } => {
            format!("LookupJoin {kind:?} {condition:?} {pattern:?}")
        }
        PlanOp::Path { subject, path, object, graph, .. } => {
            format!("Path {subject:?} {path:?} {object:?} {graph:?}")
        }
        PlanOp::Group { keys, aggregates, .. } => format!("Group {keys:?} {aggregates:?}"),
        other => format!("{other:?}").chars().take(9).collect(),
    };
    let _ = writeln!(out, "{:indent$}{vars:?} {what}", "");
    for child in node.children() {
        show(child, indent + 2, out);
    }
}

fn shown(node: &PlanNode) -> String {
    let mut out = String::new();
    show(node, 0, &mut out);
    out
}

/// A seed whose first batch alone fills the budget with groups, which then live on.
#[test]
fn a_batch_of_groups_over_the_budget_stays() {
    let mut generator =
        Generator { random: Random(14_294_071_181_941_044_133), rows_max: 2500, distinct: 1200 };
    let setup = Setup { batch_rows: 4096, threads: 2, budget: 20_000 };
    check(generator.plan(2), &[setup], false);
}
