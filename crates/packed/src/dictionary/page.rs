//! A page of the index of a dictionary: up to 512 blocks of one section that share a table of symbols, where they are, how many terms
//! they hold, and their separators. It can be read without the others.

use super::separators::Separators;
use super::symbols::SymbolTable;
use crate::bytes::Reader;
use crate::codec::{ColumnEncoder, decode_long};
use crate::error::Damage;
use crate::format::RAW_BLOCK_BYTES_MAX;
use std::ops::Range;

/// What the writer notes of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BlockEntry {
    pub terms: u64,
    pub bytes: u64,
    pub raw_bytes: u64,
    pub checksum: u64,
}

impl BlockEntry {
    const FIELDS: usize = 4;

    fn fields(&self) -> [u64; Self::FIELDS] {
        [self.terms, self.bytes, self.raw_bytes, self.checksum]
    }
}

/// What is known of a page before it is read.
#[derive(Debug, Clone)]
pub(super) struct PageBounds<'a> {
    pub blocks: usize,
    /// Ranks of its terms.
    pub ranks: Range<u64>,
    /// Where its blocks are in the file.
    pub bytes: Range<u64>,
    /// That of its first block.
    pub separator: &'a [u8],
}

/// Appends the page of some blocks, whose separators are those of number `first` and after.
pub(super) fn encode(
    blocks: &[BlockEntry],
    separators: &Separators,
    first: usize,
    table: &SymbolTable,
    encoder: &mut ColumnEncoder,
    out: &mut Vec<u8>,
) {
    let mut column = Vec::with_capacity(blocks.len());
    for field in 0..BlockEntry::FIELDS {
        column.clear();
        column.extend(blocks.iter().map(|block| block.fields()[field]));
        encoder.encode_long(&column, out);
    }
    separators.encode(first..first + blocks.len(), encoder, out);
    table.write(out);
}

/// A page in memory.
#[derive(Debug)]
pub(super) struct Page {
    blocks: Vec<BlockEntry>,
    /// Rank of the first term and offset in the file, for each block and for the end.
    starts: Vec<(u64, u64)>,
    separators: Separators,
    table: SymbolTable,
}

impl Page {
    /// Reads what [`encode`] wrote.
    pub(super) fn decode(bytes: &[u8], bounds: &PageBounds<'_>) -> Result<Self, Damage> {
        let mut reader = Reader::new(bytes);
        let mut blocks = vec![BlockEntry::default(); bounds.blocks];
        let mut column = || decode_long(&mut reader, bounds.blocks);
        let (terms, lengths, raw_bytes, checksums) = (column()?, column()?, column()?, column()?);
        let columns = terms.into_iter().zip(lengths).zip(raw_bytes).zip(checksums);
        for (block, (((terms, bytes), raw_bytes), checksum)) in blocks.iter_mut().zip(columns) {
            *block = BlockEntry { terms, bytes, raw_bytes, checksum };
        }
        let separators = Separators::decode(&mut reader, bounds.blocks)?;
        let table = SymbolTable::read(&mut reader)?;
        let starts = starts(&blocks, bounds)?;
        if separators.get(0) != bounds.separator || !reader.rest().is_empty() {
            return Err(Damage("a page of the index is not as the index says"));
        }
        Ok(Self { blocks, starts, separators, table })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.separators.memory_bytes()
            + self.blocks.capacity() * size_of::<BlockEntry>()
            + self.starts.capacity() * size_of::<(u64, u64)>()
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn entry(&self, block: usize) -> BlockEntry {
        self.blocks.get(block).copied().unwrap_or_default()
    }

    pub(super) fn table(&self) -> &SymbolTable {
        &self.table
    }

    pub(super) fn separators(&self) -> &Separators {
        &self.separators
    }

    fn start(&self, block: usize) -> (u64, u64) {
        self.starts.get(block).or(self.starts.last()).copied().unwrap_or((0, 0))
    }

    /// Ranks in the section of the terms of a block.
    pub(super) fn ranks(&self, block: usize) -> Range<u64> {
        self.start(block).0..self.start(block + 1).0
    }

    /// Where a block is in the file.
    pub(super) fn bytes(&self, block: usize) -> Range<u64> {
        self.start(block).1..self.start(block + 1).1
    }

    pub(super) fn block_of_rank(&self, rank: u64) -> usize {
        self.starts.partition_point(|start| start.0 <= rank).saturating_sub(1)
    }
}

fn starts(blocks: &[BlockEntry], bounds: &PageBounds<'_>) -> Result<Vec<(u64, u64)>, Damage> {
    let (mut rank, mut offset) = (bounds.ranks.start, bounds.bytes.start);
    let mut starts = Vec::with_capacity(blocks.len() + 1);
    starts.push((rank, offset));
    for block in blocks {
        // Each term has at least a byte before compression.
        if block.terms == 0 || block.terms > block.raw_bytes || block.raw_bytes > RAW_BLOCK_BYTES_MAX {
            return Err(Damage("a block of the index has no terms or too many"));
        }
        rank += block.terms;
        let end = offset.checked_add(block.bytes).filter(|end| *end <= bounds.bytes.end);
        offset = end.ok_or(Damage("a block of the index is outside its page"))?;
        starts.push((rank, offset));
    }
    if (rank, offset) != (bounds.ranks.end, bounds.bytes.end) {
        return Err(Damage("the blocks of a page of the index are not as the index says"));
    }
    Ok(starts)
}
