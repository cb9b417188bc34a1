//! Run-time filters: what a scan leaves out is what nobody asks for.

use super::generate::node;
use super::{Setup, context, plan, run};
use crate::execution::execute;
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use lode_sparql::plan::JoinCondition;
use lode_sparql::{GraphScope, JoinKind, PlanNode, PlanOp, ScanPattern, Slot, VarId};
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

fn scan(snapshot: &Snapshot, predicate: &str) -> PlanNode {
    let predicate = Term::from(NamedNode::new_unchecked(predicate));
    let pattern = ScanPattern {
        order: Order::Psog,
        subject: Slot::Var(KEY),
        predicate: Slot::Const(snapshot.id_of(&predicate).unwrap().unwrap()),
        object: Slot::Var(VALUE),
        graph: GraphScope::Default,
        within: None,
    };
    PlanNode {
        sorted_by: vec![KEY, VALUE],
        ..node(PlanOp::IndexScan(pattern), vec![KEY, VALUE], vec![KEY, VALUE])
    }
}

/// The rows of both properties, joined with some subjects.
fn joined(snapshot: &Snapshot, subjects: &[usize]) -> PlanNode {
    let inputs = ["http://p/a", "http://p/b"].map(|predicate| scan(snapshot, predicate));
    let left = node(PlanOp::Union(inputs.into()), vec![KEY, VALUE], vec![KEY, VALUE]);
    let row = |n: &usize| vec![Some(NamedNode::new_unchecked(format!("http://n/{n:05}")).into())];
    let right = node(PlanOp::Values(subjects.iter().map(row).collect()), vec![KEY], vec![KEY]);
    let condition = JoinCondition { on: vec![KEY], maybe: vec![], filter: None };
    let (left, right) = (Box::new(left), Box::new(right));
    node(
        PlanOp::HashJoin { left, right, kind: JoinKind::Inner, condition },
        vec![KEY, VALUE],
        vec![KEY, VALUE],
    )
}

#[test]
fn a_scan_goes_from_key_to_key() {
    let snapshot = many_subjects();
    let subjects = [17_000, 3, 3, 20_500, 9_999];
    for threads in [1, 2] {
        let cx = context(&snapshot, Setup { batch_rows: 4096, threads, budget: usize::MAX });
        let plan = plan(joined(&snapshot, &subjects));
        let id = |n: i64| cx.intern(&Literal::from(n).into()).unwrap();
        let mut values: Vec<ValueId> = run(&plan, &cx).unwrap().iter().map(|row| row[1]).collect();
        values.sort_unstable();
        let mut expected: Vec<ValueId> =
            [3, 3, 9_999, 17_000].iter().flat_map(|n| [id(*n), id(-n)]).collect();
        expected.sort_unstable();
        assert_eq!(values, expected);
        let mut execution = execute(Arc::clone(&plan), cx).unwrap();
        while execution.next().unwrap().is_some() {}
        let profile = execution.probe().profile();
        let read: u64 = (0..plan.node_count)
            .filter_map(|id| profile.node(id))
            .map(|node| node.work.sequential_rows)
            .sum();
        assert!(read < 4_000, "{read} of 40,000 rows were read");
    }
}
