//! Disks that get full, and get room again.

use super::*;
use crate::crash_tests::assert_sound;
use crate::load::{LoadOptions, Source, load};
use crate::test_data::FOLDER;
use crate::write_options::WriteOptions;
use crate::{BackgroundOptions, CompactOptions, Compactor, Maintenance, compact};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::{ReadAt, WriteFile};
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

const DISK_BYTES: u64 = 3 << 20;

/// A disk of [`DISK_BYTES`].
#[derive(Debug, Clone, Default)]
struct Disk {
    inner: MemVfs,
    sizes: Arc<Mutex<BTreeMap<PathBuf, u64>>>,
}

impl Disk {
    fn free(&self) -> u64 {
        DISK_BYTES.saturating_sub(self.sizes.lock().unwrap().values().sum())
    }

    fn set(&self, path: &Path, size: Option<u64>) {
        let mut sizes = self.sizes.lock().unwrap();
        match size {
            Some(size) => drop(sizes.insert(path.to_owned(), size)),
            None => sizes.retain(|file, _| !file.starts_with(path)),
        }
    }

    fn size(&self, path: &Path) -> u64 {
        self.sizes.lock().unwrap().get(path).copied().unwrap_or(0)
    }
}

#[derive(Debug)]
struct DiskFile {
    disk: Disk,
    path: PathBuf,
    inner: Box<dyn WriteFile>,
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.disk.free().min(bytes.len() as u64);
        if room == 0 && !bytes.is_empty() {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let taken = self.inner.write(&bytes[..room as usize])?;
        self.disk.set(&self.path, Some(self.disk.size(&self.path) + taken as u64));
        Ok(taken)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for DiskFile {
    fn sync(&mut self) -> io::Result<()> {
        self.inner.sync()
    }
}

impl Vfs for Disk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.inner.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        let inner = self.inner.create(path)?;
        self.set(path, Some(0));
        Ok(Box::new(DiskFile { disk: self.clone(), path: path.to_owned(), inner }))
    }
    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        let inner = self.inner.open_append(path, len)?;
        self.set(path, Some(len));
        Ok(Box::new(DiskFile { disk: self.clone(), path: path.to_owned(), inner }))
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
        let size = self.size(from);
        self.set(from, None);
        self.set(to, Some(size));
        Ok(())
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)?;
        self.set(path, None);
        Ok(())
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir_all(path)?;
        self.set(path, None);
        Ok(())
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }
    fn free_bytes(&self, _folder: &Path) -> io::Result<Option<u64>> {
        Ok(Some(self.free()))
    }
    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock(path, exclusive)
    }
}

fn open(disk: &Disk) -> Store {
    let options = WriteOptions {
        delta_bytes_max: 500_000,
        memory_bytes: 1 << 20,
        threads: 1,
        ..WriteOptions::default()
    };
    Store::open_for_writing(Arc::new(disk.clone()), Path::new(FOLDER), 1 << 16, options).unwrap()
}

/// A text that cannot be compressed, of half so many letters.
fn text(number: u64, bytes: usize) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let letter = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from_u32(0x4E00 + (state % 20_000) as u32).unwrap()
    };
    (0..bytes / 3).map(letter).collect()
}

fn change(store: &Store, number: u64, insert: bool) -> Result<(), StoreError> {
    let mut transaction = store.begin(&CancelToken::default())?;
    let iri = |text: &str| Term::from(NamedNode::new_unchecked(text));
    let terms = [iri("http://s"), iri("http://p"), Literal::from(text(number, 4000)).into()];
    let mut row = [ValueId::DEFAULT_GRAPH; 4];
    for (id, term) in row.iter_mut().zip(terms) {
        *id = transaction.intern(&term)?.unwrap();
    }
    if insert {
        transaction.insert(row)
    } else {
        transaction.delete(row)
    }
    transaction.commit().map(|_| ())
}

/// Tries once more where the reserve has gone meanwhile, as the engine does.
fn delete(store: &Store, number: u64) {
    let before = store.reserve_releases();
    change(store, number, false).unwrap_or_else(|error| {
        assert!(error.is_disk_full() && store.reserve_releases() > before, "{error}");
        change(store, number, false).unwrap();
    });
}

