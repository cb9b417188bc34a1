//! A device that is emulated: reads take as long as they would on a disk, on flash, or on object storage. For tests and benchmarks; what
//! is read comes from another file system, and writes take no time of their own, unless that is asked for.
//!
//! A request waits until the device serves fewer than it can at once, then for the latency, and then its bytes pass one after the other with those of all
//! others. On a disk the latency is that of the arm: none where a read begins where the last one ended, and on the way forward no more than it
//! takes to pass over what lies between.

use crate::device::Device;
use crate::vfs::{ReadAt, Vfs, WriteFile};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What kind of device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceModel {
    /// From the start of a request until its first byte comes.
    pub latency: Duration,
    /// Of all requests together.
    pub bytes_per_second: u64,
    /// Whether a request that goes on where the last one ended has no latency.
    pub has_arm: bool,
    /// What it serves at once, and what is best asked of it.
    pub device: Device,
}

const SLOW: Device = Device { is_slow: true, ..Device::LOCAL };

impl DeviceModel {
    /// A disk: 8 ms, 120 MB/s, one request at once.
    pub const DISK: Self = Self {
        latency: Duration::from_millis(8),
        bytes_per_second: 120_000_000,
        has_arm: true,
        device: Device { parallel: 1, gap_bytes_max: 512 << 10, request_bytes_max: 1 << 20, ..SLOW },
    };

    /// Flash: 100 µs, 2 GB/s, 32 requests at once.
    pub const SSD: Self = Self {
        latency: Duration::from_micros(100),
        bytes_per_second: 2_000_000_000,
        has_arm: false,
        device: Device { parallel: 32, gap_bytes_max: 64 << 10, request_bytes_max: 256 << 10, ..SLOW },
    };

    /// Object storage: 20 ms, 1 GB/s, 64 requests at once.
    pub const OBJECT_STORAGE: Self = Self {
        latency: Duration::from_millis(20),
        bytes_per_second: 1_000_000_000,
        has_arm: false,
        device: Device { parallel: 64, gap_bytes_max: 256 << 10, request_bytes_max: 1 << 20, ..SLOW },
    };

    /// One that takes no time, but counts and is read ahead: for tests.
    pub const INSTANT: Self = Self {
        latency: Duration::ZERO,
        bytes_per_second: u64::MAX,
        has_arm: false,
        device: Device { parallel: 4, gap_bytes_max: 1000, request_bytes_max: 64 << 10, ..SLOW },
    };

