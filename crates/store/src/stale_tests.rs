//! Readers whose files another process has replaced, with and without descriptors that keep them.

use crate::compact::{CompactOptions, compact};
use crate::load::{LoadOptions, Source, load};
use crate::store::Store;
use crate::{OpenFiles, Snapshot, StoreError};
use lode_base::file_cache;
use lode_base::real_vfs::RealVfs;
use lode_packed::Order;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Held by tests that close all files of the process, and by those that rely on theirs.
static DESCRIPTORS: Mutex<()> = Mutex::new(());

/// Quads of a load: so many that files are too large to be held in memory as a whole.
const QUADS: u32 = 6000;

fn load_one(store: &Store, number: u32) {
    let quad = |quad: u32| {
        let mixed = (number * QUADS + quad).wrapping_mul(0x9E37_79B9);
        format!("<http://e/s{number}-{quad}> <http://e/p> \"{mixed}\" .\n")
    };
    let text: String = (0..QUADS).map(quad).collect();
    let options = LoadOptions { threads: 1, ..LoadOptions::default() };
    load(store, vec![Source::bytes("x.nt", text)], options, &Arc::default()).unwrap();
}

/// Rows of three loads.
const ALL: usize = 3 * QUADS as usize;

fn rows(snapshot: &Snapshot) -> Result<usize, StoreError> {
    let mut columns = Default::default();
    let mut scan = snapshot.scan(Order::Spog, &[], 0b1111)?;
    let mut rows = 0;
    loop {
        match scan.next(usize::MAX, &mut columns)? {
            0 => return Ok(rows),
            more => rows += more,
        }
    }
}

/// A reader without a block cache, opened before the segments are compacted as by another process.
fn reader_of_replaced(folder: &Path, files: OpenFiles) -> Store {
    let writer = Store::create_or_open(RealVfs::shared(), folder, 0).unwrap();
    (0..3).for_each(|number| load_one(&writer, number));
    let reader = Store::open_for_reading(RealVfs::shared(), folder, 0, files).unwrap();
    let count = reader.snapshot().count(Order::Spog, &[]).unwrap();
    assert_eq!(count, ALL as u64, "told by the descriptions");
    compact(&writer, &CompactOptions { threads: 1, ..CompactOptions::default() }, &Arc::default()).unwrap();
    reader
}

#[test]
fn a_reader_without_descriptors_is_told_that_there_is_another_version() {
    let _mine = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("db");
    let reader = reader_of_replaced(&folder, OpenFiles::Now);
    // The cache is that of the process: other tests may open files meanwhile, which is nothing to them.
    while file_cache::of_process().close(usize::MAX) > 0 {}
    let error = rows(&reader.snapshot()).unwrap_err();
    assert!(error.is_stale(), "{error}");
    assert!(error.to_string().contains("another process has replaced this version"), "{error}");
    let again = Store::open(RealVfs::shared(), &folder, 0).unwrap();
    assert_eq!(rows(&again.snapshot()).unwrap(), ALL);
}

#[test]
fn files_of_an_old_version_are_opened_again_in_the_process_that_replaced_them() {
    let _mine = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_or_open(RealVfs::shared(), &folder.path().join("db"), 0).unwrap();
    (0..3).for_each(|number| load_one(&store, number));
    let before = store.snapshot();
    compact(&store, &CompactOptions { threads: 1, ..CompactOptions::default() }, &Arc::default()).unwrap();
    for _ in 0..3 {
        while file_cache::of_process().close(usize::MAX) > 0 {}
        assert_eq!(rows(&before).unwrap(), ALL);
        assert_eq!(rows(&store.snapshot()).unwrap(), ALL);
    }
}

#[test]
fn files_that_were_not_open_are_gone_and_those_that_were_held_are_not() {
    let _mine = DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let reader = reader_of_replaced(&folder.path().join("db"), OpenFiles::WhenRead);
    assert!(matches!(rows(&reader.snapshot()), Err(StoreError::Io { .. })));
    assert!(matches!(reader.hold_files(), Err(StoreError::Io { .. })));

    let db = folder.path().join("held");
    let writer = Store::create_or_open(RealVfs::shared(), &db, 0).unwrap();
    (0..3).for_each(|number| load_one(&writer, number));
    let reader = Store::open_for_reading(RealVfs::shared(), &db, 0, OpenFiles::WhenRead).unwrap();
    reader.hold_files().unwrap();
    compact(&writer, &CompactOptions { threads: 1, ..CompactOptions::default() }, &Arc::default()).unwrap();
    assert_eq!(rows(&reader.snapshot()).unwrap(), ALL);
}
