//! Snapshots through transactions, compactions and new openings; faults at every operation of making and dropping them.

use super::*;
use crate::check::check;
use crate::compact::{CompactOptions, compact};
use crate::crash_tests;
use crate::load::LoadProgress;
use crate::manifest::{MANIFEST, SNAPSHOTS};
use crate::snapshot_catalog::{OPEN_MAX, folder_of};
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{Model, commit, open};
use lode_base::fault_vfs::{Fault, FaultVfs, Operation};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;

fn cancel() -> CancelToken {
    CancelToken::default()
}

fn compacted(store: &Store) {
    compact(store, &CompactOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
}

fn at(store: &Store, name: &str) -> Model {
    crash_tests::read_all(&store.at(name).unwrap()).unwrap()
}

fn now(store: &Store) -> Model {
    crash_tests::read_all(&store.snapshot()).unwrap()
}

fn segment_folders(vfs: &MemVfs) -> usize {
    let names = vfs.list(Path::new(FOLDER)).unwrap();
    names.iter().filter(|name| name.to_string_lossy().starts_with("segment-")).count()
}

fn reader(vfs: &MemVfs) -> Store {
    Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16).unwrap()
}

#[test]
fn snapshots_stay_as_they_are() {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    let mut expected = Vec::new();
    for step in 0..4 {
        commit(&store, step * 2).unwrap();
        let name = format!("after-{step}");
        let made = store.create_snapshot(&name, &cancel()).unwrap();
        assert_eq!(made.quads, now(&store).len() as u64);
        expected.push((name, now(&store)));
        if step % 2 == 1 {
            compacted(&store);
        }
    }
    commit(&store, 8).unwrap();
    compacted(&store);
    assert!(store.snapshot_bytes().unwrap() > 0);
    let check_all = |store: &Store, expected: &[(String, Model)]| {
        let names: Vec<String> = store.snapshots().unwrap().into_iter().map(|s| s.name).collect();
        assert_eq!(names, expected.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        for (name, model) in expected {
            assert_eq!(at(store, name), *model, "{name}");
        }
    };
    check_all(&store, &expected);
    // A reader's version outlives the name.
    let held = store.at("after-1").unwrap();
    store.drop_snapshot("after-1", &cancel()).unwrap();
    let (_, dropped) = expected.remove(1);
    assert_eq!(crash_tests::read_all(&held).unwrap(), dropped);
    drop(held);
    check_all(&store, &expected);
    check_all(&reader(&vfs), &expected);
    crash_tests::assert_sound(&vfs);
    drop(store);
    let store = open(Arc::new(vfs.clone())).unwrap();
    check_all(&store, &expected);
    for (name, _) in &expected {
        store.drop_snapshot(name, &cancel()).unwrap();
    }
    assert_eq!(store.snapshot_bytes().unwrap(), 0);
    assert_eq!(segment_folders(&vfs), store.version().segments.len());
    crash_tests::assert_sound(&vfs);
}

#[test]
fn names_are_names() {
    let store = open(Arc::new(MemVfs::new())).unwrap();
    for name in ["", ".", "..", "a/b", "../x", "a b", "\u{e4}", &"a".repeat(65)] {
        assert!(matches!(store.create_snapshot(name, &cancel()), Err(StoreError::Snapshot { .. })), "{name}");
        assert!(matches!(store.at(name), Err(StoreError::Snapshot { .. })));
        assert!(matches!(store.drop_snapshot(name, &cancel()), Err(StoreError::Snapshot { .. })));
    }
    store.create_snapshot("v1.2_a-B", &cancel()).unwrap();
    let again = store.create_snapshot("v1.2_a-B", &cancel()).unwrap_err();
    assert!(again.to_string().contains("already"));
    assert!(store.at("v1").unwrap_err().to_string().contains("no such snapshot"));
    assert!(store.drop_snapshot("v1", &cancel()).is_err());
}

#[test]
fn damage_of_a_snapshot_is_found() {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    commit(&store, 0).unwrap();
    store.create_snapshot("a", &cancel()).unwrap();
    commit(&store, 1).unwrap();
    compacted(&store);
    let only = store.snapshot_catalog().manifests["a"].segments[0].folder();
    for file in [format!("snapshots/a/{MANIFEST}"), format!("{only}/spog.perm")] {
        let path = Path::new(FOLDER).join(&file);
        let good = vfs.read(&path).unwrap();
        let mut bad = good.clone();
        bad[good.len() / 2] ^= 1;
        vfs.overwrite(&path, bad).unwrap();
        let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
        let report = check(&shared, Path::new(FOLDER), &cancel(), &mut |_| {}).unwrap();
        assert!(report.problems.iter().any(|problem| problem.file.contains(&file)), "{report:?}");
        vfs.overwrite(&path, good).unwrap();
    }
    crash_tests::assert_sound(&vfs);
}

/// What a run of the workload knows: snapshots that must be there, and those that may be.
#[derive(Default)]
struct Outcome {
    sure: BTreeMap<String, Model>,
    perhaps: BTreeMap<String, Model>,
}

/// Makes and drops snapshots between transactions and compactions.
fn run(vfs: &FaultVfs) -> Outcome {
    let mut outcome = Outcome::default();
    let Ok(store) = open(Arc::new(vfs.clone())) else { return outcome };
    for step in 0..4_u64 {
        let _ = commit(&store, step * 2);
        let name = format!("s{step}");
        let Ok(model) = crash_tests::read_all(&store.snapshot()) else { continue };
        let made = store.create_snapshot(&name, &cancel());
        if made.is_ok() {
            outcome.sure.insert(name, model);
        } else {
            outcome.perhaps.insert(name, model);
        }
        if step % 2 == 1 {
            let _ = compact(&store, &CompactOptions::default(), &Arc::new(LoadProgress::default()));
            let old = format!("s{}", step - 1);
            if let Some(model) = outcome.sure.remove(&old)
                && store.drop_snapshot(&old, &cancel()).is_err()
            {
                outcome.perhaps.insert(old, model);
            }
        }
    }
    outcome
}

fn check_after(after: &MemVfs, outcome: &Outcome, at_operation: u64) {
    let store = match Store::open(Arc::new(after.clone()), Path::new(FOLDER), 1 << 16) {
        Ok(store) => store,
        Err(StoreError::Missing { .. }) => return assert!(outcome.sure.is_empty()),
        Err(error) => panic!("operation {at_operation}: {error}"),
    };
    drop(store);
    crash_tests::assert_sound(after);
    // The next writer removes what nothing names, and nothing else.
    let store = open(Arc::new(after.clone())).unwrap();
    let found: BTreeSet<String> = store.snapshots().unwrap().into_iter().map(|s| s.name).collect();
    for name in outcome.sure.keys() {
        assert!(found.contains(name), "operation {at_operation}: {name} is lost");
    }
    for name in &found {
        let model = outcome.sure.get(name).or_else(|| outcome.perhaps.get(name)).unwrap();
        assert_eq!(at(&store, name), *model, "operation {at_operation}: {name}");
    }
    crash_tests::assert_sound(after);
    for name in &found {
        store.drop_snapshot(name, &cancel()).unwrap();
    }
    assert_eq!(segment_folders(after), store.version().segments.len(), "operation {at_operation}");
}

#[test]
fn faults() {
    for (fault, reads_count) in [(Fault::PowerCut, false), (Fault::Error, false), (Fault::DiskFull, false)] {
        let counting = FaultVfs::counting(MemVfs::new(), reads_count);
        assert_eq!(run(&counting).sure.len(), 2);
        for at_operation in 0..=counting.operations() {
            let vfs = FaultVfs::new(MemVfs::new(), fault, at_operation, reads_count);
            let outcome = run(&vfs);
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at_operation)] {
                check_after(&vfs.after_crash(kind), &outcome, at_operation);
            }
        }
    }
}

