//! The texts of words as a thread finds them, in memory: a list for each word that grows by itself, packed, so that all of them take a few bytes for each text.
//!
//! A list is made of chunks, each longer than the one before, that lie wherever there was room. Of a text it has how far it is from the one before, and, where that is not 1, how often it has the word.

use lode_base::varint::read_varint;
use lode_text::index::COUNT_MAX;
use std::hint::black_box;

/// Bytes of the first chunk of a list: all chunks are multiples of it. The last four bytes tell where the next chunk is.
const UNIT: usize = 16;
const LINK: usize = size_of::<u32>();
/// So many times a chunk may be twice as long as the one before.
const CLASS_MAX: u8 = 7;
/// Bytes of a text at most: two numbers, of 64 and of 16 bits. Where there is room for as many, they are written at once.
const POSTING_BYTES: usize = 16;
/// Bits behind a text for how often it has a word.
const COUNT_BITS: u32 = COUNT_MAX.count_ones();
/// Bytes after which it is full: the places of chunks are told in units, in 32 bits.
const BYTES_MAX: usize = 1 << 35;
/// Lists that are appended to together: to wait for each would take longer.
const LISTS_AT_ONCE: usize = 64;

/// A text that has a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Posting {
    pub word: u32,
    pub text: u64,
    pub count: u16,
}

/// The end of a list.
#[derive(Debug, Clone, Copy, Default)]
struct Tail {
    /// The last text.
    last: u64,
    /// Where the last chunk is, in units,
    chunk: u32,
    /// and the first.
    first: u32,
    /// Bytes that it has, of which so many are written.
    len: u16,
    written: u16,
    class: u8,
}

/// Lists of texts, by word.
#[derive(Debug, Default)]
pub(super) struct Postings {
    bytes: Vec<u8>,
    tails: Vec<Tail>,
    /// For a list while it is read.
    room: Vec<u8>,
}

impl Postings {
    /// Appends texts, those of each word ascending.
    pub(super) fn extend(&mut self, postings: &[Posting]) {
        let words = postings.iter().map(|posting| posting.word as usize + 1).max().unwrap_or(0);
        if words > self.tails.len() {
            self.tails.resize(words, Tail::default());
        }
        for some in postings.chunks(LISTS_AT_ONCE) {
            let mut near = 0;
            for posting in some {
                near ^= self.tails.get(posting.word as usize).map_or(0, |tail| tail.chunk);
            }
            black_box(near);
            let mut near = 0;
            for posting in some {
                let place = self.tails.get(posting.word as usize).map_or(0, Tail::place);
                near ^= self.bytes.get(place).copied().unwrap_or(0);
            }
            black_box(near);
            some.iter().for_each(|posting| self.push(posting));
        }
    }

    fn push(&mut self, posting: &Posting) {
        let Some(tail) = self.tails.get_mut(posting.word as usize) else { return };
        let distance = posting.text.wrapping_sub(std::mem::replace(&mut tail.last, posting.text));
        let is_once = posting.count == 1;
        let (mut packed, mut bytes) = pack(distance << 1 | u64::from(!is_once));
        if !is_once {
            let (count, more) = pack(posting.count.into());
            packed |= count << (8 * bytes);
            bytes += more;
        }
        let packed = packed.to_le_bytes();
        let place = tail.place();
        if usize::from(tail.len - tail.written) >= POSTING_BYTES
            && let Some(room) = self.bytes.get_mut(place..place + POSTING_BYTES)
        {
            room.copy_from_slice(&packed);
            tail.written += bytes;
            return;
        }
        for byte in packed.into_iter().take(bytes.into()) {
            self.push_byte(posting.word as usize, byte);
        }
    }

    fn push_byte(&mut self, word: usize, byte: u8) {
        let Some(tail) = self.tails.get_mut(word) else { return };
        if tail.written == tail.len {
            let is_first = tail.len == 0;
            let class = if is_first { 0 } else { (tail.class + 1).min(CLASS_MAX) };
            // Before that it is full.
            let next = u32::try_from(self.bytes.len() / UNIT).unwrap_or(u32::MAX);
            if is_first {
                tail.first = next;
            } else if let Some(link) = self.bytes.get_mut(tail.place()..).and_then(<[u8]>::first_chunk_mut) {
                *link = next.to_le_bytes();
            }
            let bytes = UNIT << class;
            (tail.chunk, tail.class, tail.written, tail.len) = (next, class, 0, (bytes - LINK) as u16);
            if self.bytes.capacity() - self.bytes.len() < bytes {
                // Not twice as much: it may be most of the memory.
                self.bytes.reserve_exact((self.bytes.len() / 4).max(bytes));
            }
            self.bytes.resize(self.bytes.len() + bytes, 0);
        }
        if let Some(place) = self.bytes.get_mut(tail.place()) {
            *place = byte;
        }
        tail.written += 1;
    }

