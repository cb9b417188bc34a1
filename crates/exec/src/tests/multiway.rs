//! Multiway joins of random patterns in well-known shapes over random graphs, run in all ways, against nested loops.

use super::generate::{Random, node};
use super::plans::check_over;
use super::scans::{Data, data};
use super::{Setup, cases, context, plan, run, setups};
use lode_base::cancel::CancelToken;
use lode_eval::aggregate::COUNT_ROWS;
use lode_eval::error::ExecError;
use lode_packed::{Order, Position};
use lode_rdf::ValueId;
use lode_sparql::plan::TriePattern;
use lode_sparql::{Aggregate, GraphScope, PlanNode, PlanOp, ScanPattern, Slot, VarId};
use proptest::prelude::*;
use std::sync::Arc;

/// Edges between numbered variables.
type Shape = &'static [(u32, u32)];

const TRIANGLE: Shape = &[(0, 1), (1, 2), (2, 0)];
const SQUARE: Shape = &[(0, 1), (1, 2), (2, 3), (3, 0)];
const CLIQUE: Shape = &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
const BOW_TIE: Shape = &[(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)];
const DIAMOND: Shape = &[(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)];
const CHAIN: Shape = &[(0, 1), (1, 2), (3, 2)];
const PAIR: Shape = &[(0, 1), (0, 1)];
const SHAPES: &[Shape] = &[TRIANGLE, SQUARE, CLIQUE, BOW_TIE, DIAMOND, CHAIN, PAIR];

fn scope(random: &mut Random, graphs: &[ValueId]) -> GraphScope {
    match random.below(5) {
        0 | 1 => GraphScope::Default,
        2 => GraphScope::Union,
        3 => GraphScope::Merge(graphs.iter().copied().filter(|_| random.chance(60)).collect()),
        _ => {
            let among =
                random.chance(30).then(|| graphs.iter().copied().filter(|_| random.chance(80)).collect());
            GraphScope::Named { slot: Slot::Const(random.pick(graphs)), among }
        }
    }
}

/// The order that has the constants first, and then the variables in this sequence.
fn order(pattern: &ScanPattern, sequence: &[VarId]) -> Order {
    let place = |position: Position| match position {
        Position::S => pattern.subject,
        Position::P => pattern.predicate,
        _ => pattern.object,
    };
    let rank = |position: &Position| match place(*position) {
        Slot::Var(var) => 1 + sequence.iter().position(|v| *v == var).unwrap(),
        _ => 0,
    };
    let fits = |order: &&Order| order.positions()[..3].is_sorted_by_key(rank);
    *Order::ALL[..6].iter().find(fits).unwrap()
}

/// The join of patterns of a shape, by its variables in any sequence.
fn join(random: &mut Random, data: &Data, shape: Shape) -> PlanNode {
    let constants = if random.chance(30) { 12 } else { 0 };
    let graph = scope(random, &data.graphs);
    let mut slots: Vec<[Slot; 3]> = Vec::new();
    for (edge, (from, to)) in (0_u32..).zip(shape) {
        let end = |random: &mut Random, end: u32| match random.chance(constants) {
            true => Slot::Const(random.pick(&data.nodes)),
            false => Slot::Var(VarId(end)),
        };
        let predicate = match random.below(10) {
            0 => Slot::Var(VarId(20)),
            1 => Slot::Var(VarId(10 + edge)),
            _ => Slot::Const(random.pick(&data.predicates)),
        };
        let pattern = [end(random, *from), predicate, end(random, *to)];
        if pattern.iter().any(|slot| matches!(slot, Slot::Var(_))) {
            slots.push(pattern);
        }
    }
    let mut vars: Vec<VarId> = Vec::new();
    for slot in slots.iter().flatten() {
        if let Slot::Var(var) = slot
            && !vars.contains(var)
        {
            vars.insert(random.below(vars.len() + 1), *var);
        }
    }
    let mut tries = Vec::new();
    for [subject, predicate, object] in slots {
        let graph = if random.chance(80) { graph.clone() } else { scope(random, &data.graphs) };
        let mut pattern = ScanPattern { subject, predicate, object, graph, order: Order::Spog, within: None };
        pattern.order = order(&pattern, &vars);
        if random.chance(10) {
            let (a, b) = (random.pick(&data.nodes), random.pick(&data.nodes));
            pattern.within = Some(a.min(b)..a.max(b));
        }
        tries.push(TriePattern { pattern, whole: random.chance(60) });
    }
    let mut certain = vars.clone();
    certain.sort_unstable();
    let mut join = node(PlanOp::MultiwayJoin(tries), vars.clone(), certain);
    join.sorted_by = vars;
    join
}

fn some_join(seed: u64, quads_max: usize) -> (Random, Data, PlanNode) {
    let mut random = Random(seed);
    let data = data(&mut random, quads_max);
    let shape = random.pick(SHAPES);
    let root = join(&mut random, &data, shape);
    (random, data, root)
}

