//! The store's own threads: the log is made durable in time whatever else is under way, and nobody waits for files to go.

use super::*;
use crate::log::Durability;
use crate::test_data::FOLDER;
use crate::write_options::WriteOptions;
use crate::{CompactOptions, compact};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::{ReadAt, Vfs, WriteFile};
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Condvar, Mutex};

/// A file system in which what is done to folders of segments waits while it is to.
#[derive(Debug, Clone, Default)]
struct Stuck {
    inner: MemVfs,
    is_stuck: Arc<(Mutex<bool>, Condvar)>,
}

impl Stuck {
    fn set(&self, is_stuck: bool) {
        *self.is_stuck.0.lock().unwrap() = is_stuck;
        self.is_stuck.1.notify_all();
    }

    fn wait(&self, path: &Path) {
        if path.to_string_lossy().contains("segment-") {
            let guard = self.is_stuck.0.lock().unwrap();
            drop(self.is_stuck.1.wait_while(guard, |is_stuck| *is_stuck).unwrap());
        }
    }
}

impl Vfs for Stuck {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.inner.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.inner.create(path)
    }
    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        self.inner.open_append(path, len)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.wait(path);
        self.inner.create_dir_all(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.inner.list(path)
    }
    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.wait(path);
        self.inner.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }
    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock(path, exclusive)
    }
}

fn open(vfs: &Stuck, durability: Durability) -> Store {
    let options = WriteOptions {
        durability,
        delta_bytes_max: 20_000,
        memory_bytes: 1 << 20,
        threads: 1,
        ..WriteOptions::default()
    };
    Store::open_for_writing(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16, options).unwrap()
}

fn insert(store: &Store, number: u64) {
    let mut transaction = store.begin_blind().unwrap();
    let iri = |text: &str| Term::from(NamedNode::new_unchecked(text));
    let text = format!("{number}{}", "x".repeat(1000));
    let mut row = [ValueId::DEFAULT_GRAPH; 4];
    for (id, term) in row.iter_mut().zip([iri("http://s"), iri("http://p"), Literal::from(text).into()]) {
        *id = transaction.intern(&term).unwrap().unwrap();
    }
    transaction.insert(row);
    transaction.commit().unwrap();
}

/// Waits for what must happen; a test that waits for ever has failed.
fn wait_until(what: impl Fn() -> bool) {
    while !what() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn segments(vfs: &Stuck) -> usize {
    let names = vfs.list(Path::new(FOLDER)).unwrap();
    names.iter().filter(|name| name.to_string_lossy().starts_with("segment-")).count()
}

fn quiet() -> Tell {
    Box::new(|_| {})
}

#[test]
fn a_log_is_durable_in_time_while_a_flush_takes_long() {
    let vfs = Stuck::default();
    let store = open(&vfs, Durability::Batch(Duration::from_millis(5)));
    insert(&store, 0);
    let maintenance = Maintenance::start(&store, quiet()).unwrap();
    vfs.set(true);
    let mut number = 0;
    while !store.flush_status().is_running {
        number += 1;
        insert(&store, number);
    }
    // The flush goes on for as long as this takes.
    for _ in 0..5 {
        number += 1;
        insert(&store, number);
        wait_until(|| {
            let after = vfs.inner.after_crash(CrashKind::LoseAll);
            let found = Store::open(Arc::new(after), Path::new(FOLDER), 0).unwrap();
            found.version().quads() == number + 1
        });
    }
    assert!(store.flush_status().is_running);
    assert_eq!((store.version().segments.len(), store.sync_failures()), (0, 0));
    vfs.set(false);
    wait_until(|| store.flush_status().flushes > 0 && !store.flush_status().is_running);
    assert!(!store.version().segments.is_empty());
    assert_eq!(store.version().quads(), number + 1);
    drop(maintenance);
}

#[test]
fn who_reads_a_segment_last_does_not_wait_for_its_files_to_go() {
    let vfs = Stuck::default();
    let store = open(&vfs, Durability::Sync);
    let fill = |from: u64| {
        (from..from + 40).for_each(|number| insert(&store, number));
        compact(&store, &CompactOptions { threads: 1, ..CompactOptions::default() }, &Arc::default())
            .unwrap();
    };
    fill(0);
    let maintenance = Maintenance::start(&store, quiet()).unwrap();
    let reader = store.snapshot();
    fill(100);
    wait_until(|| segments(&vfs) == 2);
    vfs.set(true);
    // On this thread, which would wait for ever.
    drop(reader);
    assert_eq!(segments(&vfs), 2);
    vfs.set(false);
    wait_until(|| segments(&vfs) == 1);
    // What has not gone when it ends goes then; and without it, at once.
    for is_ended in [false, true] {
        let reader = store.snapshot();
        fill(1000 + u64::from(is_ended) * 100);
        drop(reader);
        if !is_ended {
            drop(Maintenance::start(&store, quiet()));
        }
    }
    drop(maintenance);
    assert_eq!(segments(&vfs), 1);
    assert_eq!(store.version().quads(), 160);
}

#[test]
fn failures_are_told_once_and_so_is_their_end() {
    let vfs = Stuck::default();
    let store = open(&vfs, Durability::Sync);
    let number = store.writer().unwrap().next_segment();
    let folder = Path::new(FOLDER).join(crate::manifest::segment_folder(number));
    vfs.create(&folder).unwrap();
    let (told, lines) = std::sync::mpsc::channel();
    let tell = Box::new(move |line: &str| told.send(line.to_owned()).unwrap());
    let maintenance = Maintenance::start(&store, tell).unwrap();
    (0..40).for_each(|number| insert(&store, number));
    let line = lines.recv().unwrap();
    assert!(line.contains("stay in the log"), "{line}");
    vfs.remove(&folder).unwrap();
    let line = lines.recv().unwrap();
    assert!(line.contains("again"), "{line}");
    assert!(store.flush_status().failures >= 1);
    drop(maintenance);
    assert!(lines.recv().is_err());
    assert!(matches!(
        Maintenance::start(&Store::open(Arc::new(vfs), Path::new(FOLDER), 0).unwrap(), quiet()),
        Err(StoreError::ReadOnly { .. })
    ));
}
