//! What is added to a transaction before it is committed, because it follows from its changes: so that readers see what was stated and what follows of one
//! version, and the log has both in one record. What follows is not known here.
//!
//! Where inferences are maintained and a transaction was not completed so, whoever began it, the commit says that they are stale.

use super::Transaction;
use crate::error::StoreError;
use crate::store::Store;
use std::fmt;

type Work = dyn Fn(&mut Transaction) -> Result<bool, StoreError> + Send + Sync;

/// The upkeep of one store: it may remember what it knows of it.
pub struct CommitUpkeep(Box<Work>);

impl CommitUpkeep {
    /// An upkeep, which adds what follows, and says whether that is all: else the inferences are stale from the commit on. Where it fails, so does the commit.
    pub fn new(work: impl Fn(&mut Transaction) -> Result<bool, StoreError> + Send + Sync + 'static) -> Self {
        Self(Box::new(work))
    }

    pub(super) fn run(&self, transaction: &mut Transaction) -> Result<bool, StoreError> {
        (self.0)(transaction)
    }
}

impl Store {
    /// From now on all transactions that begin are completed before they are committed, where inferences are maintained. Once for a store:
    /// false where it had that already.
    pub fn keep_up(&self, upkeep: CommitUpkeep) -> bool {
        self.commit_upkeep().set(Box::new(upkeep)).is_ok()
    }
}

impl fmt::Debug for CommitUpkeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommitUpkeep")
    }
}
