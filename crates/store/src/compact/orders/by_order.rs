//! Merges each order by itself, as many at once as there are threads, and makes sure that all of them hold the same quads.

use super::job::MergedOrders;
use super::order_merge::{MergeContext, MergedOrder, merge_order};
use crate::manifest::Sign;
use crate::segment_builder::{BuildError, each_order};
use lode_packed::Order;

/// Merges all orders with up to `threads` threads.
pub fn merge_orders(threads: usize, context: &MergeContext<'_>) -> Result<MergedOrders, BuildError> {
    agree(each_order(threads, &|order| merge_order(order, context))?, context)
}

/// All orders must hold the same quads, as many as the old segments add up to.
fn agree(mut orders: Vec<MergedOrder>, context: &MergeContext<'_>) -> Result<MergedOrders, BuildError> {
    orders.sort_by_key(|order| order.insertions.order);
    let prints =
        |order: &MergedOrder| (order.insertions.fingerprint, order.deletions.map(|info| info.fingerprint));
    let same = orders.first().map(prints);
    for merged in &orders {
        let order = merged.insertions.order;
        let old: i128 =
            context.layers.iter().map(|(segment, sign)| sign.of(segment.permutation(order).rows())).sum();
        let deleted = merged.deletions.map_or(0, |info| info.rows);
        let new = Sign::Insertions.of(merged.insertions.rows) + Sign::Deletions.of(deleted);
        if new != old || (order != Order::Gspo && Some(prints(merged)) != same) {
            let what = format!("{} does not hold the quads of the old segments", order.name());
            return Err(BuildError::Inconsistent(what));
        }
    }
    let missing = |_| BuildError::Inconsistent("an order was not written".to_owned());
    let deletions: Option<Vec<_>> = orders.iter().map(|order| order.deletions).collect();
    let insertions: Vec<_> = orders.into_iter().map(|order| order.insertions).collect();
    Ok(MergedOrders {
        insertions: insertions.try_into().map_err(missing)?,
        deletions: deletions.map(|infos| infos.try_into().map_err(missing)).transpose()?,
    })
}
