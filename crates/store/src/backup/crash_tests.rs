//! Power cuts, errors and full disks at every operation of backups and restores: the backup is the old one or the new one, or
//! there is none, and the database is as it was.

use super::tests::{
    BACKUP_FOLDER, back_up, database, names, restore_to, settle, shared_files, sound_contents,
};
use super::*;
use crate::crash_tests::{NEW, try_load};
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{commit, open};
use lode_base::fault_vfs::{Fault, FaultVfs, Operation};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use std::collections::BTreeSet;

/// A database, and perhaps an older backup of it.
struct Case {
    before: MemVfs,
    /// What the backup may hold after one that failed; none at all only where there was none.
    old: Vec<BTreeSet<String>>,
    new: BTreeSet<String>,
}

fn case(vfs: &MemVfs, mut old: Vec<BTreeSet<String>>) -> Case {
    old.extend(sound_contents(vfs, BACKUP_FOLDER).ok());
    Case { before: vfs.deep_copy(), old, new: sound_contents(vfs, FOLDER).unwrap() }
}

/// Without a backup; where only the log has grown; where there is another log; where another manifest has the same log.
fn cases() -> Vec<Case> {
    let vfs = database();
    let mut cases = vec![case(&vfs, Vec::new())];
    back_up(Arc::new(vfs.clone()), true).unwrap();
    let store = open(Arc::new(vfs.clone())).unwrap();
    commit(&store, 4).unwrap();
    cases.push(case(&vfs, Vec::new()));
    settle(&store);
    cases.push(case(&vfs, Vec::new()));
    back_up(Arc::new(vfs.clone()), true).unwrap();
    drop(store);
    try_load(Arc::new(vfs.clone()), NEW, 1 << 30).unwrap();
    // The version of that manifest, which is older than the new one and newer than the old one.
    let between = sound_contents(&vfs, FOLDER).unwrap();
    commit(&open(Arc::new(vfs.clone())).unwrap(), 5).unwrap();
    cases.push(case(&vfs, vec![between]));
    cases
}

fn check_after(case: &Case, after: &MemVfs, is_done: bool, at: u64) {
    match sound_contents(after, BACKUP_FOLDER) {
        Err(StoreError::Missing { .. } | StoreError::NoBackup { .. }) => {
            assert!(case.old.is_empty() && !is_done, "operation {at}")
        }
        Err(error) => panic!("operation {at}: {error}"),
        Ok(found) => assert!(found == case.new || (!is_done && case.old.contains(&found)), "operation {at}"),
    }
    assert_eq!(sound_contents(after, FOLDER).unwrap(), case.new, "operation {at}");
    // The next one puts everything right, and leaves nothing lying about.
    back_up(Arc::new(after.clone()), true).unwrap();
    assert_eq!(sound_contents(after, BACKUP_FOLDER).unwrap(), case.new, "operation {at}");
    let (here, there) = [FOLDER, BACKUP_FOLDER].map(|folder| names(after, folder)).into();
    // A lock and a copy of the manifest here, the mark of a backup there.
    assert_eq!(here.len(), there.len() + 1, "operation {at}: {there:?}");
}

#[test]
fn power_cuts_in_backups() {
    for case in cases() {
        for link in [false, true] {
            let counting = FaultVfs::counting(case.before.deep_copy(), false);
            back_up(Arc::new(counting.clone()), link).unwrap();
            for at in 0..=counting.operations() {
                let vfs = FaultVfs::new(case.before.deep_copy(), Fault::PowerCut, at, false);
                let is_done = back_up(Arc::new(vfs.clone()), link).is_ok();
                for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Scattered(at ^ 0x5A5A)] {
                    check_after(&case, &vfs.after_crash(kind), is_done, at);
                }
            }
        }
    }
}

#[test]
fn errors_and_full_disks_in_backups() {
    for case in cases() {
        for (fault, reads_count) in [(Fault::Error, true), (Fault::DiskFull, false)] {
            let counting = FaultVfs::counting(case.before.deep_copy(), reads_count);
            back_up(Arc::new(counting.clone()), true).unwrap();
            for at in 0..counting.operations() {
                let vfs = FaultVfs::new(case.before.deep_copy(), fault, at, reads_count);
                let is_done = back_up(Arc::new(vfs.clone()), true).is_ok();
                check_after(&case, &vfs.after_crash(CrashKind::LoseAll), is_done, at);
                check_after(&case, vfs.inner(), is_done, at);
            }
        }
    }
}

