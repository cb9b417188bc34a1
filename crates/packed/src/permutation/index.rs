//! The index of a permutation's blocks, and the footer that says where it is.

use super::{BlockBounds, PermutationInfo, Result};
use crate::bytes::Reader;
use crate::codec::{ColumnEncoder, decode_long};
use crate::error::{Damage, PackedError, io_error};
use crate::format::{BLOCK_ROWS, FORMAT_VERSION, HEADER_BYTES, PERMUTATION_MAGIC};
use crate::order::Order;
use lode_base::checksum::checksum;
use lode_base::vfs::ReadAt;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Seven numbers of 8 bytes, order and version of 4, magic, checksum.
const FOOTER_BYTES: usize = 7 * 8 + 2 * 4 + 8 + 8;

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

/// The index in memory: blocks, and sums over all blocks before each.
#[derive(Debug)]
pub(super) struct Index {
    blocks: Vec<BlockEntry>,
    sums: Vec<Sums>,
}

#[derive(Debug, Clone, Copy)]
struct Sums {
    row: u64,
    offset: u64,
    changes: [u64; 3],
}

/// Appends the encoded index.
pub(super) fn encode(blocks: &[BlockEntry], out: &mut Vec<u8>) {
    let mut encoder = ColumnEncoder::default();
    let mut column = Vec::with_capacity(blocks.len());
    for field in 0..FIELDS {
        column.clear();
        column.extend(blocks.iter().map(|block| block.fields()[field]));
        encoder.encode_long(&column, out);
    }
}

impl Index {
    pub(super) fn decode(bytes: &[u8], footer: &Footer) -> std::result::Result<Self, Damage> {
        // A block has at least a byte, which bounds what a wrong count can ask for.
        let count = usize::try_from(footer.info.blocks.min(footer.index_offset)).unwrap_or(usize::MAX);
        let mut reader = Reader::new(bytes);
        let mut blocks = vec![[0; FIELDS]; 0];
        for field in 0..FIELDS {
            let values = decode_long(&mut reader, count)?;
            blocks.resize(count, [0; FIELDS]);
            for (block, value) in blocks.iter_mut().zip(values) {
                block[field] = value;
            }
        }
        if !reader.rest().is_empty() {
            return Err(Damage("bytes left over in the index"));
        }
        let blocks: Vec<BlockEntry> = blocks.into_iter().map(BlockEntry::from_fields).collect();
        let sums = Self::sums(&blocks)?;
        let index = Self { blocks, sums };
        index.check(footer)?;
        Ok(index)
    }

    fn sums(blocks: &[BlockEntry]) -> std::result::Result<Vec<Sums>, Damage> {
        let mut sums = Vec::with_capacity(blocks.len() + 1);
        let mut now = Sums { row: 0, offset: HEADER_BYTES as u64, changes: [0; 3] };
        sums.push(now);
        let overflow = Damage("sums of the index are too large");
        for block in blocks {
            if block.rows == 0 || block.rows > BLOCK_ROWS as u64 {
                return Err(Damage("a block of the index has no rows or too many"));
            }
            now.row += block.rows;
            now.offset = now.offset.checked_add(block.bytes).ok_or(overflow)?;
            for (sum, changes) in now.changes.iter_mut().zip(block.changes) {
                if changes > block.rows {
                    return Err(Damage("a block of the index has more changes than rows"));
                }
                *sum += changes;
            }
            sums.push(now);
        }
        Ok(sums)
    }

    fn check(&self, footer: &Footer) -> std::result::Result<(), Damage> {
        let total = self.sum(self.blocks.len());
        let sorted = self.blocks.windows(2).all(|pair| pair[0].first < pair[1].first);
        if self.blocks.len() as u64 != footer.info.blocks
            || total.row != footer.info.rows
            || total.offset != footer.index_offset
            || total.changes[0] != footer.info.distinct_first
            || !sorted
        {
            return Err(Damage("the index does not fit the footer"));
        }
        Ok(())
    }

    fn sum(&self, block: usize) -> Sums {
        let empty = Sums { row: 0, offset: 0, changes: [0; 3] };
        self.sums.get(block).or(self.sums.last()).copied().unwrap_or(empty)
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<BlockEntry>() + self.sums.capacity() * size_of::<Sums>()
    }

    pub(super) fn entry(&self, block: usize) -> Option<&BlockEntry> {
        self.blocks.get(block)
    }

    pub(super) fn bounds(&self, block: usize) -> Option<BlockBounds> {
        let entry = self.entry(block)?;
        Some(BlockBounds { rows: self.rows(block), first: entry.first, min: entry.min, max: entry.max })
    }

    pub(super) fn rows(&self, block: usize) -> Range<u64> {
        self.sum(block).row..self.sum(block + 1).row
    }

    /// Where the block is in the file.
    pub(super) fn bytes(&self, block: usize) -> Range<u64> {
        self.sum(block).offset..self.sum(block + 1).offset
    }

    pub(super) fn checksum(&self, block: usize) -> u64 {
        self.entry(block).map_or(0, |entry| entry.checksum)
    }

    pub(super) fn block_of(&self, row: u64) -> usize {
        self.sums.partition_point(|sum| sum.row <= row).saturating_sub(1)
    }

