//! Reads a striped file: what is in several folders is read from all of them at once, and what a reader says that it will read next is read before it comes
//! for it.

use super::folders::in_folder;
use super::lane::{Lane, Outcome};
use super::stub::{Place, Stub};
use crate::device::Device;
use crate::memory_budget::{MemoryBudget, Reservation};
use crate::vfs::ReadAt;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Less is read by who asks, one piece after the other: to hand it over would take longer.
const PARALLEL_BYTES_MIN: usize = 128 << 10;
/// So many chunks of each folder are read ahead of who reads in sequence.
const CHUNKS_AHEAD: u64 = 2;
/// No device is asked for more at once.
const PARALLEL_MAX: usize = 64;

/// What is known of so many devices together.
pub(super) fn together(device: Device, folders: usize, chunk: u64) -> Device {
    if device.parallel == 0 {
        return device;
    }
    let all = folders.max(1);
    let stripe_bytes = if folders > 1 { chunk.saturating_mul(all as u64) } else { 0 };
    Device {
        parallel: (device.parallel * all).min(PARALLEL_MAX.max(device.parallel)),
        request_bytes_max: device.request_bytes_max.max(stripe_bytes.min(4 << 20)),
        stripe_bytes,
        ..device
    }
}

/// A part of a file: that in one folder.
#[derive(Debug)]
pub(super) struct PartReader {
    pub file: Arc<dyn ReadAt>,
    pub lane: Arc<Lane>,
    /// The stripe folder, for errors.
    pub folder: PathBuf,
}

impl PartReader {
    fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buf, offset).map_err(|error| in_folder(&error, &self.folder))
    }
}

/// Bytes that are read before they are asked for.
#[derive(Debug)]
struct Ahead {
    end: u64,
    outcome: Arc<Outcome<Vec<u8>>>,
    _memory: Reservation,
}

/// A striped file that is open.
#[derive(Debug)]
pub(super) struct StripedReader {
    stub: Stub,
    /// By folder; none where the file has nothing in it.
    parts: Vec<Option<Arc<PartReader>>>,
    device: Device,
    ahead: Mutex<BTreeMap<u64, Ahead>>,
    /// Whether anything was ever read ahead: who reads blocks of a segment need not look.
    has_ahead: AtomicBool,
    /// For what is read ahead.
    memory: MemoryBudget,
}

impl StripedReader {
    pub fn new(stub: Stub, parts: Vec<Option<Arc<PartReader>>>, memory: MemoryBudget) -> Self {
        let first = parts.iter().flatten().next();
        let device = first.map_or(Device::LOCAL, |part| part.file.device());
        let device = together(device, parts.len(), stub.chunk);
        let (ahead, has_ahead) = (Mutex::default(), AtomicBool::new(false));
        Self { stub, parts, device, ahead, has_ahead, memory }
    }

    fn ahead(&self) -> MutexGuard<'_, BTreeMap<u64, Ahead>> {
        // A panic of another holder leaves the list whole.
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn part(&self, place: Place) -> io::Result<&Arc<PartReader>> {
        let part = self.parts.get(place.folder).and_then(Option::as_ref);
        part.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }

    /// Has bytes of one piece read by the threads of their folder.
    fn send(&self, place: Place, bytes: usize) -> io::Result<Arc<Outcome<Vec<u8>>>> {
        let part = Arc::clone(self.part(place)?);
        let (outcome, promise) = Outcome::new();
        let lane = Arc::clone(&part.lane);
        let job = move || {
            let mut found = vec![0; bytes];
            let result = part.read(&mut found, place.offset);
            promise.keep(result.map(|()| found));
        };
        lane.push(self.stub.name, place.offset, Box::new(job));
        Ok(outcome)
    }

