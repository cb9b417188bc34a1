//! Sorts rows inside groups of equal first column, groups arriving in order: that is how SOP comes from SPO.

use super::build_error::BuildError;
use super::layout::PackedRow;
use lode_base::external_sort::{ExternalSorter, SortOptions, SortedRows};
use lode_base::radix_sort::radix_sort;
use std::io;

/// From this many rows on the radix sort wins.
const RADIX_ROWS_MIN: usize = 1 << 12;
/// Complete groups are written once there are this many rows.
const WRITE_ROWS_MIN: usize = if cfg!(test) { 4 } else { 1 << 13 };

/// Sorts the groups of a stream of rows.
#[derive(Debug)]
pub struct GroupSorter<R> {
    /// Where the first column is in a row.
    shift: u32,
    /// A group of more rows is sorted through the external sort.
    group_rows_max: usize,
    rows: Vec<R>,
    scratch: Vec<R>,
    /// A group too large for memory. While there is one, `rows` is empty.
    large: Option<Large<R>>,
    options: SortOptions,
}

#[derive(Debug)]
struct Large<R> {
    group: u64,
    sorter: ExternalSorter<R>,
}

impl<R: PackedRow> GroupSorter<R> {
    /// Groups are what rows have from bit `shift` on. `options` are for groups too large for memory, and say by which bits to sort
    /// rows, also inside a group.
    pub fn new(shift: u32, options: SortOptions) -> Self {
        let group_rows_max = if cfg!(test) { 16 } else { options.memory_bytes / (2 * R::BYTES) };
        Self { shift, group_rows_max, rows: Vec::new(), scratch: Vec::new(), large: None, options }
    }

    #[inline]
    fn group(&self, row: R) -> u64 {
        row.field(self.shift, u64::MAX)
    }

    /// Takes rows and writes groups that are complete.
    pub fn push(
        &mut self,
        rows: impl Iterator<Item = R>,
        write: &mut dyn FnMut(&[R]) -> Result<(), BuildError>,
        io: &dyn Fn(io::Error) -> BuildError,
    ) -> Result<(), BuildError> {
        self.rows.extend(rows);
        if let Some(mut large) = self.large.take() {
            let same = self.rows.partition_point(|row| row.field(self.shift, u64::MAX) <= large.group);
            large.sorter.push(self.rows.get(..same).unwrap_or_default()).map_err(io)?;
            self.rows.drain(..same);
            if self.rows.is_empty() {
                self.large = Some(large);
                return Ok(());
            }
            finish_large(large, write, io)?;
        }
        if self.rows.len() < WRITE_ROWS_MIN {
            return Ok(());
        }
        let Some(last) = self.rows.last().map(|row| self.group(*row)) else { return Ok(()) };
        let complete = self.rows.partition_point(|row| self.group(*row) < last);
        self.sort_groups(complete);
        write(self.rows.get(..complete).unwrap_or_default())?;
        self.rows.drain(..complete);
        if self.rows.len() >= self.group_rows_max {
            let mut sorter = ExternalSorter::new(self.options.clone(), 0);
            sorter.push(&self.rows).map_err(io)?;
            self.rows = Vec::new();
            self.large = Some(Large { group: last, sorter });
        }
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(
        mut self,
        write: &mut dyn FnMut(&[R]) -> Result<(), BuildError>,
        io: &dyn Fn(io::Error) -> BuildError,
    ) -> Result<(), BuildError> {
        if let Some(large) = self.large.take() {
            finish_large(large, write, io)?;
        }
        self.sort_groups(self.rows.len());
        write(&self.rows)
    }

    fn sort_groups(&mut self, complete: usize) {
        let (shift, bits) = (self.shift, self.options.bits.start..self.shift);
        let Some(rows) = self.rows.get_mut(..complete) else { return };
        for group in rows.chunk_by_mut(|a, b| a.field(shift, u64::MAX) == b.field(shift, u64::MAX)) {
            if group.len() < RADIX_ROWS_MIN {
                group.sort_unstable();
            } else {
                let mut sorted = group.to_vec();
                radix_sort(&mut sorted, &mut self.scratch, bits.clone(), 1);
                group.copy_from_slice(&sorted);
            }
        }
    }
}

fn finish_large<R: PackedRow>(
    large: Large<R>,
    write: &mut dyn FnMut(&[R]) -> Result<(), BuildError>,
    io: &dyn Fn(io::Error) -> BuildError,
) -> Result<(), BuildError> {
    match large.sorter.finish().map_err(io)? {
        SortedRows::Memory(rows) => write(&rows),
        SortedRows::Runs(mut merge) => {
            let mut block = Vec::new();
            while merge.next(&mut block).map_err(io)? {
                write(&block)?;
            }
            Ok(())
        }
    }
}
