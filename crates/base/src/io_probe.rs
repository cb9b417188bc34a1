//! What a local device can do: how long requests of several sizes take, one at once and many. From that follows how far apart blocks may be to be read as one,
//! how many requests are best under way, and how long each may be.
//!
//! Read is a file that is written for it and has no name, at places none of which comes twice, after the system was asked to forget it.

use crate::device::Device;
use crate::real_vfs::ScratchFile;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Sizes of requests, in bytes.
pub const SIZES: [usize; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// How many are under way at once.
pub const DEPTHS: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// How much a probe may take.
#[derive(Debug, Clone, Copy)]
pub struct ProbeLimits {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// The longest for each size and depth.
    pub each: Duration,
}

impl Default for ProbeLimits {
    fn default() -> Self {
        Self { file_bytes: 512 << 20, each: Duration::from_millis(200) }
    }
}

/// What was measured for requests of one size, so many at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeCell {
    /// Bytes of a request.
    pub bytes: usize,
    /// Requests under way.
    pub depth: usize,
    /// The mean time of one.
    pub latency: Duration,
    /// Requests of all together in a second.
    pub requests_per_second: f64,
}

impl ProbeCell {
    /// Bytes of all together in a second.
    pub fn bytes_per_second(&self) -> f64 {
        self.requests_per_second * self.bytes as f64
    }
}

/// A file that is probed.
pub trait Probed: Sync {
    /// Fills `bytes` from `offset`.
    ///
    /// # Errors
    /// Where the file cannot be read.
    fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
    /// Has the system forget what it has of the file in memory.
    ///
    /// # Errors
    /// Where the file cannot be written to the device.
    fn forget_cached(&self) -> io::Result<()>;
}

impl Probed for ScratchFile {
    fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(bytes, offset)
    }

    fn forget_cached(&self) -> io::Result<()> {
        self.forget_pages()
    }
}

/// Measures the device that a folder is on; `on_cell` hears each result.
///
/// # Errors
/// Where the file cannot be made, written (the disk is full, say) or read.
pub fn probe_folder(
    folder: &Path,
    limits: &ProbeLimits,
    on_cell: &mut dyn FnMut(&ProbeCell),
) -> io::Result<Vec<ProbeCell>> {
    let file = ScratchFile::unnamed(folder)?;
    let mut block = vec![0; 1 << 20];
    let mut state = 1_u64;
    for offset in (0..limits.file_bytes).step_by(block.len()) {
        // What compresses would be read faster than what is stored.
        for word in block.chunks_exact_mut(8) {
            state = next(state);
            word.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all_at(&block, offset)?;
    }
    probe(&file, limits, on_cell)
}

/// Measures a file that has the bytes that the limits say, or up to a megabyte more.
///
/// # Errors
/// Where it cannot be read.
pub fn probe(
    file: &dyn Probed,
    limits: &ProbeLimits,
    on_cell: &mut dyn FnMut(&ProbeCell),
) -> io::Result<Vec<ProbeCell>> {
    let mut cells = Vec::new();
    for bytes in SIZES {
        for depth in DEPTHS {
            file.forget_cached()?;
            let cell = measure(file, limits, bytes, depth)?;
            on_cell(&cell);
            cells.push(cell);
        }
    }
    Ok(cells)
}

/// A step of a sequence that looks like noise (SplitMix64 without its last mixing).
fn next(state: u64) -> u64 {
    state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F)
}

fn measure(file: &dyn Probed, limits: &ProbeLimits, bytes: usize, depth: usize) -> io::Result<ProbeCell> {
    let places = (limits.file_bytes / bytes as u64).max(1);
    // The places are visited by a stride that has no factor in common with their number: each once.
    let stride = (places * 5 / 8..).find(|stride| is_coprime(*stride, places)).unwrap_or(1);
    let (started, taken) = (Instant::now(), AtomicU64::new(0));
    let worker = || {
        let mut buffer = vec![0; bytes];
        let (mut requests, mut time) = (0_u32, Duration::ZERO);
        while started.elapsed() < limits.each {
            let number = taken.fetch_add(1, Ordering::Relaxed);
            if number >= places {
                break;
            }
            let place = (u128::from(number) * u128::from(stride) % u128::from(places)) as u64;
            let start = Instant::now();
            file.read(&mut buffer, place * bytes as u64)?;
            time += start.elapsed();
            requests += 1;
        }
        Ok::<_, io::Error>((requests, time))
    };
    let done = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..depth).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let elapsed = started.elapsed();
    let (mut requests, mut time) = (0_u32, Duration::ZERO);
    for thread in done {
        let (count, spent) = thread.map_err(|_| io::Error::other("a thread of the probe ended"))??;
        requests += count;
        time += spent;
    }
    let requests_per_second = f64::from(requests) / elapsed.as_secs_f64().max(1e-9);
    Ok(ProbeCell { bytes, depth, latency: time / requests.max(1), requests_per_second })
}

