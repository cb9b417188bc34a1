//! A chunk is a run of blocks of one section that share a table of symbols: small enough that the table fits all of its text,
//! large enough that finding the table costs little. [`KeyBlocks`] front-codes keys into chunks, [`ChunkPacker`] compresses them and
//! makes their pages of the index and filters.

use super::block::BlockBuilder;
use super::filter::{FilterBuilder, KeyHash};
use super::index::PageEntry;
use super::page::{self, BlockEntry};
use super::separators::{Separators, separator};
use super::symbols::{Encoder, SymbolTable, Trainer};
use super::{Result, file_name};
use crate::codec::ColumnEncoder;
use crate::error::PackedError;
use crate::format::{DICTIONARY_BLOCK_BYTES, DICTIONARY_PAGE_BLOCKS_MAX, KEY_BYTES_MAX};
use lode_base::checksum::checksum;
use lode_base::shared_prefix::shared_prefix;
use lode_rdf::value_id::Section;
use std::ops::Range;

/// Room for the blocks of a chunk. Only one that holds nothing but a longer key has more.
const CHUNK_ROOM_BYTES: usize = 4 << 20;
/// A chunk is closed with the block with which its blocks and the hashes of its keys reach this length, and before a long key with which
/// they would; what another block may exceed it by fits into the room, too.
const CHUNK_BYTES: usize = CHUNK_ROOM_BYTES - (64 << 10);
/// A key of so many bytes has a block of its own, so that nobody reads it for the sake of another.
const LONG_KEY_BYTES: usize = DICTIONARY_BLOCK_BYTES;
/// A buffer that grew beyond this for a huge key is not used again.
const BUFFER_BYTES_MAX: usize = 8 << 20;
/// The table of a chunk is found from this many pieces of its text, spread evenly.
const SAMPLE_PIECES: usize = 256;
const PIECE_BYTES: usize = 64;
/// A page of the index is closed with the block that reaches this many terms, so that a filter is small enough to be read for one look-up.
const PAGE_TERMS: u64 = 1 << 15;

/// Front-coded keys, before compression.
#[derive(Debug)]
pub struct RawChunk {
    section: Section,
    /// All blocks, one after the other.
    bytes: Vec<u8>,
    blocks: Vec<RawBlock>,
    separators: Separators,
    /// Of all keys.
    hashes: Vec<KeyHash>,
    key_bytes: u64,
}

#[derive(Debug)]
struct RawBlock {
    terms: u64,
    /// Where the groups are. Their ends follow, up to `end`.
    groups: Range<usize>,
    end: usize,
}

impl RawChunk {
    fn new(section: Section, bytes: Vec<u8>) -> Self {
        Self {
            section,
            bytes,
            blocks: Vec::new(),
            separators: Separators::default(),
            hashes: Vec::new(),
            key_bytes: 0,
        }
    }

    fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.hashes.len() * size_of::<KeyHash>()
    }

    /// Whether it takes more memory than chunks do: for a single key that is longer than one.
    pub fn is_long(&self) -> bool {
        self.bytes.len() > CHUNK_ROOM_BYTES
    }
}

/// Takes keys section by section, strictly ascending inside each, and makes chunks of them.
#[derive(Debug)]
pub struct KeyBlocks {
    chunk: RawChunk,
    builder: BlockBuilder,
    counts: [u64; Section::COUNT],
    previous: Vec<u8>,
    /// Buffers of chunks that are done with.
    spares: Vec<Vec<u8>>,
}

impl Default for KeyBlocks {
    fn default() -> Self {
        Self {
            chunk: RawChunk::new(Section::Iri, Vec::new()),
            builder: BlockBuilder::default(),
            counts: [0; Section::COUNT],
            previous: Vec::new(),
            spares: Vec::new(),
        }
    }
}

