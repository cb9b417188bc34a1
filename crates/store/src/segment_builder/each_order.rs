//! Does something for each order of a segment, several at a time.

use super::build_error::BuildError;
use lode_packed::Order;
use std::sync::{Mutex, PoisonError};

/// Does something for each order, with up to `threads` threads; the results in no order.
pub(crate) fn each_order<T: Send>(
    threads: usize,
    work: &(dyn Fn(Order) -> Result<T, BuildError> + Sync),
) -> Result<Vec<T>, BuildError> {
    let orders = Mutex::new(Order::ALL.into_iter());
    let done = Mutex::new(Vec::with_capacity(Order::COUNT));
    let work = || {
        loop {
            let next = orders.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(order) = next else { return Ok(()) };
            match work(order) {
                Ok(result) => done.lock().unwrap_or_else(PoisonError::into_inner).push(result),
                Err(error) => {
                    // The others end with the orders that they have begun.
                    while orders.lock().unwrap_or_else(PoisonError::into_inner).next().is_some() {}
                    return Err(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(Order::COUNT)).map(|_| scope.spawn(work)).collect();
        let mut result = work();
        for other in others {
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            result = result.and(other);
        }
        result
    })?;
    Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner))
}
