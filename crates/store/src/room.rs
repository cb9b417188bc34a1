//! Room on the disk: a file of zeros that is given up when the disk is full, so that deletions, the log, flushes and compactions can go on.
//!
//! Until there is room for it again, nothing is added to the database: else what is added would take the room that was meant for making
//! some. Only a store that is looked after ([`crate::Maintenance`]) makes the reserve, but any that is open for writing gives it up.

#[cfg(test)]
mod tests;

use crate::error::StoreError;
use crate::manifest::RESERVE;
use crate::store::Store;
use lode_base::vfs::Vfs;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// It takes a hundredth of the free room, but not more,
const BYTES_MAX: u64 = 64 << 20;
/// nor less, unless that were more than a quarter of what is free,
const BYTES_MIN: u64 = 256 << 10;
/// and never less than this.
const BYTES_LEAST: u64 = 64 << 10;

/// An error that may mean that the disk is full.
pub(crate) trait MayBeFull {
    /// Whether it does.
    fn is_disk_full(&self) -> bool;
}

impl MayBeFull for StoreError {
    fn is_disk_full(&self) -> bool {
        StoreError::is_disk_full(self)
    }
}

impl Store {
    /// Whether the disk is so full that only what makes room is done.
    pub fn is_disk_full(&self) -> bool {
        self.writer().is_ok_and(|writer| writer.room.is_full())
    }

    /// How often room was made by giving up the reserve: what failed for want of room before that may be tried once more.
    pub fn reserve_releases(&self) -> u64 {
        self.writer().map_or(0, |writer| writer.room.releases.load(Ordering::Relaxed))
    }

    /// Does what must go on when the disk is full: once more, if giving up the reserve has made room for it.
    pub(crate) fn with_room<T, E: MayBeFull>(&self, mut work: impl FnMut() -> Result<T, E>) -> Result<T, E> {
        let before = self.reserve_releases();
        match work() {
            Err(error) if error.is_disk_full() => {
                self.give_up_reserve();
                if self.reserve_releases() > before { work() } else { Err(error) }
            }
            done => done,
        }
    }

    /// For what adds to the database: refuses it while the disk is full, or too full for segments of what is in the log only. Those must
    /// find room before anything can be merged or dropped.
    pub(crate) fn check_room(&self) -> Result<(), StoreError> {
        if !self.is_disk_full() {
            let free = self.vfs().free_bytes(self.folder()).unwrap_or(None);
            if free.is_none_or(|free| free >= self.unwritten_bytes()) {
                return Ok(());
            }
            self.give_up_reserve();
        }
        // Where there was no reserve to give up, the disk decides.
        if !self.is_disk_full() || self.look_for_room() {
            return Ok(());
        }
        Err(StoreError::Full { path: self.folder().to_owned() })
    }

    /// Bytes that segments of the delta take at most.
    pub(crate) fn unwritten_bytes(&self) -> u64 {
        self.version().delta.memory_bytes() as u64
    }

    /// Says that the disk is full. Without a reserve that changes nothing.
    pub(crate) fn give_up_reserve(&self) {
        let Ok(writer) = self.writer() else { return };
        let (room, path) = (&writer.room, self.reserve_path());
        let mut bytes = room.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = reserved(&**self.vfs(), &path) else { return };
        *bytes = Some(found);
        if self.vfs().remove(&path).is_ok() {
            room.is_full.store(true, Ordering::Relaxed);
            room.releases.fetch_add(1, Ordering::Relaxed);
            writer.chores.look();
        }
    }

    /// Makes the reserve where there is room for it, for segments of the delta and for something more. Whether there is one, so that all may go on.
    pub(crate) fn look_for_room(&self) -> bool {
        let Ok(writer) = self.writer() else { return false };
        let (room, path, vfs) = (&writer.room, self.reserve_path(), &**self.vfs());
        let mut bytes = room.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if reserved(vfs, &path).is_none() {
            // Where nobody can tell, whether there is enough is found out by taking it.
            let free = vfs.free_bytes(self.folder()).unwrap_or(None);
            let wanted = bytes.unwrap_or_else(|| free.map_or(BYTES_MIN, reserve_bytes));
            let enough = wanted + wanted / 2 + self.unwritten_bytes();
            let is_enough = match free {
                Some(free) => free >= enough,
                None => vfs.allocate(&path, enough).is_ok(),
            };
            if !is_enough || vfs.allocate(&path, wanted).is_err() {
                // Nothing of it is there, or some of it.
                let _ = vfs.remove(&path);
                return false;
            }
            *bytes = Some(wanted);
        }
        if room.is_full.swap(false, Ordering::Relaxed) {
            room.reopenings.fetch_add(1, Ordering::Relaxed);
            writer.flush_state.retry_now();
        }
        true
    }

    fn reserve_path(&self) -> PathBuf {
        self.folder().join(RESERVE)
    }
}

/// Bytes of the reserve; none where there is none.
fn reserved(vfs: &dyn Vfs, path: &std::path::Path) -> Option<u64> {
    if vfs.exists(path) { vfs.open(path).ok().map(|file| file.len()) } else { None }
}

/// Bytes of the reserve on a disk with so many free ones.
fn reserve_bytes(free: u64) -> u64 {
    (free / 100).clamp(BYTES_MIN.min(free / 4).max(BYTES_LEAST), BYTES_MAX)
}
