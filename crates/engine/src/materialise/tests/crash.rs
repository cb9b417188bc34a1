//! Power cuts, errors and full disks at every operation of materialising and dropping: the database is then as before, or as after, and knows
//! which.

use super::super::upkeep::ROWS;
use super::super::{Remembered, catch_up, drop_inferences, keep_up, materialise};
use super::by;
use crate::{CancelToken, EngineError, MaterialiseOptions, QueryOptions};
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;
use lode_packed::Order;
use lode_rdf::{NamedNode, Term, ValueId};
use lode_store::{Snapshot, Store, StoreError, WriteOptions, check};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const FOLDER: &str = "/db";

/// So few changes are logged that what is inferred is written as segments, or is not.
fn open(vfs: Arc<dyn Vfs>, logged_changes_max: usize) -> Result<Store, EngineError> {
    let options =
        WriteOptions { logged_changes_max, threads: 1, memory_bytes: 1 << 20, ..WriteOptions::default() };
    Ok(Store::open_for_writing(vfs, Path::new(FOLDER), 1 << 16, options)?)
}

/// All quads, and what is known of inferences.
type State = (BTreeSet<String>, Option<(bool, String)>);

fn state(snapshot: &Snapshot) -> State {
    let mut scan = snapshot.scan(Order::Ospg, &[], 0b1111).unwrap();
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    while scan.next(100, &mut columns).unwrap() > 0 {}
    let text = |id: ValueId| match id {
        ValueId::DEFAULT_GRAPH => String::new(),
        id => snapshot.term(id).unwrap().to_string(),
    };
    let row = |row: usize| columns.iter().map(|column| text(column[row])).collect::<Vec<_>>().join(" ");
    let known = snapshot.inferences().map(|known| (known.is_current(), known.rules));
    ((0..columns[0].len()).map(row).collect(), known)
}

fn contents(vfs: &MemVfs) -> State {
    state(&Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16).unwrap().snapshot())
}

fn insert(store: &Store, classes: std::ops::Range<usize>) -> Result<(), StoreError> {
    let mut transaction = store.begin(&CancelToken::default())?;
    let iri = |text: String| Term::from(NamedNode::new_unchecked(text));
    for i in classes {
        let rdfs = "http://www.w3.org/2000/01/rdf-schema#subClassOf";
        let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
        for [s, p, o] in [
            [format!("http://e/C{i}"), rdfs.to_owned(), format!("http://e/C{}", i + 1)],
            [format!("http://e/x{i}"), rdf.to_owned(), format!("http://e/C{i}")],
        ] {
            let [s, p, o] = [s, p, o].map(|text| transaction.intern(&iri(text)).unwrap().unwrap());
            transaction.insert([s, p, o, ValueId::DEFAULT_GRAPH]);
        }
    }
    transaction.commit().map(drop)
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Materialise,
    Drop,
    Commit,
    CatchUp,
}

fn work(vfs: Arc<dyn Vfs>, logged: usize, work: Work) -> Result<(), EngineError> {
    let store = open(vfs, logged)?;
    let mut options = by(&["rdfs-plus"]);
    options.evaluation.threads = 1;
    match work {
        Work::Materialise => materialise(&store, &options).map(drop),
        Work::Drop => drop_inferences(&store, &QueryOptions::default()).map(drop),
        Work::CatchUp => catch_up(&store, &options.evaluation, &Remembered::default()).map(drop),
        Work::Commit => {
            keep_up(&store);
            Ok(insert(&store, 3..5)?)
        }
    }
}

#[test]
fn the_database_is_as_before_or_as_after() {
    for logged in [4, 100_000] {
        let before = MemVfs::new();
        let store = open(Arc::new(before.clone()), logged).unwrap();
        insert(&store, 0..3).unwrap();
        let options = MaterialiseOptions { maintained: Some(false), ..by(&["rdfs"]) };
        materialise(&store, &options).unwrap();
        insert(&store, 3..5).unwrap();
        drop(store);
        assert!(contents(&before).1.is_some_and(|(is_current, _)| !is_current));
        every_operation_may_fail(&before, logged, &[Work::Materialise, Work::Drop, Work::CatchUp]);
        // The same where all is inferred anew.
        ROWS.set(Some(0));
        every_operation_may_fail(&before, logged, &[Work::CatchUp]);
        ROWS.set(None);
    }
}

#[test]
fn commits_are_whole_with_what_follows() {
    commits_are_whole();
}

#[test]
fn commits_that_make_all_anew_are_whole() {
    ROWS.set(Some(0));
    commits_are_whole();
    ROWS.set(None);
}

fn commits_are_whole() {
    for logged in [4, 100_000] {
        let before = MemVfs::new();
        let store = open(Arc::new(before.clone()), logged).unwrap();
        insert(&store, 0..3).unwrap();
        materialise(&store, &by(&["rdfs"])).unwrap();
        drop(store);
        let after = before.deep_copy();
        work(Arc::new(after.clone()), logged, Work::Commit).unwrap();
        let (quads, known) = contents(&after);
        assert!(known.is_some_and(|(is_current, _)| is_current) && quads.len() > 15, "{quads:?}");
        every_operation_may_fail(&before, logged, &[Work::Commit]);
    }
}

fn every_operation_may_fail(before: &MemVfs, logged: usize, all: &[Work]) {
    let old = contents(before);
    for what in all.iter().copied() {
        let counting = FaultVfs::counting(before.deep_copy(), false);
        work(Arc::new(counting.clone()), logged, what).unwrap();
        let new = contents(counting.inner());
        assert_ne!(old, new);
        for fault in [Fault::PowerCut, Fault::Error, Fault::DiskFull] {
            for at in 0..=counting.operations() {
                let vfs = FaultVfs::new(before.deep_copy(), fault, at, false);
                let done = work(Arc::new(vfs.clone()), logged, what);
                for kind in [CrashKind::LoseAll, CrashKind::Torn(at)] {
                    let after = vfs.after_crash(kind);
                    let found = contents(&after);
                    assert!(
                        found == new || found == old && done.is_err(),
                        "{what:?}, {fault:?} at {at}, {kind:?}: {done:?}, {found:?}"
                    );
                    let shared: Arc<dyn Vfs> = Arc::new(after.clone());
                    let report =
                        check(&shared, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
                    assert_eq!(report.problems, []);
                    // Again it leads to the same.
                    work(Arc::new(after.clone()), logged, what).unwrap();
                    assert_eq!(contents(&after), new, "{what:?}, {fault:?} at {at}, {kind:?}");
                }
            }
        }
    }
}
