//! Writes packed quads, sorted in one order, to its permutation file.

use super::build_error::BuildError;
use super::layout::PackedRow;
use super::orders_context::OrdersContext;
use crate::error::StoreError;
use lode_packed::format::BLOCK_ROWS;
use lode_packed::rows::RowSums;
use lode_packed::segment::permutation_file_name;
use lode_packed::{Order, PermutationInfo, PermutationWriter};
use std::path::PathBuf;

/// One permutation being written.
#[derive(Debug)]
pub struct OrderWriter<'a, R> {
    context: &'a OrdersContext<'a>,
    path: PathBuf,
    writer: PermutationWriter,
    /// Rows that do not fill a block yet.
    pending: Vec<R>,
}

impl<'a, R: PackedRow> OrderWriter<'a, R> {
    /// Creates the file of an order.
    pub fn create(context: &'a OrdersContext<'a>, order: Order) -> Result<Self, BuildError> {
        let path = context.segment.join(permutation_file_name(order));
        let file = context.vfs.create(&path).map_err(StoreError::io(&path))?;
        Ok(Self { context, path, writer: PermutationWriter::new(file, order), pending: Vec::new() })
    }

    /// Appends rows of this order's shape.
    pub fn push(&mut self, rows: &[R]) -> Result<(), BuildError> {
        let mut rows = rows;
        if !self.pending.is_empty() {
            let (now, later) = rows.split_at(rows.len().min(BLOCK_ROWS - self.pending.len()));
            self.pending.extend_from_slice(now);
            rows = later;
            if self.pending.len() < BLOCK_ROWS {
                return Ok(());
            }
            self.write_pending()?;
        }
        let blocks = rows.chunks_exact(BLOCK_ROWS);
        self.pending.extend_from_slice(blocks.remainder());
        for block in blocks {
            self.write(block)?;
        }
        Ok(())
    }

    fn write_pending(&mut self) -> Result<(), BuildError> {
        let block = std::mem::take(&mut self.pending);
        self.write(&block)?;
        self.pending = block;
        self.pending.clear();
        Ok(())
    }

    fn write(&mut self, block: &[R]) -> Result<(), BuildError> {
        self.context.throttle.check()?;
        let codes = self.context.layout.row_codes();
        self.writer.push_rows(block, &codes).map_err(|error| self.context.locate(error))?;
        self.context.progress.add_rows_written(block.len() as u64);
        Ok(())
    }

    /// Ends the file, which must hold the rows that `sums` were made of, and makes it durable.
    pub fn finish(mut self, sums: &RowSums) -> Result<PermutationInfo, BuildError> {
        self.write_pending()?;
        let (context, order) = (self.context, self.writer.order());
        let finished = self.writer.finish_rows(sums).map_err(|error| context.locate(error))?;
        let (info, mut file) = finished
            .ok_or_else(|| BuildError::Inconsistent(format!("{} is not spog sorted anew", order.name())))?;
        file.sync().map_err(StoreError::io(&self.path))?;
        Ok(info)
    }
}
