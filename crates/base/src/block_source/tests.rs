//! Blocks are what direct reads give, whatever was asked for, fails, or is called off; each is read once by all who want it together.

use super::*;
use crate::cancel::{CancelToken, Cancelled};
use crate::device_vfs::{DeviceModel, DeviceVfs};
use crate::fault_vfs::{Fault, FaultVfs, Operation};
use crate::mem_vfs::MemVfs;
use crate::vfs::Vfs;
use proptest::prelude::*;
use std::io;
use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;

const FILE: &str = "f";

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 31 % 251) as u8).collect()
}

fn mem(bytes: &[u8]) -> MemVfs {
    let vfs = MemVfs::default();
    vfs.create(Path::new(FILE)).unwrap().write_all(bytes).unwrap();
    vfs
}

struct Fixture {
    bytes: Vec<u8>,
    device: DeviceVfs,
    source: Arc<BlockSource>,
    file: BlockFile,
}

fn fixture(inner: Arc<dyn Vfs>, bytes: Vec<u8>, model: DeviceModel, memory: usize) -> Fixture {
    let device = DeviceVfs::new(inner, model);
    let source = Arc::new(BlockSource::new(ReadPolicy::BOTH, MemoryBudget::new(memory)));
    let file = source.file(device.open(Path::new(FILE)).unwrap());
    Fixture { bytes, device, source, file }
}

fn of_len(len: usize, model: DeviceModel) -> Fixture {
    let bytes = content(len);
    fixture(Arc::new(mem(&bytes)), bytes, model, 64 << 20)
}

impl Fixture {
    fn check(&self, block: &Range<u64>) {
        let mut found = vec![0; (block.end - block.start) as usize];
        self.file.read(&mut found, block.start, &Reading::IN_FRONT).unwrap();
        assert!(found == self.bytes[block.start as usize..block.end as usize], "{block:?}");
    }
}

/// Blocks of these lengths with these gaps between them.
fn blocks(parts: &[(u16, u16)], len: u64) -> Vec<Range<u64>> {
    let mut start = 0;
    let block = |(gap, bytes): &(u16, u16)| {
        let from = start + u64::from(*gap);
        start = from + u64::from(*bytes).max(1);
        from..start
    };
    parts.iter().map(block).take_while(|block| block.end <= len).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn blocks_are_those_of_direct_reads(
        parts in prop::collection::vec((0_u16..3000, 1_u16..5000), 1..60),
        asked in prop::collection::vec(any::<bool>(), 60),
        wanted in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
        memory in 0_usize..300_000,
        drop_at in 0_usize..80,
    ) {
        let bytes = content(200_000);
        let all = blocks(&parts, bytes.len() as u64);
        let fixture = fixture(Arc::new(mem(&bytes)), bytes, DeviceModel::INSTANT, memory);
        let mut flights = Vec::new();
        let ask = all.iter().zip(&asked).filter(|(_, asked)| **asked).map(|(block, _)| block.clone());
        fixture.file.ask(ask, Priority::ReadAhead, &mut flights);
        for (number, index) in wanted.iter().enumerate() {
            if number == drop_at {
                flights.truncate(flights.len() / 2);
            }
            if !all.is_empty() {
                fixture.check(&all[index.index(all.len())]);
            }
        }
        let read = fixture.file.read_many(&all, &Reading::IN_FRONT).unwrap();
        for (block, found) in all.iter().zip(&read) {
            prop_assert!(*found == fixture.bytes[block.start as usize..block.end as usize]);
        }
        drop(flights);
        // A thread may hold the last one for a moment, and its memory for another.
        let is_held = || fixture.source.flying() > 0 || fixture.source.memory.used() > 0;
        for _ in 0..20_000 {
            if !is_held() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        prop_assert_eq!(fixture.source.flying(), 0);
        prop_assert_eq!(fixture.source.memory.used(), 0);
        let counters = fixture.source.counters();
        prop_assert!(counters.wasted_bytes <= counters.ahead_bytes && counters.ahead_bytes <= counters.bytes);
        prop_assert!(counters.ahead_hits <= counters.ahead_blocks);
    }
}

#[test]
fn neighbours_are_read_as_one_and_what_nobody_wants_is_waste() {
    let fixture = of_len(100_000, DeviceModel::INSTANT);
    let all: Vec<_> = (0..10_u64).map(|n| n * 2000..n * 2000 + 1500).collect();
    let mut flights = Vec::new();
    fixture.file.ask(all.iter().cloned(), Priority::Query, &mut flights);
    assert_eq!(flights.len(), 1);
    all[..9].iter().for_each(|block| fixture.check(block));
    let counters = fixture.source.counters();
    assert_eq!((counters.requests, counters.merged, counters.ahead_hits), (1, 9, 9));
    assert_eq!(fixture.device.served(), (1, 19_500));
    drop(flights);
    assert_eq!(fixture.source.counters().wasted_bytes, 9 * 500 + 1500);
    fixture.check(&all[0]);
    assert_eq!(fixture.device.served().0, 2);
}

#[test]
fn many_who_want_the_same_blocks_read_each_once() {
    let model = DeviceModel { latency: Duration::from_millis(2), ..DeviceModel::INSTANT };
    let fixture = of_len(1 << 20, model);
    // Apart, so that none are merged.
    let all: Vec<_> = (0..32_u64).map(|n| n * 30_000..n * 30_000 + 1000).collect();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut flights = Vec::new();
                start.wait();
                fixture.file.ask(all.iter().cloned(), Priority::Query, &mut flights);
                start.wait();
                all.iter().for_each(|block| fixture.check(block));
                start.wait();
            });
        }
    });
    assert_eq!(fixture.device.served(), (32, 32_000));
    let counters = fixture.source.counters();
    assert_eq!((counters.requests, counters.ahead_hits, counters.wasted_bytes), (32, 32, 0));
    assert!(fixture.source.queue.threads() <= model.device.parallel);
}

