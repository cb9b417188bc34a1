//! Run-time filters: what a scan leaves out is what nobody asks for.

use super::generate::node;
use super::{Setup, context, plan, run};
use crate::execute::execute;
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, inline};
use lode_sparql::plan::JoinCondition;
use lode_sparql::{GraphScope, JoinKind, Plan, PlanNode, PlanOp, ScanPattern, Slot, VarId};
use lode_store::{LoadOptions, Snapshot, Source, Store, load};
use std::sync::Arc;

const KEY: VarId = VarId(0);
const VALUE: VarId = VarId(1);

/// Many subjects with two properties.
fn many_subjects() -> Snapshot {
    let folder = std::path::Path::new("/db");
    let store = Store::create_or_open(Arc::new(MemVfs::new()), folder, 1 << 20).unwrap();
    let line =
        |n: usize| format!("<http://n/{n:05}> <http://p/a> {n} . <http://n/{n:05}> <http://p/b> -{n} .\n");
    let text: String = (1..20_000).map(line).collect();
    let options = LoadOptions { threads: 1, memory_bytes: 1 << 28, ..LoadOptions::default() };
    load(&store, vec![Source::bytes("all.ttl", text)], options, &Arc::default()).unwrap();
    store.snapshot()
}

fn scan(snapshot: &Snapshot, predicate: &str, order: Order) -> PlanNode {
    let predicate = Term::from(NamedNode::new_unchecked(predicate));
    let pattern = ScanPattern {
        order,
        subject: Slot::Var(KEY),
        predicate: Slot::Const(snapshot.id_of(&predicate).unwrap().unwrap()),
        object: Slot::Var(VALUE),
        graph: GraphScope::Default,
        within: None,
    };
    let sorted_by = if order == Order::Psog { vec![KEY, VALUE] } else { vec![VALUE, KEY] };
    PlanNode { sorted_by, ..node(PlanOp::IndexScan(pattern), vec![KEY, VALUE], vec![KEY, VALUE]) }
}

/// The rows of both properties, joined with some subjects.
fn joined(snapshot: &Snapshot, subjects: &[usize], order: Order) -> PlanNode {
    let inputs = ["http://p/a", "http://p/b"].map(|predicate| scan(snapshot, predicate, order));
    let left = node(PlanOp::Union(inputs.into()), vec![KEY, VALUE], vec![KEY, VALUE]);
    let row = |n: &usize| vec![Some(NamedNode::new_unchecked(format!("http://n/{n:05}")).into())];
    let right = node(PlanOp::Values(subjects.iter().map(row).collect()), vec![KEY], vec![KEY]);
    let condition = JoinCondition { on: vec![KEY], maybe: vec![], filter: None };
    let (left, right) = (Arc::new(left), Arc::new(right));
    node(
        PlanOp::HashJoin { left, right, kind: JoinKind::Inner, condition },
        vec![KEY, VALUE],
        vec![KEY, VALUE],
    )
}

/// The values of [`joined`]'s answer, and how many rows the scans read and delivered for it.
fn answer(snapshot: &Snapshot, plan: &Arc<Plan>, threads: usize) -> (Vec<i64>, u64, u64) {
    let cx = context(snapshot, Setup { batch_rows: 4096, threads, budget: usize::MAX });
    let rows = run(plan, &cx).unwrap();
    let mut values: Vec<i64> = rows.iter().map(|row| inline::as_i64(row[1]).unwrap()).collect();
    values.sort_unstable();
    let mut execution = execute(Arc::clone(plan), cx).unwrap();
    while execution.next().unwrap().is_some() {}
    let profile = execution.probe().profile();
    let nodes = (0..plan.node_count).filter_map(|id| profile.node(id));
    let (read, delivered) = nodes
        .map(|node| (node.work.sequential_rows, node.work.rows))
        .fold((0, 0), |(read, delivered), (rows, out)| {
            (read + rows, if rows > 0 { delivered + out } else { delivered })
        });
    (values, read, delivered)
}

fn both_signs(subjects: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut values: Vec<i64> = subjects.flat_map(|n| [n, -n]).collect();
    values.sort_unstable();
    values
}

#[test]
fn a_scan_goes_from_key_to_key() {
    let snapshot = many_subjects();
    let plan = plan(joined(&snapshot, &[17_000, 3, 3, 20_500, 9_999], Order::Psog));
    for threads in [1, 2] {
        let (values, read, _) = answer(&snapshot, &plan, threads);
        assert_eq!(values, both_signs([3, 3, 9_999, 17_000].into_iter()));
        assert!(read < 4_000, "{read} of 40,000 rows were read");
    }
}

#[test]
fn a_scan_reads_from_the_least_of_many_keys_to_the_greatest() {
    let snapshot = many_subjects();
    let subjects: Vec<usize> = (5_000..15_000).filter(|n| n % 2 == 0).collect();
    let plan = plan(joined(&snapshot, &subjects, Order::Psog));
    for threads in [1, 2] {
        let (values, read, delivered) = answer(&snapshot, &plan, threads);
        assert_eq!(values, both_signs((5_000..15_000).filter(|n| n % 2 == 0)));
        assert_eq!(read, 2 * 9_999);
        assert_eq!(delivered, 10_000);
    }
}

#[test]
fn a_scan_in_another_order_drops_what_is_of_no_use() {
    let snapshot = many_subjects();
    for subjects in [(0..100).collect::<Vec<usize>>(), (1_000..7_000).collect()] {
        let plan = plan(joined(&snapshot, &subjects, Order::Posg));
        for threads in [1, 2] {
            let (values, read, delivered) = answer(&snapshot, &plan, threads);
            let expected = both_signs(subjects.iter().filter(|n| **n > 0).map(|n| *n as i64));
            assert_eq!(values, expected);
            assert_eq!(read, 2 * 19_999);
            // Subject 0 is far from the others, so its keys are in a Bloom filter.
            assert!(delivered as usize <= expected.len() + 40_000 / 50, "{delivered} rows were delivered");
        }
    }
}
