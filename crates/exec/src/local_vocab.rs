//! Terms a query makes that the store does not hold: numbered once per distinct term, so that equal ids mean equal terms.

use hashbrown::HashTable;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
use lode_rdf::{Kind, Literal, NamedNode, Term, ValueId};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// Threads that make terms rarely meet in one of so many parts.
const SHARDS: usize = 32;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
/// Bytes that a part takes from the budget at once: as many as it has, within these. Some terms, each in a part of its own, must fit a
/// small budget.
const RESERVE_BYTES: RangeInclusive<usize> = 1 << 10..=64 << 10;
/// Ids of stored terms that a part remembers.
const STORED_MAX: usize = 1024;

/// The query's own table of terms, shared by its threads. It only grows.
#[derive(Debug)]
pub struct LocalVocab {
    shards: [RwLock<Shard>; SHARDS],
    next_number: AtomicU64,
}

impl Default for LocalVocab {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| RwLock::default()), next_number: AtomicU64::new(0) }
    }
}

#[derive(Debug, Default)]
struct Shard {
    /// Indexes of `entries`, by hash of the term.
    table: HashTable<u32>,
    entries: Vec<Entry>,
    /// Terms that turned out to be in the store, with their ids: constants are asked for again and again.
    stored: HashTable<(Term, ValueId)>,
    bytes: usize,
    reservation: Option<Reservation>,
}

#[derive(Debug)]
struct Entry {
    term: Term,
    hash: u64,
}

impl LocalVocab {
    /// The id of `term`, new or known: [`lode_rdf::Kind::Local`]. Call only for terms that neither are inline nor in the store's
    /// dictionary: `QueryContext::intern` looks there first.
    pub fn intern(&self, term: &Term) -> ValueId {
        self.intern_within(term, &MemoryBudget::unlimited()).unwrap_or_default()
    }

    /// Like [`LocalVocab::intern`], with the table's bytes taken from a budget.
    pub fn intern_within(&self, term: &Term, budget: &MemoryBudget) -> Result<ValueId, OutOfBudget> {
        let hash = hash(term);
        let (shard_number, lock) = self.shard(hash);
        let mut shard = lock.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = shard.find(term, hash) {
            return Ok(local_id(at, shard_number));
        }
        shard.reserve(term_bytes(term) + size_of::<Entry>() + 8, budget)?;
        let at = u32::try_from(shard.entries.len()).unwrap_or(u32::MAX);
        shard.entries.push(Entry { term: term.clone(), hash });
        let Shard { table, entries, .. } = &mut *shard;
        table.insert_unique(hash, at, |at| entries.get(*at as usize).map_or(0, |entry| entry.hash));
        Ok(local_id(at, shard_number))
    }

    /// The id of a term that was interned or remembered.
    pub fn get(&self, term: &Term) -> Option<ValueId> {
        let hash = hash(term);
        let (shard_number, lock) = self.shard(hash);
        let shard = lock.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = shard.find(term, hash) {
            return Some(local_id(at, shard_number));
        }
        shard.stored.find(hash, |(known, _)| known == term).map(|(_, id)| *id)
    }

    /// Remembers the id that the store gave a term, for [`LocalVocab::get`].
    pub fn remember(&self, term: &Term, id: ValueId) {
        let term_hash = hash(term);
        let (_, lock) = self.shard(term_hash);
        let mut shard = lock.write().unwrap_or_else(PoisonError::into_inner);
        let known = shard.stored.find(term_hash, |(known, _)| known == term).is_some();
        if shard.stored.len() < STORED_MAX && !known {
            shard.stored.insert_unique(term_hash, (term.clone(), id), |(term, _)| hash(term));
        }
    }

    /// The term of a local id.
    pub fn term(&self, id: ValueId) -> Option<Term> {
        self.with_term(id, Term::clone)
    }

    /// Calls `f` with the term of a local id.
    pub fn with_term<T>(&self, id: ValueId, f: impl FnOnce(&Term) -> T) -> Option<T> {
        if id.kind() != Some(Kind::Local) {
            return None;
        }
        let payload = usize::try_from(id.payload()).ok()?;
        let lock = self.shards.get(payload & (SHARDS - 1))?;
        let shard = lock.read().unwrap_or_else(PoisonError::into_inner);
        shard.entries.get(payload >> SHARD_BITS).map(|entry| f(&entry.term))
    }

    /// The first of `count` numbers that this query has not given out before.
    pub fn fresh(&self, count: u64) -> u64 {
        self.next_number.fetch_add(count, Ordering::Relaxed)
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        let count = |lock: &RwLock<Shard>| lock.read().unwrap_or_else(PoisonError::into_inner).entries.len();
        self.shards.iter().map(count).sum()
    }

    /// Whether the query has made no terms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held by terms, about.
    pub fn bytes(&self) -> usize {
        let bytes = |lock: &RwLock<Shard>| lock.read().unwrap_or_else(PoisonError::into_inner).bytes;
        self.shards.iter().map(bytes).sum()
    }

    fn shard(&self, hash: u64) -> (usize, &RwLock<Shard>) {
        // The tables use the other end of the hash.
        let number = (hash >> 32) as usize & (SHARDS - 1);
        (number, &self.shards[number])
    }
}

impl Shard {
    fn find(&self, term: &Term, hash: u64) -> Option<u32> {
        let same = |at: &u32| self.entries.get(*at as usize).is_some_and(|entry| entry.term == *term);
        self.table.find(hash, same).copied()
    }

    fn reserve(&mut self, bytes: usize, budget: &MemoryBudget) -> Result<(), OutOfBudget> {
        self.bytes += bytes;
        let reservation = match &mut self.reservation {
            Some(reservation) => reservation,
            none => none.insert(budget.reserve(0)?),
        };
        if self.bytes > reservation.bytes() {
            let step = self.bytes.clamp(*RESERVE_BYTES.start(), *RESERVE_BYTES.end());
            reservation.grow((self.bytes - reservation.bytes()).max(step))?;
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

/// Bytes of a term's texts.
fn term_bytes(term: &Term) -> usize {
    match term {
        Term::NamedNode(node) => node.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal_bytes(literal),
        Term::Triple(triple) => {
            let subject = triple.subject.to_string().len();
            size_of_val(&**triple) + subject + iri_bytes(&triple.predicate) + term_bytes(&triple.object)
        }
    }
}

fn literal_bytes(literal: &Literal) -> usize {
    let datatype = if literal.language().is_some() { 0 } else { literal.datatype().as_str().len() };
    literal.value().len() + literal.language().map_or(0, str::len) + datatype
}

fn iri_bytes(node: &NamedNode) -> usize {
    node.as_str().len()
}

#[cfg(test)]
mod tests {
    //! What terms take from a budget.
    use super::{LocalVocab, MemoryBudget};
    use lode_rdf::{Literal, Term};

    #[test]
    fn some_terms_fit_a_small_budget() {
        let (vocab, budget) = (LocalVocab::default(), MemoryBudget::new(96 << 10));
        let term =
            |n: u32| Term::from(Literal::new_simple_literal(format!("a text that no id can hold {n}")));
        for n in 0..64 {
            vocab.intern_within(&term(n), &budget).unwrap();
        }
        let refused = (64..10_000).find(|n| vocab.intern_within(&term(*n), &budget).is_err());
        assert!(refused.is_some(), "the budget has no end");
    }
}
