//! Who reads a whole version leaves in the cache what queries use.

use crate::clear::{ClearOptions, Graphs, clear};
use crate::compact::{CompactOptions, compact};
use crate::dump::{DumpScope, dump_lines};
use crate::snapshot::Snapshot;
use crate::test_data::{load_files, open};
use crate::{LoadOptions, LoadProgress, Store, StoreError};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::{GraphName, Kind, Literal, NamedNode, Quad, ValueId};
use std::sync::Arc;

/// Texts that fill blocks, half of them in a named graph.
fn quads(range: std::ops::Range<u32>) -> Vec<Quad> {
    let iri = |text: String| NamedNode::new(format!("http://example.org/{text}")).unwrap();
    range
        .flat_map(|number| {
            let subject = iri(format!("thing/{number}"));
            let text = Literal::new_simple_literal(format!("text {} of {number}", number.wrapping_mul(7919)));
            let graph = iri("graph".to_owned());
            [
                Quad::new(subject.clone(), iri("text".to_owned()), text, graph),
                Quad::new(
                    subject,
                    iri("next".to_owned()),
                    iri(format!("thing/{}", number / 2)),
                    GraphName::DefaultGraph,
                ),
            ]
        })
        .collect()
}

fn store() -> Store {
    let store = open(&MemVfs::default());
    for load in 0..3_u32 {
        let files = vec![(format!("load{load}"), quads(load * 3000..(load + 1) * 3000))];
        load_files(
            &store,
            &files,
            LoadOptions { threads: 1, memory_bytes: 1 << 30, ..LoadOptions::default() },
        )
        .unwrap();
    }
    store
}

/// A query's part of the data.
fn read_some(snapshot: &Snapshot) {
    let mut scan = snapshot.scan(Order::Posg, &[], 0b1111).unwrap();
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    scan.next(1000, &mut columns).unwrap();
    let ids: Vec<ValueId> = columns[2].iter().copied().filter(|id| id.kind() == Some(Kind::Iri)).collect();
    snapshot.terms(&ids, &mut |_, _| Ok::<_, StoreError>(())).unwrap();
}

/// Does `work`, which must not change what the cache holds, or ask it for blocks that it lacks.
fn leaves_the_cache_as_it_is(store: &Store, work: impl FnOnce()) {
    read_some(&store.snapshot());
    let before = store.cache_counters();
    assert!(before.bytes_held > 0);
    work();
    let after = store.cache_counters();
    assert_eq!((after.bytes_held, after.misses), (before.bytes_held, before.misses));
}

#[test]
fn dumps() {
    let store = store();
    let snapshot = store.snapshot().aside(1 << 20);
    leaves_the_cache_as_it_is(&store, || {
        let mut text = Vec::new();
        dump_lines(&snapshot, DumpScope::All, &CancelToken::default(), &mut text).unwrap();
        assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 18_000);
    });
}

#[test]
fn compactions() {
    for memory_bytes in [16 << 20, 1 << 30] {
        let store = store();
        leaves_the_cache_as_it_is(&store, || {
            let options = CompactOptions { threads: 2, memory_bytes, ..CompactOptions::default() };
            compact(&store, &options, &Arc::new(LoadProgress::default())).unwrap();
        });
        assert_eq!(store.snapshot().segment_count(), 1);
    }
}

#[test]
fn clearing_graphs() {
    for graphs in [Graphs::Named, Graphs::One(ValueId::DEFAULT_GRAPH)] {
        let store = store();
        let version = store.version();
        leaves_the_cache_as_it_is(&store, || {
            let cancel = CancelToken::default();
            let cleared =
                clear(&store, &version, graphs, ClearOptions { threads: 1, cancel: &cancel }).unwrap();
            assert_eq!(cleared.quads, 9000);
        });
    }
}
