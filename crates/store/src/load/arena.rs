//! Terms of one run, one after the other in chunks of memory: a header word, then the key.
//!
//! A term is named by its position in units of 8 bytes, which fits 32 bits up to 32 GiB. Chunks are never moved, so growing copies
//! nothing, and a cleared arena keeps them for the next run: fresh memory costs more than the copy into it.

use crate::segment_builder::Class;
use lode_base::huge;

/// Bytes of a chunk; a longer term gets a chunk of its own. Many huge pages, of which only those that are used take memory.
const CHUNK_BYTES: usize = 32 << 20;
/// Bytes of the first chunk, which is all that a small load needs.
const FIRST_CHUNK_BYTES: usize = 1 << 20;
/// Positions of a chunk.
const CHUNK_UNITS_LOG: u32 = 22;
const HEADER_BYTES: usize = 8;
const LENGTH_BITS: u32 = 28;

/// The longest key of a term, in bytes.
pub const TERM_BYTES_MAX: usize = (1 << LENGTH_BITS) - 1;

/// Number of a term in its run (low 32 bits), key length (28 bits), class (4 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header(u64);

impl Header {
    fn new(number: u32, class: Class, length: usize) -> Self {
        Self(u64::from(number) | (length as u64) << 32 | (class as u64) << (32 + LENGTH_BITS))
    }

    /// Number of the term in its run, in order of appearance.
    pub fn number(self) -> u32 {
        (self.0 & u64::from(u32::MAX)) as u32
    }

    /// Bytes of the key.
    pub fn length(self) -> usize {
        ((self.0 >> 32) as usize) & TERM_BYTES_MAX
    }

    /// The class.
    pub fn class(self) -> Class {
        Class::from_bits(self.0 >> (32 + LENGTH_BITS))
    }

    /// Whether a term of this class and length could be the one with this header.
    #[inline]
    pub fn fits(self, class: Class, length: usize) -> bool {
        self.0 >> 32 == (length as u64 | (class as u64) << LENGTH_BITS)
    }
}

/// Where a term is in its arena.
pub type Position = u32;

/// The terms of one run.
#[derive(Debug, Default)]
pub struct Arena {
    chunks: Vec<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// Bytes of all chunks but the last.
    closed_bytes: usize,
    /// Bytes of kept chunks that were ever written.
    touched_bytes: usize,
}

impl Arena {
    /// Appends a term. `None` where positions or lengths run out.
    pub fn push(&mut self, number: u32, class: Class, key: &[u8]) -> Option<Position> {
        if key.len() > TERM_BYTES_MAX {
            return None;
        }
        let size = (HEADER_BYTES + key.len()).next_multiple_of(8);
        let fits = self.chunks.last().is_some_and(|chunk| chunk.len() + size <= chunk.capacity());
        if !fits {
            self.add_chunk(size);
        }
        let chunk_number = u32::try_from(self.chunks.len().checked_sub(1)?).ok()?;
        if chunk_number >> (32 - CHUNK_UNITS_LOG) != 0 {
            return None;
        }
        let chunk = self.chunks.last_mut()?;
        let unit = u32::try_from(chunk.len() / 8).ok()?;
        chunk.extend_from_slice(&Header::new(number, class, key.len()).0.to_le_bytes());
        chunk.extend_from_slice(key);
        chunk.resize(chunk.len().next_multiple_of(8), 0);
        Some(chunk_number << CHUNK_UNITS_LOG | unit)
    }

    #[cold]
    fn add_chunk(&mut self, size: usize) {
        self.closed_bytes += self.chunks.last().map_or(0, Vec::len);
        let chunk = if size <= CHUNK_BYTES { self.spare.pop() } else { None };
        let chunk = chunk.filter(|chunk| chunk.capacity() >= size).unwrap_or_else(|| {
            let usual = if self.chunks.is_empty() { FIRST_CHUNK_BYTES } else { CHUNK_BYTES };
            huge::with_capacity(size.max(usual))
        });
        self.chunks.push(chunk);
    }

    /// The header at a position.
    #[inline]
    pub fn header(&self, at: Position) -> Header {
        let (chunk, offset) = split(at);
        let word = self.chunks.get(chunk).and_then(|chunk| chunk.get(offset..)?.first_chunk::<8>());
        Header(word.map_or(0, |word| u64::from_le_bytes(*word)))
    }

    /// The key at a position whose header is known.
    #[inline]
    pub fn key_of(&self, at: Position, header: Header) -> &[u8] {
        let (chunk, offset) = split(at);
        let start = offset + HEADER_BYTES;
        self.chunks.get(chunk).and_then(|chunk| chunk.get(start..start + header.length())).unwrap_or_default()
    }

    /// The bytes from `depth` on of the key of `length` bytes at a position: does not touch the header.
    #[inline]
    pub fn tail(&self, at: Position, length: u32, depth: usize) -> &[u8] {
        let (chunk, offset) = split(at);
        let start = offset + HEADER_BYTES;
        let range = start + depth..start + length as usize;
        self.chunks.get(chunk).and_then(|chunk| chunk.get(range)).unwrap_or_default()
    }

    /// Calls `visit` for every term, in the order they came.
    pub fn for_each(&self, visit: &mut dyn FnMut(Position, Header)) {
        for (number, chunk) in self.chunks.iter().enumerate() {
            let mut offset = 0;
            while offset < chunk.len() {
                let at = ((number << CHUNK_UNITS_LOG) | (offset / 8)) as Position;
                let header = self.header(at);
                visit(at, header);
                offset += (HEADER_BYTES + header.length()).next_multiple_of(8);
            }
        }
    }

    /// Bytes held. Of the last chunk only what is written counts, since the rest was never touched.
    pub fn bytes(&self) -> usize {
        (self.closed_bytes + self.chunks.last().map_or(0, Vec::len)).max(self.touched_bytes)
    }

    /// Forgets all terms; keeps the chunks.
    pub fn clear(&mut self) {
        self.touched_bytes = self.bytes();
        for mut chunk in self.chunks.drain(..) {
            if chunk.capacity() <= CHUNK_BYTES {
                chunk.clear();
                self.spare.push(chunk);
            } else {
                self.touched_bytes = self.touched_bytes.saturating_sub(chunk.len());
            }
        }
        self.closed_bytes = 0;
    }

    /// Gives back the chunks kept for later.
    pub fn drop_spare(&mut self) {
        self.spare = Vec::new();
        self.touched_bytes = 0;
    }
}

fn split(at: Position) -> (usize, usize) {
    ((at >> CHUNK_UNITS_LOG) as usize, (at & ((1 << CHUNK_UNITS_LOG) - 1)) as usize * 8)
}
