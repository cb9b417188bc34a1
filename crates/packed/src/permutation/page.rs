//! A page of the index of a permutation: what is to be known of up to 512 blocks to find them, skip them, count their rows and check
//! them. It can be read without the others.

use super::info::BlockBounds;
use crate::bytes::Reader;
use crate::codec::{ColumnEncoder, decode_long};
use crate::error::Damage;
use crate::format::BLOCK_ROWS;
use std::cmp::Ordering;
use std::ops::Range;

/// What the writer notes of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BlockEntry {
    pub first: [u64; 4],
    pub min: [u64; 4],
    pub max: [u64; 4],
    pub rows: u64,
    pub bytes: u64,
    pub checksum: u64,
    /// For each of the first three columns, the rows whose columns up to it differ from those of the row before (the
    /// last row of the block before, for the first).
    pub changes: [u64; 3],
    /// Bit `i`: the first row counts in `changes[i]`.
    pub starts_new: u64,
}

const FIELDS: usize = 18;

impl BlockEntry {
    /// The entry of the same block where this is the row before it, if there is one.
    pub fn after(mut self, previous: Option<[u64; 4]>) -> Self {
        for column in 0..self.changes.len() {
            let new = previous.is_none_or(|previous| previous[..=column] != self.first[..=column]);
            let was_new = (self.starts_new >> column) & 1;
            self.changes[column] = self.changes[column] - was_new + u64::from(new);
            self.starts_new = self.starts_new & !(1 << column) | u64::from(new) << column;
        }
        self
    }

    fn fields(&self) -> [u64; FIELDS] {
        let [f0, f1, f2, f3] = self.first;
        let [_, n1, n2, n3] = self.min;
        let [x0, x1, x2, x3] = self.max;
        let [c0, c1, c2] = self.changes;
        [
            f0,
            f1,
            f2,
            f3,
            n1,
            n2,
            n3,
            x0,
            x1,
            x2,
            x3,
            self.rows,
            self.bytes,
            self.checksum,
            c0,
            c1,
            c2,
            self.starts_new,
        ]
    }

    fn from_fields(fields: [u64; FIELDS]) -> Self {
        let [f0, f1, f2, f3, n1, n2, n3, x0, x1, x2, x3, rows, bytes, checksum, c0, c1, c2, starts_new] =
            fields;
        Self {
            first: [f0, f1, f2, f3],
            min: [f0, n1, n2, n3],
            max: [x0, x1, x2, x3],
            rows,
            bytes,
            checksum,
            changes: [c0, c1, c2],
            starts_new,
        }
    }
}

/// What is before a block, or a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub row: u64,
    pub offset: u64,
    pub changes: [u64; 3],
}

/// What is known of a page before it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageBounds {
    pub blocks: usize,
    /// Its first row.
    pub first: [u64; 4],
    /// What is before its blocks, and before their end.
    pub start: Sums,
    pub end: Sums,
}

/// Appends the page of some blocks.
pub(super) fn encode(blocks: &[BlockEntry], encoder: &mut ColumnEncoder, out: &mut Vec<u8>) {
    let mut column = Vec::with_capacity(blocks.len());
    for field in 0..FIELDS {
        column.clear();
        column.extend(blocks.iter().map(|block| block.fields()[field]));
        encoder.encode_long(&column, out);
    }
}

/// A page in memory: blocks, and sums over all blocks before each.
#[derive(Debug)]
pub(super) struct Page {
    blocks: Vec<BlockEntry>,
    sums: Vec<Sums>,
}

