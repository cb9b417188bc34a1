//! Terms that no quad uses any more, and terms that are used again before the switch; graphs that are dropped meanwhile.

use super::*;
use crate::compact::live_tests::unused_terms;
use crate::crash_tests::{assert_sound, read_all};
use crate::test_data::{FOLDER, open};
use crate::{LoadOptions, Source, load};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use std::collections::BTreeSet;
use std::path::Path;

/// Subjects, predicates, objects and graphs, by number; objects of the same rest are the same.
fn terms(number: u32) -> [Term; 4] {
    let iri = |text: String| Term::from(NamedNode::new_unchecked(text));
    [
        iri(format!("http://s/{number}")),
        iri(format!("http://p/{}", number % 17)),
        Literal::from(format!("object {}", number % 97)).into(),
        iri(format!("http://g/{}", number % 3)),
    ]
}

/// As [`read_all`] tells it.
fn line(number: u32) -> String {
    let [s, p, o, g] = terms(number).map(|term| term.to_string());
    [o, s, p, g].join(" ")
}

fn lines(numbers: impl IntoIterator<Item = u32>) -> BTreeSet<String> {
    numbers.into_iter().map(line).collect()
}

fn change(store: &Store, numbers: impl IntoIterator<Item = u32>, insert: bool) {
    let mut transaction = store.begin_blind().unwrap();
    for number in numbers {
        let row = terms(number).map(|term| transaction.intern(&term).unwrap().unwrap());
        if insert { transaction.insert(row) } else { transaction.delete(row) }
    }
    transaction.commit().unwrap();
}

fn settle(store: &Store) {
    let cancel = CancelToken::default();
    WriteGuard::lock(store, &cancel).unwrap().settle(&cancel).unwrap();
}

fn load_quads(store: &Store, numbers: impl IntoIterator<Item = u32>) {
    let text: String = numbers
        .into_iter()
        .map(|number| {
            let [s, p, o, g] = terms(number);
            format!("{s} {p} {o} {g} .\n")
        })
        .collect();
    let options = LoadOptions { threads: 1, memory_bytes: 1 << 30, ..LoadOptions::default() };
    load(store, vec![Source::bytes("x.nq", text)], options, &Arc::default()).unwrap();
}

fn clear(store: &Store, graph: u32) {
    let mut transaction = store.begin(&CancelToken::default()).unwrap();
    let id = transaction.intern(&terms(graph)[3]).unwrap().unwrap();
    transaction.clear_graph(id).unwrap();
    transaction.commit().unwrap();
}

/// The number of a term in the dictionaries.
fn stored_id(store: &Store, term: &Term) -> Option<ValueId> {
    store.snapshot().id_of(term).unwrap()
}

fn run_from(store: &Store, from: usize, between: impl FnOnce()) -> Result<Vec<NewSegment>, CompactError> {
    let version = store.version();
    let (throttle, progress) = (Throttle::full(&CancelToken::default()), LoadProgress::default());
    let options = CompactOptions { threads: 1, ..CompactOptions::default() };
    Compaction::new(store, &version, from, &options, &throttle, &progress).run_and(between)
}

fn full(store: &Store) -> CompactReport {
    let options = CompactOptions { threads: 2, ..CompactOptions::default() };
    compact(store, &options, &Arc::default()).unwrap()
}

#[test]
fn terms_of_deleted_quads_are_dropped() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    load_quads(&store, 0..2000);
    load_quads(&store, 1500..4000);
    // All of one object, and every subject but a few.
    let goes = |number: &u32| number % 97 == 5 || !number.is_multiple_of(50);
    change(&store, (0..4000).filter(goes), false);
    let stays = lines((0..4000).filter(|number| !goes(number)));
    let report = full(&store);
    assert_eq!(read_all(&store.snapshot()).unwrap(), stays);
    assert!(report.terms_dropped > 3900, "{}", report.terms_dropped);
    assert_eq!(unused_terms(&store.snapshot()), 0);
    assert_eq!(stored_id(&store, &terms(5)[2]), None);
    assert!(store.snapshot().ids_are_ordered());
    assert_sound(&vfs);
    // Nothing is left at last.
    change(&store, 0..4000, false);
    assert_eq!(full(&store).segment, None);
    assert!(store.version().manifest.segments.is_empty());
    assert_sound(&vfs);
}

#[test]
fn a_graph_that_was_dropped_leaves_nothing() {
    let vfs = MemVfs::new();
    let options = crate::write_options::WriteOptions { logged_changes_max: 10, ..Default::default() };
    let store = Store::open_for_writing(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20, options).unwrap();
    load_quads(&store, (0..300).filter(|number| number % 3 == 1));
    clear(&store, 1);
    assert_eq!(store.version().manifest.segments[0].sign, Sign::TermsOnly);
    assert!(full(&store).terms_dropped > 100);
    assert!(store.version().manifest.segments.is_empty());
}

