//! Common sub-plans: several readers with names and columns of their own, of rows from one thread or many, in memory or on disk.

use super::generate::{Generator, Random, joined_vars, node};
use super::plans::{check, sort_values};
use super::scans;
use super::{Setup, cases, context, empty_snapshot, plan, setups};
use lode_eval::aggregate::COUNT_ROWS;
use lode_rdf::Literal;
use lode_sparql::plan::JoinCondition;
use lode_sparql::{Aggregate, Expr, JoinKind, PlanNode, PlanOp, VarId};
use proptest::prelude::*;
use std::sync::Arc;

/// A reader of columns of `rows`: pairs of a column there, and its name here.
fn reader(number: u32, rows: &PlanNode, columns: &[(VarId, VarId)]) -> PlanNode {
    let here = |there: &VarId| columns.iter().find(|(t, _)| t == there).map(|(_, here)| *here);
    let mut certain: Vec<VarId> = rows.certain.iter().filter_map(here).collect();
    certain.sort_unstable();
    let (there, vars): (Vec<VarId>, Vec<VarId>) = columns.iter().copied().unzip();
    let op = PlanOp::Spool { number, columns: there, input: None };
    let sorted_by = rows.sorted_by.iter().map_while(here).collect();
    PlanNode { sorted_by, rows: 1000.0, ..node(op, vars, certain) }
}

/// A reader of some columns by any names.
fn random_reader(generator: &mut Generator, number: u32, rows: &PlanNode) -> PlanNode {
    let mut free: Vec<VarId> = (0..5).map(VarId).collect();
    let mut columns = Vec::new();
    for there in &rows.vars {
        if generator.random.chance(75) && !free.is_empty() {
            let at = generator.random.below(free.len());
            columns.push((*there, free.swap_remove(at)));
        }
    }
    reader(number, rows, &columns)
}

/// Gives the first reader of each number its rows.
fn place(node: &mut PlanNode, spools: &mut Vec<Option<PlanNode>>) {
    if let PlanOp::Spool { number, input, .. } = &mut node.op
        && let Some(rows) = spools.get_mut(*number as usize).and_then(Option::take)
    {
        *input = Some(Arc::new(rows));
    }
    for child in node.children_mut() {
        place(child, spools);
    }
}

fn hash_join(generator: &mut Generator, left: PlanNode, right: PlanNode) -> PlanNode {
    let kinds = [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti, JoinKind::Minus];
    let kind = generator.random.pick(&kinds);
    let condition = generator.condition(&left, &right, false);
    let (vars, certain) = joined_vars(&left, &right, kind);
    let (left, right) = (Arc::new(left), Arc::new(right));
    node(PlanOp::HashJoin { left, right, kind, condition }, vars, certain)
}

