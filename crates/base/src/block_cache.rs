//! Verified blocks of immutable files, kept in memory up to a number of bytes, shared by all readers. What a block is in
//! memory is its file's business: the cache keeps it in the form that its readers find quickest.
//!
//! Eviction is SIEVE: a hit only sets a mark, a hand goes from the oldest block to the newest, spares marked blocks
//! once and evicts the first unmarked one. One scan of a large file so cannot push out what is used again and again. Who reads
//! all of a database once has a small cache of its own *aside*: it looks into the large one, and leaves it as it is.
//!
//! The crate quick_cache was tried in its place (0.6.24, 64 MiB, blocks of 8 to 14 KiB, one thread and two): a hit takes 65 and 59 ns instead of 74 and 75, a
//! miss with what it evicts 750 instead of 380, and as many are missed. It cannot
//! reserve a block's memory in a pool before it is kept, nor give back so many bytes when others need them.
//!
//! Where several threads miss a block at the same moment, one of them loads it, and the others wait for that one.

mod hot;
mod loading;

use crate::block_source::{AHEAD_BYTES_MAX, BlockSource, ReadPolicy};
use crate::block_work;
use crate::checksum::fold;
use crate::device::Device;
use crate::memory_budget::{MemoryBudget, Relief, Reservation};
use loading::{LoadState, Loading};
use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

const SHARDS: usize = 16;
/// What an entry costs besides its bytes.
const ENTRY_BYTES: usize = 96;
const NONE: u32 = u32::MAX;
/// However small a cache is, so much may be read ahead.
const AHEAD_BYTES_MIN: usize = 4 << 20;
/// The part of its memory that a cache keeps whoever asks.
const KEPT_PART: usize = 8;

/// Which block of which file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockKey {
    /// From [`BlockCache::file_id`].
    pub file: u64,
    /// The block's number inside the file.
    pub block: u64,
}

/// What happened so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheCounters {
    /// Blocks found.
    pub hits: u64,
    /// Blocks that had to be read.
    pub misses: u64,
    /// Bytes read from files by those misses, and by reads past the cache.
    pub bytes_read: u64,
    /// Bytes held now.
    pub bytes_held: u64,
}

/// A block in memory.
pub trait CachedBlock: Any + Send + Sync {
    /// The memory it takes.
    fn bytes(&self) -> usize;
}

/// The memory that a cache may take.
#[derive(Debug, Clone, Default)]
pub struct CacheMemory {
    /// The most bytes it keeps.
    pub bytes_max: usize,
    /// The pool that they count in, if any. From that an eighth of `bytes_max` is taken at once and for good; the rest only while a
    /// quarter of the pool is free, and it is given back where others need it.
    pub pool: Option<MemoryBudget>,
    /// What is read before it is wanted.
    pub policy: ReadPolicy,
    /// What is known of the device that local files are on.
    pub device: Option<Device>,
}

impl From<usize> for CacheMemory {
    fn from(bytes_max: usize) -> Self {
        Self { bytes_max, ..Self::default() }
    }
}

/// What was read ahead takes a quarter of what blocks may take at most, and counts in the pool.
fn ahead_memory(memory: &CacheMemory) -> MemoryBudget {
    let limit = (memory.bytes_max / 4).clamp(AHEAD_BYTES_MIN, AHEAD_BYTES_MAX);
    memory.pool.as_ref().map_or_else(|| MemoryBudget::new(limit), |pool| pool.part(limit))
}

type AnyBlock = Arc<dyn Any + Send + Sync>;

#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = fold(self.0 ^ value ^ 0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93);
    }
}

#[derive(Debug)]
struct Slot {
    key: BlockKey,
    block: AnyBlock,
    cost: usize,
    marked: bool,
    older: u32,
    newer: u32,
}

/// The right to load a block; tells those who wait how it ended, also where that panics.
struct LoadTurn<'a> {
    cache: &'a BlockCache,
    key: BlockKey,
    loading: Arc<Loading>,
    found: LoadState,
}

