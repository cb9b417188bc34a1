//! The end of a log, seen from the database: damage anywhere in one that was closed is told, a torn tail is told as such, and
//! versions that somebody may have seen are never made again.

use crate::check::{CheckReport, Remedy, check};
use crate::crash_tests::contents;
use crate::log::mark_file;
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{Model, apply, commit, open};
use crate::{Durability, Maintenance, Store, StoreError, WriteOptions};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Small transactions.
const STEPS: [u64; 3] = [0, 1, 2];

fn log() -> PathBuf {
    Path::new(FOLDER).join("log-000001")
}

/// A database with a log, closed, and what it holds.
fn database() -> (MemVfs, Model) {
    let (vfs, mut model) = (MemVfs::new(), Model::new());
    let store = open(Arc::new(vfs.clone())).unwrap();
    for step in STEPS {
        commit(&store, step).unwrap();
        apply(&mut model, step);
    }
    (vfs, model)
}

fn checked(vfs: &MemVfs) -> CheckReport {
    let vfs: Arc<dyn Vfs> = Arc::new(vfs.clone());
    check(&vfs, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap()
}

fn assert_told(vfs: &MemVfs, context: &str) {
    let found = contents(vfs);
    assert!(matches!(found, Err(StoreError::Corruption { .. })), "{context}: {found:?}");
    assert!(open(Arc::new(vfs.clone())).is_err(), "{context}");
    assert!(!checked(vfs).problems.is_empty(), "{context}");
}

#[test]
fn every_flipped_bit_and_every_cut_of_a_closed_log_is_told() {
    let (vfs, model) = database();
    assert_eq!(contents(&vfs).unwrap(), model);
    assert_eq!(checked(&vfs), CheckReport { quads: model.len() as u64, ..CheckReport::default() });
    let good = vfs.read(&log()).unwrap();
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        vfs.overwrite(&log(), bad).unwrap();
        assert_told(&vfs, &format!("bit {bit}"));
    }
    for length in 0..good.len() {
        vfs.overwrite(&log(), good[..length].to_vec()).unwrap();
        assert_told(&vfs, &format!("cut at {length}"));
    }
    for start in (0..good.len()).step_by(8) {
        let mut bad = good.clone();
        bad[start..].fill(0);
        vfs.overwrite(&log(), bad).unwrap();
        assert_told(&vfs, &format!("zeros from {start}"));
    }
}

#[test]
fn a_damaged_mark_is_told_and_mended_by_the_next_commit() {
    let (vfs, mut model) = database();
    let mark = mark_file(&log());
    let good = vfs.read(&mark).unwrap();
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        vfs.overwrite(&mark, bad).unwrap();
        assert_eq!(contents(&vfs).unwrap(), model, "bit {bit}");
        assert_eq!(checked(&vfs).problems.len(), 1, "bit {bit}");
    }
    let store = open(Arc::new(vfs.clone())).unwrap();
    assert!(store.found_log().unwrap().note().unwrap().to_string().contains("end mark is damaged"));
    commit(&store, 4).unwrap();
    apply(&mut model, 4);
    drop(store);
    assert_eq!(contents(&vfs).unwrap(), model);
    assert_eq!(checked(&vfs).problems, []);
}

#[test]
fn a_torn_tail_is_told_as_such() {
    let (vfs, model) = database();
    let mut bytes = vfs.read(&log()).unwrap();
    bytes.extend_from_slice(&[7; 13]);
    vfs.overwrite(&log(), bytes).unwrap();
    assert_eq!(contents(&vfs).unwrap(), model);
    let report = checked(&vfs);
    assert_eq!((report.problems.len(), report.notes.len()), (0, 1));
    assert!(report.notes[0].contains("13 bytes after the last whole record"), "{report:?}");
    let store = open(Arc::new(vfs.clone())).unwrap();
    assert_eq!(store.found_log().unwrap().end.ignored_bytes, 13);
    drop(store);
    let store = open(Arc::new(vfs.clone())).unwrap();
    assert!(store.found_log().unwrap().note().is_none(), "it has been cut off");
}

#[test]
fn a_served_store_marks_its_log_when_it_is_idle() {
    for durability in [Durability::Sync, Durability::Batch(Duration::from_millis(5))] {
        let vfs = MemVfs::new();
        let options = WriteOptions { durability, ..WriteOptions::default() };
        let store = Store::open_for_writing(Arc::new(vfs.clone()), Path::new(FOLDER), 0, options).unwrap();
        let maintenance = Maintenance::start(&store, Box::new(|_| {})).unwrap();
        for step in STEPS {
            commit(&store, step).unwrap();
        }
        let end = std::time::Instant::now() + Duration::from_secs(60);
        let is_marked = || {
            let end = vfs.read(&log()).unwrap().len() as u64;
            vfs.read(&mark_file(&log())).is_ok_and(|mark| mark[16..24] == end.to_le_bytes())
        };
        while !is_marked() {
            assert!(std::time::Instant::now() < end, "no mark");
            std::thread::sleep(Duration::from_millis(5));
        }
        let left = vfs.deep_copy();
        let mut bytes = left.read(&log()).unwrap();
        let last = bytes.len() - 9;
        bytes[last] ^= 1;
        left.overwrite(&log(), bytes).unwrap();
        assert_told(&left, "the last record of a killed server");
        drop(maintenance);
    }
}

