//! Cases worth their own test.

use super::generate::node;
use super::{Setup, context, empty_snapshot, plan, run};
use crate::profile::{Counters, Probe};
use lode_base::block_work::add_decoded;
use lode_base::gallop::gallop;
use lode_eval::aggregate::COUNT_ROWS;
use lode_eval::batch::{Batch, Mapping};
use lode_eval::error::ExecError;
use lode_eval::merge_sort::{sort_by_number, sort_in_steps, try_merge_sort};
use lode_rdf::{Literal, Term, ValueId};
use lode_scheduler::turns::Share;
use lode_scheduler::waiting;
use lode_sparql::plan::{JoinCondition, SortKey};
use lode_sparql::{Aggregate, Expr, JoinKind, PlanNode, PlanOp, VarId};
use proptest::prelude::*;
use std::sync::Arc;

fn integers(var: u32, range: std::ops::Range<i64>) -> PlanNode {
    let rows = range.map(|n| vec![Some(Term::Literal(Literal::from(n)))]).collect();
    node(PlanOp::Values(rows), vec![VarId(var)], vec![VarId(var)])
}

const PLAIN: Setup = Setup { batch_rows: 4096, threads: 1, budget: usize::MAX };

#[test]
fn columns_are_mapped() {
    let mut input = Batch::new([VarId(1), VarId(2)].into());
    input.columns = vec![vec![ValueId::from_bits(10)], vec![ValueId::from_bits(20)]];
    input.rows = 1;
    let to: Arc<[VarId]> = [VarId(2), VarId(3), VarId(2)].into();
    let mut out = Batch::default();
    Mapping::new(&input.vars.clone(), &to).apply(&mut input, &mut out);
    let twenty = vec![ValueId::from_bits(20)];
    assert_eq!(out.columns, [twenty.clone(), vec![ValueId::UNDEF], twenty]);
    assert_eq!((out.rows, input.rows), (1, 0));
}

#[test]
fn a_cancelled_query_stops() {
    let (left, right) = (integers(0, 0..3000), integers(1, 0..3000));
    let (left, right) = (Arc::new(left), Arc::new(right));
    let condition = JoinCondition::default();
    let vars = vec![VarId(0), VarId(1)];
    let join = node(PlanOp::HashJoin { left, right, kind: JoinKind::Inner, condition }, vars, vec![]);
    let count = Aggregate::new(VarId(2), &COUNT_ROWS, None);
    let group = PlanOp::Group { input: Arc::new(join), keys: vec![], aggregates: vec![count], sorted: false };
    let plan = plan(node(group, vec![VarId(2)], vec![VarId(2)]));
    let cx = context(&empty_snapshot(), PLAIN);
    let mut execution = crate::execute(Arc::clone(&plan), Arc::clone(&cx)).unwrap();
    cx.cancel.cancel();
    assert!(matches!(execution.next(), Err(ExecError::Cancelled(_))));
    let cx = context(&empty_snapshot(), PLAIN);
    let rows = run(&plan, &cx).unwrap();
    assert_eq!(rows, [[cx.intern(&Term::Literal(Literal::from(9_000_000))).unwrap()]]);
}

#[test]
fn texts_are_sorted_where_there_is_no_room_for_their_keys() {
    let text = |n: u64| format!("{:020}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 8191);
    let row = |n: u64| {
        vec![
            Some(Term::Literal(Literal::new_simple_literal(text(n)))),
            Some(Term::Literal(Literal::from(n as i64))),
        ]
    };
    let vars = vec![VarId(0), VarId(1)];
    let input = Arc::new(node(PlanOp::Values((0..20_000).map(row).collect()), vars.clone(), vars.clone()));
    let mut expected: Vec<u64> = (0..20_000).collect();
    expected.sort_by_key(|n| text(*n));
    for (budget, limit) in [(250_000, None), (250_000, Some(50)), (250_000, Some(6000)), (1 << 30, None)] {
        let keys = vec![SortKey { expr: Expr::Var(VarId(0)), descending: false }];
        let sort = node(PlanOp::Sort { input: Arc::clone(&input), keys, limit }, vars.clone(), vars.clone());
        let cx = context(&empty_snapshot(), Setup { batch_rows: 4096, threads: 1, budget });
        let rows = run(&plan(sort), &cx).unwrap();
        let numbers: Vec<_> = rows.iter().map(|row| cx.term(row[1]).unwrap()).collect();
        let expected = expected.iter().take(limit.unwrap_or(usize::MAX));
        assert!(numbers == expected.map(|n| Term::from(Literal::from(*n as i64))).collect::<Vec<_>>());
        assert!(cx.budget.peak() <= budget);
    }
}

#[test]
fn temporary_files_have_no_names() {
    let folder = tempfile::tempdir().unwrap();
    let input = integers(0, 0..5000);
    let distinct = node(PlanOp::Distinct(Arc::new(input)), vec![VarId(0)], vec![VarId(0)]);
    let plan = plan(distinct);
    let mut cx = (*context(&empty_snapshot(), Setup { budget: 1000, batch_rows: 500, threads: 1 })).clone();
    cx.spill_dir = folder.path().to_owned();
    let mut execution = crate::execute(plan, Arc::new(cx)).unwrap();
    let mut rows = 0;
    while let Some(batch) = execution.next().unwrap() {
        rows += batch.rows;
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            0,
            "they go with the process, however it ends"
        );
    }
    assert_eq!(rows, 5000);
    assert!(execution.probe().profile().nodes[0].work.spilled_bytes > 0);
}

