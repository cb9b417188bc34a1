//! Power cuts, errors and full disks at every operation of a load, and files damaged afterwards: the database is then the
//! old one or the new one, or says what is wrong with it.

use crate::check::check;
use crate::error::StoreError;
use crate::load::{LoadError, LoadOptions, LoadProgress, Source, load};
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::test_data::FOLDER;
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

pub(crate) const OLD: &str =
    "<http://a> <http://p> <http://b> .\n<http://a> <http://p> \"x\" <http://g> .\n_:n <http://p> \"y\" .\n";
pub(crate) const NEW: &str = "<http://a> <http://p> <http://c> .\n<http://a> <http://q> \"x\" <http://g> .\n<http://a> <http://p> <http://b> .\n_:n <http://p> <<( _:n <http://p> \"z\" )>> .\n";

pub(crate) fn try_load(vfs: Arc<dyn Vfs>, text: &str, memory_bytes: usize) -> Result<(), LoadError> {
    let store = Store::create_or_open(vfs, Path::new(FOLDER), 1 << 16)?;
    // Enough quads that a load without memory spills several runs.
    let mut text = text.to_owned();
    for i in 0..20 {
        text.push_str(&format!("<http://s{i}> <http://p> \"{i} of {}\" .\n", text.len() / 1000));
    }
    let options = LoadOptions { threads: 1, memory_bytes, ..LoadOptions::default() };
    let progress = Arc::new(LoadProgress::default());
    load(&store, vec![Source::bytes("x.nq", text)], options, &progress).map(|_| ())
}

/// The quads of a database as text, or the error that reading them gave.
pub(crate) fn contents(vfs: &MemVfs) -> Result<BTreeSet<String>, StoreError> {
    let store = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16)?;
    read_all(&store.snapshot())
}

pub(crate) fn read_all(snapshot: &Snapshot) -> Result<BTreeSet<String>, StoreError> {
    let mut quads = BTreeSet::new();
    let mut scan = snapshot.scan(Order::Ospg, &[], 0b1111)?;
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    while scan.next(100, &mut columns)? > 0 {}
    for row in 0..columns[0].len() {
        let text = columns.iter().map(|column| match column[row] {
            ValueId::DEFAULT_GRAPH => Ok(String::new()),
            id => snapshot.term(id).map(|term| term.to_string()),
        });
        quads.insert(text.collect::<Result<Vec<_>, _>>()?.join(" "));
    }
    Ok(quads)
}

pub(crate) fn assert_sound(vfs: &MemVfs) {
    let vfs: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let report = check(&vfs, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
    assert_eq!(report.problems, []);
}

struct Case {
    before: MemVfs,
    old: BTreeSet<String>,
    new: BTreeSet<String>,
    memory_bytes: usize,
    operations: u64,
}

fn case(memory_bytes: usize, reads_count: bool) -> Case {
    let before = MemVfs::new();
    try_load(Arc::new(before.clone()), OLD, 1 << 30).unwrap();
    let after = FaultVfs::counting(before.deep_copy(), reads_count);
    try_load(Arc::new(after.clone()), NEW, memory_bytes).unwrap();
    let (old, new) = (contents(&before).unwrap(), contents(after.inner()).unwrap());
    assert_ne!(old, new);
    Case { before, old, new, memory_bytes, operations: after.operations() }
}

#[test]
fn power_cuts() {
    for memory_bytes in [0, 1 << 30] {
        let case = case(memory_bytes, false);
        for at in 0..=case.operations {
            let vfs = FaultVfs::new(case.before.deep_copy(), Fault::PowerCut, at, false);
            let loaded = try_load(Arc::new(vfs.clone()), NEW, case.memory_bytes);
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Torn(at ^ 0xABCD)] {
                let after = vfs.after_crash(kind);
                let found = contents(&after).unwrap();
                let is_new = found == case.new;
                assert!(is_new || found == case.old, "operation {at}, {kind:?}");
                assert!(is_new || loaded.is_err(), "operation {at}, {kind:?}: lost");
                assert_sound(&after);
                // The next writer cleans up and goes on.
                try_load(Arc::new(after.clone()), NEW, 1 << 30).unwrap();
                let twice = contents(&after).unwrap().len();
                // Loading it again adds only what is around blank nodes.
                assert_eq!(twice, case.new.len() + usize::from(is_new));
                let names = after.list(Path::new(FOLDER)).unwrap();
                assert!(names.iter().all(|name| !name.to_string_lossy().starts_with("spill")), "{names:?}");
            }
        }
    }
}

