//! What rules add in a transaction: many quads that are known to be new, and quads that only its next snapshot shows.

use super::Transaction;
use crate::delta::{ChangeSet, Row};
use crate::error::StoreError;
use crate::manifest::{Inferences, RULES_BYTES_MAX};
use crate::snapshot::Snapshot;
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

    /// For each of `quads` (S, P, O, G; sorted) whether it is there now.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or there is no memory for the changes so far.
    pub fn holds(&mut self, quads: &[[ValueId; 4]]) -> Result<Vec<bool>, StoreError> {
        self.settle()?;
        let rows = rows(quads);
        let held = self.base.held_by_segments(&rows)?;
        Ok(self.seen().visible(&rows, &held))
    }

    /// Inserts quads (S, P, O, G; sorted, each once) none of which is there ([`Self::holds`]). The caller counts 32 bytes for each.
    ///
    /// # Errors
    /// Like [`Self::holds`].
    pub fn insert_new(&mut self, quads: &[[ValueId; 4]]) -> Result<(), StoreError> {
        self.settle()?;
        let change_set = ChangeSet::new(rows(quads), Vec::new());
        let merged = ChangeSet::merge_within(&self.done, &change_set, &self.memory);
        self.done = Arc::new(merged.map_err(StoreError::OutOfMemory)?);
        Ok(())
    }

    /// What [`Self::snapshot`] shows, and some quads more (S, P, O, G; sorted, each once), which are in none other and never committed. The caller
    /// counts 32 bytes for each.
    ///
    /// # Errors
    /// Like [`Self::snapshot`].
    pub fn snapshot_beside(&mut self, quads: &[[ValueId; 4]]) -> Result<Snapshot, StoreError> {
        let snapshot = self.snapshot()?;
        let beside = Arc::new(ChangeSet::new(rows(quads), Vec::new()).within(&self.memory));
        let mut version = Arc::unwrap_or_clone(Arc::clone(snapshot.version()));
        version.delta = version.delta.with_own(&beside, self.terms.table());
        Ok(Snapshot::new(Arc::new(version)))
    }
}

fn rows(quads: &[[ValueId; 4]]) -> Vec<Row> {
    quads.iter().map(|quad| quad.map(ValueId::to_bits)).collect()
}
