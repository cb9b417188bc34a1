//! An object that somebody wrote for a load, read as a file: what is read of it is kept on the disk of this machine, since it is read again, and in pieces
//! smaller than what is worth a request. Its bytes are not verified here: what tasks write has checksums of its own.

use crate::cache::ObjectCache;
use crate::counters::RemoteCounters;
use crate::error::RemoteError;
use crate::object::ObjectStore;
use crate::retry::retrying;
use lode_base::vfs::ReadAt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is fetched and kept at once.
const EXTENT_BYTES: u64 = 1 << 20;
/// Extents that are fetched together where one after the other is read.
const EXTENTS_AHEAD: u64 = 4;
/// No extent has this number, nor one more.
const NONE: u64 = u64::MAX;

/// What files of a load are read through.
#[derive(Debug)]
pub struct Fetching {
    pub store: Arc<dyn ObjectStore>,
    /// On the disk of this machine.
    pub kept: ObjectCache,
    pub counters: RemoteCounters,
}

/// An object.
#[derive(Debug)]
pub struct FetchedFile {
    from: Arc<Fetching>,
    key: String,
    bytes: u64,
    /// The extent that was fetched last: where the one behind it is wanted, more will be.
    last: AtomicU64,
}

impl FetchedFile {
    /// The object of a key; none where there is none.
    pub fn of_key(from: &Arc<Fetching>, key: String) -> Result<Option<Self>, RemoteError> {
        let size = retrying(&from.counters, || from.store.size(&key))?;
        Ok(size.map(|bytes| Self { from: Arc::clone(from), key, bytes, last: AtomicU64::new(NONE) }))
    }

    fn extent(&self, number: u64) -> Range<u64> {
        let start = number * EXTENT_BYTES;
        start..(start + EXTENT_BYTES).min(self.bytes)
    }

    /// Fetches an extent, and those behind it where these are likely to be wanted; the bytes of the first.
    fn fetch(&self, number: u64) -> Result<Vec<u8>, RemoteError> {
        let is_next = self.last.load(Ordering::Relaxed).checked_add(1) == Some(number);
        let count = if is_next { EXTENTS_AHEAD } else { 1 };
        let end = (number + count).min(self.bytes.div_ceil(EXTENT_BYTES));
        let range = self.extent(number).start..self.extent(end - 1).end;
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let Fetching { store, kept, counters } = &*self.from;
        retrying(counters, || store.get_range(&self.key, range.start, &mut bytes))?;
        for (number, part) in (number..end).zip(bytes.chunks(EXTENT_BYTES as usize)) {
            // What cannot be kept is fetched again.
            let _ = kept.write(&self.key, number, part);
        }
        self.last.store(end - 1, Ordering::Relaxed);
        bytes.truncate(EXTENT_BYTES as usize);
        Ok(bytes)
    }

    /// Copies what is at a place of an extent.
    fn copy(&self, number: u64, offset: u64, buf: &mut [u8]) -> Result<(), RemoteError> {
        let at = offset - self.extent(number).start;
        if let Some(found) = self.from.kept.read(&self.key, number, at, buf.len()) {
            buf.copy_from_slice(&found);
            return Ok(());
        }
        let bytes = self.fetch(number)?;
        buf.copy_from_slice(bytes.get(at as usize..at as usize + buf.len()).unwrap_or_default());
        Ok(())
    }
}

impl ReadAt for FetchedFile {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buf.len() as u64).filter(|end| *end <= self.bytes);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut at = offset;
        let mut rest = buf;
        while at < end {
            let number = at / EXTENT_BYTES;
            let count = (self.extent(number).end.min(end) - at) as usize;
            let (now, later) = rest.split_at_mut(count);
            self.copy(number, at, now)?;
            (rest, at) = (later, at + count as u64);
        }
        Ok(())
    }
}
