//! What rules add in a transaction: many quads that are known to be new, and quads that only its next snapshot shows; and what they add before it is committed.

use super::Transaction;
use super::upkeep::CommitUpkeep;
use crate::delta::{ChangeSet, QuadSet, Row};
use crate::error::StoreError;
use crate::manifest::{Inferences, RULES_BYTES_MAX};
use crate::snapshot::Snapshot;
use crate::version::Version;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::sync::Arc;

impl Transaction {
    /// Says what is to be known of inferences from the commit on: `None` is that there are no rules. The commit publishes that with its changes,
    /// in one step.
    ///
    /// # Errors
    /// [`StoreError::Limit`] where the rules are too long.
    pub fn set_inferences(&mut self, inferences: Option<Inferences>) -> Result<(), StoreError> {
        let bytes = inferences.as_ref().map_or(0, |inferences| inferences.rules.len());
        if bytes > RULES_BYTES_MAX {
            return Err(StoreError::Limit(format!(
                "the rules have {bytes} bytes, and a database keeps {RULES_BYTES_MAX} at most"
            )));
        }
        self.inferences = Some(inferences);
        Ok(())
    }

    /// The quads that are there now, to look some up.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or there is no memory for the changes so far.
    pub fn present(&mut self) -> Result<Present, StoreError> {
        self.settle()?;
        Ok(Present(self.seen()))
    }

    /// Inserts quads (S, P, O, G; sorted, each once) none of which is there ([`Present::holds`]). The caller counts 32 bytes for each.
    ///
    /// # Errors
    /// Like [`Self::present`]. Where there is no memory, what was done before is lost: then the transaction ends, or goes back.
    pub fn insert_new(&mut self, quads: Vec<[ValueId; 4]>) -> Result<(), StoreError> {
        self.settle()?;
        let new = ChangeSet::new(rows(quads), Vec::new()).within(&self.memory);
        // In place, where no snapshot sees what was done before: else all of it would be there twice.
        let merged = match Arc::try_unwrap(std::mem::take(&mut self.done)) {
            Ok(done) if done.is_empty() => Ok(new),
            Ok(done) if done.len() < new.len() && done.deletes.is_empty() => {
                new.insert_within(&done, &self.memory)
            }
            Ok(done) => done.insert_within(&new, &self.memory),
            Err(done) => ChangeSet::merge_within(&done, &new, &self.memory),
        };
        self.done = Arc::new(merged.map_err(StoreError::OutOfMemory)?);
        Ok(())
    }

    /// What [`Self::snapshot`] shows, and some quads more (S, P, O, G; sorted, each once), which are in none other and never committed. The caller
    /// counts 32 bytes for each.
    ///
    /// # Errors
    /// Like [`Self::snapshot`].
    pub fn snapshot_beside(&mut self, quads: Vec<[ValueId; 4]>) -> Result<Snapshot, StoreError> {
        let snapshot = self.snapshot()?;
        self.beside(&snapshot, quads)
    }

    /// The same of any version that the transaction has shown.
    ///
    /// # Errors
    /// Like [`Self::snapshot`].
    pub fn beside(&self, snapshot: &Snapshot, quads: Vec<[ValueId; 4]>) -> Result<Snapshot, StoreError> {
        let beside = Arc::new(ChangeSet::new(rows(quads), Vec::new()).within(&self.memory));
        let mut version = Arc::unwrap_or_clone(Arc::clone(snapshot.version()));
        version.delta = version.delta.with_own(&beside, self.terms.table());
        Ok(Snapshot::new(Arc::new(version)))
    }
}

/// The quads that are there at one moment of a transaction.
#[derive(Debug)]
pub struct Present(Version);

impl Present {
    /// For each of `quads` (S, P, O, G; sorted) whether it is there.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged.
    pub fn holds(&self, quads: Vec<[ValueId; 4]>) -> Result<Vec<bool>, StoreError> {
        let rows = rows(quads);
        let held = self.0.held_by_segments(&rows)?;
        Ok(self.0.visible(&rows, &held))
    }
}

/// Changes of a transaction as they were at one time.
#[derive(Debug, Clone)]
pub struct Savepoint {
    done: Arc<ChangeSet>,
    base: Arc<Version>,
    /// Quads of graphs that had been cleared at once, where some had.
    cleared: Option<u64>,
}

impl Transaction {
    /// What was there when it began.
    pub fn before(&self) -> Snapshot {
        Snapshot::new(Arc::clone(&self.base))
    }

    /// What stops it.
    pub fn cancel(&self) -> &CancelToken {
        &self.cancel
    }

    /// What its work takes memory from.
    pub fn memory(&self) -> &MemoryBudget {
        &self.memory
    }

    /// Quads (S, P, O, G; sorted) that appear, and that disappear; none where whole graphs were cleared, so that they are not known one by one.
    ///
    /// # Errors
    /// Like [`Self::present`].
    pub fn changes(&mut self) -> Result<Option<[Vec<[ValueId; 4]>; 2]>, StoreError> {
        self.settle()?;
        let ids =
            |set: &QuadSet| set.rows(Order::Spog).iter().map(|row| row.map(ValueId::from_bits)).collect();
        Ok(self.cleared.is_none().then(|| [ids(&self.done.inserts), ids(&self.done.deletes)]))
    }

    /// Its changes now, to go back to.
    ///
    /// # Errors
    /// Like [`Self::present`].
    pub fn savepoint(&mut self) -> Result<Savepoint, StoreError> {
        self.settle()?;
        let cleared = self.cleared.as_ref().map(|cleared| cleared.quads);
        Ok(Savepoint { done: Arc::clone(&self.done), base: Arc::clone(&self.base), cleared })
    }

    /// Forgets what was done since, also that graphs were cleared.
    pub fn go_back(&mut self, to: Savepoint) {
        self.waiting.clear();
        self.done = to.done;
        self.base = to.base;
        // Segments that were written since and that the version has not are removed with the others that it does not keep.
        match (to.cleared, &mut self.cleared) {
            (Some(quads), Some(own)) => own.quads = quads,
            _ => self.cleared = None,
        }
    }

    /// Has the upkeep of the store add what follows. Quads inserted and deleted before that: what its client is told of.
    pub(super) fn keep_up(&mut self) -> Result<Option<[u64; 2]>, StoreError> {
        let is_maintained = self.base.manifest.inferences.as_ref().is_some_and(Inferences::is_maintained);
        // Who says what is to be known of inferences has seen to them.
        if self.guard.is_none() || self.inferences.is_some() || !is_maintained {
            return Ok(None);
        }
        self.settle()?;
        if self.done.is_empty() && self.cleared.is_none() {
            return Ok(None);
        }
        let gone = self.cleared.as_ref().map_or(0, |cleared| cleared.quads);
        let counts = [self.done.inserts.len() as u64, gone + self.done.deletes.len() as u64];
        let store = self.store.clone();
        let upkeep = store.commit_upkeep().get().and_then(|upkeep| upkeep.downcast_ref::<CommitUpkeep>());
        let is_complete = match upkeep {
            Some(upkeep) => upkeep.run(self)?,
            None => false,
        };
        if !is_complete {
            self.inferences = Some(self.base.manifest.inferences.clone().map(Inferences::stale));
        }
        Ok(Some(counts))
    }
}

/// In the same memory.
fn rows(quads: Vec<[ValueId; 4]>) -> Vec<Row> {
    quads.into_iter().map(|quad| quad.map(ValueId::to_bits)).collect()
}
