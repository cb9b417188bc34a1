//! A part of a query's terms: those whose hashes end alike.

use super::chunks::Chunks;
use super::disk::{Disk, Place};
use super::disk_index::DiskIndex;
use super::term_hash::hash;
use crate::error::ExecError;
use crate::text_bytes::TextBytes as _;
use hashbrown::HashTable;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
use lode_rdf::{Term, ValueId};
use std::io;
use std::ops::RangeInclusive;

/// Bytes that a part takes from the budget at once: as many as it has, within these. Some terms, each in a part of its own, must fit a
/// small budget.
const RESERVE_BYTES: RangeInclusive<usize> = 1 << 10..=64 << 10;
/// Bytes of stored terms that a part remembers beside the budget.
const STORED_BYTES_MAX: usize = 64 << 10;
/// What a term takes as long as its place is in memory: its hash, its place, and its entry in a hash table that is half full at times.
pub const ENTRY_BYTES: usize = 32;
/// What it takes besides while it is in memory itself, beside its text, with what the allocator rounds up.
const TERM_BYTES: usize = size_of::<Term>() + 16;

/// Terms by number, and numbers by term.
#[derive(Debug, Default)]
pub struct Shard {
    /// The first ones, of which nothing is in memory.
    index: DiskIndex,
    /// Numbers of the others, by hash.
    table: HashTable<u32>,
    hashes: Chunks<u64>,
    /// Where the first ones of these are on the disk.
    places: Chunks<u64>,
    /// All that are left.
    terms: Chunks<Term>,
    /// Terms that turned out to be in the store, with their ids: constants are asked for again and again.
    stored: HashTable<(Term, ValueId)>,
    stored_bytes: usize,
    /// Bytes that all take, and those that `terms` do.
    bytes: usize,
    term_bytes: usize,
    pub reservation: Option<Reservation>,
}

/// Where a term was found.
pub enum Found<'a> {
    /// In memory.
    Term(&'a Term),
    /// On the disk.
    Place(Place),
}

impl Shard {
    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.index.len() + self.hashes.len()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that were taken from the budget.
    pub fn reserved(&self) -> usize {
        self.reservation.as_ref().map_or(0, Reservation::bytes)
    }