/// However many are asked for, only some stay open; those that were open are the same when they are asked for again.
#[test]
fn some_stay_open() {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    let mut expected = Vec::new();
    for step in 0..OPEN_MAX as u64 + 3 {
        commit(&store, step % 8).unwrap();
        let name = format!("s{step}");
        store.create_snapshot(&name, &cancel()).unwrap();
        expected.push((name, now(&store)));
    }
    compacted(&store);
    for store in [store.clone(), reader(&vfs)] {
        for _ in 0..2 {
            for (name, model) in &expected {
                assert_eq!(at(&store, name), *model, "{name}");
            }
        }
        let held = |name: &str| Arc::as_ptr(store.at(name).unwrap().version());
        assert_eq!(held("s5"), held("s5"));
        assert_eq!(store.snapshot_catalog().opened.len(), OPEN_MAX);
        let opened =
            store.snapshot_catalog().opened.iter().flat_map(|(_, version)| version.segments.to_vec()).count();
        assert!(store.snapshot_catalog().marks.iter().filter(|mark| mark.is_open()).count() <= opened);
    }
    let reader = reader(&vfs);
    reader.at("s5").unwrap();
    // One that nobody keeps open, one that is kept, and one that two readers opened, one after the other.
    let twice = store.at("s0").unwrap();
    for (name, _) in &expected[1..] {
        store.at(name).unwrap();
    }
    let again = store.at("s0").unwrap();
    for (name, _) in &expected {
        store.drop_snapshot(name, &cancel()).unwrap();
        assert!(store.at(name).is_err());
    }
    assert!(reader.at("s5").is_err() && reader.snapshot_catalog().opened.is_empty());
    for held in [twice, again] {
        assert_eq!(crash_tests::read_all(&held).unwrap(), expected[0].1);
    }
    assert_eq!(segment_folders(&vfs), store.version().segments.len());
    crash_tests::assert_sound(&vfs);
}

