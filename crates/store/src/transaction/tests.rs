//! Transactions against a plain set of quads: mixed with loads, flushes, large changes and reopening.

use super::Transaction;
use crate::log::Durability;
use crate::test_data::{FOLDER, check_reads, contents, file, load_files};
use crate::write_guard::Commit;
use crate::write_options::WriteOptions;
use crate::{LoadOptions, Store, StoreError};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::memory_budget::MemoryBudget;
use lode_packed::Order;
use lode_rdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term, Triple, ValueId};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Clone)]
enum Step {
    /// Changes of quads of the pool; whether to take the write lock at once, to look in between, and to commit.
    Change {
        changes: Vec<(usize, bool)>,
        blind: bool,
        look: bool,
        commit: bool,
    },
    Load(Vec<usize>),
    Clear(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let changes = prop::collection::vec((0_usize..400, any::<bool>()), 0..14);
    prop_oneof![
        8 => (changes, any::<bool>(), any::<bool>(), prop::bool::weighted(0.9))
            .prop_map(|(changes, blind, look, commit)| Step::Change { changes, blind, look, commit }),
        1 => prop::collection::vec(0_usize..400, 0..20).prop_map(Step::Load),
        1 => (0_usize..400).prop_map(Step::Clear),
        1 => Just(Step::Reopen),
    ]
}

/// Blank nodes of files are new ones each time; here they get names.
pub(crate) fn without_blanks(quad: &Quad) -> Quad {
    fn name(label: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("urn:was-blank:{label}"))
    }
    fn node(node: &NamedOrBlankNode) -> NamedOrBlankNode {
        match node {
            NamedOrBlankNode::BlankNode(node) => name(node.as_str()).into(),
            other @ NamedOrBlankNode::NamedNode(_) => other.clone(),
        }
    }
    fn term(of: &Term) -> Term {
        match of {
            Term::BlankNode(node) => name(node.as_str()).into(),
            Term::Triple(triple) => Term::Triple(Box::new(Triple {
                subject: node(&triple.subject),
                predicate: triple.predicate.clone(),
                object: term(&triple.object),
            })),
            other => other.clone(),
        }
    }
    Quad {
        subject: node(&quad.subject),
        predicate: quad.predicate.clone(),
        object: term(&quad.object),
        graph_name: match &quad.graph_name {
            GraphName::BlankNode(node) => name(node.as_str()).into(),
            other => other.clone(),
        },
    }
}

pub(crate) fn ids(transaction: &mut Transaction, quad: &Quad) -> Result<[ValueId; 4], StoreError> {
    let mut id = |term: Term| transaction.intern(&term).map(Option::unwrap);
    let graph = match &quad.graph_name {
        GraphName::DefaultGraph => ValueId::DEFAULT_GRAPH,
        GraphName::NamedNode(node) => id(node.clone().into())?,
        GraphName::BlankNode(node) => id(node.clone().into())?,
    };
    let subject = id(quad.subject.clone().into())?;
    Ok([subject, id(quad.predicate.clone().into())?, id(quad.object.clone())?, graph])
}

pub(crate) fn open(vfs: &MemVfs, options: &WriteOptions) -> Store {
    Store::open_for_writing(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20, options.clone()).unwrap()
}

pub(crate) type Model = BTreeSet<String>;

pub(crate) fn change(
    store: &Store,
    pool: &[Quad],
    model: &mut Model,
    changes: &[(usize, bool)],
    (blind, look, commit): (bool, bool, bool),
) {
    let cancel = CancelToken::default();
    let mut transaction = if blind { store.begin_blind() } else { store.begin(&cancel) }.unwrap();
    let (before, mut after) = (model.clone(), model.clone());
    for (number, (pick, insert)) in changes.iter().enumerate() {
        let Some(quad) = pool.get(pick % pool.len().max(1)) else { return };
        let row = ids(&mut transaction, quad).unwrap();
        if *insert {
            transaction.insert(row);
            after.insert(quad.to_string());
        } else {
            transaction.delete(row);
            after.remove(&quad.to_string());
        }
        if look && number % 4 == 3 {
            let snapshot = transaction.snapshot().unwrap();
            assert_eq!(contents(&snapshot), after);
            check_reads(&snapshot, number);
        }
    }
    assert_eq!(contents(&store.snapshot()), before, "seen before the commit");
    if commit {
        let done = transaction.commit().unwrap();
        assert_eq!(done.inserted, after.difference(&before).count() as u64);
        assert_eq!(done.deleted, before.difference(&after).count() as u64);
        *model = after;
    }
}

