//! Giving back what many allocations hold, without anybody waiting for it.

use crate::pool::Scheduler;
use lode_base::memory_budget::{OutOfBudget, Reservation};

/// Values with memory of their own each: many of them are given back by another thread, since that takes as long as it took to make them, and
/// a query that was cancelled should end at once.
/// What they take of the budget is given back with them, not before.
pub struct DeferredDrop<T: Send + 'static> {
    values: Vec<T>,
    reservation: Option<Reservation>,
}

/// Fewer are given back at once.
const DEFERRED_MIN: usize = 1 << 16;

impl<T: Send + 'static> DeferredDrop<T> {
    pub fn new(values: Vec<T>, reservation: Reservation) -> Self {
        Self { values, reservation: Some(reservation) }
    }

    /// The values take so many bytes now.
    ///
    /// # Errors
    ///
    /// Where the budget has no more.
    pub fn resize(&mut self, bytes: usize) -> Result<(), OutOfBudget> {
        self.reservation.as_mut().map_or(Ok(()), |reservation| reservation.resize(bytes))
    }
}

impl<T: Send + 'static> std::ops::Deref for DeferredDrop<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.values
    }
}

impl<T: Send + 'static> std::ops::DerefMut for DeferredDrop<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.values
    }
}

impl<T: Send + 'static> Drop for DeferredDrop<T> {
    fn drop(&mut self) {
        let (values, reservation) = (std::mem::take(&mut self.values), self.reservation.take());
        let many = values.len() >= DEFERRED_MIN;
        let give_back = move || {
            drop(values);
            drop(reservation);
        };
        if many { Scheduler::shared().submit_chore(Box::new(give_back)) } else { give_back() }
    }
}