impl Drop for LoadTurn<'_> {
    fn drop(&mut self) {
        self.cache.shard(self.key).loading.remove(&self.key);
        self.loading.end(std::mem::replace(&mut self.found, LoadState::Failed));
    }
}

/// What is to be done about a block.
enum Lookup<'a> {
    Found(AnyBlock),
    Wait(Arc<Loading>),
    Load(LoadTurn<'a>),
}

/// One lock's share: a list of slots from the newest to the oldest, and the hand.
#[derive(Debug)]
struct Shard {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    map: HashMap<BlockKey, u32, BuildHasherDefault<KeyHasher>>,
    /// Blocks that some thread loads at the moment.
    loading: HashMap<BlockKey, Arc<Loading>, BuildHasherDefault<KeyHasher>>,
    newest: u32,
    oldest: u32,
    hand: u32,
    bytes: usize,
    bytes_max: usize,
    /// What it keeps in any case.
    bytes_min: usize,
    /// What it holds of the pool: never less than it has in blocks.
    held: Reservation,
}

impl Shard {
    fn new(memory: &CacheMemory) -> Self {
        let bytes_max = memory.bytes_max / SHARDS;
        let (bytes_min, held) = match &memory.pool {
            Some(pool) => (bytes_max / KEPT_PART, pool.reserve_idle()),
            None => (bytes_max, MemoryBudget::unlimited().reserve_idle()),
        };
        let mut shard = Self {
            slots: Vec::new(),
            free: Vec::new(),
            map: HashMap::default(),
            loading: HashMap::default(),
            newest: NONE,
            oldest: NONE,
            hand: NONE,
            bytes: 0,
            bytes_max,
            bytes_min,
            held,
        };
        shard.held.hold(bytes_min);
        shard
    }

    fn slot(&mut self, at: u32) -> Option<&mut Slot> {
        self.slots.get_mut(at as usize)?.as_mut()
    }

    fn get(&mut self, key: BlockKey) -> Option<AnyBlock> {
        let at = *self.map.get(&key)?;
        let slot = self.slot(at)?;
        slot.marked = true;
        Some(Arc::clone(&slot.block))
    }

    /// The block, whose mark stays as it is.
    fn peek(&mut self, key: BlockKey) -> Option<AnyBlock> {
        let at = *self.map.get(&key)?;
        self.slot(at).map(|slot| Arc::clone(&slot.block))
    }

    fn insert(&mut self, key: BlockKey, block: AnyBlock, cost: usize) {
        if cost > self.bytes_max || self.map.contains_key(&key) || !self.make_room(cost) {
            return;
        }
        let older = self.newest;
        let slot = Slot { key, block, cost, marked: false, older, newer: NONE };
        let at = match self.free.pop() {
            Some(at) => {
                self.slots[at as usize] = Some(slot);
                at
            }
            None => {
                self.slots.push(Some(slot));
                (self.slots.len() - 1) as u32
            }
        };
        if let Some(before) = self.slot(older) {
            before.newer = at;
        } else {
            self.oldest = at;
        }
        self.newest = at;
        self.map.insert(key, at);
        self.bytes += cost;
    }

    /// Evicts what it must, so that there is room for `cost` bytes more; false where even all of it would not do.
    fn make_room(&mut self, cost: usize) -> bool {
        while self.bytes + cost > self.bytes_max && self.evict_one() {}
        if self.bytes + cost <= self.held.bytes() || self.held.resize(self.bytes + cost).is_ok() {
            return true;
        }
        while self.bytes + cost > self.held.bytes() {
            if cost > self.held.bytes() || !self.evict_one() {
                return false;
            }
        }
        true
    }

    /// Gives back memory until it holds `bytes`, or what it keeps in any case; how much that was.
    fn shrink(&mut self, bytes: usize) -> usize {
        let rest = bytes.max(self.bytes_min);
        while self.bytes > rest && self.evict_one() {}
        let before = self.held.bytes();
        self.held.shrink(rest.max(self.bytes));
        before - self.held.bytes()
    }

