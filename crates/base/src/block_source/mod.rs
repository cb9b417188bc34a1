//! Reads blocks of immutable files: one at once, or many in few requests before they are wanted.
//!
//! A [`BlockFile`] is read in the thread of the caller. What a reader will need soon it [asks for](BlockFile::ask): near neighbours become one
//! request, other threads read it, and the blocks are there, or on their way, when they are read. A block that is on its way for anybody is
//! read by nobody else. What was asked for belongs to who holds its [`Flight`]s: dropping them calls it off.
//!
//! Bytes that have come are not decoded here, and are kept in no cache: whoever wants the block does that, as if it had read it.

mod counters;
mod extents;
mod flight;
mod merge;
mod queue;
mod reading;

pub use counters::SourceCounters;
pub use flight::Flight;
pub use reading::{Priority, ReadError, Reading};

use crate::block_work;
use crate::cancel;
use crate::device::Device;
use crate::memory_budget::MemoryBudget;
use crate::vfs::ReadAt;
use counters::Counters;
use extents::Extents;
use flight::{Cargo, Shared, is_slow};
use merge::merge;
use queue::Queue;
use reading::located;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// What is asked for ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadPolicy {
    /// What comes next in a scan.
    pub sequential: bool,
    /// All that a batch of sorted look-ups needs.
    pub vectored: bool,
    /// What is around a second block that is missed in a region, where the device has an arm.
    pub extent: bool,
}

impl ReadPolicy {
    /// Nothing.
    pub const NONE: Self = Self { sequential: false, vectored: false, extent: false };
    /// What scans and look-ups are known to need.
    pub const BOTH: Self = Self { sequential: true, vectored: true, extent: false };
    /// That, and what they may need.
    pub const ALL: Self = Self { extent: true, ..Self::BOTH };
}

impl Default for ReadPolicy {
    fn default() -> Self {
        Self::BOTH
    }
}

/// Reads the files of a database.
#[derive(Debug)]
pub struct BlockSource {
    policy: ReadPolicy,
    /// For bytes that were read ahead.
    memory: MemoryBudget,
    shared: Arc<Shared>,
    queue: Arc<Queue>,
    extents: Extents,
    /// What local files are on, where that was measured.
    local: Device,
    files: AtomicU64,
}

impl Default for BlockSource {
    fn default() -> Self {
        Self::new(ReadPolicy::default(), MemoryBudget::new(AHEAD_BYTES_MAX))
    }
}

/// A window takes this part of it, within these bounds.
const WINDOW_PART: u64 = 8;
const WINDOW_BYTES: (u64, u64) = (1 << 20, 8 << 20);
/// Memory for what was read ahead, where nothing else is said.
pub const AHEAD_BYTES_MAX: usize = 64 << 20;

impl BlockSource {
    /// A source that keeps what it reads ahead in `memory`; where there is no room, it reads nothing ahead.
    pub fn new(policy: ReadPolicy, memory: MemoryBudget) -> Self {
        let (shared, queue, extents) = (Arc::default(), Arc::default(), Extents::default());
        let files = AtomicU64::new(0);
        Self { policy, memory, shared, queue, extents, local: Device::LOCAL, files }
    }

    /// The same, with what was measured of the device that local files are on.
    #[must_use]
    pub fn on(mut self, local: Option<Device>) -> Self {
        self.local = local.unwrap_or(self.local);
        self
    }

    /// What happened so far.
    pub fn counters(&self) -> SourceCounters {
        self.shared.counters.sample()
    }

    /// Makes a file ready to be read by blocks.
    pub fn file(self: &Arc<Self>, file: Arc<dyn ReadAt>) -> BlockFile {
        let device = match file.device() {
            Device::LOCAL => self.local,
            known => known,
        };
        let id = self.files.fetch_add(1, Ordering::Relaxed);
        let is_slow = Arc::new(AtomicBool::new(device.is_slow));
        BlockFile { source: Arc::clone(self), file, id, device, is_slow }
    }

    #[cfg(test)]
    fn flying(&self) -> usize {
        self.shared.lock().len()
    }
}

impl Drop for BlockSource {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// A file that is read by blocks, each always from its first to its last byte.
#[derive(Debug)]
pub struct BlockFile {
    source: Arc<BlockSource>,
    file: Arc<dyn ReadAt>,
    id: u64,
    device: Device,
    /// Whether the last read came from a device, and not from memory.
    is_slow: Arc<AtomicBool>,
}

impl BlockFile {
    /// Fills `buf` with the block at `offset`: with what was asked for before, by whomever, or by a read of its own.
    ///
    /// # Errors
    ///
    /// Where the file system refuses, or ends the file before the block; where `reading` was called off.
    pub fn read(&self, buf: &mut [u8], offset: u64, reading: &Reading) -> Result<(), ReadError> {
        if let Some(flight) = self.source.shared.find((self.id, offset))
            && flight.take(buf, offset, reading)?
        {
            block_work::add_ahead(1);
            return Ok(());
        }
        reading.check()?;
        let (start, counters) = (Instant::now(), &self.source.shared.counters);
        let (turn, is_near) = (counters.turn(), self.file.is_near(offset, buf.len()));
        let result = match self.device.is_slow {
            // A request over a network may wait long, and nobody hands it a token.
            true => reading.current(|| self.file.read_exact_at(buf, offset)),
            false => self.file.read_exact_at(buf, offset),
        };
        self.is_slow.store(self.device.is_slow || is_slow(start.elapsed(), buf.len()), Ordering::Relaxed);
        Counters::add(&counters.requests, 1);
        if !is_near {
            counters.end_turn(turn);
        }
        block_work::add_requests(1);
        match result {
            Ok(()) => {
                Counters::add(&counters.bytes, buf.len() as u64);
                Ok(())
            }
            Err(error) => {
                // Perhaps that is why.
                reading.current(|| cancel::current().map_or(Ok(()), |token| token.check()))?;
                Err(located(&error, offset, buf.len()).into())
            }
        }
    }

