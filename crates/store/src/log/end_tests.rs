//! End marks: with one, damage to any byte of a log is told, and so is a cut at any place; damage to the mark itself loses nothing.

use super::tests::{SharedVfs, create, folder, nothing, path, read, salvaged, some_payloads};
use super::*;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};

/// A log of one group, closed.
fn closed() -> MemVfs {
    let vfs = folder();
    let log = create(&vfs, Durability::Sync).unwrap();
    for payload in some_payloads() {
        log.append(&payload, 0).unwrap();
    }
    log.drain(&nothing).unwrap();
    log.close().unwrap();
    vfs
}

fn mark() -> PathBuf {
    mark_file(&path())
}

#[test]
fn every_flipped_bit_of_a_closed_log_is_told() {
    let vfs = closed();
    let good = vfs.read(&path()).unwrap();
    assert!(read(&vfs).unwrap().1.is_closed);
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        vfs.overwrite(&path(), bad).unwrap();
        assert!(matches!(read(&vfs), Err(StoreError::Corruption { .. })), "bit {bit}");
        let (records, found) = salvaged(&vfs);
        assert!(some_payloads().starts_with(&records));
        if found.end.offset < good.len() as u64 {
            assert_eq!(records.len() as u64 + found.lost_records, some_payloads().len() as u64, "bit {bit}");
            assert_eq!(found.end.offset + found.lost_bytes, good.len() as u64);
        }
    }
}

#[test]
fn every_cut_of_a_closed_log_is_told() {
    let vfs = closed();
    let good = vfs.read(&path()).unwrap();
    for length in 0..good.len() {
        vfs.overwrite(&path(), good[..length].to_vec()).unwrap();
        assert!(matches!(read(&vfs), Err(StoreError::Corruption { .. })), "{length}");
        let (records, found) = salvaged(&vfs);
        assert_eq!(records.len() as u64 + found.lost_records, some_payloads().len() as u64, "{length}");
        assert!(found.lost_bytes > 0);
    }
}

#[test]
fn any_damage_to_the_mark_is_told_and_loses_nothing() {
    let vfs = closed();
    let (log, good) = (vfs.read(&path()).unwrap(), vfs.read(&mark()).unwrap());
    let flipped = (0..8 * good.len()).map(|bit| {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        bad
    });
    let cut = (0..good.len()).map(|length| good[..length].to_vec());
    let longer = [good.clone(), vec![0]].concat();
    for bad in flipped.chain(cut).chain([longer]) {
        vfs.overwrite(&mark(), bad).unwrap();
        let (records, found) = salvaged(&vfs);
        assert_eq!(records, some_payloads());
        assert!(found.damage.is_none() && found.mark_damage.is_some());
        assert_eq!((found.end.offset, found.end.is_closed), (log.len() as u64, false));
    }
    vfs.remove(&mark()).unwrap();
    let (records, found) = salvaged(&vfs);
    assert!(records == some_payloads() && found.damage.is_none() && found.mark_damage.is_none());
}

#[test]
fn a_mark_belongs_to_one_log() {
    let (vfs, other) = (closed(), folder());
    let log = create(&other, Durability::Sync).unwrap();
    log.append(b"another record", 0).unwrap();
    log.drain(&nothing).unwrap();
    log.close().unwrap();
    // The same log, as far as its header tells, with other records.
    vfs.overwrite(&mark(), other.read(&mark()).unwrap()).unwrap();
    let (records, found) = salvaged(&vfs);
    assert!(records == some_payloads() && found.damage.is_none());
    assert!(found.mark_damage.unwrap().to_string().contains("other records"));
    // One of another version.
    let salt = replay::read_salt(&vfs, &path()).unwrap();
    let mut bytes = vfs.read(&mark()).unwrap();
    bytes[8] = 9;
    let check = xxhash_rust::xxh3::xxh3_64_with_seed(&bytes[..32], salt.get());
    bytes[32..].copy_from_slice(&check.to_le_bytes());
    vfs.overwrite(&mark(), bytes).unwrap();
    assert!(matches!(read(&vfs), Err(StoreError::Version { found: 9, .. })));
}

