//! Writes the seven orders of what the merged segments amount to, by one of two strategies that write the same bytes.
//!
//! Where all rows fit in memory ([`in_memory`]), one order is read, packed, sorted, and written in all orders. Else each order is merged by
//! itself from the same order of the segments ([`by_order`]), in little memory and about twice the time.

mod by_order;
mod in_memory;
mod job;
mod merge_source;
mod net;
mod order_merge;
mod row_packer;

use crate::compact::compaction::Compaction;
use crate::compact::error::CompactError;
use crate::segment_builder::{BuildError, OVERHEAD_BYTES};
use by_order::merge_orders;
use in_memory::merge_in_memory;
use lode_packed::Order;
use order_merge::MergeContext;

pub use in_memory::BUFFERS;
pub use job::{MergedOrders, OrdersJob};
pub use order_merge::{ROW_BYTES, SOURCE_ROWS_MIN};

/// What a row takes at most in a merge in memory, with the ids of inline values.
const ROW_BYTES_MAX: usize = 96;

impl Compaction<'_> {
    /// Merges all orders of some segments.
    pub fn merge_orders(&self, job: &OrdersJob<'_>) -> Result<MergedOrders, CompactError> {
        let rows =
            |order| -> u64 { job.layers.iter().map(|(segment, _)| segment.permutation(order).rows()).sum() };
        self.progress.add_rows_to_write(Order::ALL.into_iter().map(rows).sum());
        if let Some(merged) = merge_in_memory(self, job, job.ids)? {
            return Ok(merged);
        }
        if job.layers.iter().any(|(segment, _)| segment.has_damage()) {
            // Each order is merged from the same one of the segments.
            let bytes =
                usize::try_from(rows(Order::Spog)).unwrap_or(usize::MAX).saturating_mul(ROW_BYTES_MAX);
            let what = "all rows at once, from which damaged orders are made again,";
            return Err(BuildError::Memory { what, bytes: bytes.saturating_add(OVERHEAD_BYTES) }.into());
        }
        let threads = self.threads.min(Order::COUNT);
        let context = MergeContext {
            vfs: &**self.store.vfs(),
            insertions: job.insertions,
            deletions: job.deletions,
            layers: job.layers,
            remap: job.remap,
            ascents: &job.remap.map.ascents(),
            memory_bytes: self.working_bytes.saturating_sub(job.remap.memory_bytes()) / threads,
            throttle: job.throttle,
            progress: self.progress,
        };
        Ok(merge_orders(threads, &context)?)
    }
}