fn is_coprime(a: u64, b: u64) -> bool {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// A depth or a size is enough where it gives this part of the most.
const ENOUGH: f64 = 0.9;
/// Bounds of what is believed.
const PARALLEL_MAX: usize = 64;
const GAP_BYTES: (u64, u64) = (4 << 10, 4 << 20);
const REQUEST_BYTES: (u64, u64) = (256 << 10, 8 << 20);

/// What follows from measurements; none where there are none.
pub fn device_of(cells: &[ProbeCell]) -> Option<Device> {
    let most = |of: &dyn Fn(&ProbeCell) -> f64, among: &dyn Fn(&ProbeCell) -> bool| {
        cells.iter().filter(|cell| among(cell)).map(of).fold(0.0, f64::max)
    };
    let rate = most(&ProbeCell::bytes_per_second, &|_| true);
    let smallest = cells.iter().map(|cell| cell.bytes).min()?;
    let requests = most(&|cell| cell.requests_per_second, &|cell| cell.bytes == smallest);
    if rate <= 0.0 || requests <= 0.0 {
        return None;
    }
    let is_enough =
        |cell: &&ProbeCell| cell.bytes == smallest && cell.requests_per_second >= ENOUGH * requests;
    let parallel = cells.iter().filter(is_enough).map(|cell| cell.depth).min()?;
    // One request more costs what the device could pass over meanwhile.
    let gap = (rate / requests) as u64;
    let is_long_enough = |cell: &&ProbeCell| cell.bytes_per_second() >= ENOUGH * rate;
    let request = cells.iter().filter(is_long_enough).map(|cell| cell.bytes as u64).min()?;
    let device = Device { parallel, gap_bytes_max: gap, request_bytes_max: request, ..Device::LOCAL };
    Some(believable(device))
}

/// A device with numbers in the bounds of what is believed.
pub fn believable(device: Device) -> Device {
    Device {
        parallel: device.parallel.clamp(1, PARALLEL_MAX),
        gap_bytes_max: device.gap_bytes_max.clamp(GAP_BYTES.0, GAP_BYTES.1),
        request_bytes_max: device.request_bytes_max.clamp(REQUEST_BYTES.0, REQUEST_BYTES.1),
        ..device
    }
}

#[cfg(test)]
mod tests {
    //! What follows from numbers, and that the probe reads what it says. Times are not looked at.
    use super::*;
    use std::collections::HashSet;
    use std::sync::Mutex;

    fn cells(of: impl Fn(usize, usize) -> (u64, f64)) -> Vec<ProbeCell> {
        let pairs = SIZES.into_iter().flat_map(|bytes| DEPTHS.map(|depth| (bytes, depth)));
        let cell = |(bytes, depth)| {
            let (micros, requests_per_second) = of(bytes, depth);
            ProbeCell { bytes, depth, latency: Duration::from_micros(micros), requests_per_second }
        };
        pairs.map(cell).collect()
    }

    #[test]
    fn disks_and_flash_are_told_apart() {
        // 8 ms and 120 MB/s, whatever the depth.
        let disk = cells(|bytes, depth| {
            let each = 0.008 + bytes as f64 / 120e6;
            ((each * 1e6) as u64 * depth as u64, 1.0 / each)
        });
        let device = device_of(&disk).unwrap();
        assert_eq!(device.parallel, 1);
        assert!((400_000..=700_000).contains(&device.gap_bytes_max), "{device:?}");
        assert_eq!(device.request_bytes_max, 1 << 20);
        // 100 us and 2 GB/s, 32 at once.
        let flash = cells(|bytes, depth| {
            let rate = (depth as f64 / 100e-6).min(2e9 / bytes as f64);
            ((depth as f64 / rate * 1e6) as u64, rate)
        });
        let device = device_of(&flash).unwrap();
        assert_eq!((device.parallel, device.request_bytes_max), (32, 256 << 10));
        assert!((4096..=10_000).contains(&device.gap_bytes_max), "{device:?}");
    }

    #[test]
    fn nothing_follows_from_nothing() {
        assert_eq!(device_of(&[]), None);
        assert_eq!(device_of(&cells(|_, _| (0, 0.0))), None);
        let wild = Device { parallel: 0, gap_bytes_max: u64::MAX, request_bytes_max: 0, ..Device::LOCAL };
        let tame = believable(wild);
        assert_eq!((tame.parallel, tame.gap_bytes_max, tame.request_bytes_max), (1, 4 << 20, 256 << 10));
    }

    #[derive(Default)]
    struct Noting(Mutex<(HashSet<(usize, u64)>, u64)>);

    impl Probed for Noting {
        fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
            let mut seen = self.0.lock().unwrap();
            assert!(offset + bytes.len() as u64 <= 4 << 20);
            assert!(seen.0.insert((bytes.len(), offset)), "{offset} twice");
            Ok(())
        }

        fn forget_cached(&self) -> io::Result<()> {
            let mut seen = self.0.lock().unwrap();
            seen.0.clear();
            seen.1 += 1;
            Ok(())
        }
    }

    #[test]
    fn each_place_is_read_once() {
        let (file, mut heard) = (Noting::default(), 0);
        let limits = ProbeLimits { file_bytes: 4 << 20, each: Duration::from_secs(60) };
        let found = probe(&file, &limits, &mut |_| heard += 1).unwrap();
        assert_eq!((found.len(), heard), (30, 30));
        assert_eq!(file.0.lock().unwrap().1, 30);
        assert!(device_of(&found).is_some());
    }

    #[test]
    fn a_folder_is_left_as_it_was() {
        let folder = std::env::temp_dir().join(format!("lode-probe-{}", std::process::id()));
        let limits = ProbeLimits { file_bytes: 2 << 20, each: Duration::from_millis(1) };
        assert_eq!(probe_folder(&folder, &limits, &mut |_| {}).unwrap().len(), 30);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        std::fs::remove_dir(&folder).unwrap();
    }
}