    /// Appends the texts of a word to `out`, ascending, each with its count behind it.
    pub(super) fn read(&mut self, word: usize, out: &mut Vec<u64>) {
        let Some(tail) = self.tails.get(word).filter(|tail| tail.len > 0) else { return };
        self.room.clear();
        let (mut chunk, mut class) = (tail.first, 0);
        while chunk != tail.chunk {
            let start = chunk as usize * UNIT;
            let own = self.bytes.get(start..start + (UNIT << class)).unwrap_or_default();
            let Some((payload, link)) = own.split_last_chunk::<LINK>() else { return };
            self.room.extend_from_slice(payload);
            (chunk, class) = (u32::from_le_bytes(*link), (class + 1).min(CLASS_MAX));
        }
        let start = tail.chunk as usize * UNIT;
        self.room.extend_from_slice(self.bytes.get(start..tail.place()).unwrap_or_default());
        let (mut rest, mut text) = (self.room.as_slice(), 0_u64);
        while let Some(packed) = read_varint(&mut rest) {
            let count = if packed & 1 == 1 { read_varint(&mut rest).unwrap_or(0) } else { 1 };
            text = text.wrapping_add(packed >> 1);
            out.push(text << COUNT_BITS | count);
        }
    }

    /// How many words there are lists of.
    pub(super) fn words(&self) -> usize {
        self.tails.len()
    }

    /// Bytes that the lists take.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it may take no more.
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= BYTES_MAX
    }

    /// Forgets all texts.
    pub(super) fn clear(&mut self) {
        self.bytes = Vec::new();
        self.tails.clear();
    }
}

impl Tail {
    /// Where the next byte goes.
    fn place(&self) -> usize {
        self.chunk as usize * UNIT + usize::from(self.written)
    }
}

/// A number as [`read_varint`] reads it, the first byte lowest, and how many bytes that are.
#[inline]
fn pack(value: u64) -> (u128, u16) {
    if value < 1 << 7 {
        return (value.into(), 1);
    }
    if value < 1 << 14 {
        return ((value & 0x7F | 0x80 | value >> 7 << 8).into(), 2);
    }
    let (mut rest, mut packed, mut bytes) = (value, 0, 0);
    while rest >= 1 << 7 {
        packed |= u128::from(rest & 0x7F | 0x80) << (8 * bytes);
        (rest, bytes) = (rest >> 7, bytes + 1);
    }
    (packed | u128::from(rest) << (8 * bytes), bytes + 1)
}

#[cfg(test)]
mod tests {
    use super::{Posting, Postings};

    #[test]
    fn lists_are_read_as_they_were_written() {
        let (mut postings, mut state) = (Postings::default(), 7_u64);
        let mut below = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        for round in 0..3 {
            let mut lists: Vec<Vec<u64>> = vec![Vec::new(); 50];
            let mut last = [0_u64; 50];
            for _ in 0..40 {
                let mut some = Vec::new();
                for _ in 0..below(500) {
                    let word = (below(50) * below(50) / 50) as usize;
                    // The first text is 0 for some.
                    let far = 1_u64 << below(if word == 3 { 40 } else { 12 });
                    let is_first = lists[word].is_empty();
                    let text = last[word] + if is_first { below(2) } else { 1 + below(far) };
                    last[word] = text;
                    let count = [0, 1, 1, 1, 2, 127, 128, u16::MAX][below(8) as usize];
                    lists[word].push(text << 16 | u64::from(count));
                    some.push(Posting { word: word as u32, text, count });
                }
                postings.extend(&some);
            }
            assert!(lists.iter().any(|list| list.len() > 400), "{round}");
            let mut out = Vec::new();
            for (word, list) in lists.iter().enumerate() {
                out.clear();
                postings.read(word, &mut out);
                assert!(out == *list, "{round} {word}");
            }
            postings.read(77, &mut out);
            let bytes: usize = lists.iter().map(Vec::len).sum::<usize>() * 4 + 50 * 2048;
            assert!(postings.memory_bytes() < bytes && !postings.is_full() && postings.words() <= 50);
            postings.clear();
            assert_eq!(postings.memory_bytes(), 0);
        }
    }
}