impl Page {
    /// Reads what [`encode`] wrote.
    pub(super) fn decode(bytes: &[u8], bounds: &PageBounds) -> Result<Self, Damage> {
        let mut reader = Reader::new(bytes);
        let mut blocks = vec![[0; FIELDS]; bounds.blocks];
        for field in 0..FIELDS {
            let values = decode_long(&mut reader, bounds.blocks)?;
            for (block, value) in blocks.iter_mut().zip(values) {
                block[field] = value;
            }
        }
        if !reader.rest().is_empty() {
            return Err(Damage("bytes left over in a page of the index"));
        }
        let blocks: Vec<BlockEntry> = blocks.into_iter().map(BlockEntry::from_fields).collect();
        let sums = sums(&blocks, bounds.start)?;
        let sorted = blocks.windows(2).all(|pair| pair[0].first < pair[1].first);
        let first = blocks.first().is_some_and(|block| block.first == bounds.first);
        if !sorted || !first || sums.last() != Some(&bounds.end) {
            return Err(Damage("a page of the index is not as the index says"));
        }
        Ok(Self { blocks, sums })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.blocks.capacity() * size_of::<BlockEntry>()
            + self.sums.capacity() * size_of::<Sums>()
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    #[inline]
    pub(super) fn entry(&self, block: usize) -> Option<&BlockEntry> {
        self.blocks.get(block)
    }

    /// What is before a block, or before the end.
    #[inline]
    pub(super) fn sum(&self, block: usize) -> Sums {
        self.sums.get(block).or(self.sums.last()).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn rows(&self, block: usize) -> Range<u64> {
        self.sum(block).row..self.sum(block + 1).row
    }

    /// Where a block is in the file.
    pub(super) fn bytes(&self, block: usize) -> Range<u64> {
        self.sum(block).offset..self.sum(block + 1).offset
    }

    pub(super) fn bounds(&self, block: usize) -> Option<BlockBounds> {
        let entry = self.entry(block)?;
        Some(BlockBounds { rows: self.rows(block), first: entry.first, min: entry.min, max: entry.max })
    }

    pub(super) fn block_of(&self, row: u64) -> usize {
        self.sums.partition_point(|sum| sum.row <= row).saturating_sub(1)
    }

    /// Whether the first row of the block differs from the row before in its columns up to `column`.
    pub(super) fn starts_new(&self, block: usize, column: usize) -> bool {
        self.entry(block).is_some_and(|entry| (entry.starts_new >> column) & 1 == 1)
    }

    /// The last block whose first row is before all rows that begin with `key`, or where `or_equal`, not after all of them. The
    /// first block where none is.
    pub(super) fn block_before(&self, key: &[u64], or_equal: bool) -> usize {
        self.blocks.partition_point(|block| is_before(&block.first, key, or_equal)).saturating_sub(1)
    }

    /// The block, not before `from`, in which a forward search for `key` ends: gallops over the first rows of blocks.
    pub(super) fn seek_block(&self, from: usize, key: &[u64]) -> usize {
        let before =
            |block: usize| self.entry(block).is_some_and(|entry| is_before(&entry.first, key, false));
        let (mut low, mut step) = (from, 1);
        while before(low + step) {
            low += step;
            step *= 2;
        }
        let mut high = low + step;
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if before(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// Whether a row is before all rows that begin with `key`, or where `or_equal`, not after all of them.
#[inline]
pub(super) fn is_before(row: &[u64; 4], key: &[u64], or_equal: bool) -> bool {
    match compare(row, key) {
        Ordering::Less => true,
        Ordering::Equal => or_equal,
        Ordering::Greater => false,
    }
}

fn sums(blocks: &[BlockEntry], start: Sums) -> Result<Vec<Sums>, Damage> {
    const OVERFLOW: Damage = Damage("sums of the index are too large");
    let mut sums = Vec::with_capacity(blocks.len() + 1);
    let mut now = start;
    sums.push(now);
    for block in blocks {
        if block.rows == 0 || block.rows > BLOCK_ROWS as u64 {
            return Err(Damage("a block of the index has no rows or too many"));
        }
        now.row = now.row.checked_add(block.rows).ok_or(OVERFLOW)?;
        now.offset = now.offset.checked_add(block.bytes).ok_or(OVERFLOW)?;
        for (sum, changes) in now.changes.iter_mut().zip(block.changes) {
            if changes > block.rows {
                return Err(Damage("a block of the index has more changes than rows"));
            }
            *sum = sum.checked_add(changes).ok_or(OVERFLOW)?;
        }
        sums.push(now);
    }
    Ok(sums)
}

/// Compares a row with a key by the key's columns.
fn compare(row: &[u64; 4], key: &[u64]) -> Ordering {
    row.iter().take(key.len()).cmp(key)
}
