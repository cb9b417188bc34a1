//! What a request has changed so far: its transaction, and the memory of that, which is taken from the budget before it is used.

use crate::EngineError;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
use lode_exec::ExecError;
use lode_rdf::{Term, ValueId, term_bytes};
use lode_store::{Commit, Graphs, Snapshot, Transaction};
use std::collections::HashMap;
use std::hash::Hash;

/// Bytes that the transaction takes for each change, about: as it was asked for, sorted beside that, and in the end as a row of a run.
const CHANGE_BYTES: usize = 112;
/// Changes whose bytes are taken from the budget at once.
const CHANGES_AT_ONCE: usize = 1024;
/// A new term is there twice, as the transaction's own and as everybody's from the commit on, and once more while a table of them grows.
const TERM_COPIES: usize = 3;
/// Bytes of a new term beside its text: its entry in a table.
const TERM_BYTES: usize = 40;
/// Bytes of terms that are taken from the budget at once.
const TERM_BYTES_AT_ONCE: usize = 64 << 10;

/// A transaction on its way.
pub(super) struct Draft {
    transaction: Transaction,
    budget: MemoryBudget,
    /// What it holds.
    held: Reservation,
    changes: usize,
    /// Bytes of `held` that no new term has taken yet.
    term_room: usize,
}

impl Draft {
    /// Nothing yet.
    pub fn new(transaction: Transaction, budget: &MemoryBudget) -> Self {
        let held = budget.reserve_empty();
        Self {
            transaction: transaction.within(budget),
            budget: budget.clone(),
            held,
            changes: 0,
            term_room: 0,
        }
    }

    /// The state that it makes.
    pub fn snapshot(&mut self) -> Result<Snapshot, EngineError> {
        Ok(self.transaction.snapshot()?)
    }

    /// Changes that were asked for.
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// Bytes of the terms that are new.
    pub fn new_term_bytes(&self) -> usize {
        self.transaction.new_term_bytes()
    }

    /// The id of a term: the one it has, or a new one. `None` for a blank node that did not come out of this database.
    pub fn intern(&mut self, term: &Term) -> Result<Option<ValueId>, EngineError> {
        // Nobody knows yet whether it is new.
        let most = TERM_COPIES * (term_bytes(term.as_ref()) + TERM_BYTES);
        if self.term_room < most {
            let more = (most - self.term_room).max(TERM_BYTES_AT_ONCE);
            match self.held.grow(more) {
                Ok(()) => self.term_room += more,
                // To the last byte.
                Err(_) => {
                    self.held.grow(most - self.term_room).map_err(too_much)?;
                    self.term_room = most;
                }
            }
        }
        let before = self.transaction.new_term_bytes();
        let id = self.transaction.intern(term)?;
        let bytes = self.transaction.new_term_bytes() - before;
        if bytes > 0 {
            self.term_room = self.term_room.saturating_sub(TERM_COPIES * (bytes + TERM_BYTES));
        }
        Ok(id)
    }

    /// A new blank node.
    pub fn fresh_blank(&mut self) -> Result<ValueId, EngineError> {
        Ok(self.transaction.fresh_blank()?)
    }

    /// Inserts a quad.
    pub fn insert(&mut self, quad: [ValueId; 4]) -> Result<(), EngineError> {
        self.count_change()?;
        self.transaction.insert(quad);
        Ok(())
    }

    /// Deletes a quad.
    pub fn delete(&mut self, quad: [ValueId; 4]) -> Result<(), EngineError> {
        self.count_change()?;
        self.transaction.delete(quad);
        Ok(())
    }

    fn count_change(&mut self) -> Result<(), EngineError> {
        if self.changes.is_multiple_of(CHANGES_AT_ONCE) {
            self.held.grow(CHANGES_AT_ONCE * CHANGE_BYTES).map_err(too_much)?;
        }
        self.changes += 1;
        Ok(())
    }

    /// Deletes all quads of graphs, of which there are `quads`.
    pub fn clear(&mut self, graphs: Graphs, quads: u64) -> Result<(), EngineError> {
        if !self.transaction.clears_at_once(graphs)? {
            let quads = usize::try_from(quads).unwrap_or(usize::MAX);
            self.held.grow(quads.saturating_mul(CHANGE_BYTES)).map_err(too_much)?;
        }
        Ok(self.transaction.clear(graphs)?)
    }

    /// Makes the changes durable and visible.
    pub fn commit(self) -> Result<Commit, EngineError> {
        Ok(self.transaction.commit()?)
    }

    /// Ids by something else, which are to be remembered.
    pub fn ids<K>(&self) -> Ids<K> {
        Ids { ids: HashMap::new(), held: self.budget.reserve_empty(), bytes: 0 }
    }
}

/// Ids by something else, with memory for them.
pub(super) struct Ids<K> {
    ids: HashMap<K, ValueId>,
    held: Reservation,
    bytes: usize,
}

/// Bytes of an id in a hash table that is half full, beside its key.
const ID_BYTES: usize = 16;
/// Bytes that are taken from the budget at once.
const IDS_BYTES_AT_ONCE: usize = 16 << 10;

impl<K: Eq + Hash> Ids<K> {
    /// The id of a key, if there is one.
    pub fn get(&self, key: &K) -> Option<ValueId> {
        self.ids.get(key).copied()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.ids = HashMap::new();
        self.bytes = 0;
        self.held.shrink(0);
    }

    /// Remembers one more, whose key has so many bytes elsewhere.
    pub fn insert(&mut self, key: K, id: ValueId, key_bytes: usize) -> Result<(), EngineError> {
        self.bytes += 2 * size_of::<K>() + ID_BYTES + key_bytes;
        if self.bytes > self.held.bytes() {
            let missing = self.bytes - self.held.bytes();
            self.held
                .grow(missing.max(IDS_BYTES_AT_ONCE))
                .or_else(|_| self.held.grow(missing))
                .map_err(too_much)?;
        }
        self.ids.insert(key, id);
        Ok(())
    }
}

/// The error of a request for which there is no memory.
pub(super) fn too_much(error: OutOfBudget) -> EngineError {
    EngineError::Execution(ExecError::OutOfMemory(error))
}