fn combined(generator: &mut Generator, left: PlanNode, right: PlanNode) -> PlanNode {
    let mut vars = left.vars.clone();
    vars.extend(right.vars.iter().filter(|var| !left.vars.contains(var)));
    let certain = left.certain.iter().copied().filter(|var| right.certain.contains(var)).collect();
    match generator.random.below(4) {
        0 => node(PlanOp::Union(vec![left, right]), vars, certain),
        1 => {
            let (distinct, certain) = (right.vars.clone(), right.certain.clone());
            let right = node(PlanOp::Distinct(Arc::new(right)), distinct, certain);
            hash_join(generator, left, right)
        }
        2 => {
            let keys: Vec<VarId> =
                right.vars.iter().copied().filter(|_| generator.random.chance(60)).collect();
            let certain = right.certain.iter().copied().filter(|var| keys.contains(var)).collect();
            let op = PlanOp::Group {
                input: Arc::new(right),
                keys: keys.clone(),
                aggregates: vec![],
                sorted: false,
            };
            let right = node(op, keys, certain);
            hash_join(generator, left, right)
        }
        _ => hash_join(generator, left, right),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_readers(seed: u64) {
        let mut generator = Generator { random: Random(seed), rows_max: 9, distinct: 4 };
        let depth = generator.random.below(3);
        let first = generator.plan(depth);
        // The second sub-plan reads the first, and so does the rest of the plan.
        let mut second = random_reader(&mut generator, 0, &first);
        if generator.random.chance(60) {
            let other = generator.plan(1);
            second = combined(&mut generator, second, other);
        }
        let mut root = random_reader(&mut generator, 1, &second);
        for _ in 0..1 + generator.random.below(2) {
            let right = match generator.random.below(2) {
                0 => random_reader(&mut generator, 1, &second),
                _ => random_reader(&mut generator, 0, &first),
            };
            root = combined(&mut generator, root, right);
        }
        place(&mut root, &mut vec![Some(first), Some(second)]);
        check(root, &setups(), false);
    }

    #[test]
    fn order_is_that_of_the_sub_plan(seed: u64) {
        let mut generator = Generator { random: Random(seed), rows_max: 30, distinct: 5 };
        let mut rows = generator.values();
        sort_values(&mut rows);
        let columns: Vec<_> = rows.vars.iter().map(|var| (*var, VarId(var.0 + 10))).collect();
        let input = reader(0, &rows, &columns);
        let (keys, certain) = (input.vars.clone(), input.certain.clone());
        let mut vars = keys.clone();
        vars.push(VarId(20));
        // It only works where equal rows are neighbours.
        let op = PlanOp::Group { input: Arc::new(input), keys, aggregates: vec![count(VarId(20))], sorted: true };
        let mut root = node(op, vars, certain);
        place(&mut root, &mut vec![Some(rows)]);
        check(root, &setups(), false);
    }

    #[test]
    fn merge_joins_of_readers(seed: u64) {
        let mut generator = scans::Generator::new(seed, 120);
        let rows = if generator.random.chance(50) {
            generator.merge()
        } else {
            generator.sorted_rows(VarId(0), 10)
        };
        let key = VarId(0);
        if rows.vars.contains(&key) && rows.sorted_by.first() == Some(&key) {
            let named = |first: u32| -> Vec<(VarId, VarId)> {
                rows.vars.iter().map(|v| (*v, if *v == key { key } else { VarId(v.0 + first) })).collect()
            };
            let (left, other) = (reader(0, &rows, &named(30)), reader(0, &rows, &named(70)));
            let right = match generator.random.below(3) {
                0 => generator.sorted_rows(key, 110),
                1 => counted(other, key),
                _ => other,
            };
            if right.vars.contains(&key) {
                let kinds = [JoinKind::Inner, JoinKind::Left, JoinKind::Semi, JoinKind::Anti];
                let kind = generator.random.pick(&kinds);
                let (left, right) = if generator.random.chance(50) { (left, right) } else { (right, left) };
                let mut root = merge_join(left, right, key, kind);
                if generator.random.chance(30) {
                    root = counted(root, key);
                }
                place(&mut root, &mut vec![Some(rows)]);
                generator.check(root, &setups());
            }
        }
    }
}

fn merge_join(left: PlanNode, right: PlanNode, key: VarId, kind: JoinKind) -> PlanNode {
    let (vars, certain) = joined_vars(&left, &right, kind);
    let condition = JoinCondition { on: vec![key], ..JoinCondition::default() };
    let (left, right) = (Arc::new(left), Arc::new(right));
    let join = node(PlanOp::MergeJoin { left, right, kind, condition }, vars, certain);
    PlanNode { sorted_by: vec![key], ..join }
}

/// How many rows each value of `key` has, streaming.
fn counted(input: PlanNode, key: VarId) -> PlanNode {
    let vars = vec![key, VarId(9)];
    let aggregates = vec![count(VarId(9))];
    let op = PlanOp::Group { input: Arc::new(input), keys: vec![key], aggregates, sorted: true };
    PlanNode { sorted_by: vec![key], ..node(op, vars.clone(), vars) }
}

fn count(output: VarId) -> Aggregate {
    Aggregate::new(output, &COUNT_ROWS, None)
}

/// Two readers of one sub-plan of many rows, the second with a condition.
fn twice(rows: usize) -> PlanNode {
    let value = |n: usize| vec![Some(Literal::from(n as i64).into()), Some(Literal::from(7).into())];
    let values = node(
        PlanOp::Values((0..rows).map(value).collect()),
        vec![VarId(0), VarId(1)],
        vec![VarId(0), VarId(1)],
    );
    let left = reader(0, &values, &[(VarId(0), VarId(2))]);
    let right = reader(0, &values, &[(VarId(0), VarId(2)), (VarId(1), VarId(3))]);
    let five = Expr::Less(Box::new(Expr::Var(VarId(2))), Box::new(Expr::Const(Literal::from(5).into())));
    let (vars, certain) = (right.vars.clone(), right.certain.clone());
    let right = node(PlanOp::Filter { input: Arc::new(right), exprs: vec![five] }, vars, certain);
    let condition = JoinCondition { on: vec![VarId(2)], ..JoinCondition::default() };
    let (vars, certain) = joined_vars(&left, &right, JoinKind::Inner);
    let (left, right) = (Arc::new(left), Arc::new(right));
    let mut root = node(PlanOp::HashJoin { left, right, kind: JoinKind::Inner, condition }, vars, certain);
    place(&mut root, &mut vec![Some(values)]);
    root
}

#[test]
fn rows_are_made_once_and_counted_once() {
    let plan = plan(twice(10_000));
    for budget in [usize::MAX, 100_000] {
        let cx = context(&empty_snapshot(), Setup { batch_rows: 1000, threads: 2, budget });
        let mut execution = crate::execute(Arc::clone(&plan), cx).unwrap();
        let mut rows = 0;
        while let Some(batch) = execution.next().unwrap() {
            rows += batch.rows;
        }
        assert_eq!(rows, 5);
        let profile = execution.probe().profile();
        let of = |name: &str| profile.nodes.iter().filter(|node| node.name == name).collect::<Vec<_>>();
        assert_eq!(of("Values").iter().map(|node| node.work.rows).sum::<u64>(), 10_000);
        assert_eq!(of("Spool").iter().map(|node| node.work.rows).collect::<Vec<_>>(), [10_000, 10_000]);
        let spilled: u64 = of("Spool").iter().map(|node| node.work.spilled_bytes).sum();
        assert_eq!(spilled, if budget == usize::MAX { 0 } else { 160_000 });
    }
}
