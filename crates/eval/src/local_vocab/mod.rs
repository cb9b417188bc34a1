//! Terms a query makes that the store does not hold: numbered once per distinct term, so that equal ids mean equal terms.
//!
//! They are in memory as long as there is some. Where the query's budget has no more, those of a part go to a temporary file
//! ([`term_file`]); of each a hash and its place there stay, some twenty bytes. Where these are too much as well, they go to another one
//! ([`disk_index`]), and next to nothing stays.

mod chunks;
mod disk;
mod disk_index;
mod shard;
mod temporary_file;
mod term_file;
mod term_hash;

use crate::error::ExecError;
use disk::Disk;
use lode_base::memory_budget::{MemoryBudget, Relief};
use lode_rdf::{Kind, Term, ValueId};
use shard::{Found, Shard};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use term_hash::hash;

/// Threads that make terms rarely meet in one of so many parts.
const SHARDS: usize = 32;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
/// Parts whose hashes and places take less keep them where others need memory: they would gain little.
const INDEX_BYTES_LITTLE: usize = 32 << 10;

/// The query's own table of terms, shared by its threads. It only grows.
#[derive(Debug)]
pub struct LocalVocab {
    shards: [RwLock<Shard>; SHARDS],
    next_number: AtomicU64,
    disk: Disk,
}

impl Default for LocalVocab {
    fn default() -> Self {
        let shards = std::array::from_fn(|_| RwLock::default());
        Self { shards, next_number: AtomicU64::new(0), disk: Disk::default() }
    }
}

impl LocalVocab {
    /// The id of `term`, new or known: [`lode_rdf::Kind::Local`]. Call only for terms that neither are inline nor in the store's
    /// dictionary: `QueryContext::intern` looks there first. The table's bytes are taken from a budget, always the same; where that has no
    /// more, terms go to a file in `folder`.
    ///
    /// # Errors
    ///
    /// Where there is neither memory nor disk for a new term, or a temporary file cannot be read.
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
        shard.make_room(term, budget, &self.disk)?;
        Ok(local_id(shard.push(term, hash), shard_number))
    }

    /// From now on this gives back memory where the query or others need it.
    fn ask_for_relief(self: &Arc<Self>, budget: &MemoryBudget, folder: &Path) {
        if self.disk.set_folder(folder) {
            budget.relieve_by(Arc::downgrade(self) as Weak<dyn Relief>);
        }
    }

    /// The id of a term that was interned or remembered.
    ///
    /// # Errors
    ///
    /// Where a temporary file cannot be read.
    pub fn get(&self, term: &Term) -> Result<Option<ValueId>, ExecError> {
        let hash = hash(term);
        let (shard_number, lock) = self.shard(hash);
        let shard = lock.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = shard.find(term, hash, &self.disk)? {
            return Ok(Some(local_id(at, shard_number)));
        }
        Ok(shard.stored(term, hash))
    }

    /// Remembers the id that the store gave a term, for [`LocalVocab::get`].
    pub fn remember(&self, term: &Term, id: ValueId) {
        let term_hash = hash(term);
        let (_, lock) = self.shard(term_hash);
        let mut shard = lock.write().unwrap_or_else(PoisonError::into_inner);
        shard.remember(term, term_hash, id);
    }

    /// The term of a local id.
    ///
    /// # Errors
    ///
    /// Where a temporary file cannot be read.
    pub fn term(&self, id: ValueId) -> Result<Option<Term>, ExecError> {
        self.with_term(id, Term::clone)
    }

    /// Calls `f` with the term of a local id.
    ///
    /// # Errors
    ///
    /// Where a temporary file cannot be read.
    pub fn with_term<T>(&self, id: ValueId, f: impl FnOnce(&Term) -> T) -> Result<Option<T>, ExecError> {
        if id.kind() != Some(Kind::Local) {
            return Ok(None);
        }
        let payload = usize::try_from(id.payload()).unwrap_or(usize::MAX);
        let Some(lock) = self.shards.get(payload & (SHARDS - 1)) else { return Ok(None) };
        let (shard, at) = (lock.read().unwrap_or_else(PoisonError::into_inner), payload >> SHARD_BITS);
        let found = match shard.at(at) {
            None => return Ok(None),
            Some(Found::Term(term)) => return Ok(Some(f(term))),
            Some(Found::Place(place)) => place,
        };
        drop(shard);
        Ok(Some(f(&self.disk.read(found)?)))
    }

    /// The first of `count` numbers that this query has not given out before.
    pub fn fresh(&self, count: u64) -> u64 {
        self.next_number.fetch_add(count, Ordering::Relaxed)
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.sum(Shard::len)
    }

    /// Whether the query has made no terms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held by terms, about.
    pub fn bytes(&self) -> usize {
        self.sum(Shard::bytes)
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
    fn relieve(&self, bytes: usize) {
        let mut given_back = 0;
        let steps = [Shard::spill_terms, |shard: &mut Shard, disk: &Disk| {
            if shard.bytes() < INDEX_BYTES_LITTLE { Ok(()) } else { shard.spill_index(disk) }
        }];
        // Of all parts: their terms lie side by side in the allocator's pages, and only together make these free.
        for spill in steps {
            for lock in &self.shards {
                // Who has one is perhaps the one that asks.
                let Ok(mut shard) = lock.try_write() else { continue };
                let before = shard.reserved();
                if spill(&mut shard, &self.disk).is_err() {
                    return;
                }
                given_back += before.saturating_sub(shard.reserved());
            }
            if given_back >= bytes {
                return;
            }
        }
    }
}

