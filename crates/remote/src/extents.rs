//! A file of a segment that is an object far away: what is read of it comes in extents, which are kept in the cache on local disk. Each page of it is
//! verified when it comes and whenever it is read from the cache: what does not fit is fetched again, and never handed on.

use crate::cache::ObjectCache;
use crate::counters::RemoteCounters;
use crate::error::RemoteError;
use crate::index::{IndexedFile, PAGE_BYTES};
use crate::object::ObjectStore;
use crate::retry::retrying;
use lode_base::cancel;
use lode_base::checksum::checksum;
use lode_base::device::Device;
use lode_base::vfs::ReadAt;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is fetched and kept at once.
const EXTENT_BYTES: u64 = 4 * PAGE_BYTES;
/// Who waits for another thread looks so often whether it was called off.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What requests cost that go over a network.
pub const DEVICE: Device = Device {
    parallel: 32,
    gap_bytes_max: 256 << 10,
    request_bytes_max: 1 << 20,
    stripe_bytes: 0,
    is_slow: true,
};

/// What the files of a published database share.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where they are.
    pub store: Arc<dyn ObjectStore>,
    /// What is kept of them, if anything is.
    pub cache: Option<Arc<ObjectCache>>,
    /// What happened.
    pub counters: Arc<RemoteCounters>,
}

/// A file far away.
#[derive(Debug)]
pub struct RemoteFile {
    source: Source,
    key: String,
    file: IndexedFile,
    /// Extents that some thread fetches.
    fetching: Mutex<BTreeSet<u64>>,
    fetched: Condvar,
    /// Extents that were used since this was opened, as bits.
    used: Box<[AtomicU64]>,
}

impl RemoteFile {
    /// The file of which this is known.
    pub fn new(source: Source, key: String, file: IndexedFile) -> Self {
        let words = file.bytes.div_ceil(EXTENT_BYTES).div_ceil(64) as usize;
        let used = (0..words).map(|_| AtomicU64::new(0)).collect();
        Self { source, key, file, fetching: Mutex::default(), fetched: Condvar::new(), used }
    }

    fn fetching(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        // A panic of another holder leaves the set whole.
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn extent_bytes(&self, extent: u64) -> Range<u64> {
        let start = extent * EXTENT_BYTES;
        start..(start + EXTENT_BYTES).min(self.file.bytes)
    }

    /// The first byte, from a place on, of a page that is not the one that was published; none where all are.
    fn damage(&self, start: u64, bytes: &[u8]) -> Option<u64> {
        let first = start / PAGE_BYTES;
        let pages = bytes.chunks(PAGE_BYTES as usize).zip(first..);
        let is_wrong =
            |page: &[u8], number: u64| self.file.sums.get(number as usize) != Some(&checksum(page));
        pages
            .into_iter()
            .find(|(page, number)| is_wrong(page, *number))
            .map(|(_, number)| number * PAGE_BYTES)
    }

    /// Copies what the cache has of an extent: whether it has it, undamaged.
    fn copy_cached(&self, extent: u64, buf: &mut [u8], offset: u64) -> bool {
        let whole = self.extent_bytes(extent);
        let start = offset / PAGE_BYTES * PAGE_BYTES;
        let end = (offset + buf.len() as u64).next_multiple_of(PAGE_BYTES).min(whole.end);
        let counters = &self.source.counters;
        let Some(cache) = &self.source.cache else { return false };
        let Some(pages) = cache.read(&self.key, extent, start - whole.start, (end - start) as usize) else {
            return false;
        };
        if self.damage(start, &pages).is_some() {
            counters.count_damaged();
            return false;
        }
        let at = (offset - start) as usize;
        let Some(found) = pages.get(at..at + buf.len()) else { return false };
        buf.copy_from_slice(found);
        counters.count_cached(buf.len());
        self.mark_used(extent, cache);
        true
    }

    fn mark_used(&self, extent: u64, cache: &ObjectCache) {
        let bit = 1 << (extent % 64);
        let word = self.used.get((extent / 64) as usize);
        if word.is_some_and(|word| word.fetch_or(bit, Ordering::Relaxed) & bit == 0) {
            cache.touch(&self.key, extent);
        }
    }

    /// Fetches extents that follow each other, keeps them, and gives their bytes.
    fn fetch(&self, extents: Range<u64>) -> Result<Vec<u8>, RemoteError> {
        let (start, end) = (extents.start * EXTENT_BYTES, (extents.end * EXTENT_BYTES).min(self.file.bytes));
        let mut bytes = vec![0; (end - start) as usize];
        let Source { store, cache, counters } = &self.source;
        retrying(counters, || {
            let began = Instant::now();
            let got = store.get_range(&self.key, start, &mut bytes);
            counters.count_request(if got.is_ok() { bytes.len() } else { 0 }, began.elapsed());
            got?;
            match self.damage(start, &bytes) {
                None => Ok(()),
                Some(offset) => {
                    let what = "not the bytes that were published (their checksum is wrong), also when asked for again";
                    Err(RemoteError::damaged(store.object(&self.key), offset, what))
                }
            }
        })?;
        for (extent, part) in extents.zip(bytes.chunks(EXTENT_BYTES as usize)) {
            if let Some(cache) = cache
                && cache.write(&self.key, extent, part).is_err()
            {
                counters.count_unwritten();
            }
        }
        Ok(bytes)
    }

    /// Reads what is not in the file's end.
    fn read(&self, buf: &mut [u8], offset: u64) -> Result<(), RemoteError> {
        let end = offset + buf.len() as u64;
        let mut missing: BTreeSet<u64> = BTreeSet::new();
        for extent in offset / EXTENT_BYTES..end.div_ceil(EXTENT_BYTES) {
            let (part, at) = part_of(buf, offset, &self.extent_bytes(extent));
            if !self.copy_cached(extent, part, at) {
                missing.insert(extent);
            }
        }
        while !missing.is_empty() {
            let mine = self.begin(&missing);
            if mine.extents.is_empty() {
                self.wait(&missing)?;
                continue;
            }
            // Another thread may have fetched them meanwhile.
            let mut left = mine.extents.clone();
            left.retain(|extent| {
                let (part, at) = part_of(buf, offset, &self.extent_bytes(*extent));
                let is_cached = self.copy_cached(*extent, part, at);
                is_cached.then(|| missing.remove(extent));
                !is_cached
            });
            for run in runs(&left) {
                let bytes = self.fetch(run.clone())?;
                for (extent, whole) in run.zip(bytes.chunks(EXTENT_BYTES as usize)) {
                    let place = self.extent_bytes(extent);
                    let (part, at) = part_of(buf, offset, &place);
                    let from = (at - place.start) as usize;
                    part.copy_from_slice(whole.get(from..from + part.len()).unwrap_or_default());
                    missing.remove(&extent);
                }
            }
        }
        Ok(())
    }

    /// Takes those of the extents that no other thread fetches.
    fn begin(&self, wanted: &BTreeSet<u64>) -> Fetching<'_> {
        let mut fetching = self.fetching();
        let extents: Vec<u64> = wanted.iter().copied().filter(|extent| !fetching.contains(extent)).collect();
        fetching.extend(&extents);
        Fetching { file: self, extents }
    }