#[test]
fn the_bytes_of_a_mark() {
    let bytes = closed().read(&mark()).unwrap();
    assert_eq!(&bytes[..16], b"LODElend\x04\0\0\0\x01\0\0\0");
    assert_eq!(&bytes[16..32], [400_u64.to_le_bytes(), 6_u64.to_le_bytes()].concat());
    assert_eq!(bytes.len(), 40);
}

#[test]
fn an_idle_log_is_marked_once() {
    let vfs = folder();
    let log = create(&vfs, Durability::Batch(Duration::from_secs(3600))).unwrap();
    log.wait(log.append(b"x", 0).unwrap(), &nothing).unwrap();
    assert_eq!(log.mark_if_idle().unwrap(), None, "nothing of it is durable");
    log.drain(&nothing).unwrap();
    let wait = log.mark_if_idle().unwrap().unwrap();
    assert!(!vfs.exists(&mark()));
    std::thread::sleep(wait);
    assert_eq!(log.mark_if_idle().unwrap(), None);
    assert!(!read(&vfs).unwrap().1.is_closed);
    let first = vfs.read(&mark()).unwrap();
    vfs.remove(&mark()).unwrap();
    assert_eq!(log.mark_if_idle().unwrap(), None);
    assert!(!vfs.exists(&mark()), "written again for nothing");
    // It goes on, and what the mark said stays true.
    log.append(b"y", 0).unwrap();
    log.drain(&nothing).unwrap();
    std::thread::sleep(log.mark_if_idle().unwrap().unwrap());
    log.retire();
    assert_eq!(log.mark_if_idle().unwrap(), None);
    assert!(!vfs.exists(&mark()), "a mark of a log that has been replaced");
    drop(log);
    let log: Log<u64> = Log::reopen(&vfs.shared(), &path(), read(&vfs).unwrap().1, Durability::Sync).unwrap();
    log.close().unwrap();
    assert_ne!(vfs.read(&mark()).unwrap(), first);
}

#[test]
fn what_may_have_been_lost_is_not_forgotten_by_closing() {
    let vfs = folder();
    let batch = Durability::Batch(Duration::from_secs(3600));
    let reopen =
        || -> Log<u64> { Log::reopen(&vfs.shared(), &path(), read(&vfs).unwrap().1, batch).unwrap() };
    drop(create(&vfs, batch).unwrap());
    // Killed, and closed twice without anything to write.
    for _ in 0..2 {
        reopen().close().unwrap();
        assert!(!read(&vfs).unwrap().1.is_closed);
    }
    let log = reopen();
    for i in 0..3 {
        log.wait(log.append(b"x", 0).unwrap(), &nothing).unwrap();
        assert_eq!(log.counters().syncs, 1, "the first record, {i}");
    }
    log.drain(&nothing).unwrap();
    log.close().unwrap();
    assert!(read(&vfs).unwrap().1.is_closed);
    reopen().close().unwrap();
    assert!(read(&vfs).unwrap().1.is_closed);
}

#[test]
fn a_mark_that_cannot_be_written_is_told_once() {
    let inner = folder();
    let log = create(&inner, Durability::Sync).unwrap();
    log.append(b"x", 0).unwrap();
    log.drain(&nothing).unwrap();
    drop(log);
    let (_, end) = read(&inner).unwrap();
    for fault in [Fault::Error, Fault::DiskFull, Fault::PowerCut] {
        // Behind the two operations that reopen it; the last is the sync of the folder.
        for at in 2..7 {
            let vfs = FaultVfs::new(inner.deep_copy(), fault, at, false);
            let log: Log<u64> = Log::reopen(&vfs.shared(), &path(), end, Durability::Sync).unwrap();
            std::thread::sleep(log.mark_if_idle().unwrap().unwrap());
            assert!(log.mark_if_idle().is_err(), "{fault:?} at {at}");
            assert_eq!(log.mark_if_idle().unwrap(), None);
            assert!(!log.has_failed(), "{fault:?} at {at}");
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Scattered(at)] {
                let (records, found) = salvaged(&vfs.after_crash(kind));
                assert!(records == [b"x"] && found.damage.is_none() && found.mark_damage.is_none());
            }
        }
    }
}
