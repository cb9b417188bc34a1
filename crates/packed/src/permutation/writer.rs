//! Writes a permutation from sorted rows, bottom-up.

use super::Permutation;
use super::footer::Footer;
use super::index::{self, PageEntry};
use super::info::PermutationInfo;
use super::page::{self, BlockEntry};
use super::row_block::{RowBlock, RowColumns};
use crate::block::BlockEncoder;
use crate::codec::{ColumnEncoder, ColumnStats, ColumnValues};
use crate::error::{PackedError, Result, io_error};
use crate::file_names::permutation_file_name;
use crate::fingerprint::fingerprint;
use crate::format::{BLOCK_ROWS, FORMAT_VERSION, HEADER_BYTES, PERMUTATION_MAGIC, PERMUTATION_PAGE_BLOCKS};
use crate::order::Order;
use crate::rows::{PackedRow, RowCodes, RowSums};
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
    row_block: RowBlock,
    /// Sum of the hashes of packed rows.
    hashes: u64,
    /// The last row of the block before.
    previous: Option<[u64; 4]>,
    /// Those of the page of the index that was begun.
    blocks: Vec<BlockEntry>,
    pages: Vec<PageEntry>,
    columns: ColumnEncoder,
    encoded: Vec<u8>,
    bytes: u64,
    row_count: u64,
    block_count: u64,
    fingerprint: u64,
    distinct_first: u64,
}

impl PermutationWriter {
    /// A writer to an empty file.
    pub fn new(file: Box<dyn WriteFile>, order: Order) -> Self {
        Self {
            file,
            name: Arc::from(permutation_file_name(order)),
            order,
            encoder: BlockEncoder::new(order),
            rows: std::array::from_fn(|_| Vec::with_capacity(BLOCK_ROWS)),
            row_block: RowBlock::default(),
            hashes: 0,
            previous: None,
            blocks: Vec::new(),
            pages: Vec::new(),
            columns: ColumnEncoder::default(),
            encoded: Vec::new(),
            bytes: 0,
            row_count: 0,
            block_count: 0,
            fingerprint: 0,
            distinct_first: 0,
        }
    }

    /// Appends rows, given as the four columns of the order (ids as raw bits). All rows pushed must ascend strictly.
    ///
    /// # Errors
    ///
    /// [`Unsorted`](crate::PackedError::Unsorted) where rows do not ascend, [`Io`](crate::PackedError::Io) where the file cannot be written. The
    /// writer is of no use then.
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

    /// Like [`PermutationWriter::push`], with the ids of each row side by side.
    ///
    /// # Errors
    ///
    /// As [`PermutationWriter::push`].
    pub fn push_id_rows(&mut self, mut rows: &[[u64; 4]]) -> Result<()> {
        while !rows.is_empty() {
            let room = BLOCK_ROWS - self.rows[0].len();
            let (now, later) = rows.split_at(room.min(rows.len()));
            for (at, column) in self.rows.iter_mut().enumerate() {
                column.extend(now.iter().map(|row| row[at]));
            }
            if self.rows[0].len() == BLOCK_ROWS {
                self.flush()?;
            }
            rows = later;
        }
        Ok(())
    }

