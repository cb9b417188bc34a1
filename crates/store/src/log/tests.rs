//! What is appended is replayed, groups are published in order, and damage is told from a torn tail.

use super::*;
use crate::test_data::FOLDER;
use lode_base::fault_vfs::FaultVfs;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::ReadAt;
use lode_rdf::value_id::Section;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, mpsc};

const DATABASE: u128 = 0x1234_5678_9ABC_DEF0_0FED_CBA9_8765_4321;
const NUMBER: u64 = 3;

pub(super) fn path() -> PathBuf {
    Path::new(FOLDER).join("log-000003")
}

pub(super) fn folder() -> MemVfs {
    let vfs = MemVfs::new();
    vfs.create_dir_all(Path::new(FOLDER)).unwrap();
    vfs.sync_dir(Path::new("/")).unwrap();
    vfs
}

pub(super) fn create(vfs: &dyn SharedVfs, durability: Durability) -> Result<Log<u64>, StoreError> {
    Log::create(&vfs.shared(), &path(), DATABASE, NUMBER, durability)
}

pub(super) trait SharedVfs {
    fn shared(&self) -> Arc<dyn Vfs>;
}

impl<V: Vfs + Clone + 'static> SharedVfs for V {
    fn shared(&self) -> Arc<dyn Vfs> {
        Arc::new(self.clone())
    }
}

/// All records of the log, and its end.
pub(super) fn read(vfs: &dyn Vfs) -> Result<(Vec<Vec<u8>>, LogEnd), StoreError> {
    let mut records = Vec::new();
    let end = replay(vfs, &path(), DATABASE, NUMBER, &mut |record| {
        assert_eq!(record.sequence, records.len() as u64);
        records.push(record.payload.to_vec());
        Ok(())
    })?;
    Ok((records, end))
}

pub(super) fn salvaged(vfs: &dyn Vfs) -> (Vec<Vec<u8>>, Salvaged) {
    let mut records = Vec::new();
    let found = salvage(vfs, &path(), DATABASE, NUMBER, &mut |record| {
        records.push(record.payload.to_vec());
        Ok(())
    });
    (records, found.unwrap())
}

pub(super) fn nothing(_: u64) {}

/// A log whose records were committed one by one.
fn written(payloads: &[Vec<u8>]) -> MemVfs {
    let vfs = folder();
    let log = create(&vfs, Durability::Sync).unwrap();
    for payload in payloads {
        log.wait(log.append(payload, 0).unwrap(), &nothing).unwrap();
    }
    vfs
}

pub(super) fn some_payloads() -> Vec<Vec<u8>> {
    [0, 5, 8, 100, 1, 31].iter().map(|length| (0..*length).map(|i| (i ^ length) | 1).collect()).collect()
}