/// What a killed process leaves: no lock, and nothing that is done at the end.
fn killed(store: Store, vfs: &MemVfs) -> MemVfs {
    let left = vfs.deep_copy();
    drop(store);
    left
}

#[test]
fn versions_that_were_acknowledged_are_never_made_again() {
    let open = |vfs: &MemVfs| {
        let durability = Durability::Batch(Duration::from_secs(3600));
        let options = WriteOptions { durability, ..WriteOptions::default() };
        Store::open_for_writing(Arc::new(vfs.clone()), Path::new(FOLDER), 0, options).unwrap()
    };
    let mut vfs = MemVfs::new();
    let (mut seen, mut step) = (0, 0);
    for round in 0..12 {
        let store = open(&vfs);
        assert!(round == 0 || store.version().number >= seen || round % 3 != 0);
        for _ in 0..3 - round % 4 {
            commit(&store, step).unwrap();
            let version = store.version().number;
            assert!(version > seen, "round {round}: version {version} after {seen}");
            (seen, step) = (version, step + 4);
        }
        vfs = match round % 3 {
            0 => vfs.after_crash(CrashKind::LoseAll),
            1 => killed(store, &vfs),
            _ => {
                drop(store);
                vfs
            }
        };
    }
    // After a clean end there is nothing to skip.
    let (vfs, _) = database();
    let before = open(&vfs).version().number;
    let store = open(&vfs);
    commit(&store, 4).unwrap();
    assert_eq!(store.version().number, before + 1);
}

#[test]
fn what_a_log_begins_with_is_marked() {
    let (vfs, model) = database();
    let store = open(Arc::new(vfs.clone())).unwrap();
    let guard = crate::write_guard::WriteGuard::lock(&store, &CancelToken::default()).unwrap();
    let segments = store.version().manifest.segments.clone();
    guard.replace_segments(segments, &|id| Some(id)).unwrap();
    drop(guard);
    let left = vfs.deep_copy();
    drop(store);
    assert_eq!(contents(&left).unwrap(), model);
    let log = Path::new(FOLDER).join("log-000002");
    let good = left.read(&log).unwrap();
    for length in 0..good.len() {
        left.overwrite(&log, good[..length].to_vec()).unwrap();
        assert_told(&left, &format!("cut at {length}"));
    }
}

/// Damage to the log and its mark at once cannot be seen where a process may have been killed; but it is told that it cannot.
#[test]
fn a_log_without_its_end_mark_is_told_to_be_unproved() {
    let (vfs, model) = database();
    vfs.remove(&mark_file(&log())).unwrap();
    assert_eq!(contents(&vfs).unwrap(), model);
    let good = vfs.read(&log()).unwrap();
    for length in 0..=good.len() {
        vfs.overwrite(&log(), good[..length].to_vec()).unwrap();
        let report = checked(&vfs);
        let is_told = report.notes.iter().any(|note| note.contains("no end mark says that the log ends"));
        assert!(is_told || report.problems.len() == 1, "cut at {length}: {report:?}");
    }
    // Once it has been closed, there is a mark again.
    vfs.overwrite(&log(), good).unwrap();
    drop(open(Arc::new(vfs.clone())).unwrap());
    assert_eq!(checked(&vfs).notes, [""; 0]);
    // A mark that is older than the log.
    let old = vfs.read(&mark_file(&log())).unwrap();
    commit(&open(Arc::new(vfs.clone())).unwrap(), 4).unwrap();
    assert_eq!(checked(&vfs).notes, [""; 0]);
    vfs.overwrite(&mark_file(&log()), old).unwrap();
    assert_eq!((checked(&vfs).notes.len(), checked(&vfs).problems.len()), (1, 0));
}

#[test]
fn each_problem_is_told_with_what_can_be_done() {
    let (vfs, _) = database();
    let folder = Path::new(FOLDER);
    open(Arc::new(vfs.clone())).unwrap().create_snapshot("s", &CancelToken::default()).unwrap();
    commit(&open(Arc::new(vfs.clone())).unwrap(), 4).unwrap();
    let manifest = crate::manifest::Manifest::read(&vfs, folder).unwrap();
    let log = crate::manifest::log_file(manifest.log);
    let segment = format!("{}/spog.perm", manifest.segments[0].folder());
    let remedy = |file: &str| {
        let lost = vfs.deep_copy();
        lost.remove(&folder.join(file)).unwrap();
        let report = checked(&lost);
        assert!(!report.problems.is_empty(), "{file}");
        report.problems[0].remedy.clone()
    };
    assert_eq!(remedy("MANIFEST"), Remedy::Salvage);
    assert_eq!(remedy(&log), Remedy::Salvage);
    assert_eq!(remedy(&segment), Remedy::Restore);
    assert_eq!(remedy("snapshots/s/MANIFEST"), Remedy::DropSnapshot("s".to_owned()));
    vfs.overwrite(&folder.join("MANIFEST.copy"), vec![1]).unwrap();
    assert_eq!(checked(&vfs).problems[0].remedy, Remedy::Write);
    drop(vfs.create(&folder.join("BACKUP")).unwrap());
    assert_eq!(checked(&vfs).problems[0].remedy, Remedy::BackUp);
}