    fn evict_one(&mut self) -> bool {
        let mut at = if self.hand == NONE { self.oldest } else { self.hand };
        // Each step clears a mark or ends, so two rounds are enough.
        loop {
            let oldest = self.oldest;
            let Some(slot) = self.slot(at) else { return false };
            if !slot.marked {
                break;
            }
            slot.marked = false;
            at = if slot.newer == NONE { oldest } else { slot.newer };
        }
        self.hand = self.remove(at);
        true
    }

    /// Takes a slot out of the list; returns its newer neighbour.
    fn remove(&mut self, at: u32) -> u32 {
        let Some(slot) = self.slots.get_mut(at as usize).and_then(Option::take) else { return NONE };
        self.map.remove(&slot.key);
        self.free.push(at);
        self.bytes -= slot.cost;
        match self.slot(slot.older) {
            Some(older) => older.newer = slot.newer,
            None => self.oldest = slot.newer,
        }
        match self.slot(slot.newer) {
            Some(newer) => newer.older = slot.older,
            None => self.newest = slot.older,
        }
        if self.hand == at {
            self.hand = slot.newer;
        }
        slot.newer
    }
}

/// The cache. Cheap to share behind an `Arc`.
#[derive(Debug)]
pub struct BlockCache {
    shards: Vec<Mutex<Shard>>,
    source: Arc<BlockSource>,
    pool: Option<MemoryBudget>,
    capacity: usize,
    /// Where relief begins next.
    relieved: AtomicU64,
    files: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    bytes_read: AtomicU64,
}

impl BlockCache {
    /// A cache of at most `bytes` bytes. Blocks over a sixteenth of that are handed out but not kept.
    pub fn new(bytes: usize) -> Self {
        Self::of(&bytes.into())
    }

    /// A cache of memory that others may need.
    pub fn sharing(memory: &CacheMemory) -> Arc<Self> {
        let cache = Arc::new(Self::of(memory));
        if let Some(pool) = &memory.pool {
            pool.relieve_by(Arc::downgrade(&cache) as Weak<dyn Relief>);
        }
        cache
    }

