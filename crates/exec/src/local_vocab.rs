//! Terms a query makes that the store does not hold: numbered once per distinct term, so that equal ids mean equal terms.
//!
//! They are in memory as long as there is some. Where the query's budget has no more, those of a part go to a temporary file
//! ([`term_file`]); of each a hash and its place there stay, some twenty bytes.

mod term_file;

use crate::error::ExecError;
use crate::expr::texts::TextBytes as _;
use crate::growth::make_room;
use hashbrown::HashTable;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Relief, Reservation};
use lode_rdf::{Kind, Term, ValueId};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use term_file::{TermFile, damaged};

/// Threads that make terms rarely meet in one of so many parts.
const SHARDS: usize = 32;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
/// Bytes that a part takes from the budget at once: as many as it has, within these. Some terms, each in a part of its own, must fit a
/// small budget.
const RESERVE_BYTES: RangeInclusive<usize> = 1 << 10..=64 << 10;
/// Ids of stored terms that a part remembers.
const STORED_MAX: usize = 1024;
/// Longer terms are not among these.
const STORED_BYTES_MAX: usize = 1 << 10;
/// What a term takes wherever it is: its hash, its place, and its entry in a hash table that is half full at times.
const ENTRY_BYTES: usize = 28;

/// The query's own table of terms, shared by its threads. It only grows.
#[derive(Debug)]
pub struct LocalVocab {
    shards: [RwLock<Shard>; SHARDS],
    next_number: AtomicU64,
    disk: Disk,
}

/// Where terms go that have no room.
#[derive(Debug, Default)]
struct Disk {
    folder: OnceLock<PathBuf>,
    file: OnceLock<TermFile>,
    /// Held while the file is made.
    making: Mutex<()>,
}

impl Disk {
    /// The file, made when first needed; none where nobody has said in which folder.
    fn file(&self) -> io::Result<&TermFile> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let folder = self.folder.get().ok_or(io::ErrorKind::NotFound)?;
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if self.file.get().is_none() {
            // Nobody else sets it meanwhile.
            let _ = self.file.set(TermFile::in_folder(folder)?);
        }
        self.file.get().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn read(&self, place: u64, term_hash: u64) -> io::Result<Term> {
        let term = self.file()?.read(place)?;
        if hash(&term) == term_hash { Ok(term) } else { Err(damaged()) }
    }
}

impl Default for LocalVocab {
    fn default() -> Self {
        let shards = std::array::from_fn(|_| RwLock::default());
        Self { shards, next_number: AtomicU64::new(0), disk: Disk::default() }
    }
}

#[derive(Debug, Default)]
struct Shard {
    /// Numbers of terms, by hash.
    table: HashTable<u32>,
    hashes: Vec<u64>,
    /// Where the first ones are on the disk.
    places: Vec<u64>,
    /// The others.
    terms: Vec<Term>,
    /// Terms that turned out to be in the store, with their ids: constants are asked for again and again.
    stored: HashTable<(Term, ValueId)>,
    /// Bytes that all take, and those that `terms` do.
    bytes: usize,
    term_bytes: usize,
    reservation: Option<Reservation>,
}

impl LocalVocab {
    /// The id of `term`, new or known: [`lode_rdf::Kind::Local`]. Call only for terms that neither are inline nor in the store's
    /// dictionary: `QueryContext::intern` looks there first. The table's bytes are taken from a budget, always the same; where that has no
    /// more, terms go to a file in `folder`.
    pub fn intern(
        self: &Arc<Self>,
        term: &Term,
        budget: &MemoryBudget,
        folder: &Path,
    ) -> Result<ValueId, ExecError> {
        let hash = hash(term);
        let (shard_number, lock) = self.shard(hash);
        let mut shard = lock.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = shard.find(term, hash, &self.disk)? {
            return Ok(local_id(at, shard_number));
        }
        if shard.reservation.is_none() {
            self.ask_for_relief(budget, folder);
        }
        if let Err(refused) = shard.reserve(bytes_of(term), budget) {
            shard.spill(&self.disk)?;
            shard.reserve(bytes_of(term), budget).map_err(|_| refused)?;
        }
        Ok(local_id(shard.push(term, hash), shard_number))
    }

