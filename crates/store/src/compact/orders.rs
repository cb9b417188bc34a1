//! Merges the seven orders, as many at once as there are threads, and makes sure that all of them hold the same quads.

use crate::compact::order_merge::{MergeContext, merge_order};
use crate::load::LoadError;
use lode_packed::{Order, PermutationInfo};
use std::sync::{Mutex, PoisonError};

/// Merges all orders with up to `threads` threads.
pub fn merge_orders(
    threads: usize,
    context: &MergeContext<'_>,
) -> Result<[PermutationInfo; Order::COUNT], LoadError> {
    let orders = Mutex::new(Order::ALL.into_iter());
    let merged = Mutex::new(Vec::with_capacity(Order::COUNT));
    let work = || {
        loop {
            let next = orders.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(order) = next else { return Ok(()) };
            match merge_order(order, context) {
                Ok(info) => merged.lock().unwrap_or_else(PoisonError::into_inner).push(info),
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
    agree(merged.into_inner().unwrap_or_else(PoisonError::into_inner), context)
}

/// All orders must hold the same quads, as many as the old segments held.
fn agree(
    mut infos: Vec<PermutationInfo>,
    context: &MergeContext<'_>,
) -> Result<[PermutationInfo; Order::COUNT], LoadError> {
    infos.sort_by_key(|info| info.order);
    let fingerprint = infos.first().map(|info| info.fingerprint);
    for info in &infos {
        let rows: u64 = context.segments.iter().map(|segment| segment.permutation(info.order).rows()).sum();
        let same = info.order == Order::Gspo || Some(info.fingerprint) == fingerprint;
        if info.rows != rows || !same {
            let what = format!("{} does not hold the quads of the old segments", info.order.name());
            return Err(LoadError::Inconsistent(what));
        }
    }
    infos.try_into().map_err(|_| LoadError::Inconsistent("an order was not written".to_owned()))
}