#[test]
fn a_read_that_fails_is_an_error_with_its_place_and_nothing_else() {
    let bytes = content(60_000);
    let all: Vec<_> = (0..20_u64).map(|n| n * 3000..n * 3000 + 2500).collect();
    for (fault, errors_max) in [(Fault::Error, 1), (Fault::Outage(4), 4), (Fault::PowerCut, 20)] {
        for at in 0..12 {
            let faulty = FaultVfs::counting(mem(&bytes), false);
            let fixture = fixture(Arc::new(faulty.clone()), bytes.clone(), DeviceModel::INSTANT, 64 << 20);
            faulty.fail_nth(fault, Operation::Read, at);
            let mut flights = Vec::new();
            fixture.file.ask(all[..10].iter().cloned(), Priority::ReadAhead, &mut flights);
            let mut errors = 0;
            for block in &all {
                let mut found = vec![0; 2500];
                match fixture.file.read(&mut found, block.start, &Reading::IN_FRONT) {
                    Ok(()) => assert!(found == bytes[block.start as usize..block.end as usize]),
                    Err(ReadError::Io(error)) => {
                        let place = format!("reading 2500 bytes at byte {}", block.start);
                        assert!(error.to_string().contains(&place), "{error}");
                        errors += 1;
                    }
                    Err(error @ ReadError::Cancelled(_)) => panic!("{error}"),
                }
            }
            // Where it was read ahead, it is read again by itself.
            assert!(errors <= errors_max, "{errors} at {at}");
        }
    }
}

#[test]
fn a_file_that_ends_too_early_is_an_error() {
    let fixture = of_len(5000, DeviceModel::INSTANT);
    let all = [0..2000_u64, 2000..4000, 4000..6000];
    let mut flights = Vec::new();
    fixture.file.ask(all.iter().cloned(), Priority::ReadAhead, &mut flights);
    fixture.check(&all[0]);
    fixture.check(&all[1]);
    let error = fixture.file.read_many(&all, &Reading::IN_FRONT).unwrap_err();
    let ReadError::Io(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    assert!(error.to_string().contains("at byte 4000"), "{error}");
}

#[test]
fn who_is_called_off_ends_soon_and_gives_up_what_it_asked_for() {
    let fixture = of_len(8 << 20, DeviceModel::DISK);
    let token = CancelToken::default();
    let reading = Reading::of_query(&token);
    // Far apart: half a second of seeks and more.
    let all: Vec<_> = (0..12_u64).map(|n| n * 600_000..n * 600_000 + 10_000).collect();
    let ended = std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            for _ in 0..1000 {
                fixture.file.read_many(&all, &reading)?;
            }
            Ok::<_, ReadError>(())
        });
        std::thread::sleep(Duration::from_millis(40));
        token.cancel();
        let start = Instant::now();
        let result = work.join().unwrap();
        assert!(matches!(result, Err(ReadError::Cancelled(Cancelled::ByRequest))), "{result:?}");
        start.elapsed()
    });
    assert!(ended < Duration::from_millis(100), "{ended:?}");
    // A flight is off the list a moment before its memory is free.
    let until = Instant::now() + Duration::from_secs(10);
    while (fixture.source.flying() > 0 || fixture.source.memory.used() > 0) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!((fixture.source.flying(), fixture.source.memory.used()), (0, 0));
}

