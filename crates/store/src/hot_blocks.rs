//! Which blocks were in the cache: a small file beside the data, by which they are read again when the database is next served. It is a
//! hint. Blocks of segments that are not there any more are passed over, and a file that is damaged counts as none.

use crate::error::StoreError;
use crate::kept_files::{read_beside, replace_beside};
use crate::store::Store;
use lode_base::cancel::{CancelToken, Cancelled};
use lode_base::checksum::checksum;
use lode_base::varint::{read_varint, write_varint};
use lode_packed::{CachedPart, PackedError, ReadContext, Segment, Warmed, cached_parts, warm};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Name of the file in the folder of a database.
pub(crate) const HOT_BLOCKS: &str = "hot-blocks";
const MAGIC: [u8; 8] = *b"LODEHOT1";
/// A longer file is no list: the cache of a terabyte has less.
const FILE_BYTES_MAX: usize = 256 << 20;

/// The blocks of a part of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HotPart {
    /// That of the segment.
    identity: u128,
    part: CachedPart,
    /// Ascending.
    blocks: Vec<u64>,
}

/// A list of blocks, in the order in which they are in the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HotBlocks(Vec<HotPart>);

impl HotBlocks {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|part| part.blocks.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Only what is of some parts.
    pub fn retain(&mut self, is_wanted: &dyn Fn(CachedPart) -> bool) {
        self.0.retain(|part| is_wanted(part.part));
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        for part in &self.0 {
            out.extend_from_slice(&part.identity.to_le_bytes());
            out.push(part.part.number());
            write_varint(&mut out, part.blocks.len() as u64);
            let mut next = 0;
            for block in &part.blocks {
                write_varint(&mut out, block - next);
                next = block + 1;
            }
        }
        let sum = checksum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// None where the bytes are no list, or another program's.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<8>()?;
        let mut rest = body.strip_prefix(&MAGIC)?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return None;
        }
        let mut parts = Vec::new();
        while let Some((identity, after)) = rest.split_first_chunk::<16>() {
            let (number, after) = after.split_first()?;
            rest = after;
            // Each takes a byte at least, which bounds what a wrong count can ask for.
            let count = usize::try_from(read_varint(&mut rest)?).ok().filter(|count| *count <= rest.len())?;
            let mut blocks = Vec::with_capacity(count);
            let mut next = 0_u64;
            for _ in 0..count {
                let block = next.checked_add(read_varint(&mut rest)?)?;
                next = block.checked_add(1)?;
                blocks.push(block);
            }
            let (identity, part) = (u128::from_le_bytes(*identity), CachedPart::of_number(*number)?);
            parts.push(HotPart { identity, part, blocks });
        }
        rest.is_empty().then_some(Self(parts))
    }
}

/// What came of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WarmReport {
    /// Blocks that were read and are in the cache now.
    pub blocks: u64,
    /// Bytes of files that were read for that.
    pub bytes: u64,
    /// Blocks that were in the cache already.
    pub known: u64,
    /// Blocks of segments that are not there any more, or that could not be read.
    pub passed_over: u64,
    /// Whether there was no room for some.
    pub is_full: bool,
}

/// So many blocks may find no room: some shards of the cache are full before others.
const NO_ROOM_MAX: u64 = 64;

impl Store {
    /// The blocks of the current version that are in the cache now.
    pub fn hot_blocks(&self) -> HotBlocks {
        let mut by_file: HashMap<u64, Vec<u64>> = HashMap::new();
        for key in self.cache().keys() {
            by_file.entry(key.file).or_default().push(key.block);
        }
        let mut parts = Vec::new();
        for open in self.version().segments.iter() {
            for (part, file) in cached_parts(&open.segment) {
                let Some(mut blocks) = by_file.remove(&file) else { continue };
                blocks.sort_unstable();
                parts.push(HotPart { identity: open.entry.identity, part, blocks });
            }
        }
        HotBlocks(parts)
    }

    /// All blocks of the current version.
    pub fn all_blocks(&self) -> HotBlocks {
        let mut parts = Vec::new();
        for open in self.version().segments.iter() {
            for (part, _) in cached_parts(&open.segment) {
                let blocks: Vec<u64> = (0..blocks_of(&open.segment, part)).collect();
                if !blocks.is_empty() {
                    parts.push(HotPart { identity: open.entry.identity, part, blocks });
                }
            }
        }
        HotBlocks(parts)
    }

