//! Power cuts, errors and full disks at every operation of a publication and of a garbage collection: readers find the old version or the new one,
//! whole, and the next attempt puts everything right.

use crate::*;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::CrashKind;
use lode_remote::{CollectOptions, collect};
use std::time::Duration;

fn faulty(vfs: &FaultVfs) -> FolderStore {
    FolderStore::new(Arc::new(vfs.clone()), Path::new(STORE))
}

/// What a new process finds, and that it can go on.
fn check(vfs: &MemVfs, after: &MemVfs, old: Option<&[String]>, new: &[String], is_done: bool, at: u64) {
    match read(Arc::new(store(after)), &ReadOptions::default()) {
        Ok(published) => {
            let found = published_contents(&published).unwrap();
            assert!(found == new || (!is_done && old.is_some_and(|old| found == old)), "operation {at}");
        }
        Err(RemoteError::Unpublished { .. }) => assert!(old.is_none() && !is_done, "operation {at}"),
        Err(error) => panic!("operation {at}: {error}"),
    }
    publish(vfs, &store(after));
    assert_eq!(newest_contents(after), new, "operation {at}");
    // Also for who begins at the copy.
    let copy = newest_copy(&store(after));
    assert_eq!(Some(copy), lode_remote::newest(&store(after)).unwrap(), "operation {at}");
}

fn faults_in_publications(fault: Fault, reads_count: bool) {
    let vfs = database(60);
    let first = contents(&open(&shared(&vfs))).unwrap();
    let empty = MemVfs::new();
    let one = MemVfs::new();
    publish(&vfs, &store(&one));
    let cases = [(empty, None, vfs.deep_copy(), first.clone()), {
        insert(&open(&shared(&vfs)), 1);
        let new = contents(&open(&shared(&vfs))).unwrap();
        (one, Some(first), vfs.deep_copy(), new)
    }];
    for (before, old, vfs, new) in cases {
        // So that what the database itself does is done.
        publish(&vfs, &store(&MemVfs::new()));
        let counting = FaultVfs::counting(before.deep_copy(), reads_count);
        publish(&vfs, &faulty(&counting));
        for at in 0..=counting.operations() {
            let faulted = FaultVfs::new(before.deep_copy(), fault, at, reads_count);
            let result = try_publish(&vfs, &faulty(&faulted), &PublishOptions::default());
            let kinds = [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Scattered(at ^ 0x5A5A)];
            for after in kinds.map(|kind| faulted.after_crash(kind)) {
                check(&vfs, &after, old.as_deref(), &new, result.is_ok(), at);
            }
            if fault != Fault::PowerCut {
                check(&vfs, &faulted.inner().deep_copy(), old.as_deref(), &new, result.is_ok(), at);
            }
        }
    }
}

#[test]
fn power_cuts_in_publications() {
    faults_in_publications(Fault::PowerCut, false);
}

#[test]
fn errors_in_publications() {
    faults_in_publications(Fault::Error, true);
    faults_in_publications(Fault::LateError, false);
}

#[test]
fn full_disks_in_publications() {
    faults_in_publications(Fault::DiskFull, false);
}

#[test]
fn power_cuts_in_collections() {
    let (vfs, target) = (database(60), MemVfs::new());
    for number in 0..4 {
        insert(&open(&shared(&vfs)), number);
        let options =
            PublishOptions { name: (number == 1).then(|| "kept".to_owned()), ..PublishOptions::default() };
        try_publish(&vfs, &store(&target), &options).unwrap();
        let database = open(&shared(&vfs));
        let progress = Arc::new(LoadProgress::default());
        lode_store::compact(database.store(), &lode_store::CompactOptions::default(), &progress).unwrap();
    }
    let newest = newest_contents(&target);
    let options = CollectOptions { keep: 1, grace: Duration::ZERO };
    let counting = FaultVfs::counting(target.deep_copy(), false);
    let report = collect(&faulty(&counting), &options).unwrap();
    assert!(report.versions_removed == 2 && report.removed > 0, "{report:?}");
    for at in 0..=counting.operations() {
        let faulted = FaultVfs::new(target.deep_copy(), Fault::PowerCut, at, false);
        let _ = collect(&faulty(&faulted), &options);
        for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Scattered(at)] {
            let after = faulted.after_crash(kind);
            assert_eq!(newest_contents(&after), newest, "operation {at}");
            // Each version that is listed is whole, or goes with the next collection.
            collect(&store(&after), &options).unwrap();
            for version in lode_remote::list_versions(&store(&after)).unwrap() {
                let options = ReadOptions {
                    wanted: lode_remote::Wanted::Number(version.number),
                    ..ReadOptions::default()
                };
                published_contents(&read(Arc::new(store(&after)), &options).unwrap()).unwrap();
            }
            assert_eq!(lode_remote::list_versions(&store(&after)).unwrap().len(), 2, "operation {at}");
        }
    }
}
