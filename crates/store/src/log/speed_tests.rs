//! How fast the log is on the disk with the folder for temporary files. Not a test of anything; run by hand:
//! `cargo test --release -p lode-store --lib log::speed -- --ignored --nocapture --test-threads 1`

use super::*;
use lode_base::real_vfs::RealVfs;
use std::hint::black_box;

const DATABASE: u128 = 5;

fn rate(what: &str, count: u64, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!("{what}: {count} in {seconds:.3} s, {:.0}/s", count as f64 / seconds);
}

#[test]
#[ignore = "measures"]
fn commits() {
    for durability in [Durability::Sync, Durability::Batch(Duration::from_millis(100))] {
        for (threads, each, payload_bytes) in [(1, 4000, 200), (16, 2000, 200), (16, 2000, 4000)] {
            let folder = tempfile::tempdir().unwrap();
            let log = Log::create(&RealVfs::shared(), &folder.path().join("log"), DATABASE, 1, durability);
            let log = log.unwrap();
            let payload = vec![7; payload_bytes];
            let start = Instant::now();
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        for _ in 0..each {
                            log.wait(log.append(&payload, ()).unwrap(), &|()| {}).unwrap();
                        }
                    });
                }
            });
            let what = format!("{durability:?}, {threads} threads, {payload_bytes} bytes");
            rate(&what, threads * each, start);
            let counters = log.counters();
            println!("  {:.1} records a sync", counters.records as f64 / counters.syncs.max(1) as f64);
        }
    }
}

#[test]
#[ignore = "measures"]
fn replays() {
    for payload_bytes in [200, 1 << 20] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let durability = Durability::Batch(Duration::from_secs(3600));
        let log = Log::create(&RealVfs::shared(), &path, DATABASE, 1, durability).unwrap();
        let payload = vec![7; payload_bytes];
        while log.bytes() < 256 << 20 {
            for _ in 0..100 {
                log.append(&payload, ()).unwrap();
            }
            log.drain(&|()| {}).unwrap();
        }
        for _ in 0..2 {
            let start = Instant::now();
            let mut bytes = 0;
            let visit = &mut |record: LogRecord<'_>| {
                bytes += record.payload.len();
                Ok(())
            };
            let end = replay(&RealVfs, &path, DATABASE, 1, visit).unwrap();
            rate(&format!("replay of {} MiB", end.offset >> 20), end.next_sequence, start);
            black_box(bytes);
        }
    }
}

#[test]
#[ignore = "measures"]
fn quads() {
    let inserts: Vec<[u64; 4]> = (0..4_000_000_u64)
        .map(|i| {
            [
                i / 5 + (0x1080 << 48),
                i % 5 + (0x10 << 56),
                i.wrapping_mul(0x9E37_79B9) % (1 << 24) + (0x2080 << 48),
                1,
            ]
        })
        .collect();
    let changes = Changes { inserts, ..Changes::default() };
    for _ in 0..3 {
        let mut payload = Vec::new();
        let start = Instant::now();
        changes.encode(&mut payload);
        rate(&format!("encode, {} bytes", payload.len()), 4_000_000, start);
        let start = Instant::now();
        let record = LogRecord { sequence: 0, offset: 0, payload: &payload };
        let again = Changes::decode(&record, Path::new("log")).unwrap();
        rate("decode", 4_000_000, start);
        assert!(again == changes);
    }
}