    /// The list that was saved, if there is one that can be read.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn saved_hot_blocks(&self) -> Result<Option<HotBlocks>, StoreError> {
        match read_beside(self, HOT_BLOCKS, FILE_BYTES_MAX) {
            Ok(bytes) => Ok(bytes.and_then(|bytes| HotBlocks::decode(&bytes))),
            Err(StoreError::Limit(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Saves a list in place of the one before, durably.
    ///
    /// # Errors
    /// Where the database is open for reading only, or the file cannot be written: then it is as it was.
    pub fn save_hot_blocks(&self, list: &HotBlocks) -> Result<(), StoreError> {
        self.writer()?;
        replace_beside(self, HOT_BLOCKS, &list.encode())
    }

    /// Reads blocks of a list that are not in the cache, file by file from the first to the last, behind all that queries read, until the cache is full.
    /// Nothing that is in the cache goes for them. Parts that cannot be read are passed over: whoever needs them is told.
    ///
    /// # Errors
    /// Where `cancel` says so.
    pub fn warm(&self, list: &HotBlocks, cancel: &CancelToken) -> Result<WarmReport, Cancelled> {
        self.read_by(list, cancel, Warming { without_room_max: NO_ROOM_MAX, ..Warming::new(&mut |_| {}) })
    }

    /// The same, to the end of the list though the cache be full: what the system keeps in its memory is read faster afterwards.
    /// `on_bytes` hears of the bytes of each block.
    ///
    /// # Errors
    /// Where `cancel` says so.
    pub fn read_through(
        &self,
        list: &HotBlocks,
        cancel: &CancelToken,
        on_bytes: &mut dyn FnMut(u64),
    ) -> Result<WarmReport, Cancelled> {
        self.read_by(list, cancel, Warming::new(on_bytes))
    }

    fn read_by(
        &self,
        list: &HotBlocks,
        cancel: &CancelToken,
        mut warming: Warming<'_>,
    ) -> Result<WarmReport, Cancelled> {
        let version = self.version();
        let context = ReadContext::in_background(cancel);
        for part in &list.0 {
            let open = version.segments.iter().find(|open| open.entry.identity == part.identity);
            let Some(open) = open else {
                warming.report.passed_over += part.blocks.len() as u64;
                continue;
            };
            warming.done = 0;
            let segment = open.segment.read_by(&context);
            match warm(&segment, part.part, &part.blocks, &mut |warmed| warming.note(warmed)) {
                Err(PackedError::Cancelled(cancelled)) => return Err(cancelled),
                Ok(ControlFlow::Break(())) => break,
                Ok(ControlFlow::Continue(())) | Err(_) => {
                    warming.report.passed_over += (part.blocks.len() as u64).saturating_sub(warming.done);
                }
            }
            cancel.check()?;
        }
        Ok(warming.report)
    }
}

fn blocks_of(segment: &Segment, part: CachedPart) -> u64 {
    match part {
        CachedPart::Rows(order) => segment.permutation(order).info().blocks,
        // A filter has the number of a block.
        CachedPart::Terms | CachedPart::Filters => {
            segment.dictionary().map_or(0, |dictionary| dictionary.info().blocks)
        }
    }
}

struct Warming<'a> {
    report: WarmReport,
    without_room: u64,
    without_room_max: u64,
    /// Blocks of the part.
    done: u64,
    on_bytes: &'a mut dyn FnMut(u64),
}

impl<'a> Warming<'a> {
    fn new(on_bytes: &'a mut dyn FnMut(u64)) -> Self {
        let report = WarmReport::default();
        Self { report, without_room: 0, without_room_max: u64::MAX, done: 0, on_bytes }
    }

    fn note(&mut self, warmed: Warmed) -> ControlFlow<()> {
        self.done += 1;
        match warmed {
            Warmed::Known => self.report.known += 1,
            Warmed::Kept(bytes) => {
                self.report.blocks += 1;
                self.note_bytes(bytes);
            }
            Warmed::NoRoom(bytes) => {
                self.note_bytes(bytes);
                self.report.is_full = true;
                self.without_room += 1;
                if self.without_room >= self.without_room_max {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn note_bytes(&mut self, bytes: u64) {
        self.report.bytes += bytes;
        (self.on_bytes)(bytes);
    }
}

#[cfg(test)]
pub(crate) mod tests;