    /// By name: `disk`, `ssd` or `object`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "disk" => Some(Self::DISK),
            "ssd" => Some(Self::SSD),
            "object" => Some(Self::OBJECT_STORAGE),
            _ => None,
        }
    }

    fn transfer(&self, bytes: u64) -> Duration {
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_second.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// When the device is free again.
#[derive(Debug)]
struct Busy {
    slots: Vec<Instant>,
    channel: Instant,
    /// The file and the byte after the last request.
    arm: (u64, u64),
}

#[derive(Debug)]
struct Emulated {
    model: DeviceModel,
    busy: Mutex<Busy>,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Nanoseconds in which bytes were on their way, or the arm was.
    working: AtomicU64,
}

impl Emulated {
    /// When a request that comes now has been served.
    fn serve(&self, file: u64, offset: u64, bytes: u64) -> Instant {
        let model = &self.model;
        let now = Instant::now();
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = if model.has_arm { seek_time(model, busy.arm, file, offset) } else { model.latency };
        busy.arm = (file, offset + bytes);
        let channel = busy.channel;
        let Some(slot) = busy.slots.iter_mut().min() else { return now };
        let first_byte = now.max(*slot) + latency;
        let transfer = model.transfer(bytes);
        let working = if model.has_arm { latency + transfer } else { transfer };
        self.working.fetch_add(u64::try_from(working.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let end = first_byte.max(channel) + transfer;
        *slot = end;
        busy.channel = end;
        end
    }
}

fn seek_time(model: &DeviceModel, (at_file, at): (u64, u64), file: u64, offset: u64) -> Duration {
    match offset.checked_sub(at) {
        Some(gap) if file == at_file => model.latency.min(model.transfer(gap)),
        _ => model.latency,
    }
}

/// A file system whose files are read as from such a device.
#[derive(Debug, Clone)]
pub struct DeviceVfs {
    inner: Arc<dyn Vfs>,
    emulated: Arc<Emulated>,
    writes_take_time: bool,
}

impl DeviceVfs {
    /// What `inner` has, on a device of its own.
    pub fn new(inner: Arc<dyn Vfs>, model: DeviceModel) -> Self {
        let now = Instant::now();
        let slots = vec![now; model.device.parallel.max(1)];
        let busy = Mutex::new(Busy { slots, channel: now, arm: (0, 0) });
        let (requests, bytes, working) = Default::default();
        let emulated = Arc::new(Emulated { model, busy, requests, bytes, working });
        Self { inner, emulated, writes_take_time: false }
    }

    /// The same, whose writes take as long as reads would. Bytes are on their way in requests of some size: the system gathers them.
    #[must_use]
    pub fn with_slow_writes(mut self) -> Self {
        self.writes_take_time = true;
        self
    }

    fn writer(&self, path: &Path, inner: Box<dyn WriteFile>) -> Box<dyn WriteFile> {
        if !self.writes_take_time {
            return inner;
        }
        let (file, emulated) = (file_number(path), Arc::clone(&self.emulated));
        Box::new(DeviceWriter { inner, file, emulated, written: 0, waiting: 0 })
    }

    /// Requests so far, and their bytes.
    pub fn served(&self) -> (u64, u64) {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (get(&self.emulated.requests), get(&self.emulated.bytes))
    }

    /// How long it has had something to do so far: what it was asked for last included, which may not be done yet.
    pub fn working(&self) -> Duration {
        Duration::from_nanos(self.emulated.working.load(Ordering::Relaxed))
    }

    fn reader(&self, path: &Path, inner: Arc<dyn ReadAt>) -> Arc<dyn ReadAt> {
        Arc::new(DeviceReader { inner, file: file_number(path), emulated: Arc::clone(&self.emulated) })
    }
}

fn file_number(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

/// What is written waits until it is so many bytes.
const WRITE_BYTES: u64 = 256 << 10;

#[derive(Debug)]
struct DeviceWriter {
    inner: Box<dyn WriteFile>,
    file: u64,
    emulated: Arc<Emulated>,
    written: u64,
    /// Of those, bytes that the device has not taken yet.
    waiting: u64,
}

impl DeviceWriter {
    fn serve(&mut self) {
        let bytes = std::mem::take(&mut self.waiting);
        if bytes > 0 {
            let end = self.emulated.serve(self.file, self.written - bytes, bytes);
            std::thread::sleep(end.saturating_duration_since(Instant::now()));
        }
    }
}

impl Write for DeviceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.written += count as u64;
        self.waiting += count as u64;
        if self.waiting >= WRITE_BYTES {
            self.serve();
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.serve();
        self.inner.flush()
    }
}

impl WriteFile for DeviceWriter {
    fn sync(&mut self) -> io::Result<()> {
        self.serve();
        self.inner.sync()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.serve();
        self.inner.sync_data()
    }
}

#[derive(Debug)]
struct DeviceReader {
    inner: Arc<dyn ReadAt>,
    file: u64,
    emulated: Arc<Emulated>,
}

impl ReadAt for DeviceReader {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = buf.len() as u64;
        let end = self.emulated.serve(self.file, offset, bytes);
        self.inner.read_exact_at(buf, offset)?;
        self.emulated.requests.fetch_add(1, Ordering::Relaxed);
        self.emulated.bytes.fetch_add(bytes, Ordering::Relaxed);
        std::thread::sleep(end.saturating_duration_since(Instant::now()));
        Ok(())
    }

    fn device(&self) -> Device {
        self.emulated.model.device
    }
}

impl Vfs for DeviceVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        Ok(self.reader(path, self.inner.open(path)?))
    }

    fn open_immutable(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        Ok(self.reader(path, self.inner.open_immutable(path)?))
    }

    fn device(&self) -> Device {
        self.emulated.model.device
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        Ok(self.writer(path, self.inner.create(path)?))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        Ok(self.writer(path, self.inner.create_new(path)?))
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        Ok(self.writer(path, self.inner.open_append(path, len)?))
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

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.hard_link(from, to)
    }

    fn is_same_file(&self, a: &Path, b: &Path) -> io::Result<bool> {
        self.inner.is_same_file(a, b)
    }

    fn file_identity(&self, path: &Path) -> io::Result<Option<u128>> {
        self.inner.file_identity(path)
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

    fn free_bytes(&self, folder: &Path) -> io::Result<Option<u64>> {
        self.inner.free_bytes(folder)
    }

    fn allocate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.inner.allocate(path, bytes)
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock(path, exclusive)
    }
}
