//! Permutations and dictionaries on emulated devices: the same rows and terms as from memory, in fewer requests, whatever fails or is
//! called off.

use crate::dictionary::{Dictionary, DictionaryWriter};
use crate::error::PackedError;
use crate::order::Order;
use crate::permutation::{Permutation, PermutationWriter};
use crate::read_context::ReadContext;
use lode_base::block_cache::{BlockCache, CacheMemory};
use lode_base::block_source::{ReadPolicy, SourceCounters};
use lode_base::cancel::{CancelToken, Cancelled};
use lode_base::device::Device;
use lode_base::device_vfs::{DeviceModel, DeviceVfs};
use lode_base::fault_vfs::{Fault, FaultVfs, Operation};
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_rdf::value_id::Section;
use proptest::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

type Columns = [Vec<u64>; 4];

/// Rows that do not compress well, so that a few hundred blocks are some megabytes.
fn rows(count: u64) -> Vec<[u64; 4]> {
    let noise =
        |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (0..count).map(|i| [1000 + i / 3, noise(i / 3) >> 30, i % 3 * 1000 + 7, 1]).collect()
}

fn permutation_file(rows: &[[u64; 4]]) -> MemVfs {
    let vfs = MemVfs::default();
    let mut writer = PermutationWriter::new(vfs.create(Path::new("p")).unwrap(), Order::Spog);
    let columns: Columns = std::array::from_fn(|c| rows.iter().map(|row| row[c]).collect());
    writer.push(columns.each_ref().map(Vec::as_slice)).unwrap();
    writer.finish().unwrap();
    vfs
}

fn cache(bytes: usize, policy: ReadPolicy) -> Arc<BlockCache> {
    BlockCache::sharing(&CacheMemory { policy, ..bytes.into() })
}

fn open(vfs: &dyn Vfs, cache: &Arc<BlockCache>) -> Result<Permutation, PackedError> {
    Permutation::open(vfs.open(Path::new("p")).unwrap(), "p", Arc::clone(cache))
}

fn scan(permutation: &Permutation, rows: Range<u64>) -> Result<Columns, PackedError> {
    let mut cursor = permutation.cursor(rows, 0b1111);
    let mut out = Columns::default();
    while cursor.next(3000, &mut out)? > 0 {}
    Ok(out)
}

/// What has come so far. Nothing is in the air once nobody holds what was asked for.
fn counters(cache: &BlockCache) -> SourceCounters {
    std::thread::sleep(Duration::from_millis(30));
    cache.source().counters()
}

#[test]
fn a_scan_needs_few_requests_and_wastes_nothing() {
    let all = rows(2_000_000);
    let vfs = permutation_file(&all);
    let reads = |policy, rows: Range<u64>| {
        let device = DeviceVfs::new(Arc::new(vfs.clone()), DeviceModel::INSTANT);
        let cache = cache(1 << 20, policy);
        let permutation = open(&device, &cache).unwrap();
        let found = scan(&permutation, rows.clone()).unwrap();
        assert!(found[1].iter().zip(&all[rows.start as usize..]).all(|(found, row)| *found == row[1]));
        assert_eq!(found[0].len() as u64, rows.end - rows.start);
        (counters(&cache), device.served())
    };
    let blocks = 2_000_000 / 8192 + 1;
    let (none, with) = (reads(ReadPolicy::NONE, 0..2_000_000), reads(ReadPolicy::BOTH, 0..2_000_000));
    assert!(none.0.requests >= blocks && none.0.ahead_blocks == 0, "{none:?}");
    assert!(with.0.requests < none.0.requests / 2, "{with:?}");
    assert_eq!((with.0.ahead_hits, with.0.wasted_bytes), (with.0.ahead_blocks, 0), "{with:?}");
    // Both read the same bytes, each once.
    assert_eq!(with.1.1, none.1.1);
    // It stops where the rows do.
    let (none, with) = (reads(ReadPolicy::NONE, 9000..200_000), reads(ReadPolicy::BOTH, 9000..200_000));
    assert_eq!((with.1.1, with.0.wasted_bytes), (none.1.1, 0), "{with:?} {none:?}");
}