fn run(quads: &[Quad], steps: &[Step], options: &WriteOptions) {
    let pool: Vec<Quad> = quads.iter().map(without_blanks).collect();
    let (vfs, mut model) = (MemVfs::new(), Model::new());
    let mut store = open(&vfs, options);
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Change { changes, blind, look, commit } => {
                change(&store, &pool, &mut model, changes, (*blind, *look, *commit));
            }
            Step::Load(picks) if !pool.is_empty() => {
                let quads: Vec<Quad> = picks.iter().map(|pick| pool[pick % pool.len()].clone()).collect();
                model.extend(quads.iter().map(ToString::to_string));
                let options = LoadOptions { threads: 1, memory_bytes: 1 << 20, ..LoadOptions::default() };
                load_files(&store, &[(format!("{number}"), quads)], options).unwrap();
            }
            Step::Clear(pick) if !pool.is_empty() => {
                let graph = &pool[pick % pool.len()].graph_name;
                let mut transaction = store.begin(&CancelToken::default()).unwrap();
                let id = ids(&mut transaction, &pool[pick % pool.len()]).unwrap()[3];
                transaction.clear_graph(id).unwrap();
                transaction.commit().unwrap();
                let of_graph =
                    |text: &String| pool.iter().any(|q| q.to_string() == *text && q.graph_name == *graph);
                model.retain(|text| !of_graph(text));
            }
            Step::Reopen => {
                drop(store);
                store = open(&vfs, options);
            }
            _ => {}
        }
        let snapshot = store.snapshot();
        assert_eq!(contents(&snapshot), model, "after step {number}");
        check_reads(&snapshot, number);
        let other = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap();
        assert_eq!(contents(&other.snapshot()), model, "read by another process after step {number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn transactions_are_as_on_a_set(
        quads in file(),
        steps in prop::collection::vec(step(), 0..25),
        delta_bytes_max in prop_oneof![Just(0_usize), Just(4_000), Just(usize::MAX)],
        logged_changes_max in prop_oneof![Just(0_usize), Just(5), Just(usize::MAX)],
    ) {
        let options = WriteOptions {
            durability: Durability::Sync,
            delta_bytes_max,
            logged_changes_max,
            memory_bytes: 1 << 20,
            threads: 1,
            ..WriteOptions::default()
        };
        run(&quads, &steps, &options);
    }
}

/// A graph that is all there is in a segment goes with the segment's quads, whatever their number, and comes back with a load.
#[test]
fn graphs_with_segments_of_their_own() {
    let vfs = MemVfs::new();
    let options = WriteOptions { logged_changes_max: 5, threads: 1, ..WriteOptions::default() };
    let quads = |graph: &str| -> Vec<Quad> {
        let graph = NamedNode::new_unchecked(graph);
        let quad = |n: usize| {
            let subject = NamedNode::new_unchecked(format!("http://s{n}"));
            Quad::new(subject, graph.clone(), graph.clone(), graph.clone())
        };
        (0..20).map(quad).collect()
    };
    let store = open(&vfs, &options);
    let clear = |graph: &str| {
        let mut transaction = store.begin(&CancelToken::default()).unwrap();
        let id = ids(&mut transaction, &quads(graph)[0]).unwrap()[3];
        transaction.clear_graph(id).unwrap();
        let seen = contents(&transaction.snapshot().unwrap()).len();
        (transaction.commit().unwrap(), seen)
    };
    let load = |graph: &str| load_files(&store, &[(graph.to_owned(), quads(graph))], LoadOptions::default());
    load("http://a").unwrap();
    load("http://b").unwrap();
    assert_eq!(clear("http://a").0.deleted, 20);
    let text = store.version().manifest.encode();
    assert!(text.lines().any(|line| line.starts_with("terms 1 ") && line.contains(" quads=20 ")), "{text}");
    assert_eq!(
        clear("http://a"),
        (Commit { inserted: 0, deleted: 0, version: store.version().number, is_stale: false }, 20)
    );
    check_reads(&store.snapshot(), 3);
    load("http://a").unwrap();
    let expected: Model =
        quads("http://a").iter().chain(&quads("http://b")).map(ToString::to_string).collect();
    assert_eq!(contents(&store.snapshot()), expected);
    assert_eq!(clear("http://b").1, 20);
    crate::compact(&store, &crate::CompactOptions::default(), &Arc::default()).unwrap();
    let other = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap();
    assert_eq!(contents(&other.snapshot()), quads("http://a").iter().map(ToString::to_string).collect());
    assert_eq!(store.version().manifest.segments.len(), 1);
    check_reads(&other.snapshot(), 5);
}

