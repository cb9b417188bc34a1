//! A check of what a transaction would make of the database, before it is made: of data that must keep some rules. With a check every transaction has the write lock from its beginning, so
//! what was checked is what is committed, and bulk loads, whose result nobody can look at before it is there, are refused.

use crate::delta::ChangeSet;
use crate::error::StoreError;
use crate::snapshot::Snapshot;
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::fmt;

/// What is to be committed.
#[derive(Clone, Copy)]
pub struct Proposed<'c> {
    /// What the database would be.
    pub snapshot: &'c Snapshot,
    changes: Changes<'c>,
    /// Stops the check.
    pub cancel: &'c CancelToken,
}

#[derive(Clone, Copy)]
enum Changes<'c> {
    /// None: it is committed already.
    Committed,
    These(&'c ChangeSet),
    /// Whole graphs were cleared.
    Unknown,
}

impl<'c> Proposed<'c> {
    pub(crate) fn new(
        snapshot: &'c Snapshot,
        changes: Option<&'c ChangeSet>,
        cancel: &'c CancelToken,
    ) -> Self {
        Self { snapshot, changes: changes.map_or(Changes::Unknown, Changes::These), cancel }
    }

    /// Whether it is the state that the database is in.
    pub fn is_committed(&self) -> bool {
        matches!(self.changes, Changes::Committed)
    }

    /// The quads (S, P, O, G) that appear or disappear; none where they are not known one by one.
    pub fn changed_quads(&self) -> Option<impl Iterator<Item = [ValueId; 4]> + use<'c>> {
        let Changes::These(changes) = self.changes else { return None };
        let rows = |set: &'c crate::delta::QuadSet| {
            set.rows(Order::Spog).iter().map(|row| row.map(ValueId::from_bits))
        };
        Some(rows(&changes.inserts).chain(rows(&changes.deletes)))
    }
}

type Check = dyn Fn(&Proposed<'_>) -> Result<(), StoreError> + Send + Sync;

/// The check of one store: it may remember what it knows of it.
pub struct CommitCheck(Box<Check>);

impl CommitCheck {
    /// A check, which says by [`StoreError::Refused`] that something may not be committed.
    pub fn new(check: impl Fn(&Proposed<'_>) -> Result<(), StoreError> + Send + Sync + 'static) -> Self {
        Self(Box::new(check))
    }

    /// Whether a state that is committed might be.
    ///
    /// # Errors
    /// [`StoreError::Refused`] where it might not; where that cannot be told.
    pub fn run(&self, snapshot: &Snapshot, cancel: &CancelToken) -> Result<(), StoreError> {
        self.check(&Proposed { snapshot, changes: Changes::Committed, cancel })
    }

    pub(crate) fn check(&self, proposed: &Proposed<'_>) -> Result<(), StoreError> {
        (self.0)(proposed)
    }
}

impl fmt::Debug for CommitCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommitCheck")
    }
}
