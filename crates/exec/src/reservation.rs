//! Rows that a blocking operator holds, reserved from the memory budget before they are copied.

use crate::context::QueryContext;
use lode_base::memory_budget::{OutOfBudget, Reservation};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// What an operator may hold beside the budget: its working state, without which it could not run at all.
pub(crate) const WORKING_BYTES: usize = 64 << 10;

/// Has `reservation` cover `bytes` beside the working state.
pub(crate) fn cover(reservation: &mut Reservation, bytes: usize) -> Result<(), OutOfBudget> {
    let beyond = bytes.saturating_sub(WORKING_BYTES);
    if beyond > reservation.bytes() { reservation.resize(beyond) } else { Ok(()) }
}

/// Rows with a reservation for their memory.
#[derive(Debug)]
pub(crate) struct ReservedRows {
    /// The rows.
    pub(crate) rows: Batch,
    reservation: Reservation,
    /// Bytes per row that the owner will need besides.
    extra_bytes: usize,
    capacity: usize,
}

impl ReservedRows {
    /// No rows yet.
    pub(crate) fn new(cx: &QueryContext, vars: &Arc<[VarId]>, extra_bytes: usize) -> Self {
        let reservation = cx.budget.reserve_spillable();
        Self { rows: Batch::new(Arc::clone(vars)), reservation, extra_bytes, capacity: 0 }
    }

    fn row_bytes(&self) -> usize {
        self.rows.columns.len() * size_of::<ValueId>() + self.extra_bytes
    }

    /// Appends the rows of `batch`, which has the same columns; `false`, and nothing happens, where the budget lacks the memory
    /// or the rows would be more than 32 bits can number.
    pub(crate) fn append(&mut self, batch: &Batch) -> bool {
        let rows = self.rows.rows + batch.rows;
        if rows >= u32::MAX as usize {
            return false;
        }
        if rows > self.capacity && !self.grow(rows.max(self.capacity * 3 / 2)) && !self.grow(rows) {
            return false;
        }
        self.rows.append_range(batch, 0, batch.rows);
        true
    }

    fn grow(&mut self, capacity: usize) -> bool {
        if self.reservation.resize(capacity * self.row_bytes()).is_err() {
            return false;
        }
        for column in &mut self.rows.columns {
            column.reserve_exact(capacity - column.len());
        }
        self.capacity = capacity;
        true
    }

    /// An empty batch with as much room as is reserved: to put some of the rows into, and then in their place.
    pub(crate) fn room_for_some(&self) -> Batch {
        let mut room = Batch::new(Arc::clone(&self.rows.vars));
        room.columns.iter_mut().for_each(|column| column.reserve_exact(self.capacity));
        room
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.reservation.bytes()
    }

    /// Removes the rows and gives their memory back.
    pub(crate) fn release(&mut self) -> Result<(), ExecError> {
        self.rows = Batch::new(Arc::clone(&self.rows.vars));
        self.capacity = 0;
        Ok(self.reservation.resize(0)?)
    }

    /// The rows and their reservation.
    pub(crate) fn into_parts(self) -> (Batch, Reservation) {
        (self.rows, self.reservation)
    }
}