/// A database with a snapshot that names a segment which the current version does not.
fn with_a_snapshot_of_its_own(vfs: &FaultVfs) -> Store {
    let store = open(Arc::new(vfs.clone())).unwrap();
    commit(&store, 3).unwrap();
    store.create_snapshot("kept", &CancelToken::default()).unwrap();
    commit(&store, 7).unwrap();
    crate::compact::compact_from(&store, 0).unwrap();
    store
}

#[test]
fn a_snapshot_that_comes_back_after_a_power_cut_has_its_segments() {
    for kind in [Operation::Rename, Operation::SyncDir, Operation::RemoveDir] {
        for fault in [Fault::Error, Fault::PowerCut, Fault::LateError] {
            let vfs = FaultVfs::counting(MemVfs::new(), false);
            let store = with_a_snapshot_of_its_own(&vfs);
            let other = if fault == Fault::PowerCut { Fault::PowerCut } else { Fault::Outage(9) };
            vfs.fail_next(fault, kind);
            vfs.fail_next(other, Operation::SyncDir);
            let _ = store.drop_snapshot("kept", &CancelToken::default());
            drop(store);
            vfs.mend();
            // The next process finds no snapshot, and removes what nobody names.
            drop(open(Arc::new(vfs.clone())).unwrap());
            crash_tests::assert_sound(&vfs.after_crash(CrashKind::LoseAll));
        }
    }
}

/// The sync fails, and makes nothing durable any more that it was to.
#[test]
fn a_snapshot_that_is_dropped_again_is_gone_for_good() {
    let vfs = FaultVfs::counting(MemVfs::new(), false);
    let store = with_a_snapshot_of_its_own(&vfs);
    vfs.fail_next(Fault::LostSync, Operation::SyncDir);
    assert!(store.drop_snapshot("kept", &cancel()).is_err());
    store.drop_snapshot("kept", &cancel()).unwrap();
    let after = vfs.after_crash(CrashKind::LoseAll);
    crash_tests::assert_sound(&after);
    assert!(reader(&after).at("kept").is_err());
}