fn count(input: PlanNode, keys: Vec<VarId>, sorted: bool) -> PlanNode {
    let output = VarId(40);
    let aggregates = vec![Aggregate::new(output, &COUNT_ROWS, None)];
    let mut vars = keys.clone();
    vars.push(output);
    node(PlanOp::Group { input: Arc::new(input), keys, aggregates, sorted }, vars.clone(), vars)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(80), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_graphs(seed: u64) {
        let (_, data, root) = some_join(seed, 60);
        prop_assume!(!root.vars.is_empty());
        // One thread's rows come sorted.
        let (one, many): (Vec<Setup>, Vec<Setup>) = setups().into_iter().partition(|setup| setup.threads == 1);
        check_over(&data.snapshot, &data.quads, root.clone(), &one, true);
        check_over(&data.snapshot, &data.quads, root, &many, false);
    }

    /// What is above uses the order, confines the first variable, or counts.
    #[test]
    fn below_others(seed: u64) {
        let (mut random, data, root) = some_join(seed, 60);
        prop_assume!(!root.vars.is_empty());
        let first = root.vars[0];
        let root = match random.below(3) {
            0 => count(root, vec![first], true),
            1 => count(root, Vec::new(), false),
            _ => {
                let mut other = join(&mut random, &data, PAIR);
                if other.vars.first() != Some(&first) || other.vars.iter().skip(1).any(|v| root.vars.contains(v)) {
                    return Ok(());
                }
                other.sorted_by.truncate(1);
                let condition = lode_sparql::plan::JoinCondition { on: vec![first], ..Default::default() };
                let kind = lode_sparql::JoinKind::Inner;
                let (vars, certain) = super::generate::joined_vars(&root, &other, kind);
                let (left, right) = (Arc::new(root), Arc::new(other));
                node(PlanOp::MergeJoin { left, right, kind, condition }, vars, certain)
            }
        };
        check_over(&data.snapshot, &data.quads, root, &setups(), false);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(6), failure_persistence: None, ..ProptestConfig::default() })]

    /// Enough quads for several morsels.
    #[test]
    fn larger_graphs(seed: u64) {
        let mut random = Random(seed);
        let data = data(&mut random, 600);
        let root = join(&mut random, &data, TRIANGLE);
        let setup = |batch_rows, threads, budget| Setup { batch_rows, threads, budget };
        let setups = [setup(5, 2, usize::MAX), setup(20, 2, 0), setup(4096, 1, 3_000)];
        check_over(&data.snapshot, &data.quads, root, &setups, false);
    }
}

/// A graph with many triangles of its first predicate.
fn dense() -> Data {
    let triples = |data: &Data| data.snapshot.count(Order::Posg, &data.predicates[..1]).unwrap();
    let mut graphs = (0..).map(|seed| data(&mut Random(seed), 600));
    graphs.find(|data| data.nodes.len() > 5 && triples(data) > 30).unwrap()
}

/// A triangle of variables over one predicate.
fn triangle(data: &Data, whole: bool) -> PlanNode {
    let vars = vec![VarId(0), VarId(1), VarId(2)];
    let trie = |(from, to): &(u32, u32)| {
        let mut pattern = ScanPattern {
            subject: Slot::Var(VarId(*from)),
            predicate: Slot::Const(data.predicates[0]),
            object: Slot::Var(VarId(*to)),
            graph: GraphScope::Default,
            order: Order::Spog,
            within: None,
        };
        pattern.order = order(&pattern, &vars);
        TriePattern { pattern, whole }
    };
    let mut root =
        node(PlanOp::MultiwayJoin(TRIANGLE.iter().map(trie).collect()), vars.clone(), vars.clone());
    root.sorted_by = vars;
    root
}

#[test]
fn a_cancelled_join_ends() {
    let data = dense();
    for whole in [false, true] {
        for threads in [1, 2] {
            let mut cx = context(&data.snapshot, Setup { batch_rows: 1, threads, budget: usize::MAX });
            let cancel = CancelToken::default();
            Arc::get_mut(&mut cx).unwrap().cancel = cancel.clone();
            let plan = plan(triangle(&data, whole));
            let mut execution = crate::execute::execute(plan, Arc::clone(&cx)).unwrap();
            assert!(execution.next().unwrap().is_some());
            cancel.cancel();
            let ended = std::iter::from_fn(|| execution.next().transpose()).find_map(Result::err);
            assert!(matches!(ended, Some(ExecError::Cancelled(_))), "{whole} {threads} {ended:?}");
        }
    }
}

/// What is read whole is held, shared by patterns with the same rows, and given back.
#[test]
fn tries_are_counted() {
    let data = dense();
    let cx = context(&data.snapshot, Setup { batch_rows: 4096, threads: 1, budget: usize::MAX });
    for (whole, lookups) in [(true, 2), (false, 3)] {
        let plan = plan(triangle(&data, whole));
        let mut execution = crate::execute::execute(Arc::clone(&plan), Arc::clone(&cx)).unwrap();
        while execution.next().unwrap().is_some() {}
        let profile = execution.probe().profile();
        let work = profile.node(0).unwrap().work;
        assert_eq!(work.bytes_max > 0, whole);
        if whole {
            assert_eq!(work.lookups, lookups, "two orders of three patterns");
            let rows = data.snapshot.count(Order::Psog, &data.predicates[..1]).unwrap();
            assert_eq!(work.sequential_rows, 2 * rows);
        } else {
            assert!(work.lookups >= lookups && work.sequential_rows > 0);
        }
        drop(execution);
        assert_eq!(run(&plan, &cx).unwrap().len() as u64, work.rows);
    }
    assert_eq!(cx.budget.used(), 0);
}
