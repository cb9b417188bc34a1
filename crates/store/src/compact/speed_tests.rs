//! Measures commits and reads beside the compactor, and a full compaction of the database that `LODE_DB` names, on the real disk;
//! run with `--ignored --nocapture`, in release mode.

use super::*;
use crate::write_options::WriteOptions;
use lode_base::host::processor_seconds;
use lode_base::real_vfs::RealVfs;
use lode_packed::Order;
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Quads of a transaction, and of what becomes a segment.
const COMMIT_QUADS: u64 = 1000;
const FLUSH_QUADS: usize = 20_000;

fn commit(store: &Store, number: u64) {
    let iri = |text: String| Term::from(NamedNode::new_unchecked(text));
    let mut transaction = store.begin_blind().unwrap();
    for n in number * COMMIT_QUADS..(number + 1) * COMMIT_QUADS {
        // Subjects in no order, some of them again and again.
        let subject = (n / 10).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44;
        let terms = [
            iri(format!("http://example.org/thing/{subject}")),
            iri(format!("http://example.org/p{}", n % 10)),
            Literal::from(format!("value {n}")).into(),
        ];
        let mut row = [ValueId::DEFAULT_GRAPH; 4];
        for (id, term) in row.iter_mut().zip(terms) {
            *id = transaction.intern(&term).unwrap().unwrap();
        }
        transaction.insert(row);
    }
    transaction.commit().unwrap();
}

fn measure(with_compactor: bool, commits: u64) {
    let folder = tempfile::tempdir_in("../../target").unwrap();
    let options = WriteOptions { delta_bytes_max: FLUSH_QUADS * 300, threads: 1, ..WriteOptions::default() };
    let store =
        Store::open_for_writing(RealVfs::shared(), &folder.path().join("db"), 64 << 20, options).unwrap();
    let compactor = with_compactor.then(|| Compactor::start(&store, BackgroundOptions::default()).unwrap());
    let (start, done) = (Instant::now(), AtomicBool::new(false));
    let (scans, slowest, most) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let (begin, snapshot) = (Instant::now(), store.snapshot());
                let segments = snapshot.version().segments.len() as u64;
                let mut columns: [Vec<ValueId>; 4] = Default::default();
                snapshot.scan(Order::Posg, &[], 0b1111).unwrap().next(100_000, &mut columns).unwrap();
                scans.fetch_add(1, Ordering::Relaxed);
                slowest.fetch_max(begin.elapsed().as_millis() as u64, Ordering::Relaxed);
                most.fetch_max(segments, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        (0..commits).for_each(|number| commit(&store, number));
        done.store(true, Ordering::Relaxed);
    });
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "compactor {with_compactor}: {:.0} quads/s; segments: {} at most, {} at the end; {} scans of 100,000 rows, the slowest {} ms",
        (commits * COMMIT_QUADS) as f64 / seconds,
        most.load(Ordering::Relaxed),
        store.version().segments.len(),
        scans.load(Ordering::Relaxed),
        slowest.load(Ordering::Relaxed),
    );
    if let Some(compactor) = compactor {
        let status = compactor.status();
        println!(
            "{} compactions of {} quads; {:?}",
            status.compactions, status.quads_merged, status.last_error
        );
    }
}

#[test]
#[ignore = "measures"]
fn commits_beside_the_compactor() {
    for with_compactor in [false, true] {
        measure(with_compactor, 1000);
    }
}

#[test]
#[ignore = "measures"]
fn full_compaction() {
    let Ok(path) = std::env::var("LODE_DB") else { return };
    let store = Store::create_or_open(RealVfs::shared(), std::path::Path::new(&path), 256 << 20).unwrap();
    let before = processor_seconds().unwrap_or(0.0);
    let start = Instant::now();
    let options =
        CompactOptions { threads: 2, memory_bytes: 2 << 30, force: true, ..CompactOptions::default() };
    let report = compact(&store, &options, &Arc::default()).unwrap();
    println!(
        "{} quads of {} segments: {:.2} s, {:.2} s of processors; merging terms {:.2} s, writing {:.2} s",
        report.quads,
        report.segments,
        start.elapsed().as_secs_f64(),
        processor_seconds().unwrap_or(0.0) - before,
        report.seconds.of(Stage::Terms),
        report.seconds.of(Stage::Writing),
    );
}
