//! Databases over stripe folders: all that is done with one, whole after every crash, and clear errors where a folder or a part is missing.

use super::*;
use crate::backup::{BackupOptions, BackupProgress, backup, restore};
use crate::check::check;
use crate::compact::{CompactOptions, compact};
use crate::crash_tests::{NEW, OLD, read_all, try_load};
use crate::load::LoadProgress;
use crate::store::Store;
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::commit;
use crate::write_options::WriteOptions;
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use std::collections::BTreeSet;

/// Short, so that all but the shortest files have parts.
const CHUNK: u64 = 90;

fn folders() -> Vec<PathBuf> {
    ["/disks/a", "/disks/b", "/c"].map(PathBuf::from).to_vec()
}

/// An empty file system with stripe folders for the database.
fn new() -> MemVfs {
    let vfs = MemVfs::new();
    stripe_by(&vfs, Path::new(FOLDER), &folders(), CHUNK).unwrap();
    vfs
}

fn on(vfs: impl Vfs + 'static) -> Arc<dyn Vfs> {
    striped(&(Arc::new(vfs) as Arc<dyn Vfs>), Path::new(FOLDER)).unwrap()
}

fn contents(vfs: &MemVfs) -> Result<BTreeSet<String>, StoreError> {
    let vfs = striped(&(Arc::new(vfs.clone()) as Arc<dyn Vfs>), Path::new(FOLDER))?;
    read_all(&Store::open(vfs, Path::new(FOLDER), 1 << 16)?.snapshot())
}

