//! Schemas of the newest version: one is read once, and again when the database has changed.

use super::{Reasoning, read};
use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_sparql::schema::Schema;
use lode_store::Snapshot;
use std::sync::{Arc, Mutex, PoisonError};

/// So many are kept: for rules, or graphs, that differ.
const KEPT_MAX: usize = 4;

/// Schemas of versions that transactions made public, those used last at the end.
#[derive(Debug, Default)]
pub(crate) struct KeptSchemas(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    version: u64,
    reasoning: Reasoning,
    schema: Arc<Schema>,
    _memory: Reservation,
}

impl KeptSchemas {
    /// The schema of a version that is public, for who may read all graphs.
    pub fn of(
        &self,
        snapshot: &Snapshot,
        reasoning: &Reasoning,
        cancel: &CancelToken,
        budget: &MemoryBudget,
    ) -> Result<Arc<Schema>, EngineError> {
        let version = snapshot.state_number();
        if let Some(schema) = self.find(version, reasoning) {
            return Ok(schema);
        }
        let (schema, _memory) = read(snapshot, reasoning, None, cancel, budget)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| one.reasoning != *reasoning);
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        kept.push(Kept { version, reasoning: reasoning.clone(), schema: Arc::clone(&schema), _memory });
        Ok(schema)
    }

    fn find(&self, version: u64, reasoning: &Reasoning) -> Option<Arc<Schema>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|one| one.version == version && one.reasoning == *reasoning)?;
        let one = kept.remove(at);
        let schema = Arc::clone(&one.schema);
        kept.push(one);
        Some(schema)
    }
}