    /// The term with a number.
    pub fn at(&self, at: usize) -> Option<Found<'_>> {
        let Some(at) = at.checked_sub(self.index.len()) else {
            return Some(Found::Place(Place::Entry(self.index.place(at)?)));
        };
        if let Some(place) = self.places.get(at) {
            return Some(Found::Place(Place::Known(*self.hashes.get(at)?, *place)));
        }
        Some(Found::Term(self.terms.get(at - self.places.len())?))
    }

    /// The number of a term.
    pub fn find(&self, term: &Term, hash: u64, disk: &Disk) -> Result<Option<u32>, ExecError> {
        let is_it = |at: u32| match self.at(at as usize) {
            Some(Found::Term(known)) => Ok(known == term),
            Some(Found::Place(place)) => Ok(disk.read(place)? == *term),
            None => Ok(false),
        };
        let mut failed = None;
        let same = |at: &u32| {
            self.hash_of(*at) == hash
                && is_it(*at).unwrap_or_else(|error: io::Error| {
                    failed = Some(error);
                    true
                })
        };
        let found = self.table.find(hash, same).copied();
        match failed {
            Some(error) => Err(ExecError::Spill(error)),
            None if found.is_none() && self.index.len() > 0 => {
                let found = disk.pages().and_then(|pages| self.index.find(pages, hash, is_it));
                Ok(found.map_err(|error| disk.reason(error))?)
            }
            None => Ok(found),
        }
    }

    /// The hash of a term in the table.
    fn hash_of(&self, at: u32) -> u64 {
        hash_at(&self.hashes, self.index.len(), at)
    }

    /// The id of a term that the store has, if it was remembered.
    pub fn stored(&self, term: &Term, hash: u64) -> Option<ValueId> {
        self.stored.find(hash, |(known, _)| known == term).map(|(_, id)| *id)
    }

    /// Remembers the id that the store gave a term.
    pub fn remember(&mut self, term: &Term, term_hash: u64, id: ValueId) {
        let bytes = size_of::<(Term, ValueId)>() + term.text_bytes();
        if self.stored_bytes + bytes <= STORED_BYTES_MAX && self.stored(term, term_hash).is_none() {
            self.stored_bytes += bytes;
            self.stored.insert_unique(term_hash, (term.clone(), id), |(term, _)| hash(term));
        }
    }

    /// Adds a term, for which there is room.
    pub fn push(&mut self, term: &Term, hash: u64) -> u32 {
        let at = u32::try_from(self.len()).unwrap_or(u32::MAX);
        self.bytes += bytes_of(term);
        self.term_bytes += bytes_of(term) - ENTRY_BYTES;
        self.hashes.push(hash);
        self.terms.push(term.clone());
        let Self { table, hashes, index, .. } = self;
        table.insert_unique(hash, at, |at| hash_at(hashes, index.len(), *at));
        at
    }

    /// Takes memory for one more term; where there is none, what is there goes to the disk.
    pub fn make_room(&mut self, term: &Term, budget: &MemoryBudget, disk: &Disk) -> Result<(), ExecError> {
        let more = bytes_of(term);
        if self.reserve(more, budget).is_ok() {
            return Ok(());
        }
        self.spill_terms(disk)?;
        if self.reserve(more, budget).is_ok() {
            return Ok(());
        }
        self.spill_index(disk)?;
        Ok(self.reserve(more, budget)?)
    }

    fn reserve(&mut self, more: usize, budget: &MemoryBudget) -> Result<(), OutOfBudget> {
        let needed = self.bytes + more;
        let reservation = self.reservation.get_or_insert_with(|| budget.reserve_empty());
        if needed > reservation.bytes() {
            let step = self.bytes.clamp(*RESERVE_BYTES.start(), *RESERVE_BYTES.end());
            reservation.grow((needed - reservation.bytes()).max(step))?;
        }
        Ok(())
    }

    /// Moves all terms to the disk.
    pub fn spill_terms(&mut self, disk: &Disk) -> Result<(), ExecError> {
        if !self.terms.is_empty() {
            let file = disk.terms()?;
            let places = disk.write(|| file.append(self.terms.iter()))?;
            places.into_iter().for_each(|place| self.places.push(place));
            self.terms = Chunks::default();
            self.bytes -= std::mem::take(&mut self.term_bytes);
        }
        if let Some(reservation) = &mut self.reservation {
            reservation.shrink(self.bytes);
        }
        Ok(())
    }

    /// Moves all terms to the disk, and what is needed to find them again.
    pub fn spill_index(&mut self, disk: &Disk) -> Result<(), ExecError> {
        self.spill_terms(disk)?;
        if self.hashes.is_empty() {
            return Ok(());
        }
        let Self { index, hashes, places, .. } = self;
        let pages = disk.pages()?;
        disk.write(|| index.add(pages, &|| hashes.iter().copied().zip(places.iter().copied())))?;
        (self.table, self.hashes, self.places) = (HashTable::new(), Chunks::default(), Chunks::default());
        self.bytes = self.index.bytes();
        if let Some(reservation) = &mut self.reservation {
            reservation.hold(self.bytes);
        }
        Ok(())
    }
}

/// The hash of a term in the table, whose first ones are on the disk.
fn hash_at(hashes: &Chunks<u64>, on_disk: usize, at: u32) -> u64 {
    (at as usize).checked_sub(on_disk).and_then(|at| hashes.get(at)).copied().unwrap_or(0)
}

/// Bytes of a new term in a table.
fn bytes_of(term: &Term) -> usize {
    ENTRY_BYTES + TERM_BYTES + term.text_bytes()
}
