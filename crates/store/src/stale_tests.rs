//! Readers whose files another process has replaced, with and without descriptors that keep them.

use crate::compact::{CompactOptions, compact};
use crate::load::{LoadOptions, Source, load};
use crate::store::Store;
use crate::{Snapshot, StoreError};
use lode_base::file_cache;
use lode_base::real_vfs::RealVfs;
use lode_packed::Order;
use std::path::Path;
use std::sync::Arc;

fn load_one(store: &Store, number: u32) {
    let text = format!("<http://e/s{number}> <http://e/p> \"{number}\" .\n");
    let options = LoadOptions { threads: 1, ..LoadOptions::default() };
    load(store, vec![Source::bytes("x.nt", text)], options, &Arc::default()).unwrap();
}

fn rows(snapshot: &Snapshot) -> Result<usize, StoreError> {
    let mut columns = Default::default();
    snapshot.scan(Order::Spog, &[], 0b1111)?.next(usize::MAX, &mut columns)
}

/// A reader without a block cache, opened before the segments are compacted as by another process.
fn reader_of_replaced(folder: &Path) -> Store {
    let writer = Store::create_or_open(RealVfs::shared(), folder, 0).unwrap();
    (0..3).for_each(|number| load_one(&writer, number));
    let reader = Store::open(RealVfs::shared(), folder, 0).unwrap();
    compact(&writer, &CompactOptions { threads: 1, ..CompactOptions::default() }, &Arc::default()).unwrap();
    reader
}

#[test]
fn a_reader_without_descriptors_is_told_that_there_is_another_version() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("db");
    let reader = reader_of_replaced(&folder);
    // The cache is that of the process: other tests may open files meanwhile, which is nothing to them.
    while file_cache::of_process().close(usize::MAX) > 0 {}
    let error = rows(&reader.snapshot()).unwrap_err();
    assert!(error.is_stale(), "{error}");
    assert!(error.to_string().contains("another process has replaced this version"), "{error}");
    let again = Store::open(RealVfs::shared(), &folder, 0).unwrap();
    assert_eq!(rows(&again.snapshot()).unwrap(), 3);
}

#[test]
fn files_of_an_old_version_are_opened_again_in_the_process_that_replaced_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(RealVfs::shared(), &folder.path().join("db"), 0).unwrap();
    (0..3).for_each(|number| load_one(&store, number));
    let before = store.snapshot();
    compact(&store, &CompactOptions { threads: 1, ..CompactOptions::default() }, &Arc::default()).unwrap();
    for _ in 0..3 {
        while file_cache::of_process().close(usize::MAX) > 0 {}
        assert_eq!(rows(&before).unwrap(), 3);
        assert_eq!(rows(&store.snapshot()).unwrap(), 3);
    }
}