proptest! {
    #[test]
    fn round_trip(
        groups in proptest::collection::vec(proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..5), 0..6),
        reopen_at in 0_usize..6,
    ) {
        let vfs = folder();
        let mut log = create(&vfs, Durability::Sync).unwrap();
        for (i, group) in groups.iter().enumerate() {
            if i == reopen_at {
                let (records, end) = read(&vfs).unwrap();
                prop_assert_eq!(records, groups[..i].concat());
                prop_assert_eq!(end, log.committed());
                log = Log::reopen(&vfs.shared(), &path(), end, Durability::Sync).unwrap();
            }
            let appended: Vec<Lsn> = group.iter().map(|payload| log.append(payload, 0).unwrap()).collect();
            for lsn in appended.iter().rev() {
                log.wait(*lsn, &nothing).unwrap();
            }
        }
        let (records, end) = read(&vfs).unwrap();
        prop_assert_eq!(records, groups.concat());
        prop_assert_eq!(end.ignored_bytes, 0);
        prop_assert_eq!(end.offset, log.bytes());
        prop_assert_eq!(end.offset, vfs.open(&path()).unwrap().len());
    }

    #[test]
    fn any_damage_leaves_a_prefix_or_is_told(
        groups in proptest::collection::vec(proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 1..4), 0..6),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        length in proptest::option::of(any::<prop::sample::Index>()),
        tail in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let vfs = folder();
        let log = create(&vfs, Durability::Sync).unwrap();
        for group in &groups {
            for payload in group {
                log.append(payload, 0).unwrap();
            }
            log.drain(&nothing).unwrap();
        }
        let mut bytes = vfs.read(&path()).unwrap();
        for (at, change) in changes {
            let at = at.index(bytes.len());
            bytes[at] ^= change;
        }
        bytes.truncate(length.map_or(usize::MAX, |length| length.index(bytes.len())));
        bytes.extend_from_slice(&tail);
        vfs.overwrite(&path(), bytes).unwrap();
        let (records, found) = salvaged(&vfs);
        prop_assert!(groups.concat().starts_with(&records));
        prop_assert_eq!(found.damage.is_some(), read(&vfs).is_err());
        if found.damage.is_none() {
            prop_assert_eq!(read(&vfs).unwrap().1, found.end);
            let log: Log<u64> = Log::reopen(&vfs.shared(), &path(), found.end, Durability::Sync).unwrap();
            log.wait(log.append(b"and on", 0).unwrap(), &nothing).unwrap();
            let (again, end) = read(&vfs).unwrap();
            prop_assert_eq!((again.len(), end.ignored_bytes), (records.len() + 1, 0));
        }
    }

    #[test]
    fn changes_round_trip(changes in changes(), cut in any::<prop::sample::Index>()) {
        let mut payload = Vec::new();
        changes.encode(&mut payload);
        let decode = |payload: &[u8]| Changes::decode(&LogRecord { sequence: 0, offset: 48, payload }, &path());
        prop_assert_eq!(decode(&payload).unwrap(), changes);
        let cut = decode(&payload[..cut.index(payload.len())]);
        let refused = matches!(cut, Err(StoreError::Corruption { offset: 48, .. }));
        prop_assert!(refused);
        payload.push(0);
        prop_assert!(decode(&payload).is_err());
    }

    #[test]
    fn changes_of_any_bytes_do_not_panic(mut payload in proptest::collection::vec(any::<u8>(), 0..80)) {
        payload.insert(0, 1);
        let _ = Changes::decode(&LogRecord { sequence: 0, offset: 48, payload: &payload }, &path());
    }
}

fn changes() -> impl Strategy<Value = Changes> {
    let id = prop_oneof![any::<u64>(), 0_u64..4, (0_u64..300).prop_map(|n| n + (0x1080 << 48))];
    let quads = || {
        proptest::collection::vec(proptest::array::uniform4(id.clone()), 0..40).prop_map(|mut quads| {
            quads.sort_unstable();
            quads
        })
    };
    let key = proptest::collection::vec(any::<u8>(), 0..20).prop_map(Vec::into_boxed_slice);
    let term = (proptest::sample::select(&Section::ALL[..]), key);
    let numbers = proptest::array::uniform3(any::<u64>());
    (numbers, proptest::collection::vec(term, 0..9), quads(), quads()).prop_map(
        |([version, next_blank, first_term], terms, inserts, deletes)| Changes {
            version,
            next_blank,
            first_term,
            terms,
            inserts,
            deletes,
        },
    )
}

