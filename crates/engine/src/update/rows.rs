//! Quads of an operation, gathered before any of them is applied, in memory that the request's budget grants.

use crate::EngineError;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
use lode_exec::ExecError;
use lode_rdf::ValueId;

/// Room that the first row makes.
const ROWS_MIN: usize = 256;

/// A list of quads: S, P, O, G.
pub(super) struct Rows {
    rows: Vec<[ValueId; 4]>,
    reservation: Reservation,
}

impl Rows {
    /// None yet.
    pub fn new(budget: &MemoryBudget) -> Result<Self, EngineError> {
        Ok(Self { rows: Vec::new(), reservation: reserve(budget)? })
    }

    /// Adds one, unless it is the same as the last.
    pub fn push(&mut self, quad: [ValueId; 4]) -> Result<(), EngineError> {
        if self.rows.last() == Some(&quad) {
            return Ok(());
        }
        if self.rows.len() == self.rows.capacity() {
            let more = self.rows.len().max(ROWS_MIN);
            grow(&mut self.reservation, more * size_of::<[ValueId; 4]>())?;
            self.rows.reserve_exact(more);
        }
        self.rows.push(quad);
        Ok(())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = [ValueId; 4]> {
        self.rows.iter().copied()
    }
}

/// A reservation to be grown.
pub(super) fn reserve(budget: &MemoryBudget) -> Result<Reservation, EngineError> {
    budget.reserve(0).map_err(too_much)
}

/// Takes more from the budget.
pub(super) fn grow(reservation: &mut Reservation, bytes: usize) -> Result<(), EngineError> {
    reservation.grow(bytes).map_err(too_much)
}

fn too_much(error: OutOfBudget) -> EngineError {
    EngineError::Execution(ExecError::OutOfMemory(error))
}
