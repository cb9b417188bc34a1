//! A request that was asked for before its blocks are wanted. It belongs to those who hold it: where the last of them drops it, it is not
//! begun, or what it has read is forgotten. Whoever wants a block of one that is waiting reads it on the spot: so nothing urgent waits
//! behind what is not, and all goes on where there is no thread to help.

use super::counters::Counters;
use super::merge::Extent;
use super::reading::Reading;
use crate::cancel::Cancelled;
use crate::device::Device;
use crate::memory_budget::Reservation;
use crate::vfs::ReadAt;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Who waits for a flight of another thread looks up so often whether it was called off.
const CHECK: Duration = Duration::from_millis(10);

type FlightKey = (u64, u64);
type Flights = HashMap<FlightKey, Weak<Flight>>;

/// What files, flights and the source share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub counters: Counters,
    /// By file and first byte of a block.
    flights: Mutex<Flights>,
    /// How many there are in that, so that who reads need not look where there are none.
    flying: AtomicUsize,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, Flights> {
        // A panic of another holder leaves the table whole.
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A flight that has the block that begins there.
    pub fn find(&self, key: FlightKey) -> Option<Arc<Flight>> {
        if self.flying.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.lock().get(&key)?.upgrade()
    }

    fn forget(&self, flight: &Flight) {
        let mut flights = self.lock();
        for block in flight.blocks() {
            let key = flight.key(block);
            // Another one may have been asked for since this has no holder.
            if flights.get(&key).is_some_and(|flight| flight.strong_count() == 0) {
                flights.remove(&key);
            }
        }
        self.count(&flights);
    }

    /// Notes how many blocks there are in the table.
    pub fn count(&self, flights: &Flights) {
        self.flying.store(flights.len(), Ordering::Relaxed);
    }
}

#[derive(Debug)]
enum State {
    /// Nobody reads it yet.
    Waiting,
    Reading,
    Ready(Vec<u8>),
    /// It could not be read: each of its blocks has to be read by itself, to tell which of them is to blame.
    Failed,
}

/// A request on its way, or its bytes.
#[derive(Debug)]
pub struct Flight {
    shared: Arc<Shared>,
    file: Arc<dyn ReadAt>,
    file_id: u64,
    device: Device,
    is_slow: Arc<AtomicBool>,
    extent: Extent,
    /// The turn in which it was asked for.
    turn: u64,
    /// Which of its blocks somebody has had.
    taken: Vec<AtomicBool>,
    state: Mutex<State>,
    done: Condvar,
    /// Of its bytes.
    _memory: Reservation,
}

/// What a flight is of.
pub(super) struct Cargo {
    pub file: Arc<dyn ReadAt>,
    pub file_id: u64,
    pub device: Device,
    pub is_slow: Arc<AtomicBool>,
    pub extent: Extent,
    pub memory: Reservation,
}

impl Flight {
    pub(super) fn new(shared: &Arc<Shared>, cargo: Cargo) -> Self {
        let Cargo { file, file_id, device, is_slow, extent, memory } = cargo;
        let taken = extent.blocks.iter().map(|_| AtomicBool::new(false)).collect();
        let (state, done) = (Mutex::new(State::Waiting), Condvar::new());
        let (shared, turn) = (Arc::clone(shared), shared.counters.turn());
        Self { shared, file, file_id, device, is_slow, extent, turn, taken, state, done, _memory: memory }
    }

    /// The byte behind its last block.
    pub fn end(&self) -> u64 {
        self.extent.bytes.end
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn blocks(&self) -> &[Range<u64>] {
        &self.extent.blocks
    }

    /// The key of a block in the table of flights.
    pub(super) fn key(&self, block: &Range<u64>) -> FlightKey {
        (self.file_id, block.start)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of another holder leaves a state that is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads it, unless somebody has begun to.
    pub(super) fn run(&self) {
        let mut state = self.lock();
        if matches!(*state, State::Waiting) {
            *state = State::Reading;
            drop(state);
            self.read();
        }
    }

    fn read(&self) {
        let mut landing = Landing { flight: self, found: State::Failed };
        let (start, Range { start: offset, end }) = (Instant::now(), self.extent.bytes.clone());
        let mut bytes = vec![0; (end - offset) as usize];
        let result = self.file.read_exact_at(&mut bytes, offset);
        self.is_slow.store(self.device.is_slow || is_slow(start.elapsed(), bytes.len()), Ordering::Relaxed);
        let counters = &self.shared.counters;
        Counters::add(&counters.requests, 1);
        if result.is_ok() {
            Counters::add(&counters.bytes, bytes.len() as u64);
            Counters::add(&counters.ahead_bytes, bytes.len() as u64);
            Counters::add(&counters.merged, self.extent.blocks.len() as u64 - 1);
            landing.found = State::Ready(bytes);
        }
    }

    /// Copies a block, once it has come; `false` where it cannot be had here.
    pub(super) fn take(&self, buf: &mut [u8], offset: u64, reading: &Reading) -> Result<bool, Cancelled> {
        let mut state = self.lock();
        loop {
            match &*state {
                State::Waiting => {
                    drop(state);
                    reading.check()?;
                    reading.current(|| self.run());
                    state = self.lock();
                }
                State::Reading => {
                    let waited = self.done.wait_timeout(state, CHECK);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    reading.check()?;
                }
                State::Ready(bytes) => return Ok(self.copy(bytes, buf, offset)),
                State::Failed => return Ok(false),
            }
        }
    }

    fn copy(&self, bytes: &[u8], buf: &mut [u8], offset: u64) -> bool {
        let blocks = &self.extent.blocks;
        let Ok(at) = blocks.binary_search_by_key(&offset, |block| block.start) else { return false };
        let place = offset - self.extent.bytes.start;
        let found = usize::try_from(place).ok().and_then(|place| bytes.get(place..)?.get(..buf.len()));
        let Some(found) = found.filter(|_| blocks[at].end - offset == buf.len() as u64) else {
            return false;
        };
        buf.copy_from_slice(found);
        self.shared.counters.end_turn(self.turn);
        if !self.taken[at].swap(true, Ordering::Relaxed) {
            Counters::add(&self.shared.counters.ahead_hits, 1);
        }
        true
    }

    fn wasted_bytes(&self, bytes: &[u8]) -> u64 {
        let taken =
            self.extent.blocks.iter().zip(&self.taken).filter(|(_, taken)| taken.load(Ordering::Relaxed));
        bytes.len() as u64 - taken.map(|(block, _)| block.end - block.start).sum::<u64>()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.shared.forget(self);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let state = std::mem::replace(state, State::Failed);
        match &state {
            State::Ready(bytes) => {
                Counters::add(&self.shared.counters.wasted_bytes, self.wasted_bytes(bytes));
            }
            State::Waiting => Counters::add(&self.shared.counters.dropped, 1),
            State::Reading | State::Failed => {}
        }
    }
}

/// Tells those who wait how a read ended, also where it panicked.
struct Landing<'a> {
    flight: &'a Flight,
    found: State,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        *self.flight.lock() = std::mem::replace(&mut self.found, State::Failed);
        self.flight.done.notify_all();
    }
}

/// A read that takes no longer came from memory, by its length.
const FAST: Duration = Duration::from_micros(50);
const FAST_BYTES_PER_MICROSECOND: u64 = 2000;

/// Whether a read was one of a device, and not of the system's memory.
pub(super) fn is_slow(time: Duration, bytes: usize) -> bool {
    time > FAST + Duration::from_micros(bytes as u64 / FAST_BYTES_PER_MICROSECOND)
}