#[test]
fn the_bytes_of_a_file() {
    let vfs = written(&[b"abc".to_vec()]);
    let bytes = vfs.read(&path()).unwrap();
    assert_eq!(bytes.len(), 48 + 32 + 8);
    assert_eq!(&bytes[..16], b"LODElogs\x04\0\0\0\0\0\0\0");
    assert_eq!(&bytes[16..32], &DATABASE.to_le_bytes());
    assert_eq!(&bytes[32..40], &NUMBER.to_le_bytes());
    let check: u64 = 0x1D5F_B28E_DF31_0AEC;
    assert_eq!(u64::from_le_bytes(bytes[40..48].try_into().unwrap()), check, "golden");
    assert_eq!(&bytes[48..52], &[3, 0, 0, 0]);
    assert_eq!(u32::from_le_bytes(bytes[52..56].try_into().unwrap()), 0x8093_B2B5, "golden");
    assert_eq!(&bytes[56..64], &[0; 8]);
    assert_eq!(&bytes[64..72], &[48, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(&bytes[80..], b"abc\0\0\0\0\0");
}

#[test]
fn the_bytes_of_changes() {
    let changes = Changes {
        version: 300,
        next_blank: 7,
        first_term: 2,
        terms: vec![(Section::String, (*b"hi").into())],
        inserts: vec![[0x1000, 5, 1, 1], [0x1000, 5, 3, 1]],
        deletes: vec![],
    };
    let mut payload = Vec::new();
    changes.encode(&mut payload);
    let quads = [[0x12_u8, 0x11, 0, 0x20, 10, 2, 2].as_slice(), &[0, 1, 4]].concat();
    assert_eq!(payload, [&[1, 0xAC, 2, 7, 2, 1, 1, 2][..], b"hi", &[2], &quads, &[0]].concat());
}

#[test]
fn every_truncation_leaves_a_prefix() {
    let payloads = some_payloads();
    let vfs = written(&payloads);
    let good = vfs.read(&path()).unwrap();
    for length in 0..good.len() {
        vfs.overwrite(&path(), good[..length].to_vec()).unwrap();
        match read(&vfs) {
            Ok((records, end)) => {
                assert!(records.len() < payloads.len() && payloads.starts_with(&records), "{length}");
                assert_eq!(end.offset + end.ignored_bytes, length as u64);
            }
            Err(StoreError::Corruption { offset: 0, .. }) => assert!(length < HEADER_BYTES),
            Err(error) => panic!("{length}: {error}"),
        }
        let (records, found) = salvaged(&vfs);
        assert!(payloads.starts_with(&records));
        assert_eq!(found.damage.is_some(), length < HEADER_BYTES);
        assert_eq!(found.end.offset + found.end.ignored_bytes, length as u64);
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let payloads = some_payloads();
    let vfs = written(&payloads);
    let good = vfs.read(&path()).unwrap();
    let mut starts = vec![];
    replay(&vfs, &path(), DATABASE, NUMBER, &mut |record| {
        starts.push(record.offset);
        Ok(())
    })
    .unwrap();
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        vfs.overwrite(&path(), bad).unwrap();
        let in_header = bit / 8 < HEADER_BYTES;
        let struck = starts.iter().rposition(|start| *start <= bit as u64 / 8);
        let (records, found) = salvaged(&vfs);
        match (read(&vfs), struck) {
            (Err(StoreError::Corruption { offset: 0, .. }), None) => assert_eq!(records, payloads),
            (Err(StoreError::Corruption { offset, .. }), Some(struck)) => {
                assert!(struck + 1 < payloads.len(), "the last record may be torn");
                assert_eq!((offset, found.end.offset), (starts[struck], starts[struck]), "bit {bit}");
                assert_eq!(records, payloads[..struck]);
            }
            (Ok((before, end)), Some(struck)) => {
                assert_eq!((struck + 1, &records, end), (payloads.len(), &before, found.end), "bit {bit}");
                assert_eq!(before, payloads[..struck]);
                assert_eq!(end.ignored_bytes, good.len() as u64 - starts[struck]);
            }
            (other, struck) => panic!("bit {bit}: {other:?}, record {struck:?}"),
        }
        assert!(in_header == struck.is_none());
        assert_eq!(found.end.offset + found.end.ignored_bytes, good.len() as u64);
    }
}

#[test]
fn damage_is_found_however_far_behind_the_next_record_is() {
    let long: Vec<u8> = (0..3_u32 << 20).map(|i| (i >> 4) as u8).collect();
    let payloads = [b"first".to_vec(), long, b"last".to_vec()];
    let vfs = written(&payloads);
    assert_eq!(read(&vfs).unwrap().0, payloads);
    let good = vfs.read(&path()).unwrap();
    let start = 48 + 40;
    for at in [start, start + 8, start + 24, start + 32, start + (2 << 20)] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        vfs.overwrite(&path(), bad).unwrap();
        let found = read(&vfs);
        assert!(
            matches!(found, Err(StoreError::Corruption { offset, .. }) if offset == start as u64),
            "{found:?}"
        );
    }
}

#[test]
fn logs_are_not_mixed_up() {
    let vfs = written(&some_payloads());
    for (database, number) in [(DATABASE, NUMBER + 1), (DATABASE ^ 1, NUMBER)] {
        let found = replay(&vfs, &path(), database, number, &mut |_| panic!());
        assert!(matches!(found, Err(StoreError::Corruption { offset: 0, .. })));
        assert!(salvage(&vfs, &path(), database, number, &mut |_| panic!()).is_err());
    }
    let mut bytes = vfs.read(&path()).unwrap();
    bytes[8] = 9;
    let check = lode_base::checksum::checksum(&bytes[..40]);
    bytes[40..48].copy_from_slice(&check.to_le_bytes());
    vfs.overwrite(&path(), bytes).unwrap();
    assert!(matches!(read(&vfs), Err(StoreError::Version { found: 9, .. })));
    vfs.remove(&path()).unwrap();
    assert!(matches!(read(&vfs), Err(StoreError::Corruption { offset: 0, .. })));
}

#[test]
fn what_the_visitor_says_is_told() {
    let vfs = written(&some_payloads());
    let mut visits = 0;
    let found = replay(&vfs, &path(), DATABASE, NUMBER, &mut |_| {
        visits += 1;
        Err(StoreError::Limit("enough".to_owned()))
    });
    assert!(matches!(found, Err(StoreError::Limit(_))) && visits == 1);
}

#[test]
fn an_end_behind_the_file_is_refused() {
    let vfs = written(&some_payloads());
    let (_, mut end) = read(&vfs).unwrap();
    end.offset += 8;
    assert!(Log::<()>::reopen(&vfs.shared(), &path(), end, Durability::Sync).is_err());
}

#[test]
fn a_batch_is_published_before_it_is_durable() {
    let vfs = FaultVfs::counting(folder(), false);
    let log = create(&vfs, Durability::Batch(Duration::from_secs(3600))).unwrap();
    let seen = AtomicU64::new(0);
    let publish = |version| seen.store(version, Ordering::Relaxed);
    for version in 1..=5 {
        log.wait(log.append(b"x", version).unwrap(), &publish).unwrap();
        assert_eq!(seen.load(Ordering::Relaxed), version);
        assert_eq!(read(&vfs).unwrap().0.len() as u64, version, "the operating system has it");
    }
    assert_eq!(log.counters().syncs, 0);
    assert!(log.sync_if_due().unwrap().unwrap() > Duration::from_secs(3000));
    assert_eq!(log.counters().syncs, 0);
    log.append(b"x", 6).unwrap();
    log.drain(&publish).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 6);
    log.drain(&publish).unwrap();
    assert_eq!(log.counters(), LogCounters { records: 6, bytes: 240, syncs: 1 });
    assert_eq!(log.sync_if_due().unwrap(), None);
    let after = vfs.after_crash(lode_base::mem_vfs::CrashKind::LoseAll);
    assert_eq!(read(&after).unwrap().0.len(), 6);
}

