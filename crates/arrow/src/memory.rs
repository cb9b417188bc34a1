//! The memory of what is made of a batch, taken from the query's budget before it is allocated.

use arrow_array::RecordBatch;
use lode_engine::{ExecError, MemoryBudget, Reservation};

/// Texts are reserved in steps of so many bytes, or a quarter of what there is.
const STEP_BYTES: usize = 64 << 10;

/// Bytes of a batch.
pub struct BatchMemory {
    reservation: Reservation,
    bytes: usize,
}

impl BatchMemory {
    /// None yet.
    pub fn new(budget: &MemoryBudget) -> Self {
        Self { reservation: budget.reserve_empty(), bytes: 0 }
    }

    /// So many bytes more.
    pub fn add(&mut self, bytes: usize) -> Result<(), ExecError> {
        self.bytes += bytes;
        let reserved = self.reservation.bytes();
        if self.bytes > reserved {
            let generous = self.bytes + STEP_BYTES.max(self.bytes / 4);
            if self.reservation.resize(generous).is_err() {
                self.reservation.resize(self.bytes)?;
            }
        }
        Ok(())
    }

    /// Sets how many bytes there are.
    pub fn set(&mut self, bytes: usize) -> Result<(), ExecError> {
        self.bytes = 0;
        self.reservation.shrink(self.reservation.bytes().saturating_sub(bytes));
        self.add(bytes)
    }
}

/// What a batch takes.
pub fn batch_bytes(batch: &RecordBatch) -> usize {
    batch.get_array_memory_size()
}
