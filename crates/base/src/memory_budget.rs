//! A shared, hierarchical-free count of reserved bytes with a limit; operators reserve before they allocate.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More memory was asked for than the budget holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("memory budget exceeded: {requested} bytes asked for, {used} of {limit} bytes in use")]
pub struct OutOfBudget {
    /// Bytes asked for.
    pub requested: usize,
    /// Bytes already reserved.
    pub used: usize,
    /// The budget's size in bytes.
    pub limit: usize,
}

#[derive(Debug)]
struct State {
    limit: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
}

/// A limit on bytes, shared by clones.
#[derive(Debug, Clone)]
pub struct MemoryBudget(Arc<State>);

impl MemoryBudget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new(State { limit, used: AtomicUsize::new(0), peak: AtomicUsize::new(0) }))
    }

    /// A budget that never refuses.
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// Bytes reserved now.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were reserved at once.
    pub fn peak(&self) -> usize {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Bytes that can still be reserved.
    pub fn free(&self) -> usize {
        self.0.limit.saturating_sub(self.used())
    }

    /// Reserves `bytes`, given back when the reservation is dropped.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation, OutOfBudget> {
        let mut reservation = Reservation { budget: self.clone(), bytes: 0, limit: self.0.limit };
        reservation.grow(bytes)?;
        Ok(reservation)
    }

    /// A reservation, of nothing yet, for what can go to disk instead: it grows until seven eighths of the budget are in use, so that what
    /// cannot has room left.
    pub fn reserve_spillable(&self) -> Reservation {
        let limit = self.0.limit - self.0.limit / 8;
        Reservation { budget: self.clone(), bytes: 0, limit }
    }
}

/// Bytes held from a [`MemoryBudget`].
#[derive(Debug)]
pub struct Reservation {
    budget: MemoryBudget,
    bytes: usize,
    /// Of the bytes that all reservations hold together, when this one grows.
    limit: usize,
}

impl Reservation {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes `more` bytes, or none where the budget has not that many left.
    pub fn grow(&mut self, more: usize) -> Result<(), OutOfBudget> {
        self.grow_below(more, self.limit)
    }

    fn grow_below(&mut self, more: usize, limit: usize) -> Result<(), OutOfBudget> {
        let state = &self.budget.0;
        let add = |used: usize| used.checked_add(more).filter(|sum| *sum <= limit);
        match state.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(before) => {
                state.peak.fetch_max(before + more, Ordering::Relaxed);
                self.bytes += more;
                Ok(())
            }
            Err(used) => Err(OutOfBudget { requested: more, used, limit }),
        }
    }

    /// As [`Self::resize`], with all of the budget for this once: where what is spillable otherwise must grow.
    pub fn resize_to_limit(&mut self, bytes: usize) -> Result<(), OutOfBudget> {
        self.resize_below(bytes, self.budget.limit())
    }

    /// Holds exactly `bytes` from now on.
    pub fn resize(&mut self, bytes: usize) -> Result<(), OutOfBudget> {
        self.resize_below(bytes, self.limit)
    }

    fn resize_below(&mut self, bytes: usize, limit: usize) -> Result<(), OutOfBudget> {
        if bytes > self.bytes {
            return self.grow_below(bytes - self.bytes, limit);
        }
        self.budget.0.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_go_to_disk_leaves_room_for_what_cannot() {
        let budget = MemoryBudget::new(800);
        let mut spillable = budget.reserve_spillable();
        assert!(spillable.grow(700).is_ok() && spillable.grow(1).is_err());
        let mut other = budget.reserve(60).unwrap();
        assert!(spillable.resize(701).is_err() && spillable.resize_to_limit(740).is_ok());
        assert!(other.grow(1).is_err());
        spillable.resize(10).unwrap();
        assert!(other.grow(730).is_ok() && spillable.grow(1).is_err());
        drop((spillable, other));
        assert_eq!((budget.used(), budget.peak()), (0, 800));
        assert!(MemoryBudget::unlimited().reserve_spillable().grow(usize::MAX / 2).is_ok());
    }
}
