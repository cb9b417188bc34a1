//! What threads give each other: the queue by itself, and plans whose work lies in few rows of a scan.

use crate::morsel::{Assignment, Divisible, Morsel, Queue, Split};
use crate::tests::generate::node;
use crate::tests::{Setup, cases, context, plan, run};
use lode_base::mem_vfs::MemVfs;
use lode_eval::aggregate::COUNT_ROWS;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use lode_sparql::plan::JoinCondition;
use lode_sparql::{Aggregate, GraphScope, JoinKind, PlanNode, PlanOp, ScanPattern, Slot, VarId};
use lode_store::{LoadOptions, Snapshot, Source, Store, load};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;

const SCAN: u32 = 7;
const S: VarId = VarId(0);
const A: VarId = VarId(1);
const B: VarId = VarId(2);
const COUNT: VarId = VarId(3);

fn queue() -> Arc<Queue> {
    let divisible = Divisible { scan: SCAN, rows_min: 10, read_rows_max: 64 };
    Arc::new(Queue::new(Split { morsels: vec![Morsel::default()], divisible: Some(divisible) }))
}

/// A thread that waits may have left meanwhile: where others are behind, it helps them.
fn until(ready: impl Fn() -> bool) {
    while !ready() {
        thread::yield_now();
    }
}

#[test]
fn a_thread_without_work_gets_what_another_gives() {
    let queue = queue();
    let (_, running) = queue.take().unwrap();
    assert!(!queue.wants(1000), "nobody waits");
    let idle = thread::spawn({
        let queue = Arc::clone(&queue);
        move || loop {
            if let Some((morsel, _)) = queue.take() {
                return morsel.range(SCAN).cloned();
            }
        }
    });
    until(|| queue.wants(1000));
    assert!(!queue.wants(9), "too few rows to be worth it");
    let range = ValueId::from_bits(20)..ValueId::from_bits(30);
    queue.give(range.clone());
    assert!(!queue.wants(1000), "one waited, one was given");
    assert_eq!(idle.join().unwrap(), Some(range));
    drop(running);
    assert!(queue.take().is_none());
}

#[test]
fn nobody_waits_for_threads_that_have_ended() {
    let queue = queue();
    let (_, running) = queue.take().unwrap();
    let idle = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.take().is_none()
    });
    until(|| queue.wants(1000) || idle.is_finished());
    drop(running);
    assert!(idle.join().unwrap());
}

#[test]
fn who_waits_is_told_of_the_end() {
    let queue = queue();
    let (_, running) = queue.take().unwrap();
    let idle = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.take().is_none()
    });
    until(|| queue.wants(1000) || idle.is_finished());
    queue.close();
    assert!(idle.join().unwrap());
    drop(running);
}

/// 2,000 subjects with one `a`, the last 20 of them with 300 `b` each.
fn skewed() -> Snapshot {
    let store = Store::create_or_open(Arc::new(MemVfs::new()), Path::new("/db"), 1 << 20).unwrap();
    let mut text = String::new();
    for subject in 0..2000 {
        writeln!(text, "<http://s/{subject:04}> <http://a> <http://o> .").unwrap();
        for object in 0..if subject < 1980 { 0 } else { 300 } {
            writeln!(text, "<http://s/{subject:04}> <http://b> <http://o/{object}> .").unwrap();
        }
    }
    let options = LoadOptions { threads: 1, memory_bytes: 1 << 28, ..LoadOptions::default() };
    load(&store, vec![Source::bytes("data.nt", text)], options, &Arc::default()).unwrap();
    store.snapshot()
}

fn pattern(snapshot: &Snapshot, predicate: &str, object: VarId) -> ScanPattern {
    let predicate = Term::NamedNode(NamedNode::new_unchecked(predicate));
    ScanPattern {
        subject: Slot::Var(S),
        predicate: Slot::Const(snapshot.id_of(&predicate).unwrap().unwrap()),
        object: Slot::Var(object),
        graph: GraphScope::Default,
        order: Order::Psog,
        within: None,
    }
}

/// `SELECT ?s (COUNT(*) AS ?count) { ?s <http://a> ?a ; <http://b> ?b } GROUP BY ?s`, in two ways.
fn counts(snapshot: &Snapshot, sorted: bool) -> PlanNode {
    let vars = vec![S, A];
    let mut scan = node(PlanOp::IndexScan(pattern(snapshot, "http://a", A)), vars.clone(), vars);
    scan.sorted_by = vec![S];
    let condition = JoinCondition { on: vec![S], maybe: Vec::new(), filter: None };
    let pattern = pattern(snapshot, "http://b", B);
    let join = PlanOp::LookupJoin { input: Arc::new(scan), pattern, kind: JoinKind::Inner, condition };
    let mut join = node(join, vec![S, A, B], vec![S, A, B]);
    join.sorted_by = vec![S];
    let count = Aggregate::new(COUNT, &COUNT_ROWS, None);
    let group = PlanOp::Group { input: Arc::new(join), keys: vec![S], aggregates: vec![count], sorted };
    node(group, vec![S, COUNT], vec![S, COUNT])
}

