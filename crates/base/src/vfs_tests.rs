//! The three file systems behave alike, and crashes lose exactly what was not made durable.

use crate::fault_vfs::{Fault, FaultVfs};
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
