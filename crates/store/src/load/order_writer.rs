//! Writes packed quads, sorted in one order, to its permutation file.

use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::load::layout::{PackedRow, RowShape};
use crate::load::orders::OrdersContext;
use lode_base::row_file::BLOCK_ROWS;
use lode_packed::segment::permutation_file_name;
use lode_packed::{Order, PermutationInfo, PermutationWriter};
use std::path::PathBuf;

/// One permutation being written.
#[derive(Debug)]
pub struct OrderWriter<'a> {
    context: &'a OrdersContext<'a>,
    order: Order,
    shape: RowShape,
    path: PathBuf,
    writer: PermutationWriter,
    columns: [Vec<u64>; 4],
}

impl<'a> OrderWriter<'a> {
    /// Creates the file of an order.
    pub fn create(context: &'a OrdersContext<'a>, order: Order) -> Result<Self, LoadError> {
        let path = context.segment.join(permutation_file_name(order));
        let file = context.vfs.create(&path).map_err(StoreError::io(&path))?;
        Ok(Self {
            context,
            order,
            shape: context.layout.shape(order),
            path,
            writer: PermutationWriter::new(file, order),
            columns: Default::default(),
        })
    }

    /// Appends rows of this order's shape.
    pub fn push<R: PackedRow>(&mut self, rows: &[R]) -> Result<(), LoadError> {
        for block in rows.chunks(BLOCK_ROWS) {
            self.context.cancel.check()?;
            for (column, position) in self.columns.iter_mut().zip(self.order.positions()) {
                column.clear();
                self.context.layout.unpack(block, self.shape, position, column);
            }
            self.writer
                .push(self.columns.each_ref().map(Vec::as_slice))
                .map_err(|e| self.context.locate(e))?;
            self.context.progress.add_rows_written(block.len() as u64);
        }
        Ok(())
    }

    /// Ends the file and makes it durable.
    pub fn finish(self) -> Result<PermutationInfo, LoadError> {
        let (info, mut file) = self.writer.finish_into_file().map_err(|e| self.context.locate(e))?;
        file.sync().map_err(StoreError::io(&self.path))?;
        Ok(info)
    }
}
