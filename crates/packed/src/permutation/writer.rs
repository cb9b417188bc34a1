//! Writes a permutation from sorted rows, bottom-up.

use super::index::{BlockEntry, Footer};
use super::{PermutationInfo, Result};
use crate::block::BlockEncoder;
use crate::codec::ColumnStats;
use crate::error::{PackedError, io_error};
use crate::fingerprint::fingerprint;
use crate::format::{BLOCK_ROWS, FORMAT_VERSION, HEADER_BYTES, PERMUTATION_MAGIC};
use crate::order::Order;
use lode_base::checksum::checksum;
use lode_base::vfs::WriteFile;
use std::sync::Arc;

/// Takes rows in strictly ascending order and writes them block by block. It never syncs: that is the caller's to do,
/// with the file that [`PermutationWriter::finish_into_file`] gives back.
#[derive(Debug)]
pub struct PermutationWriter {
    file: Box<dyn WriteFile>,
    name: Arc<str>,
    order: Order,
    encoder: BlockEncoder,
    rows: [Vec<u64>; 4],
    /// The last row of the block before.
    previous: Option<[u64; 4]>,
    blocks: Vec<BlockEntry>,
    encoded: Vec<u8>,
    bytes: u64,
    row_count: u64,
    fingerprint: u64,
    distinct_first: u64,
}

impl PermutationWriter {
    /// A writer to an empty file.
    pub fn new(file: Box<dyn WriteFile>, order: Order) -> Self {
        Self {
            file,
            name: Arc::from(crate::segment::permutation_file_name(order)),
            order,
            encoder: BlockEncoder::new(order),
            rows: std::array::from_fn(|_| Vec::with_capacity(BLOCK_ROWS)),
            previous: None,
            blocks: Vec::new(),
            encoded: Vec::new(),
            bytes: 0,
            row_count: 0,
            fingerprint: 0,
            distinct_first: 0,
        }
    }

    /// Appends rows, given as the four columns of the order (ids as raw bits). All rows pushed must ascend strictly.
    pub fn push(&mut self, columns: [&[u64]; 4]) -> Result<()> {
        let count = columns[0].len();
        assert!(columns.iter().all(|column| column.len() == count), "columns of different lengths");
        let mut start = 0;
        while start < count {
            let room = BLOCK_ROWS - self.rows[0].len();
            let end = count.min(start + room);
            for (rows, column) in self.rows.iter_mut().zip(columns) {
                rows.extend_from_slice(&column[start..end]);
            }
            if self.rows[0].len() == BLOCK_ROWS {
                self.flush()?;
            }
            start = end;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        self.file.write_all(&self.encoded).map_err(io_error(&self.name))?;
        self.bytes += self.encoded.len() as u64;
        Ok(())
    }

    fn write_header(&mut self) -> Result<()> {
        self.encoded.clear();
        self.encoded.extend_from_slice(&PERMUTATION_MAGIC);
        self.encoded.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        self.encoded.extend_from_slice(&u32::from(self.order as u8).to_le_bytes());
        debug_assert_eq!(self.encoded.len(), HEADER_BYTES);
        self.write()
    }

    fn flush(&mut self) -> Result<()> {
        if self.bytes == 0 {
            self.write_header()?;
        }
        let columns = self.rows.each_ref().map(Vec::as_slice);
        let unsorted = |row: usize| PackedError::Unsorted {
            file: Arc::clone(&self.name),
            entry: self.row_count + row as u64,
        };
        let stats = columns.map(ColumnStats::of);
        let mut entry = describe(columns, &stats, self.previous).map_err(unsorted)?;
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint(self.order, columns));
        self.encoder.encode(columns, &stats, &mut self.encoded);
        entry.bytes = self.encoded.len() as u64;
        entry.checksum = checksum(&self.encoded);
        self.previous = columns[0].len().checked_sub(1).map(|last| columns.map(|column| column[last]));
        self.row_count += entry.rows;
        self.distinct_first += entry.changes[0];
        self.blocks.push(entry);
        self.write()?;
        self.rows.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    /// Writes what is left, the index and the footer. Nothing is synced.
    pub fn finish(self) -> Result<PermutationInfo> {
        Ok(self.finish_into_file()?.0)
    }

    /// Like [`PermutationWriter::finish`], and gives the file back so that it can be synced.
    pub fn finish_into_file(mut self) -> Result<(PermutationInfo, Box<dyn WriteFile>)> {
        if !self.rows[0].is_empty() {
            self.flush()?;
        } else if self.bytes == 0 {
            self.write_header()?;
        }
        let info = PermutationInfo {
            order: self.order,
            rows: self.row_count,
            bytes: self.bytes,
            blocks: 0,
            fingerprint: self.fingerprint,
            distinct_first: self.distinct_first,
            checksum: 0,
        };
        self.encoded.clear();
        let info = Footer::append(info, &self.blocks, &mut self.encoded);
        self.write()?;
        self.file.flush().map_err(io_error(&self.name))?;
        Ok((info, self.file))
    }
}

/// The index entry of a block, without what is known only once it is encoded; `Err` is the first row out of order.
pub(super) fn describe(
    columns: [&[u64]; 4],
    stats: &[ColumnStats; 4],
    previous: Option<[u64; 4]>,
) -> std::result::Result<BlockEntry, usize> {
    let first = columns.map(|column| column.first().copied().unwrap_or(0));
    let mut entry = BlockEntry {
        first,
        min: stats.map(|stats| stats.min),
        max: stats.map(|stats| stats.max),
        rows: columns[0].len() as u64,
        ..BlockEntry::default()
    };
    let head = match previous {
        Some(previous) if previous >= first => return Err(0),
        Some(previous) => std::array::from_fn(|column| previous[..=column] != first[..=column]),
        None => [true; 3],
    };
    let (changes, unsorted) = changes(columns, first);
    if let Some(row) = unsorted {
        return Err(row);
    }
    entry.changes = changes;
    for (column, new) in head.into_iter().enumerate() {
        entry.changes[column] += u64::from(new);
        entry.starts_new |= u64::from(new) << column;
    }
    Ok(entry)
}

/// Counts changes from row to row inside a block, and finds a row that is not after the one before it.
fn changes([a, b, c, d]: [&[u64]; 4], first: [u64; 4]) -> ([u64; 3], Option<usize>) {
    let mut changes = [0; 3];
    let [mut a0, mut b0, mut c0, mut d0] = first;
    for (row, (((&a, &b), &c), &d)) in a.iter().zip(b).zip(c).zip(d).enumerate().skip(1) {
        let new_a = a != a0;
        let new_b = new_a | (b != b0);
        let new_c = new_b | (c != c0);
        changes[0] += u64::from(new_a);
        changes[1] += u64::from(new_b);
        changes[2] += u64::from(new_c);
        // Only the first column that differs counts, and the others are equal up to there.
        let after = if new_a {
            a > a0
        } else if new_b {
            b > b0
        } else if new_c {
            c > c0
        } else {
            d > d0
        };
        if !after {
            return (changes, Some(row));
        }
        (a0, b0, c0, d0) = (a, b, c, d);
    }
    (changes, None)
}