#[test]
fn faults_in_restores() {
    let before = database();
    back_up(Arc::new(before.clone()), false).unwrap();
    let expected = sound_contents(&before, FOLDER).unwrap();
    for (fault, reads_count) in [(Fault::PowerCut, false), (Fault::Error, true), (Fault::DiskFull, false)] {
        let counting = FaultVfs::counting(before.deep_copy(), reads_count);
        restore_to(Arc::new(counting.clone()), "/new", true).unwrap();
        for at in 0..=counting.operations() {
            let vfs = FaultVfs::new(before.deep_copy(), fault, at, reads_count);
            let restored = restore_to(Arc::new(vfs.clone()), "/new", true);
            let mut found = vec![vfs.after_crash(CrashKind::LoseAll), vfs.after_crash(CrashKind::Torn(at))];
            if fault != Fault::PowerCut {
                found.push(vfs.inner().clone());
                let in_doubt = matches!(restored, Err(StoreError::InDoubt { .. }));
                let is_gone = !vfs.inner().exists(Path::new("/new"));
                assert!(
                    restored.is_ok() || in_doubt || is_gone || fault == Fault::Error,
                    "{fault:?} at {at}"
                );
            }
            for after in found {
                match sound_contents(&after, "/new") {
                    Err(
                        StoreError::Missing { .. }
                        | StoreError::RestoreUnfinished { .. }
                        | StoreError::NoManifest { .. },
                    ) => {
                        assert!(restored.is_err(), "{fault:?} at {at}");
                    }
                    found => assert_eq!(found.unwrap(), expected, "{fault:?} at {at}"),
                }
                assert_eq!(sound_contents(&after, BACKUP_FOLDER).unwrap(), expected);
            }
        }
    }
}

#[test]
fn a_link_that_is_made_and_reports_a_failure_is_not_written_through() {
    let vfs = FaultVfs::counting(database(), false);
    let expected = sound_contents(vfs.inner(), FOLDER).unwrap();
    vfs.fail_next(Fault::LateError, Operation::Link);
    // The copy that takes the place of the link fails as well.
    vfs.fail_next(Fault::DiskFull, Operation::Write);
    back_up(Arc::new(vfs.clone()), true).unwrap_err();
    assert_eq!(sound_contents(vfs.inner(), FOLDER).unwrap(), expected);
    vfs.mend();
    vfs.fail_next(Fault::LateError, Operation::Link);
    back_up(Arc::new(vfs.clone()), true).unwrap();
    for folder in [FOLDER, BACKUP_FOLDER] {
        assert_eq!(sound_contents(vfs.inner(), folder).unwrap(), expected);
    }
}

/// A backup whose first attempt fails where a description has just been written.
fn check_second_attempt(fault: Fault, kind: Operation, nth: u64) {
    let vfs = FaultVfs::counting(database(), false);
    let expected = sound_contents(vfs.inner(), FOLDER).unwrap();
    vfs.fail_nth(fault, kind, nth);
    if back_up(Arc::new(vfs.clone()), false).is_err() {
        vfs.mend();
        back_up(Arc::new(vfs.clone()), false).unwrap();
    }
    let after = vfs.after_crash(CrashKind::LoseAll);
    assert_eq!(sound_contents(&after, BACKUP_FOLDER).unwrap(), expected, "{kind:?} {nth}");
}

#[test]
fn a_description_that_was_not_made_durable_is_written_again() {
    for nth in 0..30 {
        check_second_attempt(Fault::LostSync, Operation::Sync, nth);
        check_second_attempt(Fault::Error, Operation::SyncDir, nth);
    }
}

/// A copy takes the place of links: at every moment the backup is whole, and when it is done it shares nothing.
#[test]
fn power_cuts_and_errors_where_copies_take_the_place_of_links() {
    let linked = || {
        let vfs = FaultVfs::counting(database(), false);
        back_up(Arc::new(vfs.clone()), true).unwrap();
        vfs
    };
    let counting = linked();
    let before = counting.operations();
    back_up(Arc::new(counting.clone()), false).unwrap();
    let (after, expected) = (counting.operations(), sound_contents(counting.inner(), FOLDER).unwrap());
    for fault in [Fault::PowerCut, Fault::Error, Fault::LateError] {
        for at in before..=after {
            let vfs = linked();
            vfs.fail_at(fault, at);
            let is_done = back_up(Arc::new(vfs.clone()), false).is_ok();
            let crashes = [CrashKind::KeepAll, CrashKind::LoseAll, CrashKind::Torn(at)];
            for left in crashes.map(|kind| vfs.after_crash(kind)) {
                for folder in [FOLDER, BACKUP_FOLDER] {
                    assert_eq!(sound_contents(&left, folder).unwrap(), expected, "{fault:?}, operation {at}");
                }
                assert!(!is_done || shared_files(&left) == 0, "{fault:?}, operation {at}");
                back_up(Arc::new(left.clone()), false).unwrap();
                assert_eq!(shared_files(&left), 0, "{fault:?}, operation {at}");
                for folder in [FOLDER, BACKUP_FOLDER] {
                    assert_eq!(sound_contents(&left, folder).unwrap(), expected, "{fault:?}, operation {at}");
                }
            }
        }
    }
}