/// Also where the cache has no room for blocks, as where characteristic sets are counted.
#[test]
fn what_is_read_wholly_is_read_ahead() {
    let all = rows(500_000);
    let vfs = permutation_file(&all);
    let blocks = 500_000 / 8192 + 1;
    for verify in [true, false] {
        let device = DeviceVfs::new(Arc::new(vfs.clone()), DeviceModel::INSTANT);
        let cache = Arc::new(BlockCache::new(0));
        let permutation = open(&device, &cache).unwrap();
        let mut found = Vec::new();
        match verify {
            true => assert_eq!(
                permutation.verify(&CancelToken::default(), &mut |_| {}).unwrap(),
                permutation.info()
            ),
            false => permutation
                .for_each_block(0b0010, &mut |columns| {
                    found.extend_from_slice(columns[1]);
                    Ok(())
                })
                .unwrap(),
        }
        assert!(verify || found.iter().zip(&all).all(|(found, row)| *found == row[1]));
        assert!(verify || found.len() == all.len());
        let counters = counters(&cache);
        assert!(counters.ahead_blocks > blocks / 2 && counters.requests < blocks, "{counters:?}");
        assert_eq!((counters.ahead_hits, counters.wasted_bytes), (counters.ahead_blocks, 0), "{counters:?}");
    }
}

#[test]
fn look_ups_that_are_told_are_read_together() {
    let all = rows(1_000_000);
    let vfs = permutation_file(&all);
    let keys: Vec<u64> = (0..300_u64).map(|i| 1000 + i * 1100).collect();
    let look_up = |policy, expected: bool| {
        let model = DeviceModel { latency: Duration::from_millis(3), ..DeviceModel::SSD };
        let cache = cache(64 << 20, policy);
        let device = DeviceVfs::new(Arc::new(vfs.clone()), model);
        let permutation = open(&device, &cache).unwrap();
        let mut cursor = permutation.cursor(0..permutation.rows(), 0b0010);
        let start = Instant::now();
        if expected {
            cursor.expect(&keys, 1).unwrap();
        }
        let mut out = Columns::default();
        for key in &keys {
            cursor.seek(&[*key]).unwrap();
            cursor.next(1, &mut out).unwrap();
        }
        let time = start.elapsed();
        drop(cursor);
        (out, time, counters(&cache))
    };
    let (slow, fast) = (look_up(ReadPolicy::NONE, true), look_up(ReadPolicy::BOTH, true));
    assert_eq!(slow.0, fast.0);
    assert!(fast.2.requests < slow.2.requests && fast.1 < slow.1 / 3, "{:?} {:?}", slow.2, fast.2);
    assert!(fast.2.wasted_bytes * 4 < fast.2.bytes, "{:?}", fast.2);
    assert_eq!(look_up(ReadPolicy::BOTH, false).0, slow.0);
}

#[test]
fn many_threads_that_scan_the_same_read_it_once() {
    let all = rows(600_000);
    let vfs = permutation_file(&all);
    let model = DeviceModel { latency: Duration::from_millis(1), ..DeviceModel::INSTANT };
    let device = DeviceVfs::new(Arc::new(vfs.clone()), model);
    let cache = cache(256 << 20, ReadPolicy::BOTH);
    let permutation = open(&device, &cache).unwrap();
    let file_bytes = vfs.open(Path::new("p")).unwrap().len();
    let start = Barrier::new(6);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                start.wait();
                let found = scan(&permutation, 0..600_000).unwrap();
                assert!(found[1].iter().zip(&all).all(|(found, row)| *found == row[1]));
            });
        }
    });
    let read = device.served().1;
    // Some may be asked for just when it has come; most of it may not.
    assert!(read < file_bytes * 3 / 2, "{read} of {file_bytes}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rows_are_those_of_memory(
        steps in prop::collection::vec((0_u8..4, any::<prop::sample::Index>(), 1_usize..20_000), 1..40),
        cache_bytes in 0_usize..4_000_000,
        range in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let all = rows(300_000);
        let vfs = permutation_file(&all);
        let direct = open(&vfs, &cache(64 << 20, ReadPolicy::NONE)).unwrap();
        let device = DeviceVfs::new(Arc::new(vfs.clone()), DeviceModel::INSTANT);
        let ahead = open(&device, &cache(cache_bytes, ReadPolicy::BOTH)).unwrap();
        let (a, b) = (range.0.index(300_000) as u64, range.1.index(300_000) as u64);
        let range = a.min(b)..a.max(b);
        let (mut one, mut two) = (direct.cursor(range.clone(), 0b0110), ahead.cursor(range, 0b0110));
        for (step, index, count) in steps {
            let key = 1000 + index.index(100_000) as u64;
            match step {
                0 => {
                    one.seek(&[key]).unwrap();
                    two.seek(&[key]).unwrap();
                }
                1 => {
                    let keys: Vec<u64> = (0..50).map(|i| key + i * count as u64).collect();
                    two.expect(&keys, 1).unwrap();
                    for key in &keys {
                        one.seek(&[*key]).unwrap();
                        two.seek(&[*key]).unwrap();
                        prop_assert_eq!(one.position(), two.position());
                    }
                }
                _ => {
                    let (mut a, mut b) = (Columns::default(), Columns::default());
                    prop_assert_eq!(one.next(count, &mut a).unwrap(), two.next(count, &mut b).unwrap());
                    prop_assert!(a == b);
                }
            }
            prop_assert_eq!(one.position(), two.position());
        }
    }
}