    /// From now on this gives back memory where the query or others need it.
    fn ask_for_relief(self: &Arc<Self>, budget: &MemoryBudget, folder: &Path) {
        if self.disk.folder.set(folder.to_owned()).is_ok() {
            budget.relieve_by(Arc::downgrade(self) as Weak<dyn Relief>);
        }
    }

    /// The id of a term that was interned or remembered.
    pub fn get(&self, term: &Term) -> Result<Option<ValueId>, ExecError> {
        let hash = hash(term);
        let (shard_number, lock) = self.shard(hash);
        let shard = lock.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = shard.find(term, hash, &self.disk)? {
            return Ok(Some(local_id(at, shard_number)));
        }
        Ok(shard.stored.find(hash, |(known, _)| known == term).map(|(_, id)| *id))
    }

    /// Remembers the id that the store gave a term, for [`LocalVocab::get`].
    pub fn remember(&self, term: &Term, id: ValueId) {
        let term_hash = hash(term);
        let (_, lock) = self.shard(term_hash);
        let mut shard = lock.write().unwrap_or_else(PoisonError::into_inner);
        let known = shard.stored.find(term_hash, |(known, _)| known == term).is_some();
        if shard.stored.len() < STORED_MAX && !known && term.text_bytes() <= STORED_BYTES_MAX {
            shard.stored.insert_unique(term_hash, (term.clone(), id), |(term, _)| hash(term));
        }
    }

    /// The term of a local id.
    pub fn term(&self, id: ValueId) -> Result<Option<Term>, ExecError> {
        self.with_term(id, Term::clone)
    }

    /// Calls `f` with the term of a local id.
    pub fn with_term<T>(&self, id: ValueId, f: impl FnOnce(&Term) -> T) -> Result<Option<T>, ExecError> {
        if id.kind() != Some(Kind::Local) {
            return Ok(None);
        }
        let payload = usize::try_from(id.payload()).unwrap_or(usize::MAX);
        let Some(lock) = self.shards.get(payload & (SHARDS - 1)) else { return Ok(None) };
        let (shard, at) = (lock.read().unwrap_or_else(PoisonError::into_inner), payload >> SHARD_BITS);
        match (shard.hashes.get(at), shard.places.get(at)) {
            (Some(hash), Some(place)) => {
                let (hash, place) = (*hash, *place);
                drop(shard);
                Ok(Some(f(&self.disk.read(place, hash)?)))
            }
            _ => Ok(at.checked_sub(shard.places.len()).and_then(|at| shard.terms.get(at)).map(f)),
        }
    }

    /// The first of `count` numbers that this query has not given out before.
    pub fn fresh(&self, count: u64) -> u64 {
        self.next_number.fetch_add(count, Ordering::Relaxed)
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.sum(|shard| shard.hashes.len())
    }

    /// Whether the query has made no terms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held by terms, about.
    pub fn bytes(&self) -> usize {
        self.sum(|shard| shard.bytes)
    }

    fn sum(&self, of: impl Fn(&Shard) -> usize) -> usize {
        self.shards.iter().map(|lock| of(&lock.read().unwrap_or_else(PoisonError::into_inner))).sum()
    }

    fn shard(&self, hash: u64) -> (usize, &RwLock<Shard>) {
        // The tables use the other end of the hash.
        let number = (hash >> 32) as usize & (SHARDS - 1);
        (number, &self.shards[number])
    }
}

impl Relief for LocalVocab {
    fn relieve(&self, _bytes: usize) {
        // All of them: terms of all parts lie side by side in the allocator's pages, and only together make these free.
        for lock in &self.shards {
            // Who has one is perhaps the one that asks.
            let Ok(mut shard) = lock.try_write() else { continue };
            if shard.spill(&self.disk).is_err() {
                return;
            }
        }
    }
}

impl Shard {
    fn find(&self, term: &Term, hash: u64, disk: &Disk) -> Result<Option<u32>, ExecError> {
        let mut failed = None;
        let same = |at: &u32| {
            let at = *at as usize;
            if self.hashes.get(at) != Some(&hash) {
                return false;
            }
            match self.places.get(at).map(|place| disk.read(*place, hash)) {
                None => self.terms.get(at - self.places.len()) == Some(term),
                Some(Ok(known)) => known == *term,
                Some(Err(error)) => {
                    failed = Some(error);
                    true
                }
            }
        };
        let found = self.table.find(hash, same).copied();
        failed.map_or(Ok(found), |error| Err(ExecError::Spill(error)))
    }