#[test]
fn a_batch_that_has_waited_is_synced_by_whoever_comes() {
    let vfs = folder();
    let log = create(&vfs, Durability::Batch(Duration::from_nanos(1))).unwrap();
    log.wait(log.append(b"x", 0).unwrap(), &nothing).unwrap();
    assert_eq!(log.counters().syncs, 0);
    std::thread::sleep(Duration::from_millis(1));
    log.wait(log.append(b"x", 0).unwrap(), &nothing).unwrap();
    assert_eq!(log.counters().syncs, 1);
    assert_eq!(log.sync_if_due().unwrap(), None);
    log.wait(log.append(b"x", 0).unwrap(), &nothing).unwrap();
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(log.sync_if_due().unwrap(), None);
    assert_eq!(log.counters().syncs, 2);
}

#[test]
fn a_publisher_that_panics_ends_the_log() {
    let vfs = folder();
    let log = create(&vfs, Durability::Sync).unwrap();
    let lsn = log.append(b"x", 0).unwrap();
    let wait = || log.wait(lsn, &|_| panic!("planned"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(wait)).is_err());
    assert!(log.has_failed());
    assert!(log.wait(lsn, &nothing).is_err());
    assert!(log.append(b"y", 1).is_err());
}

/// A file system whose syncs wait until they are let go, so that groups must form.
#[derive(Debug)]
struct SlowSyncs {
    inner: MemVfs,
    gate: Arc<Mutex<mpsc::Receiver<()>>>,
}

