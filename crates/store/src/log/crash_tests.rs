//! Power cuts, errors and full disks at every operation of a log that several commit to: what was acknowledged is there, and
//! what is there is a prefix of what was appended.

use super::tests::{create, folder, path, read};
use super::*;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use std::sync::atomic::{AtomicU64, Ordering};

const LONG: Duration = Duration::from_secs(3600);

/// What came of a workload.
#[derive(Default)]
struct Outcome {
    created: bool,
    /// In the order of the log; the last ones may not have got there.
    appended: Vec<Vec<u8>>,
    /// So many of them must be there after a power cut.
    durable: usize,
    /// So many of them must be there if the machine goes on.
    committed: usize,
    published: u64,
    error: Option<StoreError>,
}

impl Outcome {
    fn append(&mut self, log: &Log<u64>) -> Result<Lsn, StoreError> {
        let number = self.appended.len();
        let payload: Vec<u8> = (0..(number * 37) % 90).map(|i| (i * number) as u8).collect();
        let lsn = log.append(&payload, number as u64 + 1)?;
        self.appended.push(payload);
        Ok(lsn)
    }
}

/// Groups of some records each, the waits in any order, a log that is opened again, and one that is drained.
fn work(vfs: &FaultVfs, durability: Durability) -> Outcome {
    let mut outcome = Outcome::default();
    let published = AtomicU64::new(0);
    let result = try_work(vfs, durability, &published, &mut outcome);
    outcome.published = published.into_inner();
    outcome.error = result.err();
    outcome
}

fn try_work(
    vfs: &FaultVfs,
    durability: Durability,
    published: &AtomicU64,
    outcome: &mut Outcome,
) -> Result<(), StoreError> {
    let publish = |version| assert!(published.swap(version, Ordering::Relaxed) < version);
    let mut log = create(vfs, durability)?;
    outcome.created = true;
    for round in 0..3 {
        for group in [1, 4, 2] {
            let mut lsns = Vec::new();
            for _ in 0..group {
                lsns.push(outcome.append(&log)?);
            }
            lsns.rotate_left(group / 2);
            for (i, lsn) in lsns.into_iter().enumerate() {
                let told = log.wait(lsn, &publish);
                if told.is_err() {
                    assert!(log.has_failed() && i == 0, "a group fails or succeeds as a whole");
                    fails_from_now_on(&log);
                }
                told?;
                outcome.committed = outcome.appended.len();
                if durability == Durability::Sync {
                    outcome.durable = outcome.committed;
                }
            }
        }
        if round == 0 {
            let (_, end) = read(vfs)?;
            assert_eq!(end, log.committed());
            log = Log::reopen(&(Arc::new(vfs.clone()) as Arc<dyn Vfs>), &path(), end, durability)?;
        } else {
            outcome.append(&log)?;
            let drained = log.drain(&publish);
            if drained.is_err() {
                fails_from_now_on(&log);
            }
            drained?;
        }
        outcome.committed = outcome.appended.len();
        outcome.durable = outcome.committed;
    }
    Ok(())
}

fn fails_from_now_on(log: &Log<u64>) {
    assert!(log.has_failed());
    let error = log.append(b"more", 0).unwrap_err();
    assert!(matches!(&error, StoreError::Io { path: at, .. } if *at == path()), "{error}");
    assert!(log.drain(&|_| panic!("published after a failure")).is_err());
    assert!(log.sync_if_due().is_err());
}

/// What was found is a prefix of what was appended, of at least so many records, and the log can be gone on with.
fn assert_prefix(vfs: &MemVfs, outcome: &Outcome, at_least: usize, context: &str) {
    let (records, end) = match read(vfs) {
        Ok(found) => found,
        Err(error) => {
            assert!(!outcome.created, "{context}: {error}");
            return;
        }
    };
    assert!(records.len() >= at_least, "{context}: {} of {at_least}", records.len());
    assert!(outcome.appended.starts_with(&records), "{context}");
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let log: Log<u64> = Log::reopen(&shared, &path(), end, Durability::Sync).unwrap();
    log.wait(log.append(b"and on", 0).unwrap(), &|_| {}).unwrap();
    let after = vfs.after_crash(CrashKind::LoseAll);
    let (again, end) = read(&after).unwrap();
    assert_eq!(end.ignored_bytes, 0);
    assert_eq!(again.len(), records.len() + 1);
    assert!(again.starts_with(&records) && again.ends_with(&[b"and on".to_vec()]));
}