    fn push(&mut self, term: &Term, hash: u64) -> u32 {
        let at = u32::try_from(self.hashes.len()).unwrap_or(u32::MAX);
        self.bytes += bytes_of(term);
        self.term_bytes += bytes_of(term) - ENTRY_BYTES;
        make_room(&mut self.hashes, 1);
        self.hashes.push(hash);
        make_room(&mut self.terms, 1);
        self.terms.push(term.clone());
        let Self { table, hashes, .. } = self;
        table.insert_unique(hash, at, |at| hashes.get(*at as usize).copied().unwrap_or(0));
        at
    }

    /// Room for `more` bytes.
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
    fn spill(&mut self, disk: &Disk) -> Result<(), ExecError> {
        if !self.terms.is_empty() {
            let places = disk.file()?.append(&self.terms)?;
            make_room(&mut self.places, places.len());
            self.places.extend(places);
            self.terms = Vec::new();
            self.bytes -= std::mem::take(&mut self.term_bytes);
        }
        if let Some(reservation) = &mut self.reservation {
            reservation.shrink(self.bytes);
        }
        Ok(())
    }
}

fn local_id(at: u32, shard: usize) -> ValueId {
    ValueId::new(Kind::Local, (u64::from(at) << SHARD_BITS) | shard as u64)
}

fn hash(term: &Term) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

/// Bytes of a new term in a table.
fn bytes_of(term: &Term) -> usize {
    ENTRY_BYTES + size_of::<Term>() + term.text_bytes()
}

#[cfg(test)]
mod tests {
    //! What terms take from a budget, and that they are the same wherever they are.
    use super::*;
    use lode_rdf::Literal;

    fn term(n: u32) -> Term {
        Term::from(Literal::new_simple_literal(format!("a text that no id can hold {n}")))
    }

    #[test]
    fn terms_stay_the_same_when_they_go_to_disk() {
        let folder = tempfile::tempdir().unwrap();
        let (vocab, budget) = (Arc::new(LocalVocab::default()), MemoryBudget::new(400 << 10));
        let ids: Vec<ValueId> =
            (0..5000).map(|n| vocab.intern(&term(n), &budget, folder.path()).unwrap()).collect();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(vocab.len() == 5000 && vocab.bytes() <= budget.used() && budget.used() <= 400 << 10);
        for (n, id) in (0..).zip(&ids) {
            assert_eq!(vocab.term(*id).unwrap(), Some(term(n)));
            assert_eq!(vocab.get(&term(n)).unwrap(), Some(*id));
            assert_eq!(vocab.intern(&term(n), &budget, folder.path()).unwrap(), *id);
        }
        assert_eq!(vocab.get(&term(5000)).unwrap(), None);
        assert!(vocab.with_term(ValueId::new(Kind::Local, 1 << 30), |_| ()).unwrap().is_none());
        // Others need nearly all.
        let others = budget.reserve((400 << 10) - 5000 * ENTRY_BYTES - (2 << 10)).unwrap();
        assert_eq!(vocab.bytes(), 5000 * ENTRY_BYTES);
        drop((others, vocab));
        assert_eq!((budget.used(), std::fs::read_dir(folder.path()).unwrap().count()), (0, 0));
    }

    #[test]
    fn some_terms_fit_a_small_budget_and_it_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let (vocab, budget) = (Arc::new(LocalVocab::default()), MemoryBudget::new(96 << 10));
        for n in 0..64 {
            vocab.intern(&term(n), &budget, &folder.path().join("none")).unwrap();
        }
        let refused =
            (64..10_000).find_map(|n| vocab.intern(&term(n), &budget, &folder.path().join("none")).err());
        assert!(matches!(refused, Some(ExecError::Spill(_))), "there is no such folder");
        let vocab = Arc::new(LocalVocab::default());
        let refused = (0..100_000).find_map(|n| vocab.intern(&term(n), &budget, folder.path()).err());
        assert!(matches!(refused, Some(ExecError::OutOfMemory(_))), "hashes take memory, too");
    }
}