impl KeyBlocks {
    /// Appends a key and returns its rank in its section. Chunks that are complete are appended to `full`.
    ///
    /// # Errors
    /// [`PackedError::Unsorted`] where section or key do not come after those before, [`PackedError::KeyTooLong`] where the format has no room
    /// for the key.
    pub fn push(&mut self, section: Section, key: &[u8], full: &mut Vec<RawChunk>) -> Result<u64> {
        if key.len() > KEY_BYTES_MAX {
            return Err(PackedError::KeyTooLong { file: file_name(), bytes: key.len() });
        }
        if section != self.chunk.section {
            self.start_section(section, full)?;
        }
        let count = self.counts[section as usize];
        let shared = shared_prefix(&self.previous, key);
        let (tail, previous_tail) = (&key[shared..], &self.previous[shared..]);
        if count > 0 && previous_tail >= tail {
            return Err(self.unsorted());
        }
        if key.len() >= LONG_KEY_BYTES {
            self.make_room(key.len(), full);
        }
        let chunk = &mut self.chunk;
        if self.builder.terms == 0 {
            chunk.separators.push(separator(key, shared));
        }
        self.builder.push(key, shared, &mut chunk.bytes);
        chunk.hashes.push(KeyHash::of(key));
        chunk.key_bytes += key.len() as u64;
        self.previous.truncate(shared);
        self.previous.extend_from_slice(tail);
        self.counts[section as usize] = count + 1;
        if self.builder.bytes(&self.chunk.bytes) >= DICTIONARY_BLOCK_BYTES {
            self.end_block();
            if self.chunk.memory_bytes() >= CHUNK_BYTES {
                full.extend(self.finish());
            }
        }
        Ok(count)
    }

    /// Ends the block, and the chunk where a long key has no room in it.
    fn make_room(&mut self, key_bytes: usize, full: &mut Vec<RawChunk>) {
        if self.builder.terms > 0 {
            self.end_block();
        }
        if self.chunk.memory_bytes() + key_bytes > CHUNK_BYTES {
            full.extend(self.finish());
        }
        // Room for it, its length and its end, and no more: it may be huge.
        self.chunk.bytes.reserve_exact(key_bytes + 16);
        self.previous.reserve_exact(key_bytes.saturating_sub(self.previous.len()));
    }

    fn unsorted(&self) -> PackedError {
        PackedError::Unsorted { file: file_name(), entry: self.counts.iter().sum() }
    }

    fn start_section(&mut self, section: Section, full: &mut Vec<RawChunk>) -> Result<()> {
        if section < self.chunk.section {
            return Err(self.unsorted());
        }
        full.extend(self.finish());
        self.chunk.section = section;
        self.previous.clear();
        Ok(())
    }

    fn end_block(&mut self) {
        let terms = self.builder.terms as u64;
        let groups = self.builder.finish(&mut self.chunk.bytes);
        self.chunk.blocks.push(RawBlock { terms, groups, end: self.chunk.bytes.len() });
    }

    /// The chunk that was begun, if there is one.
    pub fn finish(&mut self) -> Option<RawChunk> {
        if self.builder.terms > 0 {
            self.end_block();
        }
        if self.chunk.blocks.is_empty() {
            return None;
        }
        // Whoever fills one chunk is likely to fill the next: a buffer that grows would be copied, and for that be there twice.
        let is_full = self.chunk.memory_bytes() >= CHUNK_BYTES / 2;
        let buffer = self.spares.pop();
        let room = if is_full { CHUNK_ROOM_BYTES } else { 0 };
        let next = RawChunk::new(self.chunk.section, buffer.unwrap_or_else(|| Vec::with_capacity(room)));
        Some(std::mem::replace(&mut self.chunk, next))
    }

    /// Takes the buffer of a chunk that is done with, for a later one.
    pub fn reuse(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() > BUFFER_BYTES_MAX {
            return;
        }
        buffer.clear();
        if self.chunk.bytes.capacity() == 0 {
            self.chunk.bytes = buffer;
        } else {
            self.spares.push(buffer);
        }
    }
}

/// A chunk as it goes to the file.
#[derive(Debug)]
pub struct PackedChunk {
    pub(super) section: Section,
    pub(super) key_bytes: u64,
    /// All blocks, one after the other.
    pub(super) bytes: Vec<u8>,
    /// The filter and the page of the index of each page, one after the other.
    pub(super) index: Vec<u8>,
    pub(super) pages: Vec<PageEntry>,
    /// Those of the first blocks of pages.
    pub(super) separators: Separators,
}

/// Compresses chunks. Keeps its memory from one to the next; what it makes of a chunk depends on that chunk alone.
#[derive(Debug, Default)]
pub struct ChunkPacker {
    trainer: Trainer,
    encoder: Encoder,
    sample: Vec<u8>,
    ranges: Vec<Range<usize>>,
    /// Encoded groups, each at the place where the groups are in the chunk.
    encoded: Vec<u8>,
    /// Length of the encoded groups of each block; `None` if it is not less than before.
    lens: Vec<Option<usize>>,
    filters: FilterBuilder,
    columns: ColumnEncoder,
}