#[test]
fn only_the_newest_segments_drop_their_terms_too() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    load_quads(&store, 0..100);
    load_quads(&store, 100..200);
    change(&store, 50..150, false);
    settle(&store);
    let terms_before: u64 = store.version().manifest.terms().iter().sum();
    run_from(&store, 1, || {}).unwrap();
    // Subjects of the first segment stay with it.
    assert_eq!(store.version().manifest.terms().iter().sum::<u64>(), terms_before - 50);
    assert_eq!(read_all(&store.snapshot()).unwrap(), lines((0..50).chain(150..200)));
    assert_sound(&vfs);
}

/// A store where all quads from 100 on were deleted, and with them many terms.
fn with_deletions(vfs: &MemVfs) -> Store {
    let store = open(vfs);
    load_quads(&store, 0..300);
    load_quads(&store, 200..400);
    change(&store, 100..400, false);
    settle(&store);
    store
}

#[test]
fn dropped_terms_are_used_again_before_the_switch() {
    for from in [0, 1] {
        let vfs = MemVfs::new();
        let store = with_deletions(&vfs);
        let mut spanning = store.begin_blind().unwrap();
        let row = terms(360).map(|term| spanning.intern(&term).unwrap().unwrap());
        spanning.insert(row);
        let done = run_from(&store, from, || {
            // In a segment, twice in another that also deletes, in the log, and in the log for nothing.
            change(&store, [310, 315, 320], true);
            settle(&store);
            load_quads(&store, [310, 330, 331, 1000]);
            change(&store, [320, 330], false);
            settle(&store);
            change(&store, [340, 350, 2000], true);
            change(&store, [350, 10], false);
        });
        assert_eq!(done.unwrap().len(), 1);
        spanning.commit().unwrap();
        let expected = (0..100).filter(|number| *number != 10).chain([310, 315, 331, 340, 360, 1000, 2000]);
        let expected = lines(expected);
        assert_eq!(read_all(&store.snapshot()).unwrap(), expected);
        let revived = |entry: &crate::manifest::SegmentEntry| entry.quads == 0 && entry.terms != [0; 5];
        assert!(store.version().manifest.segments.iter().filter(|entry| revived(entry)).count() > 1);
        assert_sound(&vfs);
        drop(store);
        let store = open(&vfs);
        assert_eq!(read_all(&store.snapshot()).unwrap(), expected);
        assert_eq!(stored_id(&store, &terms(390)[0]), None);
        full(&store);
        assert_eq!(read_all(&store.snapshot()).unwrap(), expected);
        assert_eq!(unused_terms(&store.snapshot()), 0);
        assert_sound(&vfs);
    }
}

#[test]
fn too_many_terms_that_are_used_again_make_it_begin_again() {
    let vfs = MemVfs::new();
    let store = with_deletions(&vfs);
    let version = store.version();
    let (throttle, progress) = (Throttle::full(&CancelToken::default()), LoadProgress::default());
    let compaction = Compaction::new(&store, &version, 0, &CompactOptions::default(), &throttle, &progress);
    let mut compaction = Compaction { working_bytes: 10_000, ..compaction };
    let done = compaction.run_and(|| load_quads(&store, 200..400));
    assert!(matches!(done, Err(CompactError::Overtaken)), "{done:?}");
    assert_eq!(read_all(&store.snapshot()).unwrap(), lines((0..100).chain(200..400)));
    full(&store);
    assert_eq!(read_all(&store.snapshot()).unwrap(), lines((0..100).chain(200..400)));
    assert_sound(&vfs);
}

/// Drops a graph under the first `times` merges.
fn compact_under_drops(times: u32) -> (Result<CompactReport, CompactError>, u32) {
    let vfs = MemVfs::new();
    let options = crate::write_options::WriteOptions { logged_changes_max: 10, ..Default::default() };
    let store = Store::open_for_writing(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20, options).unwrap();
    load_quads(&store, (0..300).filter(|number| number % 3 == 0));
    let in_first = |number: &u32| number % 3 == 1;
    load_quads(&store, (0..300).filter(in_first));
    let mut merges = 0;
    let options = CompactOptions { threads: 1, ..CompactOptions::default() };
    let result =
        compact_and(&store, &options, MergeBudget::new(1 << 30, 1), &LoadProgress::default(), &mut || {
            merges += 1;
            if merges <= times {
                clear(&store, 1);
                load_quads(&store, (0..300).filter(in_first).skip(merges as usize));
            }
        });
    assert_sound(&vfs);
    let left = lines((0..300).filter(|number| number % 3 == 0));
    let last = lines((0..300).filter(in_first).skip(times.min(merges) as usize));
    assert_eq!(read_all(&store.snapshot()).unwrap(), left.union(&last).cloned().collect());
    (result, merges)
}

#[test]
fn a_graph_that_is_dropped_meanwhile_makes_it_begin_again() {
    for times in [0, 1, 2] {
        let (result, merges) = compact_under_drops(times);
        result.unwrap();
        assert_eq!(merges, times + 1);
    }
    let (result, merges) = compact_under_drops(u32::MAX);
    assert!(matches!(result, Err(CompactError::Overtaken)), "{result:?}");
    assert_eq!(merges, ATTEMPTS);
}