fn assert_sound(vfs: &MemVfs) {
    let report = check(&on(vfs.clone()), Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
    assert_eq!(report.problems, []);
}

fn parts(vfs: &MemVfs) -> BTreeSet<PathBuf> {
    vfs.files().into_iter().filter(|path| path.extension().is_some_and(|end| end == "part")).collect()
}

/// The next writer leaves no part that no file has.
fn assert_swept(vfs: &MemVfs) {
    drop(Store::create_or_open(on(vfs.clone()), Path::new(FOLDER), 0).unwrap());
    let stubs = vfs.files().into_iter().filter(|path| {
        path.starts_with(FOLDER) && vfs.read(path).is_ok_and(|bytes| bytes.starts_with(b"LODESTRP"))
    });
    let names = |paths: &mut dyn Iterator<Item = PathBuf>| {
        paths.filter_map(|path| Some(path.file_name()?.to_owned())).collect::<BTreeSet<_>>()
    };
    let found = names(&mut parts(vfs).into_iter());
    assert_eq!(found.len(), stubs.count(), "as many names of parts as striped files");
}

fn try_compact(vfs: Arc<dyn Vfs>) -> Result<(), crate::compact::CompactError> {
    let store = Store::create_or_open(vfs, Path::new(FOLDER), 1 << 16)?;
    let options = CompactOptions { threads: 1, memory_bytes: 1 << 30, ..CompactOptions::default() };
    compact(&store, &options, &Arc::new(LoadProgress::default())).map(drop)
}

#[test]
fn what_is_loaded_changed_and_compacted_is_that_of_a_database_without() {
    let plain = MemVfs::new();
    let vfs = new();
    for files in [Arc::new(plain.clone()) as Arc<dyn Vfs>, on(vfs.clone())] {
        try_load(Arc::clone(&files), OLD, 1 << 30).unwrap();
        try_load(Arc::clone(&files), NEW, 0).unwrap();
        let store = Store::open_existing(Arc::clone(&files), Path::new(FOLDER), 0, WriteOptions::default());
        let store = store.unwrap();
        (0..9).for_each(|step| commit(&store, step).unwrap());
        drop(store);
        try_compact(files).unwrap();
    }
    let wanted = crate::crash_tests::contents(&plain).unwrap();
    assert_eq!(contents(&vfs).unwrap(), wanted);
    assert_sound(&vfs);
    assert_swept(&vfs);
    assert!(parts(&vfs).len() > 20);
    // Each folder has its share.
    let bytes = |folder: &PathBuf| {
        let of_folder = parts(&vfs).into_iter().filter(|path| path.starts_with(folder));
        of_folder.map(|path| vfs.read(&path).unwrap().len()).sum::<usize>()
    };
    let shares: Vec<usize> = folders().iter().map(bytes).collect();
    assert!(shares.iter().max() < shares.iter().min().map(|least| least * 2).as_ref(), "{shares:?}");
}

/// A load, one that spills, or a compaction.
fn work(kind: usize, vfs: Arc<dyn Vfs>) -> Result<(), String> {
    match kind {
        0 => try_load(vfs, NEW, 1 << 30).map_err(|error| error.to_string()),
        1 => try_load(vfs, NEW, 0).map_err(|error| error.to_string()),
        _ => try_compact(vfs).map_err(|error| error.to_string()),
    }
}

fn before(kind: usize) -> MemVfs {
    let vfs = new();
    try_load(on(vfs.clone()), OLD, 1 << 30).unwrap();
    if kind == 2 {
        try_load(on(vfs.clone()), NEW, 1 << 30).unwrap();
    }
    vfs
}

/// With each fault at operations all over the work, the database is the old one or the new one.
fn crash(kind: usize, fault: Fault, kinds: impl Fn(u64) -> Vec<CrashKind>) {
    let before = before(kind);
    let old = contents(&before).unwrap();
    let counting = FaultVfs::counting(before.deep_copy(), false);
    work(kind, on(counting.clone())).unwrap();
    let new = contents(counting.inner()).unwrap();
    // Threads of folders work side by side: an operation is not the same one each time, and not all need be tried.
    let step = (counting.operations() / 60).max(1) as usize;
    for at in (0..=counting.operations()).step_by(step) {
        let faulty = FaultVfs::new(before.deep_copy(), fault, at, false);
        let done = work(kind, on(faulty.clone()));
        for crash in kinds(at) {
            let after = faulty.after_crash(crash);
            let found = contents(&after).unwrap();
            assert!(found == new || found == old, "{kind} {fault:?} at {at}, {crash:?}");
            assert!(done.is_err() || found == new, "{kind} {fault:?} at {at}, {crash:?}: lost");
            assert_sound(&after);
            assert_swept(&after);
            assert_eq!(contents(&after).unwrap(), found);
            work(kind, on(after.clone())).unwrap();
            assert_sound(&after);
            assert_swept(&after);
        }
    }
}

#[test]
fn power_cuts() {
    for kind in 0..3 {
        crash(kind, Fault::PowerCut, |at| {
            vec![CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Scattered(at)]
        });
    }
}

#[test]
fn errors_full_disks_and_lost_syncs() {
    for kind in 0..3 {
        for fault in [Fault::Error, Fault::LateError, Fault::DiskFull, Fault::LostSync] {
            crash(kind, fault, |_| vec![CrashKind::KeepAll]);
        }
    }
}

#[test]
fn a_backup_is_whole_and_a_restored_one_may_be_striped() {
    let vfs = new();
    try_load(on(vfs.clone()), OLD, 1 << 30).unwrap();
    let wanted = contents(&vfs).unwrap();
    let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
    let target = Path::new("/backup");
    for link in [true, false, true] {
        let options = BackupOptions { link, check: true };
        backup(&on(vfs.clone()), Path::new(FOLDER), target, &options, &cancel, &progress).unwrap();
    }
    // Without the disks.
    let alone = vfs.deep_copy();
    for folder in ["/disks", "/c", FOLDER] {
        alone.remove_dir_all(Path::new(folder)).unwrap();
    }
    let options = BackupOptions { link: false, check: true };
    stripe_by(&alone, Path::new(FOLDER), &folders()[1..], CHUNK).unwrap();
    restore(&on(alone.clone()), target, Path::new(FOLDER), &options, &cancel, &progress).unwrap();
    assert_eq!(contents(&alone).unwrap(), wanted);
    assert!(!parts(&alone).is_empty());
    assert_sound(&alone);
    // A striped one is copied as one is that is not.
    let both = striped(&on(alone.clone()), Path::new("/second")).unwrap();
    restore(&both, Path::new(FOLDER), Path::new("/second"), &options, &cancel, &progress).unwrap();
    let second = Store::open(Arc::new(alone), Path::new("/second"), 0).unwrap();
    assert_eq!(read_all(&second.snapshot()).unwrap(), wanted);
}

/// Killed at any step of making stripes and restoring: the next restore, with other folders, begins anew and leaves nothing of the one before.
#[test]
fn a_restore_that_was_killed_leaves_nothing_to_the_next() {
    let before = MemVfs::new();
    try_load(Arc::new(before.clone()), OLD, 1 << 30).unwrap();
    let wanted = crate::crash_tests::contents(&before).unwrap();
    let (cancel, progress, target) =
        (CancelToken::default(), BackupProgress::default(), Path::new("/restored"));
    let options = BackupOptions { link: false, check: false };
    let restore_into = |vfs: &Arc<dyn Vfs>, stripes: &[PathBuf]| {
        clear_unfinished_restore(vfs, target)?;
        stripe_by(&**vfs, target, stripes, CHUNK)?;
        restore(&striped(vfs, target)?, Path::new(FOLDER), target, &options, &cancel, &progress)
    };
    let counting = FaultVfs::counting(before.deep_copy(), false);
    restore_into(&(Arc::new(counting.clone()) as Arc<dyn Vfs>), &folders()).unwrap();
    let step = (counting.operations() / 150).max(1) as usize;
    for at in (0..counting.operations()).step_by(step) {
        for crash in [CrashKind::KeepAll, CrashKind::LoseAll, CrashKind::Scattered(at)] {
            let faulty = FaultVfs::new(before.deep_copy(), Fault::PowerCut, at, false);
            let _ = restore_into(&(Arc::new(faulty.clone()) as Arc<dyn Vfs>), &folders());
            let after = faulty.after_crash(crash);
            let files: Arc<dyn Vfs> = Arc::new(after.clone());
            let has_list = stripe_folders(&after, target).unwrap().is_some();
            let is_whole = after.exists(&target.join(MANIFEST));
            let is_marked = after.exists(&target.join(RESTORING));
            if !is_whole {
                // Only where the list is there and the restore had not begun does the database keep the folders that it was given. Where there is no
                // list, those that were made are found by who names them again.
                let stripes = match (has_list, is_marked) {
                    (_, true) => folders()[1..].to_vec(),
                    (true, false) => folders(),
                    (false, false) => folders().into_iter().rev().collect(),
                };
                restore_into(&files, &stripes).unwrap();
            }
            let open = Store::open(striped(&files, target).unwrap(), target, 1 << 16).unwrap();
            assert_eq!(read_all(&open.snapshot()).unwrap(), wanted, "{at} {crash:?}");
            let kept = stripe_folders(&after, target).unwrap().unwrap();
            let own: BTreeSet<PathBuf> =
                (0..kept.folders.len()).map(|number| kept.own_folder(number)).collect();
            let found: BTreeSet<PathBuf> = after
                .files()
                .into_iter()
                .filter(|path| path.starts_with("/disks") || path.starts_with("/c"))
                .filter_map(|path| Some(path.parent()?.to_owned()))
                .collect();
            // Where the power is cut, of a folder that was made for nothing its files may be there, and not that it is unfinished.
            if crash == CrashKind::KeepAll {
                assert_eq!(found, own, "{at}");
            }
        }
    }
}

#[test]
fn a_database_gets_stripes_later_and_keeps_them() {
    let vfs = MemVfs::new();
    try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
    let stripes = |folders: &[PathBuf]| stripe_by(&vfs, Path::new(FOLDER), folders, CHUNK);
    let held = Store::create_or_open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap();
    assert!(matches!(stripes(&folders()), Err(StoreError::Locked { .. })));
    drop(held);
    stripes(&folders()).unwrap();
    stripes(&folders()).unwrap();
    let error = stripes(&folders()[1..]).unwrap_err().to_string();
    assert!(error.contains("other stripe folders (/disks/a, /disks/b, /c)"), "{error}");
    assert!(parts(&vfs).is_empty());
    let old = contents(&vfs).unwrap();
    try_load(on(vfs.clone()), NEW, 1 << 30).unwrap();
    assert!(contents(&vfs).unwrap().is_superset(&old));
    try_compact(on(vfs.clone())).unwrap();
    assert_sound(&vfs);
    // What lies where a database should be is none.
    vfs.create_dir_all(Path::new("/x/y")).unwrap();
    let refused = stripe_by(&vfs, Path::new("/x"), &folders(), CHUNK);
    assert!(matches!(refused, Err(StoreError::NotADatabase { .. })), "{refused:?}");
}

#[test]
fn what_is_missing_is_told() {
    let vfs = before(0);
    let error = |vfs: &MemVfs| contents(vfs).unwrap_err().to_string();
    for part in parts(&vfs) {
        let damaged = vfs.deep_copy();
        damaged.remove(&part).unwrap();
        let found = check(&on(damaged.clone()), Path::new(FOLDER), &CancelToken::default(), &mut |_| {});
        let text = match found {
            Err(error) => error.to_string(),
            Ok(report) => report.problems.iter().map(|problem| problem.what.clone()).collect(),
        };
        assert!(text.contains(part.to_str().unwrap()) && text.contains("is missing"), "{text}");
        let mut bytes = vfs.read(&part).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        let damaged = vfs.deep_copy();
        damaged.overwrite(&part, bytes).unwrap();
        let found = check(&on(damaged), Path::new(FOLDER), &CancelToken::default(), &mut |_| {});
        assert!(found.is_err() || !found.unwrap().problems.is_empty(), "{}", part.display());
    }
    let gone = vfs.deep_copy();
    gone.remove_dir_all(Path::new("/disks/b")).unwrap();
    assert!(error(&gone).contains("/db/stripes") && error(&gone).contains("/disks/b"), "{}", error(&gone));
    // Moved there, and told so.
    let stripes = stripe_folders(&vfs, Path::new(FOLDER)).unwrap().unwrap();
    let own = stripes.own_folder(1);
    vfs.create_dir_all(Path::new("/new")).unwrap();
    vfs.rename(&own, &Path::new("/new").join(own.file_name().unwrap())).unwrap();
    move_stripe(&vfs, Path::new(FOLDER), Path::new("/disks/b"), Path::new("/new")).unwrap();
    contents(&vfs).unwrap();
    assert!(move_stripe(&MemVfs::new(), Path::new(FOLDER), Path::new("/a"), Path::new("/b")).is_err());
}

/// A copy of the folder alone has the same stripe folders: what one of the two removes the other one would miss.
#[test]
fn a_copy_of_the_folder_writes_nothing() {
    let vfs = before(0);
    let all = contents(&vfs).unwrap();
    let open = |folder: &str| {
        let vfs = striped(&(Arc::new(vfs.clone()) as Arc<dyn Vfs>), Path::new(folder))?;
        Store::open_existing(vfs, Path::new(folder), 1 << 16, WriteOptions::default())
    };
    drop(open(FOLDER).unwrap());
    for path in vfs.files().into_iter().filter(|path| path.starts_with(FOLDER)) {
        let to = Path::new("/copy").join(path.strip_prefix(FOLDER).unwrap());
        vfs.create_dir_all(to.parent().unwrap()).unwrap();
        vfs.create(&to).unwrap().write_all(&vfs.read(&path).unwrap()).unwrap();
    }
    let before = parts(&vfs);
    // Nor does a restore, where the copy looks like one that did not end.
    let looks_so = vfs.deep_copy();
    drop(looks_so.create(Path::new("/copy/RESTORING")).unwrap());
    looks_so.remove(Path::new("/copy/MANIFEST")).unwrap();
    let error = clear_unfinished_restore(&(Arc::new(looks_so.clone()) as Arc<dyn Vfs>), Path::new("/copy"));
    assert!(error.unwrap_err().to_string().contains("a copy of the database"));
    assert_eq!(contents(&looks_so).unwrap(), all);
    let error = open("/copy").unwrap_err().to_string();
    assert!(error.contains("a copy of the database") && error.contains(FOLDER), "{error}");
    assert_eq!(parts(&vfs), before);
    assert_eq!(contents(&vfs).unwrap(), all);
    // Where there is no other one any more, it has been moved.
    vfs.remove_dir_all(Path::new(FOLDER)).unwrap();
    assert_eq!(read_all(&open("/copy").unwrap().snapshot()).unwrap(), all);
}