impl ChunkPacker {
    /// Compresses one chunk.
    pub fn pack(&mut self, chunk: RawChunk) -> PackedChunk {
        let RawChunk { section, mut bytes, blocks, separators, hashes, key_bytes } = chunk;
        let table = self.encode(&bytes, &blocks);
        let (mut out, mut start) = (0, 0);
        let mut entries = Vec::with_capacity(blocks.len());
        for (block, len) in blocks.into_iter().zip(&self.lens) {
            // In place: no block gets longer, so what is written never reaches what is still to be read.
            let begin = out;
            let rest = match *len {
                None => start..block.end,
                Some(len) => {
                    let from = block.groups.start;
                    bytes[out..out + len].copy_from_slice(&self.encoded[from..from + len]);
                    out += len;
                    block.groups.end..block.end
                }
            };
            let rest_bytes = rest.len();
            bytes.copy_within(rest, out);
            out += rest_bytes;
            entries.push(BlockEntry {
                terms: block.terms,
                bytes: (out - begin) as u64,
                raw_bytes: (block.end - start) as u64,
                checksum: checksum(&bytes[begin..out]),
            });
            start = block.end;
        }
        bytes.truncate(out);
        if self.encoded.capacity() > BUFFER_BYTES_MAX {
            self.encoded = Vec::new();
        }
        let mut packed = PackedChunk {
            section,
            key_bytes,
            bytes,
            index: Vec::new(),
            pages: Vec::new(),
            separators: Separators::default(),
        };
        self.add_pages(&mut packed, &entries, &separators, &hashes, &table);
        packed
    }

    /// Makes pages of the index and filters.
    fn add_pages(
        &mut self,
        packed: &mut PackedChunk,
        blocks: &[BlockEntry],
        separators: &Separators,
        mut hashes: &[KeyHash],
        table: &SymbolTable,
    ) {
        let mut first = 0;
        while first < blocks.len() {
            let end = page_end(blocks, first);
            let blocks = &blocks[first..end];
            let terms: u64 = blocks.iter().map(|block| block.terms).sum();
            let (own, others) = hashes.split_at(terms as usize);
            let start = packed.index.len();
            self.filters.build(own, &mut packed.index);
            let middle = packed.index.len();
            page::encode(blocks, separators, first, table, &mut self.columns, &mut packed.index);
            let (filter, page) = packed.index[start..].split_at(middle - start);
            packed.separators.push(separators.get(first));
            packed.pages.push(PageEntry {
                terms,
                blocks: blocks.len() as u64,
                block_bytes: blocks.iter().map(|block| block.bytes).sum(),
                filter_bytes: filter.len() as u64,
                filter_checksum: checksum(filter),
                page_bytes: page.len() as u64,
                page_checksum: checksum(page),
            });
            (first, hashes) = (end, others);
        }
    }

    /// Finds symbols and encodes the groups of all blocks with them.
    fn encode(&mut self, bytes: &[u8], blocks: &[RawBlock]) -> SymbolTable {
        self.sample.clear();
        let stride = (bytes.len() / SAMPLE_PIECES).max(PIECE_BYTES);
        for part in bytes.chunks(stride) {
            self.sample.extend_from_slice(part.get(..PIECE_BYTES).unwrap_or(part));
        }
        self.trainer.train(&self.sample, PIECE_BYTES, &mut self.encoder);
        self.ranges.clear();
        self.ranges.extend(blocks.iter().map(|block| block.groups.clone()));
        self.lens.clear();
        self.lens.resize(blocks.len(), None);
        if self.encoded.capacity() < bytes.len() {
            // Nothing in it is wanted.
            self.encoded = Vec::new();
        }
        self.encoded.resize(bytes.len(), 0);
        let (lens, mut saved) = (&mut self.lens, 0);
        self.encoder.encode(bytes, &self.ranges, &mut self.encoded, &mut |block, len| {
            saved += len.map_or(0, |len| blocks[block].groups.len() - len);
            lens[block] = len;
        });
        let table = self.encoder.table();
        if saved > table.stored_bytes() {
            return table;
        }
        self.lens.fill(None);
        SymbolTable::default()
    }
}

/// Where the page ends that begins with block `first`.
fn page_end(blocks: &[BlockEntry], first: usize) -> usize {
    let (mut end, mut terms) = (first, 0);
    while end < blocks.len() && end - first < DICTIONARY_PAGE_BLOCKS_MAX && terms < PAGE_TERMS {
        terms += blocks[end].terms;
        end += 1;
    }
    end
}
