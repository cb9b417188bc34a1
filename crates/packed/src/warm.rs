//! Blocks that are brought into the cache before anybody wants them, in the order in which they are in their file.

use crate::error::Result;
use lode_base::block_cache::{BlockCache, BlockKey, CachedBlock};
use lode_base::block_source::{BlockFile, Flight, Reading};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// So many blocks are asked for at once.
const WINDOW_BLOCKS: usize = 1024;

/// What was done with a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmed {
    /// It was there already.
    Known,
    /// It was read, so many bytes, and kept.
    Kept(u64),
    /// It was read, but there is no room left that is not in use.
    NoRoom(u64),
}

/// Hears of each block, and says whether to go on.
pub type OnWarmed<'a> = &'a mut dyn FnMut(Warmed) -> ControlFlow<()>;

/// A block that is to be brought into the cache.
pub(crate) struct Wanted {
    pub key: BlockKey,
    pub bytes: Range<u64>,
}

/// Who brings blocks into a cache.
pub(crate) struct Warming<'a> {
    pub file: &'a BlockFile,
    pub cache: &'a BlockCache,
    pub reading: &'a Reading,
}

impl Warming<'_> {
    /// Brings blocks, which ascend in their file, into the cache; `load` reads one of them by its place in `wanted`. Breaks off where
    /// `on_warmed` says so.
    pub fn run<B: CachedBlock>(
        &self,
        wanted: &[Wanted],
        load: impl Fn(usize) -> Result<B>,
        on_warmed: OnWarmed<'_>,
    ) -> Result<ControlFlow<()>> {
        let windows = windows(wanted, self.file.window_bytes());
        let mut windows = windows.iter().peekable();
        let mut flights = windows.peek().map(|first| self.ask(&wanted[(*first).clone()]));
        while let Some(window) = windows.next() {
            // One window is read while that before it is decoded.
            let next = windows.peek().map(|next| self.ask(&wanted[(*next).clone()]));
            for at in window.clone() {
                let block = &wanted[at];
                let done = if self.cache.has(block.key) {
                    Warmed::Known
                } else {
                    let bytes = block.bytes.end - block.bytes.start;
                    let is_kept = self.cache.insert_if_free(block.key, load(at)?);
                    if is_kept { Warmed::Kept(bytes) } else { Warmed::NoRoom(bytes) }
                };
                if on_warmed(done).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            // What was not had of the window before is given up.
            drop(std::mem::replace(&mut flights, next));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads `wanted`, all around a block that was missed, as one, and brings them into the cache as far as there is room. `own`, the place of the
    /// block itself, is what it gives.
    pub fn around<B: CachedBlock>(
        &self,
        wanted: &[Wanted],
        own: usize,
        load: impl Fn(usize) -> Result<B>,
    ) -> Result<B> {
        let _flights = self.ask(wanted);
        let block = load(own)?;
        for (at, other) in wanted.iter().enumerate().filter(|(at, _)| *at != own) {
            // What cannot be read is an error once it is wanted.
            let Ok(found) = load(at) else { break };
            if !self.cache.insert_if_free(other.key, found) {
                break;
            }
        }
        Ok(block)
    }

    fn ask(&self, wanted: &[Wanted]) -> Vec<Arc<Flight>> {
        let mut flights = Vec::new();
        if self.file.serves_many() {
            let missing = wanted.iter().filter(|block| !self.cache.has(block.key));
            self.file.ask(missing.map(|block| block.bytes.clone()), self.reading.priority, &mut flights);
        }
        flights
    }
}

/// Cuts a list of blocks into pieces that are asked for at once.
fn windows(wanted: &[Wanted], bytes_max: u64) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, block) in wanted.iter().enumerate() {
        bytes += block.bytes.end - block.bytes.start;
        if bytes >= bytes_max || at + 1 - start >= WINDOW_BLOCKS || at + 1 == wanted.len() {
            windows.push(start..at + 1);
            (start, bytes) = (at + 1, 0);
        }
    }
    windows
}