    /// Appends a block of another permutation of the same order as it is. Rows that wait are written as a block of their own before.
    ///
    /// # Errors
    ///
    /// As [`PermutationWriter::push`], and where the block cannot be read or is damaged.
    pub fn push_block(&mut self, from: &Permutation, number: usize) -> Result<()> {
        assert_eq!(self.order, from.order(), "a block of another order");
        if !self.rows[0].is_empty() {
            self.flush()?;
        }
        let (entry, parsed) = from.block(number)?;
        if self.previous.is_some_and(|previous| previous >= entry.first) {
            return Err(PackedError::Unsorted { file: Arc::clone(&self.name), entry: self.row_count });
        }
        // Decoded to be added to the fingerprint, which says what really is in the file.
        from.decode(number, &parsed, &mut self.rows)?;
        let columns = self.rows.each_ref().map(Vec::as_slice);
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint(self.order, columns));
        let last = columns.map(|column| column.last().copied().unwrap_or(0));
        self.rows.iter_mut().for_each(Vec::clear);
        self.begin()?;
        self.encoded.clear();
        self.encoded.extend_from_slice(parsed.stored());
        let entry = entry.after(self.previous);
        self.append_encoded(entry, last)
    }

    /// The sort order.
    pub fn order(&self) -> Order {
        self.order
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

    fn begin(&mut self) -> Result<()> {
        if self.bytes == 0 { self.write_header() } else { Ok(()) }
    }

    /// Appends a block of packed rows of this order: [`BLOCK_ROWS`] of them, fewer only in the last. All rows pushed must ascend
    /// strictly. A permutation of packed rows is ended by [`PermutationWriter::finish_rows`].
    ///
    /// # Errors
    ///
    /// As [`PermutationWriter::push`].
    pub fn push_rows<R: PackedRow>(&mut self, rows: &[R], codes: &RowCodes<'_>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        assert!(rows.len() <= BLOCK_ROWS, "a block of {} rows", rows.len());
        assert!(self.rows[0].is_empty(), "ids and packed rows in one block");
        assert!(self.row_count.is_multiple_of(BLOCK_ROWS as u64), "rows after a block that is not full");
        let mut row_block = std::mem::take(&mut self.row_block);
        let row = self.row_count;
        let unsorted =
            |at: usize| PackedError::Unsorted { file: Arc::clone(&self.name), entry: row + at as u64 };
        let block = row_block.columns(rows, self.order, codes).map_err(unsorted)?;
        let entry = block_entry(&block.columns, block.first, block.changes, self.previous)
            .ok_or_else(|| unsorted(0))?;
        let RowColumns { columns, last, hashes, .. } = block;
        self.hashes = self.hashes.wrapping_add(hashes);
        self.append(entry, &columns, last)?;
        self.row_block = row_block;
        Ok(())
    }

    /// Ends the block that was begun with ids.
    pub(super) fn flush(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.each_ref().map(Vec::as_slice);
        let unsorted = |row: usize| PackedError::Unsorted {
            file: Arc::clone(&self.name),
            entry: self.row_count + row as u64,
        };
        let values = columns.map(ColumnValues::of);
        let entry = describe(columns, &values, self.previous).map_err(unsorted)?;
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint(self.order, columns));
        let last = columns.map(|column| column.last().copied().unwrap_or(0));
        self.append(entry, &values, last)?;
        self.rows = rows;
        self.rows.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    /// Writes a block.
    fn append(
        &mut self,
        mut entry: BlockEntry,
        columns: &[ColumnValues<'_>; 4],
        last: [u64; 4],
    ) -> Result<()> {
        // The header takes the buffer, too.
        self.begin()?;
        self.encoder.encode(columns, &mut self.encoded);
        entry.bytes = self.encoded.len() as u64;
        entry.checksum = checksum(&self.encoded);
        self.append_encoded(entry, last)
    }

    /// Writes a block that is encoded already.
    fn append_encoded(&mut self, entry: BlockEntry, last: [u64; 4]) -> Result<()> {
        self.previous = Some(last);
        self.row_count += entry.rows;
        self.block_count += 1;
        self.distinct_first += entry.changes[0];
        self.blocks.push(entry);
        self.write()?;
        if self.blocks.len() == PERMUTATION_PAGE_BLOCKS { self.end_page() } else { Ok(()) }
    }

    /// Writes the page of the index behind its blocks.
    fn end_page(&mut self) -> Result<()> {
        self.encoded.clear();
        page::encode(&self.blocks, &mut self.columns, &mut self.encoded);
        let (bytes, sum) = (self.encoded.len() as u64, checksum(&self.encoded));
        self.pages.push(PageEntry::new(&self.blocks, bytes, sum));
        self.blocks.clear();
        self.write()
    }

    /// Writes what is left, the index and the footer. Nothing is synced.
    ///
    /// # Errors
    ///
    /// As [`PermutationWriter::push`]: rows may still be waiting.
    pub fn finish(self) -> Result<PermutationInfo> {
        Ok(self.finish_into_file()?.0)
    }

    /// Ends a permutation of packed rows, which must be those that `sums` were made of, and gives the file back so that it can be
    /// synced. Without a file they were others.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be written.
    pub fn finish_rows(mut self, sums: &RowSums) -> Result<Option<(PermutationInfo, Box<dyn WriteFile>)>> {
        if (self.row_count, self.hashes) != (sums.rows, sums.hashes) {
            return Ok(None);
        }
        self.fingerprint = sums.fingerprint;
        self.finish_into_file().map(Some)
    }

    /// Like [`PermutationWriter::finish`], and gives the file back so that it can be synced.
    ///
    /// # Errors
    ///
    /// As [`PermutationWriter::push`]: rows may still be waiting.
    pub fn finish_into_file(mut self) -> Result<(PermutationInfo, Box<dyn WriteFile>)> {
        if !self.rows[0].is_empty() {
            self.flush()?;
        }
        self.begin()?;
        if !self.blocks.is_empty() {
            self.end_page()?;
        }
        let info = PermutationInfo {
            order: self.order,
            rows: self.row_count,
            bytes: self.bytes,
            blocks: self.block_count,
            fingerprint: self.fingerprint,
            distinct_first: self.distinct_first,
            checksum: 0,
        };
        self.encoded.clear();
        index::encode(&self.pages, &mut self.columns, &mut self.encoded);
        let info = Footer::append(info, &mut self.encoded);
        self.write()?;
        self.file.flush().map_err(io_error(&self.name))?;
        Ok((info, self.file))
    }
}

/// The index entry of a block of ids, without what is known only once it is encoded; `Err` is the first row out of order.
pub(super) fn describe(
    columns: [&[u64]; 4],
    values: &[ColumnValues<'_>; 4],
    previous: Option<[u64; 4]>,
) -> std::result::Result<BlockEntry, usize> {
    let first = columns.map(|column| column.first().copied().unwrap_or(0));
    if previous.is_some_and(|previous| previous >= first) {
        return Err(0);
    }
    let (changes, unsorted) = changes(columns, first);
    match unsorted {
        Some(row) => Err(row),
        None => block_entry(values, first, changes, previous).ok_or(0),
    }
}

/// The index entry of a block that changes inside as often as `changes` say; `None` if it does not come after the row before.
fn block_entry(
    columns: &[ColumnValues<'_>; 4],
    first: [u64; 4],
    changes: [u64; 3],
    previous: Option<[u64; 4]>,
) -> Option<BlockEntry> {
    let stats: [ColumnStats; 4] = columns.each_ref().map(|column| column.stats);
    if previous.is_some_and(|previous| previous >= first) {
        return None;
    }
    let entry = BlockEntry {
        first,
        min: stats.map(|stats| stats.min),
        max: stats.map(|stats| stats.max),
        rows: columns[0].rows as u64,
        changes,
        ..BlockEntry::default()
    };
    Some(entry.after(previous))
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
