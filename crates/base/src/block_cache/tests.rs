//! What is kept, for how long, and who loads what is missing.

use super::*;

impl CachedBlock for Vec<u8> {
    fn bytes(&self) -> usize {
        self.len()
    }
}

fn block(byte: u8, len: usize) -> Vec<u8> {
    vec![byte; len]
}

#[test]
fn stays_under_its_size_and_counts() {
    let cache = BlockCache::new(SHARDS * 4096);
    let file = cache.file_id();
    assert_ne!(file, cache.file_id());
    for round in 0..3_u64 {
        for n in 0..500_u64 {
            let key = BlockKey { file, block: n };
            let got = cache.get_or_load(key, || Ok::<_, ()>(block(n as u8, 300))).unwrap();
            assert_eq!(got[0], n as u8, "round {round}");
            assert!(cache.counters().bytes_held <= cache.capacity() as u64);
        }
    }
    let counters = cache.counters();
    assert_eq!(counters.hits + counters.misses, 1500);
    assert!(counters.bytes_held > 0);
}

#[test]
fn gives_back_what_others_need_but_for_an_eighth() {
    let pool = MemoryBudget::new(4 << 20);
    let cache = BlockCache::sharing(&CacheMemory {
        bytes_max: 4 << 20,
        pool: Some(pool.clone()),
        ..CacheMemory::default()
    });
    let kept = (4 << 20) / KEPT_PART;
    assert_eq!(pool.used(), kept);
    let fill = || {
        for n in 0..10_000_u64 {
            cache.insert(BlockKey { file: 0, block: n }, &Arc::new(block(1, 1000)));
        }
    };
    fill();
    let held = cache.counters().bytes_held as usize;
    assert!(pool.used() <= 3 << 20 && held > 5 << 19 && held <= pool.used(), "{held} of {}", pool.used());
    let needed = pool.reserve(2 << 20).unwrap();
    fill();
    let held = cache.counters().bytes_held as usize;
    assert!(pool.used() <= 4 << 20 && held > kept, "{held} of {}", pool.used());
    assert!(pool.reserve(2 << 20).is_err());
    let rest = pool.reserve((2 << 20) - kept).unwrap();
    let held = cache.counters().bytes_held as usize;
    assert!(pool.used() == 4 << 20 && held <= kept && held > kept / 2, "{held} of {kept}");
    fill();
    assert_eq!(pool.used(), 4 << 20);
    drop((needed, rest));
    fill();
    assert!(cache.counters().bytes_held > 5 << 19);
    drop(cache);
    assert_eq!(pool.used(), 0);
}

#[test]
fn a_scan_spares_what_is_in_use() {
    let cache = BlockCache::new(SHARDS * 64 * 1024);
    let hot = BlockKey { file: 0, block: 0 };
    cache.insert(hot, &Arc::new(block(1, 1000)));
    for n in 0..10_000_u64 {
        cache.get::<Vec<u8>>(hot).expect("the hot block stays");
        cache.insert(BlockKey { file: 1, block: n }, &Arc::new(block(2, 1000)));
    }
}

#[test]
fn readers_with_a_cache_aside_leave_the_other_as_it_is() {
    let (cache, aside) = (BlockCache::new(SHARDS * 4096), BlockCache::new(SHARDS * 4096));
    let keys = |file| (0..1000_u64).map(move |block| BlockKey { file, block });
    let read = |key: BlockKey| {
        cache.get_or_load_aside(Some(&aside), key, || Ok::<_, ()>(block(key.block as u8, 300))).unwrap()
    };
    keys(0).for_each(|key| cache.insert(key, &Arc::new(block(key.block as u8, 300))));
    let has = |key: &BlockKey| cache.shard(*key).peek(*key).is_some();
    let before: Vec<BlockKey> = keys(0).filter(has).collect();
    for key in keys(0).chain(keys(1)) {
        assert_eq!(read(key)[0], key.block as u8);
    }
    assert!(!before.is_empty() && before == keys(0).chain(keys(1)).filter(has).collect::<Vec<_>>());
    let counters = (cache.counters(), aside.counters());
    assert_eq!(counters.0.hits, before.len() as u64);
    assert_eq!(counters.1.misses, 2000 - before.len() as u64);
    let last = keys(1).next_back().unwrap();
    assert!(aside.get::<Vec<u8>>(last).is_some(), "what was read last is aside");
}

#[test]
fn of_threads_that_miss_a_block_together_one_loads_it() {
    let cache = BlockCache::new(0);
    let (loads, start) = (AtomicU64::new(0), std::sync::Barrier::new(8));
    let key = BlockKey { file: 0, block: 7 };
    let load = || {
        loads.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(50));
        Ok::<_, ()>(block(7, 100))
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                assert_eq!(*cache.get_or_load(key, load).unwrap(), block(7, 100));
            });
        }
    });
    assert_eq!(loads.load(Ordering::Relaxed), 1);
    assert_eq!(cache.get_or_load(key, || Err::<Vec<u8>, _>("no")), Err("no"));
}

#[test]
fn where_a_load_fails_others_try_by_themselves() {
    let cache = BlockCache::new(SHARDS * 4096);
    let (loads, start) = (AtomicU64::new(0), std::sync::Barrier::new(4));
    let key = BlockKey { file: 0, block: 7 };
    let load = || {
        let first = loads.fetch_add(1, Ordering::Relaxed) == 0;
        std::thread::sleep(std::time::Duration::from_millis(20));
        if first { Err("the first fails") } else { Ok(block(7, 100)) }
    };
    let failed = std::thread::scope(|scope| {
        let work = || {
            start.wait();
            cache.get_or_load(key, load).is_err()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|failed| *failed).count()
    });
    assert_eq!(failed, 1);
    let panics = std::panic::AssertUnwindSafe(|| {
        cache.get_or_load(BlockKey { file: 1, block: 7 }, || -> Result<Vec<u8>, ()> { panic!("in a load") })
    });
    assert!(std::panic::catch_unwind(panics).is_err());
    assert!(cache.get_or_load(BlockKey { file: 1, block: 7 }, || Ok::<_, ()>(block(1, 1))).is_ok());
}

#[test]
fn blocks_too_large_are_not_kept() {
    let cache = BlockCache::new(1024);
    let key = BlockKey { file: 0, block: 0 };
    cache.insert(key, &Arc::new(block(1, 1000)));
    assert!(cache.get::<Vec<u8>>(key).is_none());
    assert_eq!(cache.counters().bytes_held, 0);
}

#[test]
fn nothing_is_locked_while_a_block_is_loaded() {
    let (cache, aside) = (BlockCache::new(SHARDS * 4096), BlockCache::new(SHARDS * 4096));
    let key = BlockKey { file: 0, block: 7 };
    let load = || {
        assert!(!cache.has(key) && !aside.has(key));
        Ok::<_, ()>(block(7, 100))
    };
    assert_eq!(*cache.get_or_load_aside(Some(&aside), key, load).unwrap(), block(7, 100));
    assert!(!cache.has(key) && aside.has(key));
    let load = || {
        assert!(!cache.has(key));
        Ok::<_, ()>(block(7, 100))
    };
    assert_eq!(*cache.get_or_load_aside(None, key, load).unwrap(), block(7, 100));
    assert!(cache.has(key));
}