    /// Changes of `column` counted in `blocks`.
    pub(super) fn changes(&self, column: usize, blocks: Range<usize>) -> u64 {
        let at = |block| self.sum(block).changes.get(column).copied().unwrap_or(0);
        at(blocks.end).saturating_sub(at(blocks.start))
    }

    /// Whether the first row of the block differs from the row before in its columns up to `column`.
    pub(super) fn starts_new(&self, block: usize, column: usize) -> bool {
        self.entry(block).is_some_and(|entry| (entry.starts_new >> column) & 1 == 1)
    }

    /// The last block whose first row is before all rows that begin with `key`: the first row not before `key` is in it,
    /// or the first of the next.
    pub(super) fn block_before(&self, key: &[u64]) -> Option<usize> {
        let before = |block: &BlockEntry| compare(&block.first, key) == Ordering::Less;
        self.blocks.partition_point(before).checked_sub(1)
    }

    /// The last block whose first row is not after all rows that begin with `key`.
    pub(super) fn block_until(&self, key: &[u64]) -> Option<usize> {
        let until = |block: &BlockEntry| compare(&block.first, key) != Ordering::Greater;
        self.blocks.partition_point(until).checked_sub(1)
    }
}

/// Compares a row with a key by the key's columns.
pub(super) fn compare(row: &[u64; 4], key: &[u64]) -> Ordering {
    row.iter().take(key.len()).cmp(key)
}

/// The end of a permutation file.
#[derive(Debug)]
pub(super) struct Footer {
    pub info: PermutationInfo,
    pub index_offset: u64,
    index_bytes: u64,
    index_checksum: u64,
}

impl Footer {
    /// Appends index and footer; returns what the file then holds.
    pub(super) fn append(
        mut info: PermutationInfo,
        blocks: &[BlockEntry],
        out: &mut Vec<u8>,
    ) -> PermutationInfo {
        let index_offset = info.bytes;
        encode(blocks, out);
        let index_bytes = out.len();
        let index_checksum = checksum(out);
        let numbers = [
            index_offset,
            index_bytes as u64,
            index_checksum,
            info.rows,
            blocks.len() as u64,
            info.fingerprint,
            info.distinct_first,
        ];
        for number in numbers {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&u32::from(info.order as u8).to_le_bytes());
        out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        out.extend_from_slice(&PERMUTATION_MAGIC);
        info.checksum = checksum(&out[index_bytes..]);
        out.extend_from_slice(&info.checksum.to_le_bytes());
        info.bytes += out.len() as u64;
        info.blocks = blocks.len() as u64;
        info
    }

    pub(super) fn read(file: &dyn ReadAt, name: &Arc<str>) -> Result<Self> {
        let length = file.len();
        let short = || Damage("too short to be a permutation").at(name, 0);
        let offset = length.checked_sub(FOOTER_BYTES as u64).ok_or_else(short)?;
        let mut bytes = [0; FOOTER_BYTES];
        file.read_exact_at(&mut bytes, offset).map_err(io_error(name))?;
        match Self::parse(&bytes, length) {
            Ok(Parsed::Footer(footer)) => Ok(footer),
            Ok(Parsed::OtherVersion(found)) => {
                Err(PackedError::Version { file: Arc::clone(name), found, supported: FORMAT_VERSION })
            }
            Err(damage) => Err(damage.at(name, offset)),
        }
    }

    fn parse(bytes: &[u8; FOOTER_BYTES], length: u64) -> std::result::Result<Parsed, Damage> {
        let mut reader = Reader::new(bytes);
        let mut numbers = [0; 7];
        for number in &mut numbers {
            *number = reader.u64()?;
        }
        let [index_offset, index_bytes, index_checksum, rows, blocks, fingerprint, distinct_first] = numbers;
        let (order, version) = (reader.u32()?, reader.u32()?);
        if reader.magic()? != PERMUTATION_MAGIC {
            return Err(Damage("not a permutation file, or cut short"));
        }
        let covered = reader.position();
        let sum = reader.u64()?;
        if checksum(&bytes[..covered]) != sum {
            return Err(Damage("the checksum of the footer is wrong"));
        }
        if version != FORMAT_VERSION {
            return Ok(Parsed::OtherVersion(version));
        }
        let order = usize::try_from(order).ok().and_then(|order| Order::ALL.get(order).copied());
        let order = order.ok_or(Damage("unknown sort order"))?;
        let end = index_offset.checked_add(index_bytes).and_then(|end| end.checked_add(FOOTER_BYTES as u64));
        if end != Some(length) || index_offset < HEADER_BYTES as u64 {
            return Err(Damage("the index is not where the footer says"));
        }
        let info = PermutationInfo {
            order,
            rows,
            bytes: length,
            blocks,
            fingerprint,
            distinct_first,
            checksum: sum,
        };
        Ok(Parsed::Footer(Self { info, index_offset, index_bytes, index_checksum }))
    }

    pub(super) fn read_index(&self, file: &dyn ReadAt, name: &Arc<str>) -> Result<Vec<u8>> {
        // The footer was checked to fit the file's length.
        let mut bytes = vec![0; self.index_bytes as usize];
        file.read_exact_at(&mut bytes, self.index_offset).map_err(io_error(name))?;
        if checksum(&bytes) != self.index_checksum {
            return Err(Damage("the checksum of the index is wrong").at(name, self.index_offset));
        }
        Ok(bytes)
    }
}

enum Parsed {
    Footer(Footer),
    OtherVersion(u32),
}