fn local_id(at: u32, shard: usize) -> ValueId {
    ValueId::new(Kind::Local, (u64::from(at) << SHARD_BITS) | shard as u64)
}

#[cfg(test)]
mod tests {
    //! What terms take from a budget, and that they are the same wherever they are.
    use super::shard::ENTRY_BYTES;
    use super::*;
    use lode_rdf::Literal;

    fn term(n: u32) -> Term {
        Term::from(Literal::new_simple_literal(format!("a text that no id can hold {n}")))
    }

    /// Names in a folder: temporary files have none, so that nothing stays behind a process that is killed.
    fn names(folder: &tempfile::TempDir) -> usize {
        std::fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn terms_stay_the_same_when_they_go_to_disk() {
        let folder = tempfile::tempdir().unwrap();
        let (vocab, budget) = (Arc::new(LocalVocab::default()), MemoryBudget::new(400 << 10));
        let ids: Vec<ValueId> =
            (0..5000).map(|n| vocab.intern(&term(n), &budget, folder.path()).unwrap()).collect();
        assert_eq!((vocab.disk.files(), names(&folder)), (1, 0));
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
        assert_eq!((budget.used(), names(&folder)), (0, 0));
    }

    #[test]
    fn some_terms_fit_a_small_budget_and_it_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let (vocab, budget) = (Arc::new(LocalVocab::default()), MemoryBudget::new(96 << 10));
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for n in 0..64 {
            vocab.intern(&term(n), &budget, &file).unwrap();
        }
        let refused = (64..10_000).find_map(|n| vocab.intern(&term(n), &budget, &file).err());
        assert!(matches!(refused, Some(ExecError::Spill(_))), "this is no folder");
    }

    #[test]
    fn any_number_of_terms_fits_a_small_budget() {
        let folder = tempfile::tempdir().unwrap();
        let (vocab, budget) = (Arc::new(LocalVocab::default()), MemoryBudget::new(128 << 10));
        let intern = |n| vocab.intern(&term(n), &budget, folder.path()).unwrap();
        let ids: Vec<ValueId> = (0..100_000).map(intern).collect();
        assert_eq!((vocab.len(), vocab.disk.files(), names(&folder)), (100_000, 2, 0));
        assert!(vocab.bytes() <= budget.used() && budget.peak() <= 128 << 10);
        for n in (0..100_000).step_by(77) {
            assert_eq!((intern(n), vocab.get(&term(n)).unwrap()), (ids[n as usize], Some(ids[n as usize])));
            assert_eq!(vocab.term(ids[n as usize]).unwrap(), Some(term(n)));
        }
        assert_eq!(vocab.get(&term(100_000)).unwrap(), None);
        let distinct: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), 100_000);
        drop(vocab);
        assert_eq!((budget.used(), names(&folder)), (0, 0));
    }

    #[test]
    fn others_get_what_the_hashes_take() {
        let folder = tempfile::tempdir().unwrap();
        let (vocab, budget) = (Arc::new(LocalVocab::default()), MemoryBudget::new(16 << 20));
        (0..60_000).for_each(|n| assert!(vocab.intern(&term(n), &budget, folder.path()).is_ok()));
        let others = budget.reserve(15 << 20).unwrap();
        assert_eq!(vocab.term(vocab.get(&term(59_999)).unwrap().unwrap()).unwrap(), Some(term(59_999)));
        assert!(vocab.bytes() < 1 << 20, "{}", vocab.bytes());
        drop(others);
    }
}