fn operations(durability: Durability) -> u64 {
    let counting = FaultVfs::counting(folder(), false);
    let outcome = work(&counting, durability);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(outcome.published, outcome.appended.len() as u64);
    counting.operations()
}

#[test]
fn power_cuts() {
    for durability in [Durability::Sync, Durability::Batch(LONG), Durability::Batch(Duration::ZERO)] {
        for at in 0..=operations(durability) {
            let vfs = FaultVfs::new(folder(), Fault::PowerCut, at, false);
            let outcome = work(&vfs, durability);
            assert!(outcome.published <= outcome.committed as u64);
            let torn = (0..8).flat_map(|i| [CrashKind::Torn(at * 8 + i), CrashKind::Scattered(at * 8 + i)]);
            for kind in torn.chain([CrashKind::LoseAll]) {
                let context = format!("{durability:?}, operation {at}, {kind:?}");
                assert_prefix(&vfs.after_crash(kind), &outcome, outcome.durable, &context);
            }
        }
    }
}

#[test]
fn errors_and_full_disks() {
    for durability in [Durability::Sync, Durability::Batch(LONG)] {
        for fault in [Fault::Error, Fault::DiskFull] {
            for at in 0..operations(durability) {
                let vfs = FaultVfs::new(folder(), fault, at, false);
                let outcome = work(&vfs, durability);
                let error = outcome.error.as_ref().unwrap();
                assert_eq!(fault == Fault::DiskFull, error.to_string().contains("make room"), "{error}");
                assert!(outcome.published <= outcome.committed as u64);
                let context = format!("{durability:?}, {fault:?}, operation {at}");
                assert_prefix(&vfs.inner().deep_copy(), &outcome, outcome.committed, &context);
                for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Scattered(at)] {
                    assert_prefix(&vfs.after_crash(kind), &outcome, outcome.durable, &context);
                }
            }
        }
    }
}

/// One thread's commits: those it was told of.
fn commit_some(log: &Log<u64>, tip: &Mutex<Vec<Vec<u8>>>, thread: u8, current: &AtomicU64) -> usize {
    let mut told = 0;
    for i in 0..6_u8 {
        let mut tip = tip.lock().unwrap();
        let payload = vec![thread * 16 + i; usize::from(i) * 9];
        let version = tip.len() + 1;
        let Ok(lsn) = log.append(&payload, version as u64) else { break };
        tip.push(payload);
        drop(tip);
        let waited = log.wait(lsn, &|version| current.store(version, Ordering::SeqCst));
        if waited.is_err() {
            assert!(log.has_failed());
            break;
        }
        assert!(current.load(Ordering::SeqCst) >= version as u64);
        told = version;
    }
    told
}

#[test]
fn faults_while_many_threads_commit() {
    for fault in [Fault::PowerCut, Fault::Error, Fault::DiskFull] {
        // Creating the log takes five operations; how many follow depends on who comes when.
        for at in 5..30 {
            let vfs = FaultVfs::new(folder(), fault, at, false);
            let log = create(&vfs, Durability::Sync).unwrap();
            let (tip, current) = (Mutex::new(Vec::new()), AtomicU64::new(0));
            let told = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|thread| {
                        let (log, tip, current) = (&log, &tip, &current);
                        scope.spawn(move || commit_some(log, tip, thread, current))
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).max().unwrap()
            });
            assert_eq!(log.has_failed(), vfs.struck());
            let appended = tip.into_inner().unwrap();
            let outcome = Outcome { created: true, appended, ..Outcome::default() };
            assert_eq!(current.into_inner(), log.committed().next_sequence);
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Scattered(at)] {
                assert_prefix(
                    &vfs.after_crash(kind),
                    &outcome,
                    told,
                    &format!("{fault:?} at {at}, {kind:?}"),
                );
            }
        }
    }
}
