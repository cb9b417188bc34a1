//! Power cuts, errors and full disks at every operation of a compaction: the database holds the same quads in the old segments
//! or in the new one, and what is not named by its manifest goes with the next writer.

use super::{CompactOptions, MergeBudget, compact_and};
use crate::compact::CompactError;
use crate::crash_tests::{NEW, OLD, assert_disk_full, assert_sound, contents, try_load};
use crate::error::StoreError;
use crate::load::LoadProgress;
use crate::segment_builder::BuildError;
use crate::store::Store;
use crate::test_data::FOLDER;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// How many segments are merged at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounds {
    One,
    /// As few as can be at once.
    Many,
}

fn try_compact(vfs: Arc<dyn Vfs>, rounds: Rounds) -> Result<u64, CompactError> {
    let store = Store::create_or_open(vfs, Path::new(FOLDER), 1 << 16)?;
    let options = CompactOptions { threads: 1, memory_bytes: 1 << 30, ..CompactOptions::default() };
    let budget = match rounds {
        Rounds::One => MergeBudget::new(options.memory_bytes, options.threads),
        Rounds::Many => MergeBudget::none(),
    };
    let report = compact_and(&store, &options, budget, &LoadProgress::default(), &mut || {})?;
    Ok(report.rounds)
}

struct Case {
    before: MemVfs,
    rounds: Rounds,
    quads: BTreeSet<String>,
    operations: u64,
}

fn case(reads_count: bool, rounds: Rounds) -> Case {
    let before = MemVfs::new();
    for text in [OLD, NEW, OLD] {
        try_load(Arc::new(before.clone()), text, 1 << 30).unwrap();
    }
    let after = FaultVfs::counting(before.deep_copy(), reads_count);
    let count = try_compact(Arc::new(after.clone()), rounds).unwrap();
    assert_eq!(count, if rounds == Rounds::One { 1 } else { 2 });
    let quads = contents(&before).unwrap();
    assert_eq!(quads, contents(after.inner()).unwrap());
    assert_eq!(segments(after.inner()), 1);
    Case { before, rounds, quads, operations: after.operations() }
}

/// Segment folders, and that there are no temporary ones.
fn segments(vfs: &MemVfs) -> usize {
    let names = vfs.list(Path::new(FOLDER)).unwrap();
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    assert!(!names.iter().any(|name| name.starts_with("spill")), "{names:?}");
    names.iter().filter(|name| name.starts_with("segment-")).count()
}

/// The database is whole, and the next writer leaves only what belongs to it.
fn assert_whole(vfs: &MemVfs, case: &Case, what: &str) {
    assert_eq!(contents(vfs).unwrap(), case.quads, "{what}");
    assert_sound(vfs);
    drop(Store::create_or_open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap());
    let (left, old) = (segments(vfs), segments(&case.before));
    let is_between = case.rounds == Rounds::Many && (1..old).contains(&left);
    assert!(left == 1 || left == old || is_between, "{what}: {left} segments");
    assert_sound(vfs);
    try_compact(Arc::new(vfs.clone()), case.rounds).unwrap();
    assert_eq!(segments(vfs), 1, "{what}");
    assert_eq!(contents(vfs).unwrap(), case.quads, "{what}");
}

#[test]
fn power_cuts() {
    [Rounds::One, Rounds::Many].into_iter().for_each(power_cuts_in);
}

fn power_cuts_in(rounds: Rounds) {
    let case = case(false, rounds);
    for at in 0..=case.operations {
        let vfs = FaultVfs::new(case.before.deep_copy(), Fault::PowerCut, at, false);
        let done = try_compact(Arc::new(vfs.clone()), rounds).is_ok();
        for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Torn(at ^ 0xABCD)] {
            let after = vfs.after_crash(kind);
            let report = crate::manifest::Manifest::read(&after, Path::new(FOLDER)).unwrap();
            assert!(report.segments.len() == 1 || !done, "operation {at}, {kind:?}: lost");
            assert_whole(&after, &case, &format!("operation {at}, {kind:?}"));
        }
    }
}

#[test]
fn errors_and_full_disks() {
    for (fault, reads_count) in [(Fault::Error, true), (Fault::DiskFull, false)] {
        [Rounds::One, Rounds::Many].into_iter().for_each(|rounds| errors_in(fault, reads_count, rounds));
    }
}

fn errors_in(fault: Fault, reads_count: bool, rounds: Rounds) {
    let case = case(reads_count, rounds);
    for at in 0..case.operations {
        let vfs = FaultVfs::new(case.before.deep_copy(), fault, at, reads_count);
        let done = try_compact(Arc::new(vfs.clone()), rounds);
        let what = format!("{fault:?} at operation {at}: {done:?}");
        if matches!(done, Err(CompactError::Build(BuildError::Store(StoreError::InDoubt { .. })))) {
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at)] {
                assert_whole(&vfs.after_crash(kind), &case, &what);
            }
        } else if let (Fault::DiskFull, Rounds::One, Err(error)) = (fault, rounds, &done) {
            assert_disk_full(error, vfs.inner(), &case.before);
        }
        assert_whole(vfs.inner(), &case, &what);
    }
}

/// A reader that has read the manifest but not yet opened its files.
#[test]
fn a_reader_that_comes_just_before_the_switch_gets_the_new_version() {
    let case = case(false, Rounds::One);
    let compacted = case.before.deep_copy();
    try_compact(Arc::new(compacted.clone()), Rounds::One).unwrap();
    let old = case.before.read(&Path::new(FOLDER).join("MANIFEST")).unwrap();
    let vfs = StaleManifest { inner: compacted, old, opened: Arc::default() };
    let store = Store::open(Arc::new(vfs), Path::new(FOLDER), 0).unwrap();
    assert_eq!(store.version().segments.len(), 1);
}

/// Shows the old manifest to who opens it first.
#[derive(Debug, Clone)]
struct StaleManifest {
    inner: MemVfs,
    old: Vec<u8>,
    opened: Arc<std::sync::atomic::AtomicBool>,
}

impl Vfs for StaleManifest {
    fn open(&self, path: &Path) -> std::io::Result<Arc<dyn lode_base::vfs::ReadAt>> {
        let stale =
            path.ends_with("MANIFEST") && !self.opened.swap(true, std::sync::atomic::Ordering::Relaxed);
        if stale {
            let other = MemVfs::new();
            other.create(Path::new("/MANIFEST"))?.write_all(&self.old)?;
            return other.open(Path::new("/MANIFEST"));
        }
        self.inner.open(path)
    }

    fn create(&self, path: &Path) -> std::io::Result<Box<dyn lode_base::vfs::WriteFile>> {
        self.inner.create(path)
    }

    fn open_append(&self, path: &Path, len: u64) -> std::io::Result<Box<dyn lode_base::vfs::WriteFile>> {
        self.inner.open_append(path, len)
    }

    fn create_dir_all(&self, path: &Path) -> std::io::Result<()> {
        self.inner.create_dir_all(path)
    }

    fn list(&self, path: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
        self.inner.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &Path) -> std::io::Result<()> {
        self.inner.remove(path)
    }

    fn remove_dir_all(&self, path: &Path) -> std::io::Result<()> {
        self.inner.remove_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> std::io::Result<()> {
        self.inner.sync_dir(path)
    }

    fn lock(&self, path: &Path, exclusive: bool) -> std::io::Result<Box<dyn Send + Sync>> {
        self.inner.lock(path, exclusive)
    }
}
