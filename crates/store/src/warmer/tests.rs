//! What is hot is noted while a server runs and when it ends, and read again when the next one starts.

use super::*;
use crate::WriteOptions;
use crate::hot_blocks::tests::{built, read};
use crate::test_data::{FOLDER, open};
use lode_base::device_vfs::{DeviceModel, DeviceVfs};
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use std::path::Path;
use std::sync::Arc;

fn silent() -> Tell {
    Box::new(|_| {})
}

fn writable(vfs: Arc<dyn Vfs>) -> Store {
    Store::open_existing(vfs, Path::new(FOLDER), 64 << 20, WriteOptions::default()).unwrap()
}

fn saved(vfs: &MemVfs) -> Option<HotBlocks> {
    Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap().saved_hot_blocks().unwrap()
}

/// Waits for another thread, which is sure to come to it.
fn until(done: impl Fn() -> bool) {
    while !done() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn the_list_is_saved_now_and_then_and_at_the_end() {
    let vfs = built();
    let store = writable(Arc::new(vfs.clone()));
    let warmer = Warmer::start_with(&store, None, Duration::from_millis(3), silent()).unwrap();
    read(&store);
    until(|| saved(&vfs).is_some_and(|list| list == store.hot_blocks()));
    drop((warmer, store));
    let before = saved(&vfs).unwrap();
    // One that saves at the end only.
    let store = writable(Arc::new(vfs.clone()));
    let warmer = Warmer::start(&store, silent()).unwrap();
    until(|| store.hot_blocks() == before);
    crate::test_data::rows(&store.snapshot(), lode_packed::Order::Opsg, &[]);
    let more = store.hot_blocks();
    drop((warmer, store));
    assert!(saved(&vfs) == Some(more.clone()) && more.len() > before.len());
    // And one that only reads.
    let store = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 64 << 20).unwrap();
    let warmer = Warmer::start(&store, silent()).unwrap();
    until(|| store.hot_blocks() == more);
    crate::test_data::rows(&store.snapshot(), lode_packed::Order::Sopg, &[]);
    drop((warmer, store));
    assert_eq!(saved(&vfs), Some(more));
}

#[test]
fn who_is_closed_while_it_reads_ends_soon_and_leaves_the_list() {
    let vfs = built();
    let store = writable(Arc::new(vfs.clone()));
    crate::test_data::rows(&store.snapshot(), lode_packed::Order::Spog, &[]);
    let list = store.hot_blocks();
    store.save_hot_blocks(&list).unwrap();
    drop(store);
    let slow = DeviceModel { bytes_per_second: 500_000, ..DeviceModel::SSD };
    let store = writable(Arc::new(DeviceVfs::new(Arc::new(vfs.clone()), slow)));
    drop(Warmer::start(&store, silent()).unwrap());
    drop(store);
    assert_eq!(saved(&vfs), Some(list));
    open(&vfs);
}