#[test]
fn reads_that_fail_give_errors_with_file_and_place_and_never_other_rows() {
    let all = rows(200_000);
    let vfs = permutation_file(&all);
    let expected = scan(&open(&vfs, &cache(64 << 20, ReadPolicy::NONE)).unwrap(), 0..200_000).unwrap();
    for (fault, is_once) in [(Fault::Error, true), (Fault::Outage(3), false), (Fault::PowerCut, false)] {
        for at in 0..20 {
            let faulty = FaultVfs::counting(vfs.clone(), false);
            let device = DeviceVfs::new(Arc::new(faulty.clone()), DeviceModel::INSTANT);
            let permutation = open(&device, &cache(1 << 20, ReadPolicy::BOTH)).unwrap();
            faulty.fail_nth(fault, Operation::Read, at);
            match scan(&permutation, 0..200_000) {
                Ok(found) => assert!(found == expected),
                Err(error @ PackedError::Io { .. }) => {
                    let text = error.to_string();
                    assert!(text.starts_with("p: ") && text.contains(" bytes at byte "), "{text}");
                }
                Err(error) => panic!("{error}"),
            }
            if is_once {
                assert!(scan(&permutation, 0..200_000).unwrap() == expected);
            }
        }
    }
}

#[test]
fn a_query_that_is_cancelled_stops_reading_a_slow_disk() {
    let vfs = permutation_file(&rows(3_000_000));
    let device = DeviceVfs::new(Arc::new(vfs), DeviceModel::DISK);
    let cache = cache(1 << 20, ReadPolicy::BOTH);
    let token = CancelToken::default();
    let permutation = open(&device, &cache).unwrap().read_by(Some(&ReadContext::of_query(&token)));
    let keys: Vec<u64> = (0..3000_u64).map(|i| 1000 + i * 300).collect();
    let (ended, result) = std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            let mut cursor = permutation.cursor(0..permutation.rows(), 0b1111);
            cursor.expect(&keys, 1)?;
            keys.iter().try_for_each(|key| cursor.seek(&[*key]))?;
            (0..).try_for_each(|_| scan(&permutation, 0..permutation.rows()).map(drop))
        });
        std::thread::sleep(Duration::from_millis(60));
        token.cancel();
        let start = Instant::now();
        let result = work.join().unwrap();
        (start.elapsed(), result)
    });
    assert!(matches!(result, Err(PackedError::Cancelled(Cancelled::ByRequest))), "{result:?}");
    assert!(ended < Duration::from_millis(100), "{ended:?}");
    std::thread::sleep(Duration::from_millis(50));
    let before = device.served();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(device.served(), before, "nobody reads on");
}

fn keys(count: usize) -> Vec<Vec<u8>> {
    let key = |i: usize| {
        let noise = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("http://example.org/{i:08}/{noise:x}/{:x}", noise.rotate_left(17).wrapping_mul(31))
            .into_bytes()
    };
    (0..count).map(key).collect()
}