    /// Whether it is of use to ask for what comes next in a scan.
    pub fn reads_scans_ahead(&self) -> bool {
        self.source.policy.sequential && self.is_worth_asking()
    }

    /// Whether it is of use to ask for what a batch of look-ups needs.
    pub fn reads_batches_ahead(&self) -> bool {
        self.source.policy.vectored && self.is_worth_asking()
    }

    /// The block at `offset` is about to be read: the bytes around it that are best read with it, if any. Only devices that serve one request at
    /// once have an arm, which makes that worth while.
    pub fn miss(&self, offset: u64) -> Option<Range<u64>> {
        let is_of_use = self.source.policy.extent && self.device.parallel == 1 && self.is_worth_asking();
        if is_of_use { self.source.extents.miss(self.id, offset) } else { None }
    }

    /// So many bytes are asked for at once by who knows all that it will read, and twice as many are in memory.
    pub fn window_bytes(&self) -> u64 {
        (self.source.memory.limit() as u64 / WINDOW_PART).clamp(WINDOW_BYTES.0, WINDOW_BYTES.1)
    }

    /// So many bytes in a row are on all of the devices that the file is on; 0 where that is one.
    pub fn stripe_bytes(&self) -> u64 {
        self.device.stripe_bytes
    }

    /// Whether to read by many requests is faster than by one after the other, for who knows all that it will read.
    pub fn serves_many(&self) -> bool {
        self.device.parallel > 0
    }

    /// What is in memory anyway is read faster without.
    fn is_worth_asking(&self) -> bool {
        self.device.parallel > 0 && self.is_slow.load(Ordering::Relaxed)
    }

    /// Asks for blocks, which ascend and do not overlap. Who drops the flights gives up what it has not had by then. Where memory for
    /// all is missing, the first have it.
    pub fn ask(
        &self,
        blocks: impl IntoIterator<Item = Range<u64>>,
        priority: Priority,
        flights: &mut impl Extend<Arc<Flight>>,
    ) {
        let shared = &self.source.shared;
        let mut table = shared.lock();
        let (mut known, mut missing): (Vec<Arc<Flight>>, Vec<Range<u64>>) = Default::default();
        for block in blocks {
            match table.get(&(self.id, block.start)).and_then(Weak::upgrade) {
                None if self.file.is_near(block.start, (block.end - block.start) as usize) => {}
                None => missing.push(block),
                Some(flight) if known.last().is_some_and(|last| Arc::ptr_eq(last, &flight)) => {
                    // Not the last holder: that is in the list.
                    drop(flight);
                }
                Some(flight) => known.push(flight),
            }
        }
        let mut begun = Vec::new();
        for extent in merge(missing, &self.device) {
            let Ok(bytes) = usize::try_from(extent.bytes.end - extent.bytes.start) else { break };
            let mut memory = self.source.memory.reserve_idle();
            if memory.grow(bytes).is_err() {
                break;
            }
            let (file, device, is_slow) = (Arc::clone(&self.file), self.device, Arc::clone(&self.is_slow));
            let cargo = Cargo { file, file_id: self.id, device, is_slow, extent, memory };
            let flight = Arc::new(Flight::new(shared, cargo));
            for block in flight.blocks() {
                table.insert(flight.key(block), Arc::downgrade(&flight));
            }
            Counters::add(&shared.counters.ahead_blocks, flight.blocks().len() as u64);
            begun.push(flight);
        }
        shared.count(&table);
        drop(table);
        block_work::add_requests(begun.len() as u64);
        self.source.queue.push(&begun, priority);
        flights.extend(known.into_iter().chain(begun));
    }

    /// Reads blocks, which ascend and do not overlap, in as few requests as can be, several at once.
    ///
    /// # Errors
    ///
    /// That of the first that cannot be read: as [`BlockFile::read`].
    pub fn read_many(&self, blocks: &[Range<u64>], reading: &Reading) -> Result<Vec<Vec<u8>>, ReadError> {
        let mut flights = Vec::new();
        self.ask(blocks.iter().cloned(), reading.priority, &mut flights);
        let read = |block: &Range<u64>| {
            let mut bytes = vec![0; (block.end - block.start) as usize];
            self.read(&mut bytes, block.start, reading)?;
            Ok(bytes)
        };
        blocks.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests;
