//! A worker's dictionary of one run: every distinct term gets the next number, keys are compared byte for byte.
//!
//! An open-addressing table of one word a slot (32 bits of the hash, 32 bits of position). Look-ups come in batches: first all home slots
//! are read, then the headers they point to, then keys are compared, so that the cache misses of a batch overlap instead of
//! adding up. The home slot is given by the hash's top bits, so growing the table reads and writes it from front to back.

use crate::load::arena::{Arena, Header, Position};
use crate::segment_builder::Class;
use lode_base::huge;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of keys that a batch keeps room for.
const BYTES_KEPT_MAX: usize = 1 << 20;

/// Terms to look up together.
#[derive(Debug, Default)]
pub struct KeyBatch {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    homes: Vec<u64>,
    headers: Vec<Header>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    length: u32,
    hash: u32,
    class: Class,
}

impl KeyBatch {
    /// Adds a term and returns its place in the batch.
    #[inline]
    pub fn push(&mut self, class: Class, key: &[u8]) -> u32 {
        self.push_parts(class, &[], key)
    }

    /// Adds a term whose key comes in two parts.
    #[inline]
    pub fn push_parts(&mut self, class: Class, head: &[u8], tail: &[u8]) -> u32 {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(tail);
        let key = self.bytes.get(start..).unwrap_or_default();
        let entry = Entry { start: start as u32, length: key.len() as u32, hash: hash(class, key), class };
        self.entries.push(entry);
        (self.entries.len() - 1) as u32
    }

    /// Whether the term at a place is this one.
    #[inline]
    pub fn is(&self, place: u32, class: Class, key: &[u8]) -> bool {
        self.entries.get(place as usize).is_some_and(|entry| entry.class == class && self.key(*entry) == key)
    }

    /// Terms in the batch.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of their keys; a batch must stay below 4 GiB.
    pub fn key_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Makes room for the next batch. What a long term took is not kept.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BYTES_KEPT_MAX);
        self.entries.clear();
    }

    fn key(&self, entry: Entry) -> &[u8] {
        let start = entry.start as usize;
        self.bytes.get(start..start + entry.length as usize).unwrap_or_default()
    }
}

#[inline]
fn hash(class: Class, key: &[u8]) -> u32 {
    let hash = xxh3_64(key) ^ (class as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (hash >> 32) as u32 ^ hash as u32
}

/// A run cannot take another term: numbers, positions or key lengths are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunFull;

const SLOTS_MIN: usize = 1 << 10;

/// The dictionary of one run.
#[derive(Debug)]
pub struct Interner {
    slots: Vec<u64>,
    shift: u32,
    arena: Arena,
    terms: u32,
}

impl Default for Interner {
    fn default() -> Self {
        Self { slots: vec![0; SLOTS_MIN], shift: 32 - SLOTS_MIN.ilog2(), arena: Arena::default(), terms: 0 }
    }
}

impl Interner {
    /// Distinct terms.
    pub fn terms(&self) -> u32 {
        self.terms
    }

    /// The terms, by position.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Bytes held, including what sorting the terms will need.
    pub fn bytes(&self) -> usize {
        self.arena.bytes() + self.slots.len() * size_of::<u64>()
    }

    /// Replaces `numbers` by the numbers of a batch's terms, giving new ones to new terms.
    pub fn intern(&mut self, batch: &mut KeyBatch, numbers: &mut Vec<u32>) -> Result<(), RunFull> {
        self.make_room(batch.len());
        numbers.clear();
        self.read_ahead(batch);
        for at in 0..batch.entries.len() {
            let (Some(&entry), Some(&home), Some(&header)) =
                (batch.entries.get(at), batch.homes.get(at), batch.headers.get(at))
            else {
                break;
            };
            let key = batch.key(entry);
            let hit = home != 0
                && (home >> 32) as u32 == entry.hash
                && header.fits(entry.class, key.len())
                && self.arena.key_of(position(home), header) == key;
            numbers.push(if hit { header.number() } else { self.probe(entry, key)? });
        }
        Ok(())
    }

    /// The number of one term.
    pub fn intern_one(&mut self, class: Class, key: &[u8]) -> Result<u32, RunFull> {
        self.make_room(1);
        let length = u32::try_from(key.len()).map_err(|_| RunFull)?;
        self.probe(Entry { start: 0, length, hash: hash(class, key), class }, key)
    }

    /// Reads the home slots and the headers of all terms of a batch: loads that depend on nothing, so they overlap.
    fn read_ahead(&self, batch: &mut KeyBatch) {
        batch.homes.clear();
        for entry in &batch.entries {
            batch.homes.push(self.slots.get(self.home(entry.hash)).copied().unwrap_or(0));
        }
        batch.headers.clear();
        for home in &batch.homes {
            batch.headers.push(self.arena.header(position(*home)));
        }
    }

    fn home(&self, hash: u32) -> usize {
        (hash >> self.shift) as usize
    }

    fn probe(&mut self, entry: Entry, key: &[u8]) -> Result<u32, RunFull> {
        let mask = self.slots.len() - 1;
        let mut at = self.home(entry.hash);
        loop {
            let slot = self.slots.get(at).copied().unwrap_or(0);
            if slot == 0 {
                break;
            }
            if (slot >> 32) as u32 == entry.hash {
                let header = self.arena.header(position(slot));
                if header.fits(entry.class, key.len()) && self.arena.key_of(position(slot), header) == key {
                    return Ok(header.number());
                }
            }
            at = (at + 1) & mask;
        }
        let number = self.terms;
        if number == u32::MAX - 1 {
            return Err(RunFull);
        }
        let position = self.arena.push(number, entry.class, key).ok_or(RunFull)?;
        if position == u32::MAX {
            return Err(RunFull);
        }
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = u64::from(entry.hash) << 32 | u64::from(position + 1);
        }
        self.terms = number + 1;
        Ok(number)
    }

    /// Keeps at least three of ten slots free after `more` insertions.
    fn make_room(&mut self, more: usize) {
        let mut size = self.slots.len();
        while (self.terms as usize + more) * 10 > size * 7 && self.shift > 0 {
            size *= 2;
            self.shift -= 1;
        }
        if size == self.slots.len() {
            return;
        }
        let mut slots: Vec<u64> = huge::zeros(size);
        let mask = size - 1;
        for &slot in self.slots.iter().filter(|slot| **slot != 0) {
            let mut at = ((slot >> 32) as u32 >> self.shift) as usize;
            while slots.get(at).is_some_and(|other| *other != 0) {
                at = (at + 1) & mask;
            }
            if let Some(free) = slots.get_mut(at) {
                *free = slot;
            }
        }
        self.slots = slots;
    }

    /// Forgets all terms, keeping the memory for the next run.
    pub fn clear(&mut self) {
        self.slots.fill(0);
        self.arena.clear();
        self.terms = 0;
    }

    /// Gives up the table, which only look-ups need.
    pub fn into_arena(self) -> Arena {
        let mut arena = self.arena;
        arena.drop_spare();
        arena
    }
}

/// The position in a slot; that of an empty slot is a term that will not compare equal.
fn position(slot: u64) -> Position {
    (slot as u32).wrapping_sub(1)
}