#[test]
fn every_step_is_charged_to_one_node() {
    let below = Arc::new(integers(0, 0..1));
    let plan = plan(node(PlanOp::Project(below), vec![VarId(0)], vec![VarId(0)]));
    let counters = Arc::new(Counters::new(&plan, &Share::default()));
    let (outer, inner) = (counters.of(0), counters.of(1));
    outer.measure(|| {
        add_decoded(1);
        inner.measure(|| add_decoded(10));
        // Nobody's: other threads are at work.
        waiting(|| add_decoded(100));
        inner.measure(|| outer.measure(|| add_decoded(1000)));
        // A plan within this step.
        Counters::within(&plan, None, &Share::aside()).of(0).measure(|| add_decoded(10_000));
        Counters::within(&plan, Some(&inner), &Share::aside()).of(1).measure(|| add_decoded(100_000));
    });
    let profile = Probe::new(&plan, &counters).profile();
    let decoded: Vec<u64> = profile.nodes.iter().map(|node| node.work.blocks.decoded).collect();
    assert_eq!(decoded, [11_001, 100_010]);
    assert_eq!(profile.total().blocks.decoded, 111_011);
    assert!(profile.nodes[0].total_ns >= profile.nodes[1].total_ns);
}

#[test]
fn threads_at_work_are_counted_once() {
    let plan = plan(integers(0, 0..1));
    let counters = Arc::new(Counters::new(&plan, &Share::default()));
    let threads = || Probe::new(&plan, &counters).profile().threads;
    let one = counters.work();
    assert!(one.is_some() && counters.work().is_none());
    std::thread::scope(|scope| {
        let two = scope.spawn(|| {
            let _at_work = counters.work();
            threads()
        });
        assert_eq!(two.join().unwrap(), 2);
    });
    drop(one);
    assert_eq!(threads(), 0);
}

proptest! {
    #[test]
    fn merge_sort_is_stable(keys in prop::collection::vec(0_u8..6, 0..200)) {
        let mut values: Vec<(u8, usize)> = keys.iter().copied().zip(0..).collect();
        let mut expected = values.clone();
        expected.sort_by_key(|(key, _)| *key);
        let mut in_steps = values.clone();
        try_merge_sort(&mut values, |a, b| Ok::<_, ()>(a.0.cmp(&b.0))).unwrap();
        prop_assert_eq!(values, &expected[..]);
        sort_in_steps(&mut in_steps, |a, b| a.0.cmp(&b.0), || Ok::<_, ()>(())).unwrap();
        prop_assert_eq!(in_steps, expected);
    }

    #[test]
    fn a_sort_stops_when_asked_to(n in 100_usize..400, stop in 0_usize..4) {
        let asked = std::cell::Cell::new(0);
        let check = || {
            asked.set(asked.get() + 1);
            if asked.get() > stop { Err(()) } else { Ok(()) }
        };
        let mut values: Vec<usize> = (0..n).rev().collect();
        prop_assert!(sort_in_steps(&mut values, usize::cmp, check).is_err());
        prop_assert_eq!(asked.get(), stop + 1);
    }

    #[test]
    fn numbers_are_sorted_in_steps(values in prop::collection::vec(any::<u64>(), 0..600), mask in any::<u64>(), stop in 0_usize..40) {
        // Of some masks nearly all numbers are the same, of others only their last bits differ.
        let mut values: Vec<u64> = values.into_iter().map(|value| value & mask).collect();
        let mut expected = values.clone();
        expected.sort_unstable();
        let asked = std::cell::Cell::new(0);
        let check = || {
            asked.set(asked.get() + 1);
            if asked.get() > stop { Err(()) } else { Ok(()) }
        };
        let mut stopped = values.clone();
        let result = sort_by_number(&mut stopped, |value| *value, &check);
        prop_assert!(asked.get() <= stop + 1 && result.is_ok() == (asked.get() <= stop));
        stopped.sort_unstable();
        prop_assert_eq!(&stopped, &expected);
        sort_by_number(&mut values, |value| *value, &|| Ok::<_, ()>(())).unwrap();
        prop_assert_eq!(values, expected);
    }

    #[test]
    fn merge_sort_survives_any_comparison(answers in prop::collection::vec(0_u8..4, 1..50), n in 0_usize..100) {
        let mut answers = answers.into_iter().cycle();
        let mut values: Vec<usize> = (0..n).collect();
        let result = try_merge_sort(&mut values, |_, _| match answers.next() {
            Some(0) => Ok(std::cmp::Ordering::Less),
            Some(1) => Ok(std::cmp::Ordering::Greater),
            Some(2) => Ok(std::cmp::Ordering::Equal),
            _ => Err(()),
        });
        if result.is_ok() {
            values.sort_unstable();
            prop_assert_eq!(values, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn galloping_finds_the_bound(len in 0_usize..300, bound in 0_usize..300, start in 0_usize..300) {
        let (start, bound) = (start.min(len), bound.min(len));
        prop_assert_eq!(gallop(start, len, |i| i < bound), bound.max(start));
    }
}