#[test]
fn rows_that_are_given_away_come_once() {
    let snapshot = skewed();
    for sorted in [false, true] {
        // The outer group reads what several threads make of the inner one.
        let inner = counts(&snapshot, sorted);
        let outer =
            PlanOp::Group { input: Arc::new(inner), keys: vec![COUNT], aggregates: vec![], sorted: false };
        let plans = [plan(counts(&snapshot, sorted)), plan(node(outer, vec![COUNT], vec![COUNT]))];
        for (plan, expected) in plans.iter().zip([20, 1]) {
            for _ in 0..cases(20) {
                let setup = Setup { batch_rows: 4, threads: 3, budget: usize::MAX };
                let rows = run(plan, &context(&snapshot, setup)).unwrap();
                assert_eq!(rows.len(), expected);
                let counts = rows.iter().filter_map(|row| row.last());
                assert!(counts.eq(vec![&lode_rdf::inline::from_i64(300).unwrap(); expected]));
            }
        }
    }
}

#[test]
fn a_triple_in_many_graphs_is_one_row_however_many_threads_look() {
    let store = Store::create_or_open(Arc::new(MemVfs::new()), Path::new("/db"), 1 << 20).unwrap();
    let mut text = String::new();
    for graph in 0..100 {
        writeln!(text, "<http://s> <http://p> <http://o> <http://g/{graph}> .").unwrap();
    }
    let options = LoadOptions { threads: 1, memory_bytes: 1 << 28, ..LoadOptions::default() };
    load(&store, vec![Source::bytes("data.nq", text)], options, &Arc::default()).unwrap();
    let snapshot = store.snapshot();
    let constant = |iri: &str| {
        Slot::Const(snapshot.id_of(&Term::NamedNode(NamedNode::new_unchecked(iri))).unwrap().unwrap())
    };
    let triple = |graph: GraphScope| ScanPattern {
        subject: constant("http://s"),
        predicate: constant("http://p"),
        object: constant("http://o"),
        graph,
        order: Order::Spog,
        within: None,
    };
    let named = GraphScope::Named { slot: Slot::Var(A), among: None };
    for (graph, vars, rows) in [(GraphScope::Union, vec![], 1), (named, vec![A], 100)] {
        let scan = node(PlanOp::IndexScan(triple(graph)), vars.clone(), vars.clone());
        let count = Aggregate::new(COUNT, &COUNT_ROWS, None);
        let group =
            PlanOp::Group { input: Arc::new(scan), keys: vec![], aggregates: vec![count], sorted: false };
        let plan = plan(node(group, vec![COUNT], vec![COUNT]));
        let setup = Setup { batch_rows: 1, threads: 3, budget: usize::MAX };
        let counts = run(&plan, &context(&snapshot, setup)).unwrap();
        assert_eq!(counts, [[lode_rdf::inline::from_i64(rows).unwrap()]]);
    }
}

/// A scan below so many look-ups and values, one on top of the other.
fn chain(operators: u32) -> PlanNode {
    let pattern = |subject, object, order| ScanPattern {
        subject: Slot::Var(subject),
        predicate: Slot::Any,
        object: Slot::Var(object),
        graph: GraphScope::Default,
        order,
        within: None,
    };
    let mut root = node(PlanOp::IndexScan(pattern(S, A, Order::Spog)), vec![S, A], vec![S, A]);
    for number in 0..operators {
        let (var, mut vars, certain) = (VarId(10 + number), root.vars.clone(), root.certain.clone());
        vars.push(var);
        root = if number % 2 == 0 {
            let op = PlanOp::Extend { input: Arc::new(root), var, expr: lode_sparql::Expr::Var(A) };
            node(op, vars, certain)
        } else {
            let condition = JoinCondition { on: vec![S], ..JoinCondition::default() };
            let (input, pattern) = (Arc::new(root), pattern(S, var, Order::Spog));
            node(PlanOp::LookupJoin { input, pattern, kind: JoinKind::Inner, condition }, vars, certain)
        };
    }
    root
}

/// Steps that cutting and building took.
fn steps(operators: u32) -> usize {
    let setup = Setup { batch_rows: 4096, threads: 2, budget: usize::MAX };
    let cx = context(&crate::tests::empty_snapshot(), setup);
    let before = super::split::steps();
    let execution = crate::execute::execute(plan(chain(operators)), cx).unwrap();
    drop(execution);
    super::split::steps() - before
}

#[test]
fn cutting_takes_as_many_steps_as_there_are_operators() {
    let (few, many) = (steps(100), steps(1_600));
    assert!((1..=400).contains(&few), "{few}");
    assert!(many <= 16 * few + 100, "{few} and {many}");
}

#[test]
fn cutting_hears_of_the_end() {
    let setup = Setup { batch_rows: 4096, threads: 2, budget: usize::MAX };
    let cx = context(&crate::tests::empty_snapshot(), setup);
    cx.cancel.cancel();
    let root = chain(100);
    let shared = crate::shared::Shared::new(
        plan(root.clone()),
        &cx,
        crate::profile::Counters::new(&plan(root), &cx.share),
        crate::build::FACTORY,
    )
    .unwrap();
    assert!(super::split::split_plan(&shared, &shared.plan.root, 0.0).is_err());
    assert!(shared.build(Assignment::default(), &shared.plan.root, true).is_err());
}
