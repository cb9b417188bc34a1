//! A database on a slow device: the same answers as from memory, and queries that end when they are cancelled.

use crate::snapshot::Snapshot;
use crate::test_data::{FOLDER, load_files, open};
use crate::{LoadOptions, Store, StoreError};
use lode_base::cancel::{CancelToken, Cancelled};
use lode_base::device_vfs::{DeviceModel, DeviceVfs};
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::{GraphName, Kind, Literal, NamedNode, Quad, Term, ValueId};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn quads(range: std::ops::Range<u32>) -> Vec<Quad> {
    let iri = |text: String| NamedNode::new(format!("http://example.org/{text}")).unwrap();
    let quad = |number: u32| {
        let noise = number.wrapping_mul(0x9E37_79B1);
        let text = Literal::new_simple_literal(format!("text {noise:x} {number} {:x}", noise.rotate_left(9)));
        Quad::new(
            iri(format!("{number:07}/{noise:x}")),
            iri("text".to_owned()),
            text,
            GraphName::DefaultGraph,
        )
    };
    range.map(quad).collect()
}

/// Two segments that overlap.
fn built() -> MemVfs {
    let vfs = MemVfs::default();
    let store = open(&vfs);
    for range in [0..60_000, 50_000..120_000] {
        let files = vec![(format!("from{}", range.start), quads(range))];
        load_files(
            &store,
            &files,
            LoadOptions { threads: 1, memory_bytes: 1 << 30, ..LoadOptions::default() },
        )
        .unwrap();
    }
    vfs
}

fn on(vfs: &MemVfs, model: DeviceModel) -> Store {
    let device = Arc::new(DeviceVfs::new(Arc::new(vfs.clone()), model));
    Store::open(device, Path::new(FOLDER), 8 << 20).unwrap()
}

type Columns = [Vec<ValueId>; 4];

/// All rows in an order, some sought rows, and some terms.
fn read(snapshot: &Snapshot) -> Result<(Columns, Columns, Vec<Term>), StoreError> {
    let (mut all, mut some) = (Columns::default(), Columns::default());
    let mut scan = snapshot.scan(Order::Ospg, &[], 0b1111)?;
    while scan.next(5000, &mut all)? > 0 {}
    let mut subjects = all[1].clone();
    subjects.sort_unstable();
    let keys: Vec<ValueId> = subjects.iter().step_by(211).copied().collect();
    let mut scan = snapshot.scan(Order::Spog, &[], 0b1111)?;
    scan.expect(&keys, 1)?;
    for key in &keys {
        scan.seek(&[*key])?;
        scan.next(1, &mut some)?;
    }
    let ids: Vec<ValueId> =
        all[0].iter().step_by(97).copied().filter(|id| id.kind() == Some(Kind::String)).collect();
    let mut terms = Vec::new();
    snapshot.terms(&ids, &mut |index, term| {
        terms.push((index, term));
        Ok::<_, StoreError>(())
    })?;
    terms.sort_unstable_by_key(|(index, _)| *index);
    Ok((all, some, terms.into_iter().map(|(_, term)| term).collect()))
}

#[test]
fn answers_are_those_of_memory() {
    let vfs = built();
    let expected = read(&open(&vfs).snapshot()).unwrap();
    assert_eq!(expected.0[0].len(), 120_000);
    let fast_disk = DeviceModel { latency: Duration::from_micros(300), ..DeviceModel::DISK };
    for model in [DeviceModel::INSTANT, DeviceModel::SSD, fast_disk] {
        let store = on(&vfs, model);
        assert!(read(&store.snapshot()).unwrap() == expected);
        let reads = store.read_counters();
        assert!(reads.ahead_hits > 0 && reads.merged > 0, "{reads:?}");
        assert!(reads.ahead_hits * 10 >= reads.ahead_blocks * 7, "{reads:?}");
    }
}

#[test]
fn a_cancelled_query_ends_soon_on_a_slow_disk() {
    let store = on(&built(), DeviceModel { latency: Duration::from_millis(20), ..DeviceModel::DISK });
    let token = CancelToken::default();
    let snapshot = store.snapshot().for_query(&token);
    let (ended, result) = std::thread::scope(|scope| {
        let work = scope.spawn(|| (0..100).try_for_each(|_| read(&snapshot.aside(0)).map(drop)));
        std::thread::sleep(Duration::from_millis(100));
        token.cancel();
        let start = Instant::now();
        let result = work.join().unwrap();
        (start.elapsed(), result)
    });
    assert!(matches!(result, Err(StoreError::Cancelled(Cancelled::ByRequest))), "{result:?}");
    assert!(ended < Duration::from_millis(100), "{ended:?}");
}

/// Constants, rows and terms of both segments, each in as many turns as there are levels to go down.
#[test]
fn what_is_told_comes_together_and_is_the_same() {
    let vfs = built();
    let near = open(&vfs).snapshot();
    let all = read(&near).unwrap().0;
    let some: Vec<[ValueId; 2]> =
        (0..12).map(|i| i * (all[0].len() / 12)).map(|i| [all[0][i], all[1][i]]).collect();
    let mut terms: Vec<Term> = some.iter().flatten().map(|id| near.term(*id).unwrap()).collect();
    terms.push(Term::from(NamedNode::new("http://example.org/none").unwrap()));
    terms.push(Term::from(Literal::new_simple_literal("none")));
    let prefixes: Vec<(Order, Vec<ValueId>)> = some
        .iter()
        .flat_map(|[o, s]| [(Order::Spog, vec![*s]), (Order::Sopg, vec![*s]), (Order::Ospg, vec![*o, *s])])
        .collect();
    let ids: Vec<ValueId> = some.iter().flatten().copied().collect();
    let look = |told: bool| {
        let store = on(&vfs, DeviceModel::INSTANT);
        let snapshot = store.snapshot();
        assert!(snapshot.is_far() && !near.is_far());
        let turns = || store.read_counters().turns;
        let mut asked = Vec::new();
        asked.extend(told.then(|| snapshot.ask_for_ids_of(&terms).unwrap()));
        let found: Vec<Option<ValueId>> = terms.iter().map(|term| snapshot.id_of(term).unwrap()).collect();
        let after_ids = turns();
        asked.clear();
        asked.extend(told.then(|| snapshot.ask_for_rows(&prefixes).unwrap()));
        let counts: Vec<u64> =
            prefixes.iter().map(|(order, prefix)| snapshot.count(*order, prefix).unwrap()).collect();
        let after_rows = turns();
        let mut keys = vec![None; ids.len()];
        let fresh = on(&vfs, DeviceModel::INSTANT);
        let mut terms_of = |index: usize, term: Term| {
            keys[index] = Some(term);
            Ok::<_, StoreError>(())
        };
        fresh.snapshot().terms(&ids, &mut terms_of).unwrap();
        ((found, counts, keys), [after_ids, after_rows - after_ids, fresh.read_counters().turns])
    };
    let ((as_told, told), (as_is, untold)) = (look(true), look(false));
    assert_eq!(as_told, as_is);
    let near_counts: Vec<u64> =
        prefixes.iter().map(|(order, prefix)| near.count(*order, prefix).unwrap()).collect();
    assert_eq!(as_told.1, near_counts);
    // Tops and blocks; pages and blocks; the same.
    assert!(told.iter().all(|turns| *turns <= 2), "{told:?}");
    assert!(untold[0] > 2 && untold[1] > 2, "{untold:?}");
}