/// Waits for what must happen; a test that waits for ever has failed.
fn wait_until(what: impl Fn() -> bool) {
    while !what() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn deletions_and_compactions_go_on_where_nothing_can_be_added() {
    let disk = Disk::default();
    let store = open(&disk);
    let maintenance = Maintenance::start(&store, Box::new(|_| {})).unwrap();
    let path = store.reserve_path();
    wait_until(|| disk.size(&path) >= BYTES_MIN);
    change(&store, 1_000_000, true).unwrap();
    store.create_snapshot("s", &CancelToken::default()).unwrap();
    change(&store, 1_000_000, false).unwrap();
    // Something else takes the disk up.
    disk.allocate(Path::new("/ballast"), DISK_BYTES / 3).unwrap();
    let mut committed = 0;
    loop {
        match change(&store, committed, true) {
            Ok(()) => committed += 1,
            // What the disk itself refuses is the last thing that is tried there.
            Err(error @ StoreError::Full { .. }) => break drop(error),
            Err(error) => assert!(error.is_disk_full(), "{error}"),
        }
    }
    assert_eq!(store.snapshot().quad_count(), committed);
    store.drop_snapshot("s", &CancelToken::default()).unwrap();
    (10..committed).for_each(|number| delete(&store, number));
    assert_eq!(store.snapshot().quad_count(), 10);
    compact(&store, &CompactOptions::default(), &Arc::default()).unwrap();
    assert_eq!(store.snapshot().quad_count(), 10);
    // Somebody makes room: it goes on at once.
    disk.remove(Path::new("/ballast")).unwrap();
    change(&store, committed, true).unwrap();
    assert!(!store.is_disk_full() && disk.size(&path) > 0);
    drop(maintenance);
    drop(store);
    assert_sound(&disk.inner);
    let store = open(&disk);
    assert_eq!(store.snapshot().quad_count(), 11);
    assert!(disk.size(&path) > 0, "nobody has taken it away");
}

#[test]
fn work_beside_requests_goes_on_by_itself() {
    let disk = Disk::default();
    let store = open(&disk);
    let maintenance = Maintenance::start(&store, Box::new(|_| {})).unwrap();
    wait_until(|| disk.size(&store.reserve_path()) >= BYTES_MIN);
    (0..50).for_each(|number| change(&store, number, true).unwrap());
    disk.allocate(Path::new("/ballast"), disk.free()).unwrap();
    assert!(change(&store, 50, true).unwrap_err().is_disk_full());
    assert!(store.is_disk_full());
    // Nobody asks.
    disk.remove(Path::new("/ballast")).unwrap();
    wait_until(|| !store.is_disk_full());
    change(&store, 50, true).unwrap();
    assert_eq!(store.snapshot().quad_count(), 51);
    drop(maintenance);
}

/// What is merged in the background takes no room from who writes: where there is none, it waits for some.
#[test]
fn compactions_in_the_background_wait_for_room() {
    let disk = Disk::default();
    let store = open(&disk);
    let mut committed = 120;
    for first in [0, 60] {
        let line = |i: u64| format!("<http://s> <http://p> \"{}\" .\n", text(i, 4000));
        let source = Source::bytes("x.nt", (first..first + 60).map(line).collect::<String>());
        let options = LoadOptions { threads: 1, ..LoadOptions::default() };
        load(&store, vec![source], options, &Arc::default()).unwrap();
    }
    let maintenance = Maintenance::start(&store, Box::new(|_| {})).unwrap();
    wait_until(|| disk.size(&store.reserve_path()) >= BYTES_MIN);
    let bytes: u64 = store.version().segments.iter().map(|open| open.segment.meta().bytes()).sum();
    let left = 200 << 10;
    assert!(bytes > left, "{bytes}");
    disk.allocate(Path::new("/ballast"), disk.free() - left).unwrap();
    let options = BackgroundOptions {
        segments_max: 1,
        look_every: Duration::from_millis(1),
        memory_bytes: 64 << 20,
        ..BackgroundOptions::default()
    };
    let compactor = Compactor::start(&store, options).unwrap();
    wait_until(|| compactor.status().failures > 0);
    let told = compactor.status().last_error.unwrap();
    assert!(told.contains("no room to merge"), "{told}");
    for _ in 0..5 {
        change(&store, committed, true).unwrap();
        committed += 1;
    }
    assert!(!store.is_disk_full() && store.reserve_releases() == 0);
    disk.remove(Path::new("/ballast")).unwrap();
    wait_until(|| compactor.status().compactions > 0);
    assert_eq!(store.snapshot().quad_count(), committed);
    drop((compactor, maintenance));
}

/// Numbers of blank nodes that nobody has seen are given back.
#[test]
fn what_is_refused_numbers_no_blank_nodes() {
    let disk = Disk::default();
    let store = open(&disk);
    let maintenance = Maintenance::start(&store, Box::new(|_| {})).unwrap();
    wait_until(|| disk.size(&store.reserve_path()) >= BYTES_MIN);
    let insert = || {
        let mut transaction = store.begin(&CancelToken::default())?;
        let predicate = Term::from(NamedNode::new_unchecked("http://p"));
        let id = transaction.intern(&predicate)?.unwrap();
        for _ in 0..3 {
            let (a, b) = (transaction.fresh_blank()?, transaction.fresh_blank()?);
            transaction.insert([a, id, b, ValueId::DEFAULT_GRAPH]);
        }
        transaction.commit().map(drop)
    };
    insert().unwrap();
    assert_eq!(store.next_blank(), 6);
    disk.allocate(Path::new("/ballast"), disk.free()).unwrap();
    wait_until(|| matches!(insert(), Err(StoreError::Full { .. })));
    let numbered = store.next_blank();
    for _ in 0..3 {
        assert!(matches!(insert(), Err(StoreError::Full { .. })));
    }
    assert_eq!(store.next_blank(), numbered);
    // A load that fails late.
    disk.remove(Path::new("/ballast")).unwrap();
    wait_until(|| !store.is_disk_full());
    let before = store.next_blank();
    let lines: String = (0..2000).map(|i| format!("_:a{i} <http://p> \"{}\" .\n", text(i, 4000))).collect();
    let (source, options) =
        (Source::bytes("x.nt", lines), LoadOptions { threads: 1, ..LoadOptions::default() });
    load(&store, vec![source], options, &Arc::default()).unwrap_err();
    assert_eq!(store.next_blank(), before);
    drop(maintenance);
}

#[test]
fn the_reserve_fits_the_disk() {
    assert_eq!(reserve_bytes(0), BYTES_LEAST);
    assert_eq!(reserve_bytes(600 << 10), 150 << 10);
    assert_eq!(reserve_bytes(16 << 20), BYTES_MIN);
    assert_eq!(reserve_bytes(2 << 30), (2 << 30) / 100);
    assert_eq!(reserve_bytes(1 << 40), BYTES_MAX);
}
