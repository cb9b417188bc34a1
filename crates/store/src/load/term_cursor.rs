//! Walks through the sorted terms of a run, in memory or in a file.

use crate::load::arena::Arena;
use crate::load::run::{ClassTerms, NUMBER_BITS, SHARED_BYTES_MAX, TermStore};
use crate::load::term_roles::Roles;
use crate::load::term_sort::SortedTerm;
use crate::segment_builder::Class;
use lode_base::frame_file::FrameReader;
use std::cmp::Ordering;
use std::io;
use std::sync::Arc;

/// Terms whose cache lines are fetched together.
const READ_AHEAD: usize = 16;

/// Walks sorted terms in memory. They are all over the arena, so some are looked up at once to let cache misses overlap.
#[derive(Debug)]
pub struct MemoryCursor<'a> {
    arena: &'a Arena,
    /// Terms not yet looked up.
    terms: &'a [SortedTerm],
    /// Keys and numbers of the next terms.
    ahead: [(&'a [u8], u32); READ_AHEAD],
    /// The current term in `ahead`, counted from 1; 0 before the first.
    at: usize,
    filled: usize,
}

impl<'a> MemoryCursor<'a> {
    #[inline]
    fn current(&self) -> (&'a [u8], u32) {
        self.ahead.get(self.at.wrapping_sub(1)).copied().unwrap_or_default()
    }

    #[inline]
    fn advance(&mut self) -> bool {
        if self.at < self.filled {
            self.at += 1;
            return true;
        }
        self.look_up()
    }

    fn look_up(&mut self) -> bool {
        let (now, later) = self.terms.split_at(self.terms.len().min(READ_AHEAD));
        let mut touched = 0_u8;
        for (slot, term) in self.ahead.iter_mut().zip(now) {
            let header = self.arena.header(term.position);
            let key = self.arena.key_of(term.position, header);
            // The end of a key is often on another cache line than its start.
            touched ^= key.last().copied().unwrap_or(0);
            *slot = (key, header.number());
        }
        std::hint::black_box(touched);
        (self.terms, self.filled, self.at) = (later, now.len(), 1);
        !now.is_empty()
    }
}

/// Walks terms in a file. Of a long key it holds the head, so that a merge of many runs holds no more than so much of each; the rest is
/// read where somebody wants it.
#[derive(Debug)]
pub struct FileCursor {
    /// After the head of the current key.
    file: FrameReader,
    head: Vec<u8>,
    head_max: usize,
    /// Bytes of the current key behind its head.
    left: usize,
    /// The current term's number, and its roles above that.
    number: u32,
    /// Terms before this key are passed over, until one is found that is not.
    from: Option<Vec<u8>>,
    /// Ends before this key.
    until: Option<Vec<u8>>,
}

impl FileCursor {
    fn advance(&mut self) -> io::Result<bool> {
        let mut found = self.step()?;
        if let Some(from) = self.from.take() {
            while found && self.head < from {
                found = self.step()?;
            }
        }
        // Heads are longer than bounds, so they tell where whole keys would be.
        Ok(found && self.until.as_ref().is_none_or(|until| self.head < *until))
    }

    fn step(&mut self) -> io::Result<bool> {
        if self.left > 0 {
            self.file.skip(self.left)?;
            self.left = 0;
        }
        if self.file.at_end() {
            return Ok(false);
        }
        self.number = self.file.take(4)?.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let shared = usize::try_from(self.file.varint()?).map_err(io::Error::other)?;
        let rest = usize::try_from(self.file.varint()?).map_err(io::Error::other)?;
        self.head.truncate(shared);
        let now = rest.min(self.head_max.saturating_sub(shared));
        if now > SHARED_BYTES_MAX {
            self.head.reserve_exact(now);
        }
        self.file.append_to(&mut self.head, now)?;
        self.left = rest - now;
        Ok(true)
    }
}

/// Walks the terms of one class of a run in the order of their keys.
#[derive(Debug)]
pub enum TermCursor<'a> {
    /// Over memory.
    Memory(Box<MemoryCursor<'a>>),
    /// Over pairs of key and number.
    Pairs {
        /// What is left.
        pairs: std::slice::Iter<'a, (Vec<u8>, u32)>,
        /// The current term.
        key: &'a [u8],
        /// Its number.
        number: u32,
    },
    /// Over a file.
    File(FileCursor),
}

impl<'a> TermCursor<'a> {
    /// Stands before the first term of a class. No more than `head_bytes` of a key in a file are held, or [`SHARED_BYTES_MAX`].
    pub fn new(store: &'a TermStore, class: Class, head_bytes: usize) -> Self {
        let class = class as usize;
        match store {
            TermStore::Memory { arena, sorted } => {
                let start = if class == 0 { 0 } else { sorted.ends[class - 1] };
                Self::Memory(Box::new(MemoryCursor {
                    arena,
                    terms: sorted.terms.get(start..sorted.ends[class]).unwrap_or_default(),
                    ahead: [(&[], 0); READ_AHEAD],
                    at: 0,
                    filled: 0,
                }))
            }
            TermStore::File { file, classes } => {
                let ClassTerms { frames, from, until } = &classes[class];
                let file = FrameReader::new(Arc::clone(file), frames.start, frames.end);
                let head_max = head_bytes.max(SHARED_BYTES_MAX);
                let from = Some(from.clone()).filter(|from| !from.is_empty());
                let until = until.clone();
                Self::File(FileCursor { file, head: Vec::new(), head_max, left: 0, number: 0, from, until })
            }
        }
    }

    /// Stands before the first of some pairs.
    pub fn over_pairs(pairs: &'a [(Vec<u8>, u32)]) -> Self {
        Self::Pairs { pairs: pairs.iter(), key: &[], number: 0 }
    }

    /// Moves to the next term; false at the end.
    pub fn advance(&mut self) -> io::Result<bool> {
        match self {
            Self::Memory(cursor) => Ok(cursor.advance()),
            Self::Pairs { pairs, key, number } => {
                let Some(pair) = pairs.next() else { return Ok(false) };
                (*key, *number) = (&pair.0, pair.1);
                Ok(true)
            }
            Self::File(cursor) => cursor.advance(),
        }
    }

    /// The current key as far as it is in memory, and how many bytes come behind that.
    #[inline]
    fn head(&self) -> (&[u8], usize) {
        match self {
            Self::Memory(cursor) => (cursor.current().0, 0),
            Self::Pairs { key, .. } => (key, 0),
            Self::File(cursor) => (&cursor.head, cursor.left),
        }
    }

    /// The current key, which is read into `scratch` if it is not in memory as a whole.
    #[inline]
    pub fn key<'k>(&'k self, scratch: &'k mut Vec<u8>) -> io::Result<&'k [u8]> {
        match self {
            Self::File(cursor) if cursor.left > 0 => {
                let bytes = cursor.head.len() + cursor.left;
                scratch.clear();
                if scratch.capacity() < bytes {
                    // Not both at once.
                    *scratch = Vec::new();
                    scratch.reserve_exact(bytes);
                }
                scratch.extend_from_slice(&cursor.head);
                cursor.file.fork().append_to(scratch, cursor.left)?;
                Ok(scratch)
            }
            _ => Ok(self.head().0),
        }
    }

    /// Compares the current keys of two cursors.
    #[inline]
    pub fn compare(&self, other: &Self) -> io::Result<Ordering> {
        match (self.head(), other.head()) {
            ((one, 0), (two, 0)) => Ok(one.cmp(two)),
            _ => self.compare_long(other),
        }
    }

    #[cold]
    fn compare_long(&self, other: &Self) -> io::Result<Ordering> {
        let (mut one, mut two) = (self.parts(), other.parts());
        loop {
            let (part, other_part) = (one.peek()?, two.peek()?);
            let both = part.len().min(other_part.len());
            // At the end of one key the longer one is after the other.
            let found = if both == 0 {
                part.len().cmp(&other_part.len())
            } else {
                part[..both].cmp(&other_part[..both])
            };
            if both == 0 || found != Ordering::Equal {
                return Ok(found);
            }
            one.skip(both)?;
            two.skip(both)?;
        }
    }

    fn parts(&self) -> KeyParts<'_> {
        let (head, left) = self.head();
        KeyParts { head, left, cursor: self, file: None }
    }

    /// The current term's number in its run.
    pub fn number(&self) -> u32 {
        match self {
            Self::Memory(cursor) => cursor.current().1,
            Self::Pairs { number, .. } => *number,
            Self::File(cursor) => cursor.number & ((1 << NUMBER_BITS) - 1),
        }
    }

    /// What the current term is used as, where the run is in a file; one in memory has its own lists at hand.
    #[inline]
    pub fn roles(&self) -> Roles {
        match self {
            Self::File(cursor) => Roles::from_bits(cursor.number >> NUMBER_BITS),
            Self::Memory(_) | Self::Pairs { .. } => Roles::default(),
        }
    }
}

/// A key, part by part.
struct KeyParts<'a> {
    /// What is still to be read of its head, and behind that.
    head: &'a [u8],
    left: usize,
    cursor: &'a TermCursor<'a>,
    /// Reads what is behind the head, once the head has been read.
    file: Option<FrameReader>,
}

impl KeyParts<'_> {
    /// The next part; nothing at the end.
    fn peek(&mut self) -> io::Result<&[u8]> {
        match self.cursor {
            TermCursor::File(cursor) if self.head.is_empty() && self.left > 0 => {
                self.file.get_or_insert_with(|| cursor.file.fork()).peek(self.left)
            }
            _ => Ok(self.head),
        }
    }

    /// Passes over so many bytes of the part.
    fn skip(&mut self, bytes: usize) -> io::Result<()> {
        match self.head.split_at_checked(bytes) {
            Some((_, rest)) if !self.head.is_empty() => {
                self.head = rest;
                Ok(())
            }
            _ => {
                self.left = self.left.saturating_sub(bytes);
                self.file.as_mut().map_or(Ok(()), |file| file.skip(bytes))
            }
        }
    }
}
