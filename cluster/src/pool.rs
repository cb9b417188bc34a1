//! One memory: operators of DataFusion take theirs of the same budget as our own.

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool, MemoryReservation};
use lode_base::memory_budget::{MemoryBudget, Reservation};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Rows of other workers that wait. Who takes rows of others reserves the most of these from the beginning (`Part::waiting_bytes`), since what has come
/// cannot be refused: counted again here, each row would take twice its memory.
const RESERVED: &str = "WorkerConnection";

fn is_counted(of: &MemoryReservation) -> bool {
    of.consumer().name() != RESERVED
}

/// The budget, as DataFusion takes of it.
pub struct Pool {
    budget: MemoryBudget,
    taken: Mutex<Reservation>,
}

impl Pool {
    pub fn new(budget: MemoryBudget) -> Self {
        let taken = Mutex::new(budget.reserve_empty());
        Self { budget, taken }
    }

    fn taken(&self) -> MutexGuard<'_, Reservation> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("budget", &self.budget).finish()
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lode({} of {} bytes)", self.budget.used(), self.budget.limit())
    }
}

impl MemoryPool for Pool {
    fn name(&self) -> &str {
        "lode"
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        if !is_counted(reservation) {
            return;
        }
        let mut taken = self.taken();
        let bytes = taken.bytes().saturating_add(additional);
        taken.hold(bytes);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        if !is_counted(reservation) {
            return;
        }
        let mut taken = self.taken();
        let bytes = taken.bytes().saturating_sub(shrink);
        taken.shrink(bytes);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        if !is_counted(reservation) {
            return Ok(());
        }
        self.taken().grow(additional).map_err(|refused| {
            let who = reservation.consumer().name();
            DataFusionError::ResourcesExhausted(format!("{who} needs more memory: {refused}"))
        })
    }

    fn reserved(&self) -> usize {
        self.taken().bytes()
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.budget.limit())
    }
}

#[cfg(test)]
mod tests {
    //! Both take of one.
    use super::*;
    use datafusion::execution::memory_pool::MemoryConsumer;
    use std::sync::Arc;

    #[test]
    fn what_datafusion_takes_is_not_there_for_others() {
        let budget = MemoryBudget::new(1000);
        let pool: Arc<dyn MemoryPool> = Arc::new(Pool::new(budget.clone()));
        let own = budget.reserve(300).unwrap();
        let reservation = MemoryConsumer::new("groups").register(&pool);
        reservation.try_grow(600).unwrap();
        assert_eq!((budget.used(), pool.reserved()), (900, 600));
        let refused = reservation.try_grow(200).unwrap_err();
        assert!(matches!(refused, DataFusionError::ResourcesExhausted(_)), "{refused}");
        assert!(budget.reserve(200).is_err());
        drop(own);
        reservation.try_grow(200).unwrap();
        reservation.shrink(500);
        assert_eq!(budget.used(), 300);
        // What is there already is counted, also beyond the limit.
        reservation.grow(900);
        assert_eq!(budget.used(), 1200);
        drop(reservation);
        assert_eq!((budget.used(), pool.reserved()), (0, 0));
    }

    #[test]
    fn what_is_reserved_already_is_not_counted_twice() {
        let budget = MemoryBudget::new(1000);
        let pool: Arc<dyn MemoryPool> = Arc::new(Pool::new(budget.clone()));
        let waiting = budget.reserve(800).unwrap();
        let connection = MemoryConsumer::new(RESERVED).register(&pool);
        let groups = MemoryConsumer::new("groups").register(&pool);
        connection.grow(700);
        connection.try_grow(100).unwrap();
        groups.try_grow(200).unwrap();
        assert_eq!((budget.used(), pool.reserved()), (1000, 200));
        connection.shrink(300);
        assert_eq!(budget.used(), 1000);
        drop((connection, groups, waiting));
        assert_eq!((budget.used(), pool.reserved()), (0, 0));
    }
}