#[test]
fn a_snapshot_that_was_not_made_and_may_come_back_keeps_its_segments() {
    for nth in 0..12 {
        let vfs = FaultVfs::counting(MemVfs::new(), false);
        let store = open(Arc::new(vfs.clone())).unwrap();
        commit(&store, 3).unwrap();
        vfs.fail_nth(Fault::Outage(3), Operation::SyncDir, nth);
        let created = store.create_snapshot("new", &CancelToken::default());
        vfs.mend();
        commit(&store, 7).unwrap();
        crate::compact::compact_from(&store, 0).unwrap();
        let after = vfs.after_crash(CrashKind::LoseAll);
        crash_tests::assert_sound(&after);
        assert!(created.is_err() || open(Arc::new(after)).unwrap().at("new").is_ok());
    }
}

/// What is done to the manifest of a snapshot.
#[derive(Debug, Clone, Copy)]
enum Lost {
    Bit,
    Removed,
    /// In its place is that of another.
    OfAnother,
    /// In its place is that of the database.
    OfDatabase,
}

fn lose(vfs: &MemVfs, manifest: &Path, lost: Lost) {
    let mut bytes = vfs.read(manifest).unwrap();
    match lost {
        Lost::Bit => bytes[20] ^= 1,
        Lost::Removed => return vfs.remove(manifest).unwrap(),
        Lost::OfAnother => bytes = vfs.read(&folder_of(Path::new(FOLDER), "b").join(MANIFEST)).unwrap(),
        Lost::OfDatabase => bytes = vfs.read(&Path::new(FOLDER).join(MANIFEST)).unwrap(),
    }
    vfs.overwrite(manifest, bytes).unwrap();
}

#[test]
fn a_damaged_snapshot_stops_nobody_and_loses_nothing() {
    for lost in [Lost::Bit, Lost::Removed, Lost::OfAnother, Lost::OfDatabase] {
        check_lost(lost);
    }
}

fn check_lost(lost: Lost) {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    let mut kept = Vec::new();
    for (step, name) in [(0, "a"), (2, "b")] {
        commit(&store, step).unwrap();
        store.create_snapshot(name, &cancel()).unwrap();
        kept.push(now(&store));
        compacted(&store);
    }
    drop(store);
    let manifest = folder_of(Path::new(FOLDER), "a").join(MANIFEST);
    let good = vfs.read(&manifest).unwrap();
    lose(&vfs, &manifest, lost);
    let told = |store: &Store| {
        assert_eq!(store.damaged_snapshots().unwrap(), ["a"]);
        let error = store.at("a").unwrap_err().to_string();
        assert!(error.contains("damaged") && error.contains("lode snapshot drop"), "{error}");
        assert_eq!(at(store, "b"), kept[1]);
        assert_eq!(store.snapshots().unwrap().len(), 1);
    };
    let before = segment_folders(&vfs);
    let store = open(Arc::new(vfs.clone())).unwrap();
    told(&store);
    told(&reader(&vfs));
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let report = check(&shared, Path::new(FOLDER), &cancel(), &mut |_| {}).unwrap();
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert!(report.problems[0].file.contains("snapshots/a"), "{:?}", report.problems);
    // What there was when it was opened stays; what came since goes as ever.
    for step in [4, 6] {
        commit(&store, step).unwrap();
        compacted(&store);
    }
    store.drop_snapshot("b", &cancel()).unwrap();
    assert!(matches!(
        store.create_snapshot("a", &cancel()),
        Err(StoreError::Snapshot { what: SnapshotProblem::Exists, .. })
    ));
    assert_eq!(segment_folders(&vfs), before + 1);
    drop(store);
    let store = open(Arc::new(vfs.clone())).unwrap();
    let with_it = segment_folders(&vfs);
    assert!(with_it >= before);
    // Put right, it is there as it was.
    let mended = vfs.deep_copy();
    drop(mended.create(&manifest).unwrap());
    mended.overwrite(&manifest, good).unwrap();
    assert_eq!(at(&reader(&mended), "a"), kept[0]);
    store.drop_snapshot("a", &cancel()).unwrap();
    assert_eq!(store.damaged_snapshots().unwrap(), [""; 0]);
    assert_eq!(segment_folders(&vfs), store.version().segments.len());
    crash_tests::assert_sound(&vfs);
}

