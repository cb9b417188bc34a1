//! Garbage collection removes what no kept version needs, and only after a while.

use crate::*;
use lode_remote::{CollectOptions, Wanted, collect, list_versions};
use std::time::Duration;

const AT_ONCE: CollectOptions = CollectOptions { keep: 1, grace: Duration::ZERO };
const LATER: CollectOptions = CollectOptions { keep: 1, grace: Duration::from_secs(3600) };

fn compact(vfs: &MemVfs) {
    let progress = Arc::new(LoadProgress::default());
    lode_store::compact(open(&shared(vfs)).store(), &lode_store::CompactOptions::default(), &progress)
        .unwrap();
}

/// Folders of segments in the store.
fn segments(target: &MemVfs) -> usize {
    let names = store(target).list("").unwrap().unwrap();
    names.iter().filter(|name| name.starts_with("segment-")).count()
}

fn published() -> (MemVfs, MemVfs) {
    let (vfs, target) = (database(60), MemVfs::new());
    for number in 0..3 {
        insert(&open(&shared(&vfs)), number);
        publish(&vfs, &store(&target));
        compact(&vfs);
    }
    publish(&vfs, &store(&target));
    (vfs, target)
}

#[test]
fn what_no_version_needs_goes_after_a_while() {
    let (vfs, target) = published();
    let newest = newest_contents(&target);
    let before = segments(&target);
    let report = collect(&store(&target), &LATER).unwrap();
    assert_eq!((report.versions, report.versions_removed, report.removed), (1, 3, 0));
    assert!(report.condemned > 0 && segments(&target) == before);
    let report = collect(&store(&target), &LATER).unwrap();
    assert_eq!((report.versions_removed, report.removed), (0, 0));
    let report = collect(&store(&target), &AT_ONCE).unwrap();
    assert!(report.removed > 0 && report.condemned == 0);
    assert_eq!(segments(&target), 1);
    assert_eq!(newest_contents(&target), newest);
    assert_eq!(collect(&store(&target), &AT_ONCE).unwrap().removed, 0);
    insert(&open(&shared(&vfs)), 9);
    assert_eq!(publish(&vfs, &store(&target)).number, 5);
}

#[test]
fn named_versions_stay() {
    let (vfs, target) = published();
    let named = PublishOptions { name: Some("kept".to_owned()), ..PublishOptions::default() };
    let number = try_publish(&vfs, &store(&target), &named).unwrap().number;
    let then = newest_contents(&target);
    for number in 5..8 {
        insert(&open(&shared(&vfs)), number);
        compact(&vfs);
        publish(&vfs, &store(&target));
    }
    collect(&store(&target), &CollectOptions { keep: 2, ..AT_ONCE }).unwrap();
    let numbers: Vec<u64> =
        list_versions(&store(&target)).unwrap().iter().map(|version| version.number).collect();
    assert_eq!(numbers, [number, number + 2, number + 3]);
    let options = ReadOptions { wanted: Wanted::of("kept"), ..ReadOptions::default() };
    assert_eq!(published_contents(&read(Arc::new(store(&target)), &options).unwrap()).unwrap(), then);
}

/// What is condemned and published again comes anew, whoever removes it meanwhile.
#[test]
fn what_is_published_again_is_there() {
    let (vfs, target) = (database(60), MemVfs::new());
    publish(&vfs, &store(&target));
    // A publication that was killed before its manifest, and before the copy of it: what it wrote is found again.
    let other = MemVfs::new();
    insert(&open(&shared(&vfs)), 1);
    publish(&vfs, &store(&other));
    let (manifest, latest) =
        (Path::new(STORE).join(manifest_key(2)), Path::new(STORE).join("manifest/latest"));
    let copy = target.read(&latest).unwrap();
    let undo = || {
        target.remove(&manifest).unwrap();
        target.overwrite(&latest, copy.clone()).unwrap();
    };
    publish(&vfs, &store(&target));
    undo();
    let again = publish(&vfs, &store(&target));
    assert!(again.number == 2 && again.bytes_found > 0 && again.objects < 3, "{again:?}");
    // The same, and a collection has condemned it.
    undo();
    assert!(collect(&store(&target), &LATER).unwrap().condemned > 0);
    let again = publish(&vfs, &store(&target));
    assert!(again.number == 2 && again.bytes_found == 0 && again.objects > 3, "{again:?}");
    collect(&store(&target), &AT_ONCE).unwrap();
    assert_eq!(newest_contents(&target), contents(&open(&shared(&vfs))).unwrap());
}

#[test]
fn a_reader_whose_version_was_removed_is_told() {
    let (_, target) = published();
    let options = ReadOptions { wanted: Wanted::Number(1), ..ReadOptions::default() };
    let dropped = read(Arc::new(store(&target)), &options);
    collect(&store(&target), &AT_ONCE).unwrap();
    drop(dropped);
    let error = read(Arc::new(store(&target)), &options).unwrap_err();
    assert!(matches!(error, RemoteError::NoVersion { .. }), "{error}");
}

/// What was published is found, collected around and gone on from, also where somebody has removed the newest manifests.
#[test]
fn the_newest_version_is_that_of_the_copy_where_its_manifest_was_removed() {
    let (vfs, target) = published();
    let all = newest_contents(&target);
    let newest = newest_copy(&store(&target)).number;
    let manifest = |number: u64| Path::new(STORE).join(manifest_key(number));
    let gone = |number: u64| target.remove(&manifest(number)).unwrap();
    gone(newest);
    // A list would say that the one before is the newest.
    assert_eq!(newest_contents(&target), all);
    let options = ReadOptions { wanted: Wanted::Number(newest), ..ReadOptions::default() };
    assert_eq!(published_contents(&read(Arc::new(store(&target)), &options).unwrap()).unwrap(), all);
    let other = ReadOptions { wanted: Wanted::Number(newest + 1), ..ReadOptions::default() };
    assert!(matches!(read(Arc::new(store(&target)), &other), Err(RemoteError::NoVersion { .. })));
    // Who collects keeps what it needs, and puts it back.
    assert_eq!(collect(&store(&target), &AT_ONCE).unwrap().versions, 1);
    assert_eq!((newest_contents(&target), segments(&target)), (all.clone(), 1));
    assert_eq!(published_contents(&read(Arc::new(store(&target)), &options).unwrap()).unwrap(), all);
    // Who publishes, too; there are no others by now.
    gone(newest);
    assert_eq!(newest_contents(&target), all);
    let again = publish(&vfs, &store(&target));
    assert!(again.was_there && again.number == newest, "{again:?}");
    gone(newest);
    insert(&open(&shared(&vfs)), 77);
    assert_eq!(publish(&vfs, &store(&target)).number, newest + 1);
    let numbers: Vec<u64> =
        list_versions(&store(&target)).unwrap().iter().map(|version| version.number).collect();
    assert_eq!(numbers, [newest, newest + 1]);
    // A copy that tells nothing is as none.
    target.overwrite(&Path::new(STORE).join("manifest/latest"), b"nothing".to_vec()).unwrap();
    assert_eq!(newest_contents(&target), contents(&open(&shared(&vfs))).unwrap());
}