#[test]
fn what_a_query_needs_does_not_wait_for_what_is_read_ahead() {
    let fixture = of_len(60 << 20, DeviceModel::DISK);
    let mut flights = Vec::new();
    // Half a second of the disk.
    let ahead = (1..5000_u64).map(|n| n * 12_000..(n + 1) * 12_000);
    fixture.file.ask(ahead, Priority::ReadAhead, &mut flights);
    assert!(flights.len() > 40);
    std::thread::sleep(Duration::from_millis(30));
    let start = Instant::now();
    fixture.check(&(0..10_000));
    fixture.check(&(50 * 1_000_000 / 12_000 * 12_000..(50 * 1_000_000 / 12_000 + 1) * 12_000));
    assert!(start.elapsed() < Duration::from_millis(150), "{:?}", start.elapsed());
    let before = fixture.device.served().1;
    drop(flights);
    while fixture.source.flying() > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let after = fixture.device.served().1;
    assert!(after - before <= 3 << 20, "{} read for nobody", after - before);
    assert!(fixture.source.counters().dropped > 10);
}

#[test]
fn emulated_devices_take_their_time() {
    let time = |model, blocks: &[Range<u64>], parallel: bool| {
        let fixture = of_len(4 << 20, model);
        let start = Instant::now();
        if parallel {
            fixture.file.read_many(blocks, &Reading::IN_FRONT).unwrap();
        } else {
            blocks.iter().for_each(|block| fixture.check(block));
        }
        start.elapsed()
    };
    let far: Vec<_> = (0..6_u64).map(|n| n * 600_000..n * 600_000 + 10_000).collect();
    let near: Vec<_> = (0..60_u64).map(|n| n * 10_000..(n + 1) * 10_000).collect();
    let ms = Duration::from_millis;
    let seeks = time(DeviceModel::DISK, &far, false);
    assert!(seeks >= ms(24) && seeks < ms(200), "{seeks:?}");
    let sequence = time(DeviceModel::DISK, &near, false);
    assert!(sequence >= ms(5) && sequence < ms(200), "{sequence:?}");
    let (one, all) =
        (time(DeviceModel::OBJECT_STORAGE, &far, false), time(DeviceModel::OBJECT_STORAGE, &far, true));
    assert!(one >= ms(120) && all >= ms(20) && all < one, "{one:?} {all:?}");
}

/// However the device is scheduled: what is asked for before anything has come is one turn.
#[test]
fn turns_count_what_follows_each_other() {
    let fixture = of_len(100_000, DeviceModel::INSTANT);
    let turns = || fixture.source.counters().turns;
    let blocks = [0..10, 5000..5010, 20_000..20_100, 90_000..90_010];
    let mut flights = Vec::new();
    fixture.file.ask(blocks.iter().cloned(), Priority::Query, &mut flights);
    assert_eq!(turns(), 0);
    blocks.iter().for_each(|block| fixture.check(block));
    assert_eq!(turns(), 1);
    // Read when it is wanted, each behind the other.
    fixture.check(&(40_000..40_010));
    fixture.check(&(50_000..50_010));
    assert_eq!(turns(), 3);
    // What was asked for in the first turn is no further one.
    blocks.iter().for_each(|block| fixture.check(block));
    assert_eq!(turns(), 3);
    drop(flights);
    fixture.check(&blocks[0]);
    assert_eq!(turns(), 4);
}