/// Few quads with long texts are not for the log either, whose records are read into memory as a whole.
#[test]
fn transactions_of_many_bytes_are_segments() {
    let vfs = MemVfs::new();
    let options = WriteOptions { logged_bytes_max: 5_000, threads: 1, ..WriteOptions::default() };
    let store = open(&vfs, &options);
    let commit = |texts: &[String]| {
        let mut transaction = store.begin_blind().unwrap();
        let node = NamedNode::new_unchecked("http://n");
        for text in texts {
            let object = lode_rdf::Literal::from(text.as_str());
            let quad = Quad::new(node.clone(), node.clone(), object, GraphName::DefaultGraph);
            let row = ids(&mut transaction, &quad).unwrap();
            transaction.insert(row);
        }
        transaction.commit().unwrap();
    };
    commit(&["short".to_owned()]);
    assert_eq!((store.version().segments.len(), store.version().delta.changes()), (0, 1));
    let texts: Vec<String> = (0..6).map(|n| format!("{n}{}", "x".repeat(1000))).collect();
    commit(&texts);
    assert_eq!((store.version().segments.len(), store.version().delta.changes()), (1, 0));
    // Terms that are there already bring no bytes.
    commit(&texts);
    commit(&["other".to_owned()]);
    assert_eq!((store.version().segments.len(), store.version().delta.changes()), (1, 1));
    let read = Store::open(Arc::new(vfs), Path::new(FOLDER), 1 << 20).unwrap();
    assert_eq!(read.version().quads(), 8);
    assert_eq!(contents(&read.snapshot()), contents(&store.snapshot()));
}

/// The orders in which a transaction reads its own changes are taken from its memory when they are sorted.
#[test]
fn orders_of_own_changes_count() {
    const ROW: usize = 32;
    let (vfs, options) = (MemVfs::new(), WriteOptions { threads: 1, ..WriteOptions::default() });
    let store = open(&vfs, &options);
    let memory = MemoryBudget::new(10 * ROW * 100);
    let mut transaction = store.begin(&CancelToken::default()).unwrap().within(&memory);
    let node = NamedNode::new_unchecked("http://n");
    let insert = |transaction: &mut Transaction, count: usize| {
        for n in 0..count {
            let object = lode_rdf::Literal::from(n.to_string());
            let quad = Quad::new(node.clone(), node.clone(), object, GraphName::DefaultGraph);
            let row = ids(transaction, &quad).unwrap();
            transaction.insert(row);
        }
    };
    insert(&mut transaction, 100);
    let snapshot = transaction.snapshot().unwrap();
    assert_eq!(
        (snapshot.count(Order::Spog, &[]).unwrap(), memory.used()),
        (100, 0),
        "for the caller to count"
    );
    for (orders, order) in [(1, Order::Posg), (2, Order::Ospg), (2, Order::Posg)] {
        assert_eq!(snapshot.count(order, &[]).unwrap(), 100);
        assert_eq!(
            snapshot.scan(order, &[], 0b1111).unwrap().next(200, &mut Default::default()).unwrap(),
            100
        );
        assert_eq!(memory.used(), orders * ROW * 100);
    }
    drop(snapshot);
    insert(&mut transaction, 150);
    let snapshot = transaction.snapshot().unwrap();
    assert_eq!((snapshot.count(Order::Ospg, &[]).unwrap(), memory.used()), (150, 2 * ROW * 150));
    let others = memory.reserve(600 * ROW).unwrap();
    assert_eq!(snapshot.count(Order::Psog, &[]).unwrap(), 150, "no order is needed for that");
    let subject = snapshot.id_of(&node.clone().into()).unwrap().unwrap();
    assert!(matches!(snapshot.count(Order::Sopg, &[subject]), Err(StoreError::OutOfMemory(_))));
    assert!(matches!(snapshot.scan(Order::Psog, &[], 1), Err(StoreError::OutOfMemory(_))));
    assert!(matches!(snapshot.distinct(Order::Psog, &[]), Err(StoreError::OutOfMemory(_))));
    drop(others);
    assert_eq!(snapshot.distinct(Order::Psog, &[]).unwrap(), 1);
    drop(snapshot);
    transaction.commit().unwrap();
    assert_eq!((memory.used(), store.snapshot().count(Order::Gspo, &[]).unwrap()), (0, 0));
    check_reads(&store.snapshot(), 1);
}