#[test]
fn a_snapshot_of_another_database_is_none_of_this_one() {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    commit(&store, 0).unwrap();
    store.create_snapshot("a", &cancel()).unwrap();
    drop(store);
    let path = folder_of(Path::new(FOLDER), "a").join(MANIFEST);
    let text = String::from_utf8(vfs.read(&path).unwrap()).unwrap();
    let mut other = Manifest::decode(text.as_bytes()).unwrap();
    other.database ^= 1;
    vfs.overwrite(&path, other.encode().into_bytes()).unwrap();
    assert_eq!(reader(&vfs).damaged_snapshots().unwrap(), ["a"]);
    assert_eq!(open(Arc::new(vfs.clone())).unwrap().damaged_snapshots().unwrap(), ["a"]);
}

/// Folders of other things, files, and what is left of snapshots that were not made or not dropped wholly.
#[test]
fn what_is_no_snapshot_is_not_taken_for_one() {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    commit(&store, 0).unwrap();
    store.create_snapshot("a", &cancel()).unwrap();
    drop(store);
    let snapshots = Path::new(FOLDER).join(SNAPSHOTS);
    vfs.create_dir_all(&snapshots.join("b~")).unwrap();
    drop(vfs.create(&snapshots.join("b~").join(MANIFEST)).unwrap());
    vfs.create_dir_all(&snapshots.join("what is this")).unwrap();
    drop(vfs.create(&snapshots.join(".hidden")).unwrap());
    crash_tests::assert_sound(&vfs);
    let store = open(Arc::new(vfs.clone())).unwrap();
    assert_eq!(store.snapshots().unwrap().len(), 1);
    assert_eq!(store.damaged_snapshots().unwrap(), [""; 0]);
    assert!(!vfs.exists(&snapshots.join("b~")) && vfs.exists(&snapshots.join("what is this")));
    store.create_snapshot("b", &cancel()).unwrap();
    // What is left of one does not hinder the next of its name.
    vfs.create_dir_all(&snapshots.join("b~").join("x")).unwrap();
    store.drop_snapshot("b", &cancel()).unwrap();
    vfs.create_dir_all(&snapshots.join("b~").join("x")).unwrap();
    store.create_snapshot("b", &cancel()).unwrap();
    crash_tests::assert_sound(&vfs);
}

/// Whatever comes between: also when the process ends while it takes back what it has begun.
#[test]
fn a_folder_without_its_manifest_never_has_the_name_of_a_snapshot() {
    let kinds =
        [Operation::CreateDir, Operation::Create, Operation::Write, Operation::Sync, Operation::SyncDir];
    for kind in kinds {
        let vfs = FaultVfs::counting(MemVfs::new(), false);
        let store = open(Arc::new(vfs.clone())).unwrap();
        commit(&store, 3).unwrap();
        vfs.fail_next(Fault::Error, kind);
        vfs.fail_nth(Fault::Error, Operation::Rename, 1);
        store.create_snapshot("new", &cancel()).unwrap_err();
        for after in [vfs.inner().deep_copy(), vfs.after_crash(CrashKind::LoseAll)] {
            crash_tests::assert_sound(&after);
            assert_eq!(reader(&after).damaged_snapshots().unwrap(), [""; 0], "{kind:?}");
        }
        vfs.mend();
        store.create_snapshot("new", &cancel()).unwrap();
        assert!(reader(vfs.inner()).at("new").is_ok());
    }
}