#[test]
fn terms_of_a_batch_are_read_together() {
    let (vfs, keys) = (MemVfs::default(), keys(400_000));
    let mut writer = DictionaryWriter::new(vfs.create(Path::new("d")).unwrap());
    keys.iter().for_each(|key| {
        writer.push(Section::Iri, key).unwrap();
    });
    writer.finish().unwrap();
    let ranks: Vec<u64> = (0..400_u64).map(|i| i * 977).flat_map(|rank| [rank, rank]).collect();
    let visit = |policy, fault: Option<u64>| {
        let faulty = FaultVfs::counting(vfs.clone(), false);
        let device = DeviceVfs::new(Arc::new(faulty.clone()), DeviceModel::INSTANT);
        let cache = cache(64 << 20, policy);
        let file = device.open(Path::new("d")).unwrap();
        let dictionary = Dictionary::open(file, "d", Arc::clone(&cache)).unwrap();
        if let Some(at) = fault {
            faulty.fail_nth(Fault::Error, Operation::Read, at);
        }
        let mut found = 0;
        let result = dictionary.visit_sorted::<PackedError>(Section::Iri, &ranks, &mut |index, key| {
            assert_eq!(key, keys[ranks[index] as usize]);
            found += 1;
            Ok(())
        });
        (result.map(|()| found), counters(&cache))
    };
    let (none, both) = (visit(ReadPolicy::NONE, None), visit(ReadPolicy::BOTH, None));
    assert!(matches!((&none.0, &both.0), (Ok(800), Ok(800))));
    assert!(
        both.1.requests <= none.1.requests && both.1.ahead_hits > none.1.requests / 2,
        "{both:?} {none:?}"
    );
    for at in 0..20 {
        match visit(ReadPolicy::BOTH, Some(at)).0 {
            Ok(found) => assert_eq!(found, 800),
            Err(error) => assert!(error.to_string().contains(" bytes at byte "), "{error}"),
        }
    }
}

#[test]
fn a_key_is_found_with_two_requests_instead_of_three() {
    let (vfs, keys) = (MemVfs::default(), keys(400_000));
    let mut writer = DictionaryWriter::new(vfs.create(Path::new("d")).unwrap());
    keys.iter().for_each(|key| {
        writer.push(Section::Iri, key).unwrap();
    });
    writer.finish().unwrap();
    let requests = |policy| {
        let cache = cache(64 << 20, policy);
        let device = DeviceVfs::new(Arc::new(vfs.clone()), DeviceModel::SSD);
        let file = device.open(Path::new("d")).unwrap();
        let dictionary = Dictionary::open(file, "d", Arc::clone(&cache)).unwrap();
        for rank in (0..keys.len()).step_by(50_000) {
            assert_eq!(dictionary.find(Section::Iri, &keys[rank]).unwrap(), Some(rank as u64));
        }
        assert_eq!(dictionary.find(Section::Iri, b"http://example.org/none").unwrap(), None);
        counters(&cache)
    };
    let (none, both) = (requests(ReadPolicy::NONE), requests(ReadPolicy::BOTH));
    assert!(none.requests >= 8 * 3 && both.requests + 8 <= none.requests, "{none:?} {both:?}");
}

#[test]
fn the_second_miss_in_a_region_of_a_disk_brings_all_of_it() {
    let rows = rows(200_000);
    let vfs = permutation_file(&rows);
    let expected = scan(&open(&vfs, &cache(64 << 20, ReadPolicy::NONE)).unwrap(), 0..200_000).unwrap();
    let with = |parallel: usize, policy, cache_bytes| {
        let device = Device { parallel, request_bytes_max: 1 << 20, ..DeviceModel::INSTANT.device };
        let device = DeviceVfs::new(Arc::new(vfs.clone()), DeviceModel { device, ..DeviceModel::INSTANT });
        let cache = cache(cache_bytes, policy);
        let permutation = open(&device, &cache).unwrap();
        for row in [0, 9000] {
            assert_eq!(permutation.row(row).unwrap(), rows[row as usize]);
        }
        let before = (cache.counters().misses, device.served().0);
        assert_eq!(permutation.row(20_000).unwrap(), rows[20_000]);
        let more = (cache.counters().misses - before.0, device.served().0 - before.1);
        assert!(scan(&permutation, 0..200_000).unwrap() == expected);
        assert!(cache.counters().bytes_held <= cache_bytes as u64);
        more
    };
    assert_eq!(with(1, ReadPolicy::ALL, 64 << 20), (0, 0));
    assert_eq!(with(1, ReadPolicy::BOTH, 64 << 20), (1, 1));
    assert_eq!(with(4, ReadPolicy::ALL, 64 << 20), (1, 1));
    // Without room it is read, and no more.
    assert_eq!(with(1, ReadPolicy::ALL, 0).0, 1);
}
