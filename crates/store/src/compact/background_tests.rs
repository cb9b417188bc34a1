//! Compactions beside readers and writers, on threads of their own.

use super::*;
use crate::StoreError;
use crate::crash_tests::assert_sound;
use crate::snapshot::Snapshot;
use crate::test_data::{FOLDER, check_reads};
use crate::transaction::tests::open;
use crate::write_options::WriteOptions;
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const WRITERS: u64 = 2;
const COMMITS: u64 = if cfg!(debug_assertions) { 60 } else { 150 };

fn iri(text: &str) -> Term {
    NamedNode::new_unchecked(format!("http://example.org/{text}")).into()
}

fn number(n: u64) -> Term {
    // In the dictionary, and not in the order of the commits.
    Literal::from(format!("{:x} is {n}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40)).into()
}

fn number_of(term: &Term) -> u64 {
    let Term::Literal(literal) = term else { panic!("{term}") };
    literal.value().rsplit(' ').next().unwrap().parse().unwrap()
}

fn writer(w: u64) -> Term {
    iri(&format!("writer{w}"))
}

/// Raises both counters of a writer by one, and notes that.
fn commit(store: &Store, w: u64, n: u64) -> Result<(), StoreError> {
    let blind = n.is_multiple_of(2);
    let mut transaction = if blind { store.begin_blind()? } else { store.begin(&CancelToken::default())? };
    let changes =
        [("a", n, true), ("b", n, true), ("did", n, true), ("a", n - 1, false), ("b", n - 1, false)];
    for (predicate, value, insert) in changes {
        let mut row = [ValueId::DEFAULT_GRAPH; 4];
        for (id, term) in row.iter_mut().zip([writer(w), iri(predicate), number(value)]) {
            *id = transaction.intern(&term)?.unwrap();
        }
        if insert { transaction.insert(row) } else { transaction.delete(row) }
    }
    transaction.commit().map(|_| ())
}

/// The objects of a subject and predicate.
fn objects(snapshot: &Snapshot, w: u64, predicate: &str) -> Vec<u64> {
    let id = |term: Term| snapshot.id_of(&term).unwrap();
    let (Some(s), Some(p)) = (id(writer(w)), id(iri(predicate))) else { return Vec::new() };
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let mut scan = snapshot.scan(Order::Spog, &[s, p], 0b0100).unwrap();
    while scan.next(1000, &mut columns).unwrap() > 0 {}
    let mut values: Vec<u64> = columns[2].iter().map(|id| number_of(&snapshot.term(*id).unwrap())).collect();
    values.sort_unstable();
    values
}

/// Both counters are the same, and as many commits were noted. How many.
fn check_writer(snapshot: &Snapshot, w: u64) -> u64 {
    let did = objects(snapshot, w, "did");
    assert_eq!(did, (1..=did.len() as u64).collect::<Vec<_>>());
    let last: Vec<u64> = did.last().copied().into_iter().collect();
    assert_eq!(objects(snapshot, w, "a"), last);
    assert_eq!(objects(snapshot, w, "b"), last);
    did.len() as u64
}

fn options(delta_bytes_max: usize) -> WriteOptions {
    WriteOptions { delta_bytes_max, memory_bytes: 1 << 20, threads: 1, ..WriteOptions::default() }
}

/// Writers and readers go on until the writers are done; meanwhile `compacting` is called again and again.
fn run(delta_bytes_max: usize, compacting: impl Fn(&Store, usize) + Sync) {
    let vfs = MemVfs::new();
    let store = open(&vfs, &options(delta_bytes_max));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|w| {
                let store = &store;
                scope.spawn(move || (1..=COMMITS).for_each(|n| commit(store, w, n).unwrap()))
            })
            .collect();
        let read = || {
            let mut seen = [0; WRITERS as usize];
            while !done.load(Ordering::Relaxed) {
                let snapshot = store.snapshot();
                for (w, seen) in (0..).zip(&mut seen) {
                    let now = check_writer(&snapshot, w);
                    assert!(now >= *seen, "commits are gone again");
                    *seen = now;
                }
                assert_eq!(snapshot.quad_count(), seen.iter().map(|n| n + 2 * (*n).min(1)).sum::<u64>());
            }
        };
        let others = [
            scope.spawn(read),
            scope.spawn(|| {
                let mut round = 0;
                while !done.load(Ordering::Relaxed) {
                    compacting(&store, round);
                    round += 1;
                }
            }),
        ];
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        written.into_iter().for_each(|result| result.unwrap());
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    let check = |store: &Store| {
        let snapshot = store.snapshot();
        (0..WRITERS).for_each(|w| assert_eq!(check_writer(&snapshot, w), COMMITS));
        check_reads(&snapshot, 7);
    };
    check(&store);
    drop(store);
    assert_sound(&vfs);
    check(&open(&vfs, &options(delta_bytes_max)));
}

fn compact_from(store: &Store, round: usize) {
    let cancel = CancelToken::default();
    let _guard = CompactionGuard::lock(store, &cancel).unwrap();
    let version = store.version();
    let segments = version.segments.len();
    if segments == 0 {
        return std::thread::yield_now();
    }
    let options = CompactOptions { threads: 1 + round % 2, ..CompactOptions::default() };
    let from = if round.is_multiple_of(4) { 0 } else { round % segments };
    let (throttle, progress) = (Throttle::full(&cancel), LoadProgress::default());
    Compaction::new(store, &version, from, &options, &throttle, &progress).run().unwrap();
}

#[test]
fn readers_and_writers_notice_nothing() {
    // With flushes all the time, now and then, and never but where a new log needs one.
    for delta_bytes_max in [0, 20_000, usize::MAX] {
        run(delta_bytes_max, compact_from);
    }
}

#[test]
fn compactions_by_hand_and_in_the_background_take_turns() {
    let background = BackgroundOptions {
        segments_max: 2,
        rest: Duration::from_millis(1),
        look_every: Duration::from_millis(1),
        ..BackgroundOptions::default()
    };
    run(2_000, |store, round| {
        let compactor = Compactor::start(store, background.clone()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        if round % 3 == 1 {
            compactor.pause();
        }
        let options = CompactOptions { threads: 1, ..CompactOptions::default() };
        compact(store, &options, &Arc::default()).unwrap();
        compactor.resume();
        let status = compactor.status();
        assert_eq!((status.failures, status.last_error), (0, None));
    });
}

/// Waits for what must happen; a test that waits for ever has failed.
fn wait_until(what: impl Fn() -> bool) {
    while !what() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn quick() -> BackgroundOptions {
    BackgroundOptions { look_every: Duration::from_millis(1), ..BackgroundOptions::default() }
}

#[test]
fn it_keeps_segments_few_unless_it_is_paused() {
    let vfs = MemVfs::new();
    let store = open(&vfs, &options(0));
    let compactor = Compactor::start(&store, quick()).unwrap();
    compactor.pause();
    wait_until(|| compactor.status().state == CompactorState::Paused);
    (1..=20).for_each(|n| commit(&store, 0, n).unwrap());
    assert!(store.version().segments.len() >= 20);
    assert_eq!(compactor.status().compactions, 0);
    compactor.resume();
    wait_until(|| store.version().segments.len() == 1);
    wait_until(|| compactor.status().state == CompactorState::Idle);
    let status = compactor.status();
    assert!(status.compactions > 0 && status.segments_merged >= 20 && status.failures == 0, "{status:?}");
    assert_eq!(check_writer(&store.snapshot(), 0), 20);
    drop(compactor);
    let reader = Store::open(Arc::new(vfs), Path::new(FOLDER), 0).unwrap();
    assert!(matches!(Compactor::start(&reader, quick()), Err(StoreError::ReadOnly { .. })));
}

#[test]
fn it_tells_why_it_fails_and_goes_on() {
    // Fails once, somewhere in the first compaction.
    let counting = FaultVfs::counting(MemVfs::new(), false);
    let prepare = |vfs: FaultVfs| {
        let store = Store::open_for_writing(Arc::new(vfs), Path::new(FOLDER), 1 << 16, options(0)).unwrap();
        (1..=3).for_each(|n| commit(&store, 0, n).unwrap());
        store
    };
    drop(prepare(counting.clone()));
    let vfs = FaultVfs::new(MemVfs::new(), Fault::Error, counting.operations() + 5, false);
    let store = prepare(vfs);
    let compactor = Compactor::start(&store, quick()).unwrap();
    wait_until(|| compactor.status().failures == 1);
    assert!(compactor.status().last_error.is_some());
    wait_until(|| store.version().segments.len() == 1);
    assert_eq!(check_writer(&store.snapshot(), 0), 3);
}
