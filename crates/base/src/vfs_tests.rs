//! The three file systems behave alike, and crashes lose exactly what was not made durable.

use crate::fault_vfs::{Fault, FaultVfs, Operation};
use crate::mem_vfs::{CrashKind, MemVfs};
use crate::real_vfs::RealVfs;
use crate::vfs::Vfs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

fn write(vfs: &dyn Vfs, path: &Path, bytes: &[u8], sync: bool) {
    let mut file = vfs.create(path).unwrap();
    file.write_all(bytes).unwrap();
    if sync {
        file.sync().unwrap();
    }
    file.flush().unwrap();
}

fn behaves_like_a_file_system(vfs: &dyn Vfs, root: &Path) {
    let folder = root.join("a/b");
    vfs.create_dir_all(&folder).unwrap();
    vfs.create_dir_all(&folder).unwrap();
    assert!(vfs.exists(&folder));
    let path = folder.join("x");
    write(vfs, &path, b"hello world", true);
    let file = vfs.open(&path).unwrap();
    assert_eq!(file.len(), 11);
    let mut buf = [0; 5];
    file.read_exact_at(&mut buf, 6).unwrap();
    assert_eq!(&buf, b"world");
    assert_eq!(file.read_exact_at(&mut buf, 7).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert_eq!(vfs.open(&folder.join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(vfs.open(&folder).is_err());
    assert!(vfs.create(&folder).is_err());
    write(vfs, &folder.join("y"), b"new", false);
    vfs.rename(&folder.join("y"), &path).unwrap();
    assert_eq!(vfs.create_new(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(vfs.list(&folder).unwrap(), [PathBuf::from("x")]);
    assert_eq!(vfs.open(&path).unwrap().len(), 3);
    assert_eq!(file.len(), 11, "an open file outlives its name");
    appends(vfs, &path);
    vfs.hard_link(&path, &folder.join("again")).unwrap();
    assert_eq!(vfs.hard_link(&path, &folder.join("again")).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(vfs.hard_link(&folder.join("none"), &path).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(vfs.hard_link(&folder, &folder.join("folder")).is_err());
    assert_eq!(vfs.open(&folder.join("again")).unwrap().len(), vfs.open(&path).unwrap().len());
    vfs.remove(&folder.join("again")).unwrap();
    assert!(vfs.exists(&path));
    vfs.sync_dir(&folder).unwrap();
    vfs.remove(&path).unwrap();
    assert!(!vfs.exists(&path));
    assert!(vfs.remove(&path).is_err());
    let held = vfs.lock(&folder.join("LOCK"), true).unwrap();
    assert_eq!(vfs.lock(&folder.join("LOCK"), true).err().unwrap().kind(), ErrorKind::WouldBlock);
    assert_eq!(vfs.lock(&folder.join("LOCK"), false).err().unwrap().kind(), ErrorKind::WouldBlock);
    drop(held);
    let shared = vfs.lock(&folder.join("LOCK"), false).unwrap();
    let more = vfs.lock(&folder.join("LOCK"), false).unwrap();
    assert!(vfs.lock(&folder.join("LOCK"), true).is_err());
    drop((shared, more));
    drop(vfs.lock(&folder.join("LOCK"), true).unwrap());
    vfs.remove_dir_all(&root.join("a")).unwrap();
    assert!(!vfs.exists(&folder));
}

/// Of a file that holds `new`.
fn appends(vfs: &dyn Vfs, path: &Path) {
    let mut file = vfs.open_append(path, 2).unwrap();
    file.write_all(b"xt").unwrap();
    file.sync_data().unwrap();
    file.write_all(b" one").unwrap();
    drop(file);
    let file = vfs.open(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len()).unwrap()];
    file.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(bytes, b"next one");
    assert_eq!(vfs.open_append(path, 9).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    drop(vfs.open_append(path, 8).unwrap());
    assert_eq!(vfs.open(path).unwrap().len(), 8);
    assert_eq!(vfs.open_append(&path.with_extension("none"), 0).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn real() {
    let folder = tempfile::tempdir().unwrap();
    behaves_like_a_file_system(&RealVfs, folder.path());
}

#[test]
fn memory() {
    behaves_like_a_file_system(&MemVfs::new(), Path::new("/db"));
}

#[test]
fn counting() {
    behaves_like_a_file_system(&FaultVfs::counting(MemVfs::new(), true), Path::new("db"));
}

#[test]
fn a_crash_loses_what_was_not_made_durable() {
    let vfs = MemVfs::new();
    vfs.create_dir_all(Path::new("/d")).unwrap();
    vfs.sync_dir(Path::new("/")).unwrap();
    write(&vfs, Path::new("/d/kept"), b"abc", true);
    write(&vfs, Path::new("/d/cut"), b"abc", false);
    vfs.sync_dir(Path::new("/d")).unwrap();
    write(&vfs, Path::new("/d/gone"), b"abc", true);
    vfs.remove(Path::new("/d/kept")).unwrap();
    let after = vfs.after_crash(CrashKind::LoseAll);
    assert_eq!(after.read(Path::new("/d/kept")).unwrap(), b"abc");
    assert_eq!(after.read(Path::new("/d/cut")).unwrap(), b"");
    assert!(!after.exists(Path::new("/d/gone")));
    for seed in 0..50 {
        let torn = vfs.after_crash(CrashKind::Torn(seed));
        let cut = torn.read(Path::new("/d/cut")).unwrap();
        assert!(b"abc".starts_with(&cut));
    }
}

#[test]
fn a_crash_may_bring_back_what_was_cut_off() {
    let vfs = MemVfs::new();
    let path = Path::new("/x");
    write(&vfs, path, b"abcdef", true);
    vfs.sync_dir(Path::new("/")).unwrap();
    let left = |kind| vfs.after_crash(kind).read(path).unwrap();
    drop(vfs.open_append(path, 5).unwrap());
    let mut file = vfs.open_append(path, 2).unwrap();
    file.write_all(b"XY").unwrap();
    assert_eq!(left(CrashKind::LoseAll), b"abcdef");
    let mut torn: Vec<Vec<u8>> = (0..100).map(|seed| left(CrashKind::Torn(seed))).collect();
    torn.sort_unstable();
    torn.dedup();
    let all: [&[u8]; 6] = [b"ab", b"abX", b"abXY", b"abXYef", b"abXdef", b"abcdef"];
    assert_eq!(torn, all);
    file.sync_data().unwrap();
    for kind in [CrashKind::LoseAll, CrashKind::Torn(1), CrashKind::Scattered(1)] {
        assert_eq!(left(kind), b"abXY");
    }
}

#[test]
fn scattered_bytes_keep_their_places() {
    let vfs = MemVfs::new();
    let path = Path::new("/x");
    write(&vfs, path, b"durable", true);
    vfs.sync_dir(Path::new("/")).unwrap();
    let mut file = vfs.open_append(path, 7).unwrap();
    file.write_all(&[1; 100]).unwrap();
    let mut holes = 0;
    for seed in 0..50 {
        let left = vfs.after_crash(CrashKind::Scattered(seed)).read(path).unwrap();
        assert!(left.len() <= 107 && left.starts_with(b"durable") && left[7..].iter().all(|byte| *byte <= 1));
        holes += usize::from(left[7..].windows(2).any(|pair| pair == [0, 1]));
    }
    assert!(holes > 10);
}

/// The names that crashes may leave in a folder.
fn names_left(vfs: &MemVfs, folder: &str) -> Vec<Vec<PathBuf>> {
    let left = |seed| vfs.after_crash(CrashKind::Torn(seed)).list(Path::new(folder)).unwrap();
    let mut all: Vec<Vec<PathBuf>> = (0..200).map(left).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn changes_of_names_survive_one_by_one_and_those_of_one_name_in_order() {
    let vfs = MemVfs::new();
    write(&vfs, Path::new("/a"), b"old", true);
    vfs.sync_dir(Path::new("/")).unwrap();
    write(&vfs, Path::new("/t"), b"new", true);
    vfs.rename(Path::new("/t"), Path::new("/a")).unwrap();
    write(&vfs, Path::new("/b"), b"1", true);
    vfs.remove(Path::new("/b")).unwrap();
    write(&vfs, Path::new("/c"), b"1", true);
    // The new `t` or the old `a`; `b` before it was removed; `c` whatever became of the others.
    let expected: Vec<Vec<PathBuf>> =
        [&["a"][..], &["a", "b"], &["a", "b", "c"], &["a", "b", "c", "t"], &["a", "b", "t"], &["a", "c"]]
            .iter()
            .copied()
            .chain([&["a", "c", "t"][..], &["a", "t"]])
            .map(|names| names.iter().map(PathBuf::from).collect())
            .collect();
    assert_eq!(names_left(&vfs, "/"), expected);
    for seed in 0..200 {
        let after = vfs.after_crash(CrashKind::Torn(seed));
        let renamed = after.read(Path::new("/a")).unwrap() == b"new";
        assert!(!renamed || !after.exists(Path::new("/t")), "a rename is one step");
    }
    assert_eq!(vfs.after_crash(CrashKind::LoseAll).list(Path::new("/")).unwrap(), [PathBuf::from("a")]);
    let kept = vfs.after_crash(CrashKind::KeepAll);
    assert_eq!(kept.read(Path::new("/a")).unwrap(), b"new");
    assert_eq!(kept.list(Path::new("/")).unwrap(), [PathBuf::from("a"), PathBuf::from("c")]);
}

#[test]
fn a_crash_may_find_a_folder_half_removed() {
    let vfs = MemVfs::new();
    vfs.create_dir_all(Path::new("/d")).unwrap();
    for name in ["/d/1", "/d/2"] {
        write(&vfs, Path::new(name), b"1", true);
    }
    vfs.sync_dir(Path::new("/d")).unwrap();
    vfs.sync_dir(Path::new("/")).unwrap();
    vfs.remove_dir_all(Path::new("/d")).unwrap();
    let left = |seed| vfs.after_crash(CrashKind::Torn(seed)).files().len();
    assert_eq!((0..100).map(left).collect::<std::collections::BTreeSet<_>>(), [0, 1, 2].into());
}

#[test]
fn a_file_with_two_names_stays_one_file() {
    let vfs = MemVfs::new();
    write(&vfs, Path::new("/a"), &[7; 1000], false);
    vfs.hard_link(Path::new("/a"), Path::new("/b")).unwrap();
    vfs.sync_dir(Path::new("/")).unwrap();
    for seed in 0..20 {
        let after = vfs.after_crash(CrashKind::Scattered(seed));
        assert_eq!(after.read(Path::new("/a")).unwrap(), after.read(Path::new("/b")).unwrap());
    }
}

#[test]
fn what_a_lost_sync_was_to_save_is_gone_after_a_power_cut() {
    let vfs = FaultVfs::counting(MemVfs::new(), false);
    let path = Path::new("/x");
    write(&vfs, path, b"one", true);
    vfs.sync_dir(Path::new("/")).unwrap();
    let mut file = vfs.open_append(path, 3).unwrap();
    file.write_all(b"two").unwrap();
    vfs.fail_next(Fault::LostSync, Operation::Sync);
    assert!(file.sync().is_err());
    assert_eq!(vfs.after_crash(CrashKind::LoseAll).read(path).unwrap(), b"one");
    file.sync().unwrap();
    assert_eq!(vfs.inner().read(path).unwrap(), b"onetwo", "readers see it");
    for kind in [CrashKind::LoseAll, CrashKind::KeepAll] {
        assert_eq!(vfs.after_crash(kind).read(path).unwrap(), b"one\0\0\0");
    }
    file.write_all(b"three").unwrap();
    file.sync().unwrap();
    assert_eq!(vfs.after_crash(CrashKind::LoseAll).read(path).unwrap(), b"one\0\0\0three");

    vfs.rename(path, Path::new("/y")).unwrap();
    vfs.fail_next(Fault::LostSync, Operation::SyncDir);
    assert!(vfs.sync_dir(Path::new("/")).is_err());
    write(&vfs, Path::new("/z"), b"", true);
    vfs.sync_dir(Path::new("/")).unwrap();
    assert_eq!(vfs.list(Path::new("/")).unwrap(), [PathBuf::from("y"), PathBuf::from("z")]);
    let after = vfs.after_crash(CrashKind::KeepAll).list(Path::new("/")).unwrap();
    assert_eq!(after, [PathBuf::from("x"), PathBuf::from("z")]);
}

#[test]
fn an_operation_may_take_effect_and_report_a_failure() {
    let vfs = FaultVfs::counting(MemVfs::new(), false);
    let [a, b, c] = ["/a", "/b", "/c"].map(Path::new);
    vfs.fail_next(Fault::LateError, Operation::Create);
    assert!(vfs.create(a).is_err() && vfs.exists(a));
    let mut file = vfs.create(a).unwrap();
    vfs.fail_next(Fault::LateError, Operation::Write);
    assert!(file.write_all(b"bytes").is_err());
    vfs.fail_next(Fault::LateError, Operation::Sync);
    assert!(file.sync().is_err());
    vfs.fail_next(Fault::LateError, Operation::SyncDir);
    assert!(vfs.sync_dir(Path::new("/")).is_err());
    assert_eq!(vfs.after_crash(CrashKind::LoseAll).read(a).unwrap(), b"bytes");
    vfs.fail_next(Fault::LateError, Operation::Rename);
    assert!(vfs.rename(a, b).is_err() && !vfs.exists(a) && vfs.exists(b));
    vfs.fail_next(Fault::LateError, Operation::Link);
    assert!(vfs.hard_link(b, c).is_err() && vfs.exists(c));
    vfs.fail_next(Fault::LateError, Operation::Remove);
    assert!(vfs.remove(c).is_err() && !vfs.exists(c));
    assert!(vfs.remove(b).is_ok());
}

#[test]
fn outages_end_and_shortages_are_mended() {
    let vfs = FaultVfs::new(MemVfs::new(), Fault::Outage(3), 1, false);
    let path = Path::new("/x");
    let mut file = vfs.create(path).unwrap();
    assert_eq!(
        (0..5).map(|_| file.write_all(b"ab").is_ok()).collect::<Vec<_>>(),
        [false, false, false, true, true]
    );
    file.sync().unwrap();
    vfs.fail_at(Fault::NoDescriptors, vfs.operations());
    assert_eq!(vfs.create(path).unwrap_err().raw_os_error(), Some(24));
    assert!(
        vfs.open(path).is_err() && vfs.list(Path::new("/")).is_err() && vfs.sync_dir(Path::new("/")).is_err()
    );
    file.write_all(b"!").unwrap();
    vfs.mend();
    assert_eq!(vfs.open(path).unwrap().len(), 3 + 4 + 1);
    vfs.fail_next(Fault::ShortWrites, Operation::Write);
    assert_eq!(file.write(b"12345").unwrap(), 3);
    file.write_all(b"45").unwrap();
    assert!(vfs.inner().read(path).unwrap().ends_with(b"!12345"));
}

#[test]
fn the_removal_of_a_folder_may_fail_half_done() {
    let vfs = FaultVfs::counting(MemVfs::new(), false);
    vfs.create_dir_all(Path::new("/d")).unwrap();
    for name in ["/d/1", "/d/2", "/d/3"] {
        write(&vfs, Path::new(name), b"1", true);
    }
    vfs.fail_next(Fault::Error, Operation::RemoveDir);
    assert!(vfs.remove_dir_all(Path::new("/d")).is_err());
    assert_eq!(vfs.list(Path::new("/d")).unwrap(), [PathBuf::from("2")]);
}

#[test]
fn faults_strike_where_planned() {
    let vfs = FaultVfs::new(MemVfs::new(), Fault::Error, 1, false);
    let mut file = vfs.create(Path::new("/x")).unwrap();
    assert!(file.write_all(b"1").is_err());
    assert!(file.write_all(b"2").is_ok());
    assert!(vfs.struck());
    let vfs = FaultVfs::new(MemVfs::new(), Fault::PowerCut, 1, false);
    let mut file = vfs.create(Path::new("/x")).unwrap();
    assert!(file.write_all(b"1").is_err());
    assert!(file.write_all(b"2").is_err());
    assert!(vfs.open(Path::new("/x")).is_err());
}

#[test]
fn the_folder_of_a_locked_file_is_held_open() {
    let root = tempfile::tempdir().unwrap();
    let (folder, other) = (root.path().join("db"), root.path().join("other"));
    RealVfs.create_dir_all(&folder).unwrap();
    let lock = RealVfs.lock(&folder.join("LOCK"), true).unwrap();
    // Nobody could open it now.
    RealVfs.rename(&folder, &other).unwrap();
    RealVfs.sync_dir(&folder).unwrap();
    drop(lock);
    assert_eq!(RealVfs.sync_dir(&folder).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
#[cfg(unix)]
fn a_pipe_keeps_nobody_waiting() {
    let root = tempfile::tempdir().unwrap();
    let pipe = root.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(RealVfs.open(&pipe).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(RealVfs.open_immutable(&pipe).unwrap_err().kind(), ErrorKind::InvalidInput);
}