    /// Reads what was not read ahead.
    fn read(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        if buf.is_empty() {
            return Ok(());
        }
        let first = self.stub.place(offset);
        if buf.len() as u64 <= first.bytes {
            return self.part(first)?.read(buf, first.offset);
        }
        let is_parallel = buf.len() >= PARALLEL_BYTES_MIN;
        let mut sent = Vec::new();
        while !buf.is_empty() {
            let place = self.stub.place(offset);
            let bytes = (buf.len() as u64).min(place.bytes) as usize;
            let (piece, rest) = buf.split_at_mut(bytes);
            if is_parallel {
                sent.push((self.send(place, bytes)?, piece));
            } else {
                self.part(place)?.read(piece, place.offset)?;
            }
            (buf, offset) = (rest, offset + bytes as u64);
        }
        sent.into_iter().try_for_each(|(outcome, piece)| copy(&outcome, piece, 0))
    }

    /// What is read ahead from `offset` on, if anything.
    fn find(&self, offset: u64) -> Option<(u64, u64, Arc<Outcome<Vec<u8>>>)> {
        let ahead = self.ahead();
        let (start, found) = ahead.range(..=offset).next_back()?;
        (offset < found.end).then(|| (*start, found.end, Arc::clone(&found.outcome)))
    }
}

/// Copies what was read to where it is wanted. An error is told to all who come for it.
fn copy(outcome: &Outcome<Vec<u8>>, buf: &mut [u8], at: usize) -> io::Result<()> {
    outcome.with(|found| match found {
        Ok(found) => {
            let bytes = found.get(at..).and_then(|rest| rest.get(..buf.len()));
            buf.copy_from_slice(bytes.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?);
            Ok(())
        }
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    })
}

impl ReadAt for StripedReader {
    fn len(&self) -> u64 {
        self.stub.len
    }

    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        if offset.checked_add(buf.len() as u64).is_none_or(|end| end > self.stub.len) {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        if !self.has_ahead.load(Ordering::Relaxed) {
            return self.read(buf, offset);
        }
        while !buf.is_empty() {
            let Some((start, end, outcome)) = self.find(offset) else {
                // No further than to what is on its way.
                let next = self.ahead().range(offset..).next().map_or(u64::MAX, |(start, _)| *start);
                let bytes = (next - offset).min(buf.len() as u64) as usize;
                let (now, rest) = buf.split_at_mut(bytes);
                self.read(now, offset)?;
                (buf, offset) = (rest, offset + bytes as u64);
                continue;
            };
            let bytes = (end - offset).min(buf.len() as u64) as usize;
            let (now, rest) = buf.split_at_mut(bytes);
            if copy(&outcome, now, (offset - start) as usize).is_err() {
                // Once more, by who wants it: its error then is that of this read.
                self.ahead().remove(&start);
                self.read(now, offset)?;
            } else if offset + bytes as u64 == end {
                self.ahead().remove(&start);
            }
            (buf, offset) = (rest, offset + bytes as u64);
        }
        Ok(())
    }

    fn device(&self) -> Device {
        self.device
    }

    fn will_read(&self, from: u64, end: u64) {
        let end = end.min(self.stub.len);
        // Where many read in sequence, each has a little.
        let is_scarce = self.memory.used() > self.memory.limit() / 4;
        let chunks = if is_scarce { 1 } else { CHUNKS_AHEAD * self.parts.len() as u64 };
        let window = self.stub.chunk.saturating_mul(chunks);
        self.has_ahead.store(true, Ordering::Relaxed);
        let mut ahead = self.ahead();
        let mut at = from;
        while at < end && at - from < window {
            if let Some((_, found)) = ahead.range(..=at).next_back().filter(|(_, found)| at < found.end) {
                at = found.end;
                continue;
            }
            let place = self.stub.place(at);
            let next = ahead.range(at..).next().map_or(u64::MAX, |(start, _)| *start);
            let piece_end = at.saturating_add(place.bytes).min(end).min(next);
            let bytes = (piece_end - at) as usize;
            let mut memory = self.memory.reserve_idle();
            if memory.grow(bytes).is_err() {
                break;
            }
            let Ok(outcome) = self.send(place, bytes) else { break };
            ahead.insert(at, Ahead { end: piece_end, outcome, _memory: memory });
            at = piece_end;
        }
    }
}
