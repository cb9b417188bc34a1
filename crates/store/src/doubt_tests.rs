//! Manifests of which nobody knows whether they are in place: the rename took effect and reports failure, and nothing can be read then.

use crate::crash_tests::{assert_sound, contents, read_all, try_load};
use crate::manifest::{MANIFEST, Manifest, log_file};
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{Model, apply, commit};
use crate::{LoadError, LoadOptions, Source, Store, StoreError, WriteOptions, load};
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::{ReadAt, Vfs, WriteFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// While `fails`, renames to MANIFEST take effect and report failure, and no file can be opened.
#[derive(Debug, Clone, Default)]
struct LyingVfs {
    inner: MemVfs,
    fails: Arc<AtomicBool>,
}

impl LyingVfs {
    fn set(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }

    fn check(&self) -> io::Result<()> {
        if self.fails.load(Ordering::Relaxed) { Err(io::Error::other("too many open files")) } else { Ok(()) }
    }
}

impl Vfs for LyingVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        if path.ends_with(MANIFEST) {
            self.check()?;
        }
        self.inner.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.inner.create(path)
    }
    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        self.inner.open_append(path, len)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir_all(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.inner.list(path)
    }
    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)?;
        if to.ends_with(MANIFEST) { self.check() } else { Ok(()) }
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }
    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock(path, exclusive)
    }
}

/// Large transactions, the steps 3, 7 and 11, switch to another manifest and another log.
fn open(vfs: &LyingVfs) -> Store {
    let options =
        WriteOptions { logged_changes_max: 3, memory_bytes: 1 << 20, threads: 1, ..WriteOptions::default() };
    Store::open_for_writing(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16, options).unwrap()
}

/// The version that the disk's manifest names is whole, whatever the program believes.
fn on_disk(vfs: &LyingVfs) -> Model {
    assert_sound(&vfs.inner.deep_copy());
    contents(&vfs.inner.deep_copy()).unwrap()
}

fn seen(store: &Store) -> Model {
    read_all(&store.snapshot()).unwrap()
}

#[test]
fn nothing_is_written_before_the_manifest_was_read_again() {
    let vfs = LyingVfs::default();
    let store = open(&vfs);
    let mut model = Model::new();
    for step in 0..3 {
        commit(&store, step).unwrap();
        apply(&mut model, step);
    }
    for round in 0..2 {
        vfs.set(true);
        assert!(matches!(commit(&store, 3 + 4 * round), Err(StoreError::InDoubt { .. })));
        let with = {
            let mut with = model.clone();
            apply(&mut with, 3 + 4 * round);
            with
        };
        assert_eq!((seen(&store), on_disk(&vfs)), (model.clone(), with.clone()));
        // Nobody knows, so nobody writes.
        for step in 4 + 4 * round..7 + 4 * round {
            assert!(commit(&store, step).is_err());
            assert_eq!(on_disk(&vfs), with);
        }
        vfs.set(false);
        model = with;
        for step in 4 + 4 * round..7 + 4 * round {
            commit(&store, step).unwrap();
            apply(&mut model, step);
            assert_eq!((seen(&store), on_disk(&vfs)), (model.clone(), model.clone()), "step {step}");
        }
    }
    drop(store);
    assert_eq!(seen(&open(&vfs)), model);
}

#[test]
fn a_load_in_doubt_is_found_before_the_next_commit() {
    let vfs = LyingVfs::default();
    try_load(Arc::new(vfs.clone()), "<http://a> <http://p> <http://b> .\n", 1 << 30).unwrap();
    let store = open(&vfs);
    commit(&store, 0).unwrap();
    let add = |text: &str| {
        let options = LoadOptions { threads: 1, ..LoadOptions::default() };
        load(&store, vec![Source::bytes("x.nt", text)], options, &Arc::default())
    };
    // There is a log then, and nothing in it.
    add("<http://old> <http://p> <http://c> .\n").unwrap();
    vfs.set(true);
    let loaded = add("<http://new> <http://p> <http://c> .\n");
    assert!(matches!(loaded, Err(LoadError::Store(StoreError::InDoubt { .. }))), "{loaded:?}");
    vfs.set(false);
    let with = on_disk(&vfs);
    assert!(with.iter().any(|quad| quad.contains("http://new")));
    commit(&store, 1).unwrap();
    let mut model = with;
    apply(&mut model, 1);
    assert_eq!((seen(&store), on_disk(&vfs)), (model.clone(), model));
}

#[test]
fn a_log_number_is_used_once_and_no_log_is_written_over() {
    let vfs = LyingVfs::default();
    let store = open(&vfs);
    commit(&store, 0).unwrap();
    let log = || Manifest::read(&vfs.inner, Path::new(FOLDER)).unwrap().log;
    let mut last = log();
    for step in [3, 7, 11] {
        vfs.set(true);
        assert!(commit(&store, step).is_err());
        vfs.set(false);
        let doubted = log();
        assert!(doubted > last, "{doubted} after {last}");
        commit(&store, 1).unwrap();
        last = log();
        assert!(last > doubted, "{last} after {doubted}");
    }
    drop(store);
    // What a file is called that no manifest names is no name for a new one either.
    let other = Path::new(FOLDER).join(log_file(last + 5));
    drop(vfs.create(&other).unwrap());
    let store = open(&vfs);
    commit(&store, 3).unwrap();
    commit(&store, 7).unwrap();
    assert!(log() > last + 5);
}