#[test]
fn errors_and_full_disks() {
    for (fault, reads_count) in [(Fault::Error, true), (Fault::DiskFull, false)] {
        for memory_bytes in [0, 1 << 30] {
            let case = case(memory_bytes, reads_count);
            for at in 0..case.operations {
                let vfs = FaultVfs::new(case.before.deep_copy(), fault, at, reads_count);
                let loaded = try_load(Arc::new(vfs.clone()), NEW, case.memory_bytes);
                let found = contents(vfs.inner()).unwrap();
                let in_doubt = matches!(loaded, Err(LoadError::Store(StoreError::InDoubt { .. })));
                let expected = if loaded.is_ok() || in_doubt { &case.new } else { &case.old };
                assert!(found == *expected, "{fault:?} at operation {at}: {loaded:?}");
                assert_sound(vfs.inner());
                if let (Fault::DiskFull, Err(error)) = (fault, &loaded)
                    && !in_doubt
                {
                    assert_disk_full(error, vfs.inner(), &case.before);
                }
                for kind in [CrashKind::LoseAll, CrashKind::Torn(at)].into_iter().filter(|_| in_doubt) {
                    // A power cut may yet bring back the old version, whole.
                    let after = vfs.after_crash(kind);
                    let found = contents(&after).unwrap();
                    assert!(found == case.old || found == case.new, "operation {at}, {kind:?}");
                    try_load(Arc::new(after.clone()), NEW, 1 << 30).unwrap();
                    assert_sound(&after);
                }
            }
        }
    }
}

/// The error says what is full and what to do, and all that was written is gone.
pub(crate) fn assert_disk_full(error: &dyn std::error::Error, vfs: &MemVfs, before: &MemVfs) {
    let text = error.to_string();
    assert!(text.contains("full") && text.contains("make room") && text.contains(FOLDER), "{text}");
    let names = |vfs: &MemVfs| vfs.list(Path::new(FOLDER)).unwrap();
    assert_eq!(names(vfs), names(before), "{text}");
}

#[test]
fn a_first_load_that_fails_leaves_no_database_or_an_empty_one() {
    let counting = FaultVfs::counting(MemVfs::new(), false);
    try_load(Arc::new(counting.clone()), NEW, 1 << 30).unwrap();
    for at in 0..counting.operations() {
        let vfs = FaultVfs::new(MemVfs::new(), Fault::PowerCut, at, false);
        let loaded = try_load(Arc::new(vfs.clone()), NEW, 1 << 30);
        let after = vfs.after_crash(CrashKind::LoseAll);
        match contents(&after) {
            Err(StoreError::Missing { .. }) => assert!(loaded.is_err()),
            Ok(quads) => assert!(quads.is_empty() && loaded.is_err() || !quads.is_empty()),
            Err(error) => panic!("operation {at}: {error}"),
        }
        try_load(Arc::new(after.clone()), NEW, 1 << 30).unwrap();
        assert_sound(&after);
    }
}

#[test]
fn damage_is_an_error_or_makes_no_difference() {
    let case = case(1 << 30, false);
    let vfs = MemVfs::new();
    try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
    try_load(Arc::new(vfs.clone()), NEW, 1 << 30).unwrap();
    for path in vfs.files() {
        let good = vfs.read(&path).unwrap();
        let step = (good.len() / 60).max(1);
        for at in (0..good.len()).step_by(step) {
            let mut bad = good.clone();
            match at % 3 {
                0 => bad.truncate(at),
                1 => bad[at] ^= 1 << (at % 8),
                _ => bad[at..].rotate_left(1.min(good.len() - at)),
            }
            if bad == good {
                continue;
            }
            vfs.overwrite(&path, bad).unwrap();
            if let Ok(found) = contents(&vfs) {
                assert_eq!(found, case.new, "{} at {at}", path.display());
            }
            let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
            let checked = check(&shared, Path::new(FOLDER), &CancelToken::default(), &mut |_| {});
            let noticed = checked.map_or(true, |report| !report.problems.is_empty());
            assert!(noticed || path.ends_with("LOCK"), "{} at {at}", path.display());
        }
        vfs.overwrite(&path, good).unwrap();
    }
    assert_eq!(contents(&vfs).unwrap(), case.new);
}

#[test]
fn one_writer_at_a_time_and_readers_any_time() {
    let vfs = MemVfs::new();
    let open = || Store::create_or_open(Arc::new(vfs.clone()), Path::new(FOLDER), 0);
    let store = open().unwrap();
    assert!(matches!(open(), Err(StoreError::Locked { .. })));
    assert!(Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).is_ok());
    drop(store);
    assert!(open().is_ok());
}

#[test]
fn what_is_no_database_is_said_to_be_none() {
    let vfs = MemVfs::new();
    let at = |path: &str| Store::open(Arc::new(vfs.clone()), Path::new(path), 0).unwrap_err();
    let missing = at("/nothing");
    assert!(matches!(missing, StoreError::Missing { .. }));
    assert!(missing.to_string().contains("/nothing"));
    vfs.create_dir_all(Path::new("/photos")).unwrap();
    drop(vfs.create(Path::new("/photos/cat.jpg")).unwrap());
    assert!(matches!(at("/photos"), StoreError::NotADatabase { .. }));
    assert!(matches!(at("/photos/cat.jpg"), StoreError::NotADatabase { .. }));
    let write = Store::create_or_open(Arc::new(vfs.clone()), Path::new("/photos"), 0);
    assert!(matches!(write, Err(StoreError::NotADatabase { .. })));
    assert!(vfs.exists(Path::new("/photos/cat.jpg")));
}