#[derive(Debug)]
struct SlowFile(Box<dyn WriteFile>, Arc<Mutex<mpsc::Receiver<()>>>);

impl Write for SlowFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl WriteFile for SlowFile {
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        // Nobody at the other end: no more waiting.
        let _ = self.1.lock().unwrap().recv();
        self.0.sync_data()
    }
}

impl Vfs for SlowSyncs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.inner.open(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.inner.create(path)
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        Ok(Box::new(SlowFile(self.inner.open_append(path, len)?, Arc::clone(&self.gate))))
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
        self.inner.rename(from, to)
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

#[test]
fn commits_of_many_threads_share_syncs() {
    const THREADS: u64 = 16;
    const EACH: u64 = 100;
    let inner = folder();
    let (let_go, gate) = mpsc::channel();
    let vfs: Arc<dyn Vfs> = Arc::new(SlowSyncs { inner: inner.clone(), gate: Arc::new(Mutex::new(gate)) });
    let log: Log<u64> = Log::create(&vfs, &path(), DATABASE, NUMBER, Durability::Sync).unwrap();
    let current = AtomicU64::new(0);
    // Versions in the order of the log: what a gate around `append` makes sure of.
    let tip = Mutex::new(0_u64);
    let published = Mutex::new(Vec::new());
    let publish = |version: u64| {
        published.lock().unwrap().push(version);
        current.store(version, Ordering::SeqCst);
    };
    let commit = || {
        let mut tip = tip.lock().unwrap();
        let version = *tip + 1;
        let lsn = log.append(&version.to_le_bytes(), version).unwrap();
        *tip = version;
        (version, lsn)
    };
    let ready = Barrier::new(THREADS as usize + 1);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut next = Some(commit());
                // Everybody has appended before the first sync ends.
                ready.wait();
                for i in 0..EACH {
                    let (version, lsn) = next.take().unwrap_or_else(commit);
                    log.wait(lsn, &publish).unwrap();
                    assert!(current.load(Ordering::SeqCst) >= version, "told before it was public, {i}");
                }
            });
        }
        ready.wait();
        drop(let_go);
    });
    let published = published.into_inner().unwrap();
    assert!(published.is_sorted_by(|a, b| a < b));
    assert_eq!(published.last(), Some(&(THREADS * EACH)));
    let counters = log.counters();
    assert_eq!(counters.syncs, published.len() as u64);
    assert_eq!(counters.records, THREADS * EACH);
    // At least the first records of all threads went together, in one group or two.
    assert!(counters.syncs <= THREADS * EACH - (THREADS - 2), "{counters:?}");
    let versions: Vec<Vec<u8>> = (1..=THREADS * EACH).map(|version| version.to_le_bytes().to_vec()).collect();
    assert_eq!(read(&inner).unwrap().0, versions);
}
