//! Which blocks the cache has, and blocks that take only room that is free: what a list of hot blocks is made of, and what is read by one.

use super::{AnyBlock, BlockCache, BlockKey, CachedBlock, ENTRY_BYTES, Shard};
use crate::memory_budget::Reservation;
use std::sync::{Arc, PoisonError};

impl BlockCache {
    /// All blocks that it has, in no order.
    pub fn keys(&self) -> Vec<BlockKey> {
        let mut keys = Vec::new();
        for shard in &self.shards {
            keys.extend(shard.lock().unwrap_or_else(PoisonError::into_inner).map.keys());
        }
        keys
    }

    /// Keeps a verified block where no other has to go for it; whether the cache has it then.
    pub fn insert_if_free<B: CachedBlock>(&self, key: BlockKey, block: B) -> bool {
        let cost = block.bytes() + ENTRY_BYTES;
        let mut shard = self.shard(key);
        if shard.map.contains_key(&key) {
            return true;
        }
        if !shard.has_room(cost) {
            return false;
        }
        shard.insert(key, Arc::new(block) as AnyBlock, cost);
        shard.map.contains_key(&key)
    }
}

impl BlockCache {
    /// Counts memory of what is kept beside the blocks for as long as their files are open, such as pages of indexes, where there is a pool.
    pub fn hold_standing(&self, bytes: usize) -> Option<Reservation> {
        self.pool.as_ref().map(|pool| pool.hold_standing(bytes))
    }
}

impl Shard {
    /// Whether so many bytes more fit without an eviction; then it holds memory for them.
    fn has_room(&mut self, cost: usize) -> bool {
        let wanted = self.bytes + cost;
        wanted <= self.bytes_max && (wanted <= self.held.bytes() || self.held.resize(wanted).is_ok())
    }
}
