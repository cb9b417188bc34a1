//! Where a query runs: first among the short ones, of which many run at once, since nobody knows before how long it takes; once it has shown
//! that it is long, among the long ones, or not at all until there is a place.

use crate::lane::{Lane, Place};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedSemaphorePermit;

/// A query's seat; given back when dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    at: Mutex<At>,
    long: Arc<Lane>,
}

#[derive(Debug)]
enum At {
    /// It may run for a short time, and say nothing before it is done.
    Short {
        _permit: OwnedSemaphorePermit,
    },
    Long {
        _place: Place,
    },
    /// It stops, and begins anew once there is a place among the long ones.
    Moving,
}

impl Seat {
    /// Among the short ones.
    pub(crate) fn short(permit: OwnedSemaphorePermit, long: &Arc<Lane>) -> Arc<Self> {
        Self::new(At::Short { _permit: permit }, long)
    }

    /// Among the long ones.
    pub(crate) fn long(place: Place, long: &Arc<Lane>) -> Arc<Self> {
        Self::new(At::Long { _place: place }, long)
    }

    fn new(at: At, long: &Arc<Lane>) -> Arc<Self> {
        Arc::new(Self { at: Mutex::new(at), long: Arc::clone(long) })
    }

    fn lock(&self) -> MutexGuard<'_, At> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The query has shown that it is long: `true` if it may go on, since it has a place among the long ones or got one just now. Else it
    /// must stop.
    pub(crate) fn go_on_long(&self) -> bool {
        let mut at = self.lock();
        match *at {
            At::Long { .. } => true,
            At::Moving => false,
            At::Short { .. } => {
                let place = self.long.try_enter();
                *at = place.map_or(At::Moving, |place| At::Long { _place: place });
                matches!(*at, At::Long { .. })
            }
        }
    }

    /// The query cannot go on among the short ones: `true` if that is where it was.
    pub(crate) fn stop_short(&self) -> bool {
        let mut at = self.lock();
        if matches!(*at, At::Short { .. }) {
            *at = At::Moving;
        }
        matches!(*at, At::Moving)
    }

    /// Whether the query had to stop for want of a place.
    pub(crate) fn is_moving(&self) -> bool {
        matches!(*self.lock(), At::Moving)
    }
}

#[cfg(test)]
mod tests {
    //! From seat to seat.
    use super::Seat;
    use crate::lane::Lane;
    use std::sync::Arc;
    use tokio::sync::Semaphore;

    #[test]
    fn a_short_one_goes_on_where_there_is_a_place_and_stops_where_not() {
        let (short, lane) = (Arc::new(Semaphore::new(2)), Lane::new(1, 9));
        let seat = || Seat::short(Arc::clone(&short).try_acquire_owned().unwrap(), &lane);
        let (first, second) = (seat(), seat());
        assert_eq!(short.available_permits(), 0);
        assert!(first.go_on_long() && first.go_on_long());
        assert!(!second.go_on_long() && !second.go_on_long() && second.is_moving());
        assert_eq!(short.available_permits(), 2, "neither is among the short ones any more");
        assert!(!first.stop_short() && !first.is_moving());
        drop(first);
        let third = Seat::long(lane.try_enter().unwrap(), &lane);
        assert!(third.go_on_long() && !third.stop_short());
        let fourth = seat();
        assert!(fourth.stop_short() && fourth.is_moving() && !fourth.go_on_long());
    }
}
