//! What stays in memory as long as its file is open, counted in the pool that the cache has its memory from: levels of indexes, which no cache
//! evicts since cursors point into them.

use lode_base::block_cache::BlockCache;
use lode_base::memory_budget::Reservation;
use std::ops::Deref;

/// Something that stays.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    value: T,
    _memory: Option<Reservation>,
}

impl<T> Kept<T> {
    /// It takes so many bytes.
    pub fn new(value: T, bytes: usize, cache: &BlockCache) -> Self {
        Self { value, _memory: cache.hold_standing(bytes) }
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}