    /// Waits until one of the extents is not fetched any more.
    fn wait(&self, wanted: &BTreeSet<u64>) -> Result<(), RemoteError> {
        let token = cancel::current();
        let mut fetching = self.fetching();
        while wanted.iter().all(|extent| fetching.contains(extent)) {
            if let Some(token) = &token {
                token.check()?;
            }
            fetching =
                self.fetched.wait_timeout(fetching, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }
}

/// Extents that this thread fetches; given back also where that fails.
struct Fetching<'a> {
    file: &'a RemoteFile,
    extents: Vec<u64>,
}

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        let mut fetching = self.file.fetching();
        for extent in &self.extents {
            fetching.remove(extent);
        }
        drop(fetching);
        self.file.fetched.notify_all();
    }
}

/// The part of a buffer, whose first byte is at `offset` of the file, that is in a range of the file, and where it begins there.
fn part_of<'a>(buf: &'a mut [u8], offset: u64, range: &Range<u64>) -> (&'a mut [u8], u64) {
    let end = offset + buf.len() as u64;
    let (from, to) = (offset.max(range.start), end.min(range.end));
    (buf.get_mut((from - offset) as usize..(to - offset) as usize).unwrap_or_default(), from)
}

/// Ascending numbers as ranges of those that follow each other.
fn runs(numbers: &[u64]) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(last) if last.end == *number => last.end += 1,
            _ => runs.push(*number..*number + 1),
        }
    }
    runs
}

impl ReadAt for RemoteFile {
    fn len(&self) -> u64 {
        self.file.bytes
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.file.bytes);
        if end.is_none() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        if buf.is_empty() {
            return Ok(());
        }
        match offset.checked_sub(self.file.end_start()) {
            Some(at) => {
                let found = self.file.end.get(at as usize..at as usize + buf.len());
                buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            None => match self.file.part(offset, buf.len()) {
                Some(found) => {
                    buf.copy_from_slice(found);
                    Ok(())
                }
                None => Ok(self.read(buf, offset)?),
            },
        }
    }

    fn is_near(&self, offset: u64, bytes: usize) -> bool {
        offset >= self.file.end_start() || self.file.part(offset, bytes).is_some()
    }

    fn device(&self) -> Device {
        DEVICE
    }
}