    fn of(memory: &CacheMemory) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::new(Shard::new(memory))).collect(),
            source: Arc::new(BlockSource::new(memory.policy, ahead_memory(memory)).on(memory.device)),
            pool: memory.pool.clone(),
            capacity: memory.bytes_max / SHARDS * SHARDS,
            relieved: AtomicU64::new(0),
            files: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
        }
    }

    /// A number for a newly opened file, never given before by this cache.
    pub fn file_id(&self) -> u64 {
        self.files.fetch_add(1, Ordering::Relaxed)
    }

    fn shard(&self, key: BlockKey) -> MutexGuard<'_, Shard> {
        let mut hasher = KeyHasher::default();
        hasher.write_u64(key.file);
        hasher.write_u64(key.block);
        let shard = &self.shards[(hasher.finish() >> 32) as usize % SHARDS];
        // A panic of another holder leaves the list whole: every step of it is panic-free.
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block if the cache has it; counts as hit or miss.
    pub fn get<B: CachedBlock>(&self, key: BlockKey) -> Option<Arc<B>> {
        let found = self.shard(key).get(key);
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        block_work::add_lookup(found.is_some());
        // A file's blocks are all of one type, so this does not fail.
        found.and_then(|block| block.downcast().ok())
    }

    /// Keeps a verified block.
    pub fn insert<B: CachedBlock>(&self, key: BlockKey, block: &Arc<B>) {
        let cost = block.bytes() + ENTRY_BYTES;
        self.shard(key).insert(key, Arc::clone(block) as AnyBlock, cost);
    }

    fn look_up(&self, key: BlockKey) -> Lookup<'_> {
        let mut shard = self.shard(key);
        if let Some(block) = shard.get(key) {
            return Lookup::Found(block);
        }
        if let Some(loading) = shard.loading.get(&key) {
            return Lookup::Wait(Arc::clone(loading));
        }
        let loading = Arc::<Loading>::default();
        shard.loading.insert(key, Arc::clone(&loading));
        drop(shard);
        Lookup::Load(LoadTurn { cache: self, key, loading, found: LoadState::Failed })
    }

    /// The block from the cache, or else from `load`, which runs without a lock held. Of several threads that miss it at the same
    /// moment one loads it; where that fails, the others try by themselves.
    ///
    /// # Errors
    ///
    /// What `load` fails with; nothing is kept then.
    pub fn get_or_load<B: CachedBlock, E>(
        &self,
        key: BlockKey,
        load: impl FnOnce() -> Result<B, E>,
    ) -> Result<Arc<B>, E> {
        let lookup = self.look_up(key);
        let found = matches!(lookup, Lookup::Found(_));
        let counter = if found { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        block_work::add_lookup(found);
        let (block, turn) = match lookup {
            Lookup::Found(block) => (Some(block), None),
            Lookup::Wait(loading) => (loading.wait(), None),
            Lookup::Load(turn) => (None, Some(turn)),
        };
        // A file's blocks are all of one type, so this does not fail.
        if let Some(block) = block.and_then(|block| block.downcast().ok()) {
            return Ok(block);
        }
        let block = Arc::new(load()?);
        self.insert(key, &block);
        if let Some(mut turn) = turn {
            turn.found = LoadState::Done(Arc::clone(&block) as AnyBlock);
        }
        Ok(block)
    }

    /// Whether the cache has a block; counts as nothing, and leaves its mark as it is.
    pub fn has(&self, key: BlockKey) -> bool {
        self.shard(key).map.contains_key(&key)
    }

    /// What reads the files whose blocks it keeps.
    pub fn source(&self) -> &Arc<BlockSource> {
        &self.source
    }

    /// Like [`BlockCache::get_or_load`] for a reader that has the cache `aside`, if it has one: then nothing changes in this one.
    ///
    /// # Errors
    ///
    /// As [`BlockCache::get_or_load`].
    pub fn get_or_load_aside<B: CachedBlock, E>(
        &self,
        aside: Option<&Self>,
        key: BlockKey,
        load: impl FnOnce() -> Result<B, E>,
    ) -> Result<Arc<B>, E> {
        let Some(aside) = aside else { return self.get_or_load(key, load) };
        // The lock is given back before anything is loaded.
        let found = self.shard(key).peek(key);
        match found.and_then(|block| block.downcast().ok()) {
            Some(block) => {
                self.hits.fetch_add(1, Ordering::Relaxed);
                block_work::add_lookup(true);
                Ok(block)
            }
            None => aside.get_or_load(key, load),
        }
    }

    /// Adds to [`CacheCounters::bytes_read`].
    pub fn count_read(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
        block_work::add_bytes_read(bytes);
    }

    /// What happened so far.
    pub fn counters(&self) -> CacheCounters {
        let held = |shard: &Mutex<Shard>| shard.lock().unwrap_or_else(PoisonError::into_inner).bytes as u64;
        CacheCounters {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            bytes_read: self.bytes_read.load(Ordering::Relaxed),
            bytes_held: self.shards.iter().map(held).sum(),
        }
    }

    /// The most bytes it keeps.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

impl Relief for BlockCache {
    fn relieve(&self, bytes: usize) {
        let mut rest = bytes;
        let first = self.relieved.fetch_add(1, Ordering::Relaxed) as usize;
        // Each gives its part, and in a second round all that it can.
        for part in [SHARDS, 1] {
            for at in 0..SHARDS {
                let shard = &self.shards[(first + at) % SHARDS];
                let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
                let less = rest.min(bytes.div_ceil(part));
                let target = shard.held.bytes().saturating_sub(less);
                rest = rest.saturating_sub(shard.shrink(target));
                if rest == 0 {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
