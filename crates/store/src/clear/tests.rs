//! Graphs cleared in transactions with other changes, of databases of all shapes, against a plain set of quads.

use super::Graphs;
use crate::compact::compact_from;
use crate::crash_tests::assert_sound;
use crate::test_data::{FOLDER, check_reads, contents, file, load_files, rows};
use crate::transaction::tests::{Model, ids, open, without_blanks};
use crate::write_options::WriteOptions;
use crate::{LoadOptions, Store};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_packed::Order;
use lode_rdf::{GraphName, NamedNode, Quad, ValueId};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Clone)]
enum Operation {
    Insert(usize),
    Delete(usize),
    /// The graph of a quad.
    ClearOne(usize),
    ClearDefault,
    ClearNamed,
    ClearAll,
    /// Back to the last savepoint, or a new one.
    Back,
    Save,
}

#[derive(Debug, Clone)]
enum Step {
    Load(Vec<usize>),
    Transaction { operations: Vec<Operation>, look: bool, commit: bool },
    Compact(usize),
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let pick = 0_usize..400;
    prop_oneof![
        8 => pick.clone().prop_map(Operation::Insert),
        5 => pick.clone().prop_map(Operation::Delete),
        3 => pick.prop_map(Operation::ClearOne),
        1 => Just(Operation::ClearDefault),
        1 => Just(Operation::ClearNamed),
        1 => Just(Operation::ClearAll),
        2 => Just(Operation::Back),
        2 => Just(Operation::Save),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let operations = prop::collection::vec(operation(), 0..12);
    prop_oneof![
        3 => prop::collection::vec(0_usize..400, 0..30).prop_map(Step::Load),
        6 => (operations, any::<bool>(), prop::bool::weighted(0.8))
            .prop_map(|(operations, look, commit)| Step::Transaction { operations, look, commit }),
        1 => any::<usize>().prop_map(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

fn options(delta_bytes_max: usize, logged_changes_max: usize) -> WriteOptions {
    let (memory_bytes, threads) = (1 << 20, 2);
    WriteOptions { delta_bytes_max, logged_changes_max, memory_bytes, threads, ..WriteOptions::default() }
}

fn clear(graphs: Graphs, is_meant: impl Fn(&GraphName) -> bool, pool: &[Quad], model: &mut Model) -> Graphs {
    for quad in pool.iter().filter(|quad| is_meant(&quad.graph_name)) {
        model.remove(&quad.to_string());
    }
    graphs
}

fn transaction(
    store: &Store,
    pool: &[Quad],
    model: &mut Model,
    operations: &[Operation],
    (look, commit): (bool, bool),
) {
    let mut transaction = store.begin(&CancelToken::default()).unwrap();
    let (before, mut after) = (model.clone(), model.clone());
    let quads = store.snapshot().quad_count();
    let mut saved = None;
    for (number, operation) in operations.iter().enumerate() {
        let graphs = match operation {
            Operation::Insert(pick) => {
                let quad = &pool[pick % pool.len()];
                let row = ids(&mut transaction, quad).unwrap();
                transaction.insert(row);
                after.insert(quad.to_string());
                None
            }
            Operation::Delete(pick) => {
                let quad = &pool[pick % pool.len()];
                let row = ids(&mut transaction, quad).unwrap();
                transaction.delete(row);
                after.remove(&quad.to_string());
                None
            }
            Operation::ClearOne(pick) => {
                let quad = &pool[pick % pool.len()];
                let id = ids(&mut transaction, quad).unwrap()[3];
                Some(clear(Graphs::One(id), |graph| *graph == quad.graph_name, pool, &mut after))
            }
            Operation::ClearDefault => {
                let graphs = Graphs::One(ValueId::DEFAULT_GRAPH);
                Some(clear(graphs, |graph| *graph == GraphName::DefaultGraph, pool, &mut after))
            }
            Operation::ClearNamed => {
                Some(clear(Graphs::Named, |graph| *graph != GraphName::DefaultGraph, pool, &mut after))
            }
            Operation::ClearAll => Some(clear(Graphs::All, |_| true, pool, &mut after)),
            Operation::Save => {
                saved = Some((transaction.savepoint().unwrap(), after.clone()));
                None
            }
            Operation::Back => {
                if let Some((savepoint, then)) = saved.take() {
                    transaction.go_back(savepoint);
                    after = then;
                }
                None
            }
        };
        if let Some(graphs) = graphs {
            transaction.clear(graphs).unwrap();
        }
        if look {
            let snapshot = transaction.snapshot().unwrap();
            assert_eq!(contents(&snapshot), after, "{operation:?}");
            check_reads(&snapshot, number);
        }
    }
    assert_eq!(contents(&store.snapshot()), before, "seen before the commit");
    if commit {
        let done = transaction.commit().unwrap();
        // What comes again after a graph was cleared may count as deleted and inserted.
        assert_eq!(quads - done.deleted + done.inserted, after.len() as u64);
        assert!(done.deleted >= before.difference(&after).count() as u64);
        *model = after;
    }
}

fn run(quads: &[Quad], steps: &[Step], options: &WriteOptions) {
    let pool: Vec<Quad> = quads.iter().map(without_blanks).collect();
    if pool.is_empty() {
        return;
    }
    let (vfs, mut model) = (MemVfs::new(), Model::new());
    let mut store = open(&vfs, options);
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Load(picks) => {
                let quads: Vec<Quad> = picks.iter().map(|pick| pool[pick % pool.len()].clone()).collect();
                model.extend(quads.iter().map(ToString::to_string));
                let options = LoadOptions { threads: 1, memory_bytes: 1 << 20, ..LoadOptions::default() };
                load_files(&store, &[(format!("{number}"), quads)], options).unwrap();
            }
            Step::Transaction { operations, look, commit } => {
                transaction(&store, &pool, &mut model, operations, (*look, *commit));
            }
            Step::Compact(from) => {
                let segments = store.version().segments.len();
                compact_from(&store, from % segments.max(1)).unwrap();
            }
            Step::Reopen => {
                drop(store);
                store = open(&vfs, options);
            }
        }
        let snapshot = store.snapshot();
        assert_eq!(contents(&snapshot), model, "after step {number}");
        check_reads(&snapshot, number);
        assert_sound(&vfs);
        assert_eq!(segment_folders(&vfs), store.version().segments.len(), "after step {number}");
        let other = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap();
        assert_eq!(contents(&other.snapshot()), model, "read by another process after step {number}");
    }
}

fn segment_folders(vfs: &MemVfs) -> usize {
    let names = vfs.list(Path::new(FOLDER)).unwrap();
    names.iter().filter(|name| name.to_string_lossy().starts_with("segment-")).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]
    #[test]
    fn graphs_are_cleared_as_in_a_set(
        quads in file(),
        steps in prop::collection::vec(step(), 0..20),
        delta_bytes_max in prop_oneof![Just(0_usize), Just(4_000), Just(usize::MAX)],
        logged_changes_max in prop_oneof![Just(0_usize), Just(5), Just(usize::MAX)],
    ) {
        run(&quads, &steps, &options(delta_bytes_max, logged_changes_max));
    }
}

/// Quads of graphs that take turns, and that have stretches of their own, over several blocks.
#[test]
fn graphs_with_many_blocks() {
    let name = |text: String| NamedNode::new_unchecked(text);
    let quad = |n: usize, graph: GraphName| {
        let subject = name(format!("http://s{:06}", n / 5));
        let object = name(format!("http://o{:06}", n * 7919 % 60_000));
        Quad::new(subject, name(format!("http://p{}", n % 5)), object, graph)
    };
    let graph_of = |n: usize| match n {
        0..24_000 => "http://graph/a",
        24_000..40_000 if n.is_multiple_of(3) => "http://graph/a",
        24_000..40_000 => "http://graph/b",
        _ => "",
    };
    let quads: Vec<(Quad, &str)> = (0..60_000)
        .map(|n| {
            let graph = graph_of(n);
            let graph_name =
                if graph.is_empty() { GraphName::DefaultGraph } else { name(graph.to_owned()).into() };
            (quad(n, graph_name), graph)
        })
        .collect();
    let left = |gone: &[&str]| -> Model {
        quads.iter().filter(|(_, graph)| !gone.contains(graph)).map(|(quad, _)| quad.to_string()).collect()
    };
    // Of the graphs that are cleared, one after the other, some are more than half of what is left and some less.
    for gone in [
        ["http://graph/a", "http://graph/b", ""],
        ["http://graph/b", "", "http://graph/a"],
        ["", "http://graph/a", "http://graph/b"],
    ] {
        let vfs = MemVfs::new();
        let store = open(&vfs, &options(1 << 20, 1000));
        let all = quads.iter().map(|(quad, _)| quad.clone()).collect();
        load_files(&store, &[("x".to_owned(), all)], LoadOptions::default()).unwrap();
        for count in 1..=gone.len() {
            let mut transaction = store.begin(&CancelToken::default()).unwrap();
            let id = match gone[count - 1] {
                "" => ValueId::DEFAULT_GRAPH,
                graph => transaction.intern(&name(graph.to_owned()).into()).unwrap().unwrap(),
            };
            transaction.clear_graph(id).unwrap();
            let before = store.snapshot().quad_count();
            let done = transaction.commit().unwrap();
            let left = left(&gone[..count]);
            assert_eq!(done.deleted, before - left.len() as u64);
            assert_eq!(contents(&store.snapshot()), left);
            for order in Order::ALL {
                let rows = rows(&store.snapshot(), order, &[]);
                assert!(rows.is_sorted());
                let expected = left
                    .iter()
                    .filter(|quad| order != Order::Gspo || quad.ends_with("/a>") || quad.ends_with("/b>"));
                assert_eq!(rows.len(), expected.count(), "{}", order.name());
            }
            assert_sound(&vfs);
        }
        compact_from(&store, 0).unwrap();
        assert_eq!(contents(&store.snapshot()), left(&gone));
    }
}
