//! One sort order of quads in an immutable file: encoded blocks, then an index of them, then a footer.

mod cursor;
mod index;
mod row_block;
mod verify;
mod writer;

use crate::block::{Block, PADDING, ParsedBlock};
use crate::error::{Damage, PackedError, io_error};
use crate::order::Order;
pub use cursor::Cursor;
use index::{BlockEntry, Footer, Index};
use lode_base::block_cache::{BlockCache, BlockKey};
use lode_base::checksum::checksum;
use lode_base::vfs::ReadAt;
use std::ops::Range;
use std::sync::Arc;
pub use writer::PermutationWriter;

type Result<T> = std::result::Result<T, PackedError>;

/// What a permutation file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermutationInfo {
    /// The sort order.
    pub order: Order,
    /// Quads.
    pub rows: u64,
    /// Length of the file.
    pub bytes: u64,
    /// Blocks.
    pub blocks: u64,
    /// Wrapping sum of [`quad_hash`](crate::fingerprint::quad_hash) over all quads: equal for all orders of one set.
    pub fingerprint: u64,
    /// Distinct values of the first column.
    pub distinct_first: u64,
    /// Checksum at the end of the footer, which depends on every byte of the file through the checksums it covers.
    pub checksum: u64,
}

/// What the index knows of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockBounds {
    /// Its rows.
    pub rows: Range<u64>,
    /// Its first row.
    pub first: [u64; 4],
    /// The least value of each column.
    pub min: [u64; 4],
    /// The greatest value of each column.
    pub max: [u64; 4],
}

#[derive(Debug)]
struct Inner {
    file: Arc<dyn ReadAt>,
    name: Arc<str>,
    id: u64,
    cache: Arc<BlockCache>,
    info: PermutationInfo,
    index: Index,
}

/// An open permutation file. Clones share it; readers on many threads are fine.
#[derive(Debug, Clone)]
pub struct Permutation(Arc<Inner>);

impl Permutation {
    /// Opens a file and reads its index. `name` is for error messages.
    pub fn open(file: Arc<dyn ReadAt>, name: &str, cache: Arc<BlockCache>) -> Result<Self> {
        let name: Arc<str> = Arc::from(name);
        let footer = Footer::read(&*file, &name)?;
        let bytes = footer.read_index(&*file, &name)?;
        cache.count_read(bytes.len() as u64);
        let damaged = |damage: Damage| damage.at(&name, footer.index_offset);
        let index = Index::decode(&bytes, &footer).map_err(damaged)?;
        let id = cache.file_id();
        Ok(Self(Arc::new(Inner { file, name, id, cache, info: footer.info, index })))
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.0.info.rows
    }

    /// The sort order.
    pub fn order(&self) -> Order {
        self.0.info.order
    }

    /// What the footer says.
    pub fn info(&self) -> PermutationInfo {
        self.0.info
    }

    /// Bytes of memory that the index takes.
    pub fn index_bytes(&self) -> usize {
        self.0.index.memory_bytes()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.0.index.len()
    }

    /// What the index knows of block number `block`, to skip it without reading it.
    pub fn block_bounds(&self, block: usize) -> Option<BlockBounds> {
        self.0.index.bounds(block)
    }

    /// The number of the block that holds `row`.
    pub fn block_of(&self, row: u64) -> Option<usize> {
        (row < self.rows()).then(|| self.0.index.block_of(row))
    }

    /// The exact range of the rows whose first columns are `prefix` (0 to 4 ids).
    pub fn range(&self, prefix: &[u64]) -> Result<Range<u64>> {
        assert!(prefix.len() <= 4, "a prefix of {} columns", prefix.len());
        if prefix.is_empty() {
            return Ok(0..self.rows());
        }
        let index = &self.0.index;
        let (low, high) = (index.block_before(prefix), index.block_until(prefix));
        let Some(high) = high else { return Ok(0..0) };
        let low = low.unwrap_or(0);
        let mut block = self.open_block(low)?;
        let rows = index.rows(low);
        let start = self.in_block(low, block.lower_bound(prefix, 0..block.rows()))?;
        if high != low {
            block = self.open_block(high)?;
        }
        let from = if high == low { start } else { 0 };
        let end = self.in_block(high, block.upper_bound(prefix, from..block.rows()))?;
        let start = rows.start + start as u64;
        Ok(start..(index.rows(high).start + end as u64).max(start))
    }

    /// The first row of `rows` that is not before `key` (1 to 4 ids: the first columns), or the end of `rows`.
    pub fn lower_bound(&self, key: &[u64], rows: Range<u64>) -> Result<u64> {
        let rows = self.clip(rows);
        let row = match self.0.index.block_before(key) {
            Some(block) if !key.is_empty() => {
                let mut open = self.open_block(block)?;
                let inside = self.in_block(block, open.lower_bound(key, 0..open.rows()))?;
                self.0.index.rows(block).start + inside as u64
            }
            _ => 0,
        };
        Ok(row.clamp(rows.start, rows.end))
    }

    /// One row: its four columns.
    pub fn row(&self, row: u64) -> Result<[u64; 4]> {
        let missing = || Damage("no such row").at(&self.0.name, 0);
        let number = self.block_of(row).ok_or_else(missing)?;
        let mut block = self.open_block(number)?;
        let inside = (row - self.0.index.rows(number).start) as usize;
        let mut key = [0; 4];
        for (column, value) in key.iter_mut().enumerate() {
            *value = self.in_block(number, block.value(column, inside))?;
        }
        Ok(key)
    }

    /// A cursor over `rows` that delivers the columns in `columns` (bit `i` = column `i`) and reads no others.
    pub fn cursor(&self, rows: Range<u64>, columns: u8) -> Cursor {
        Cursor::new(self.clone(), self.clip(rows), columns)
    }

    /// At most `parts - 1` rows that cut `rows` into pieces of about equal size, at block boundaries, ascending.
    pub fn split(&self, rows: Range<u64>, parts: usize) -> Vec<u64> {
        let rows = self.clip(rows);
        let length = rows.end - rows.start;
        let mut cuts: Vec<u64> = Vec::new();
        for part in 1..parts as u64 {
            let target = rows.start + (u128::from(length) * u128::from(part) / parts as u128) as u64;
            let Some(block) = self.block_of(target) else { continue };
            let around = self.0.index.rows(block);
            let cut = if target - around.start <= around.end - target { around.start } else { around.end };
            if cut > rows.start && cut < rows.end && cuts.last().is_none_or(|last| *last < cut) {
                cuts.push(cut);
            }
        }
        cuts
    }

    /// The exact number of distinct values of column `prefix.len()` among the rows that begin with `prefix` (0 to 3 ids).
    /// Reads at most four blocks.
    pub fn distinct(&self, prefix: &[u64]) -> Result<u64> {
        assert!(prefix.len() < 4, "a prefix of {} columns leaves none to count", prefix.len());
        if prefix.is_empty() {
            return Ok(self.0.info.distinct_first);
        }
        let rows = self.range(prefix)?;
        self.distinct_in(prefix.len(), rows)
    }

    /// The exact number of distinct values of `column` among `rows`, in all of which the columns before it are the same.
    pub fn distinct_in(&self, column: usize, rows: Range<u64>) -> Result<u64> {
        let rows = self.clip(rows);
        if rows.is_empty() {
            return Ok(0);
        }
        if column >= 3 {
            return Ok(rows.end - rows.start);
        }
        let index = &self.0.index;
        let (first, last) = (index.block_of(rows.start), index.block_of(rows.end - 1));
        if first == last {
            return Ok(1 + self.changes_in(first, column, rows)?);
        }
        let head = self.changes_in(first, column, rows.start..index.rows(first).end)?;
        let tail = self.changes_in(last, column, index.rows(last).start..rows.end)?;
        let starts_new = u64::from(index.starts_new(last, column));
        Ok(1 + head + index.changes(column, first + 1..last) + starts_new + tail)
    }

    fn changes_in(&self, block: usize, column: usize, rows: Range<u64>) -> Result<u64> {
        let start = self.0.index.rows(block).start;
        let mut open = self.open_block(block)?;
        let inside = (rows.start - start) as usize..(rows.end - start) as usize;
        self.in_block(block, open.changes(column, inside))
    }

    fn clip(&self, rows: Range<u64>) -> Range<u64> {
        let end = rows.end.min(self.rows());
        rows.start.min(end)..end
    }

    /// Puts file and place to what a decoder found wrong in a block.
    fn in_block<T>(&self, block: usize, result: std::result::Result<T, Damage>) -> Result<T> {
        result.map_err(|damage| damage.at(&self.0.name, self.0.index.bytes(block).start))
    }

    fn open_block(&self, block: usize) -> Result<Block> {
        Ok(Block::open(self.parsed_block(block)?))
    }

    /// A block and its index entry, for a writer that copies it.
    fn block(&self, number: usize) -> Result<(BlockEntry, Arc<ParsedBlock>)> {
        let missing = || Damage("no such block").at(&self.0.name, 0);
        let entry = self.0.index.entry(number).copied().ok_or_else(missing)?;
        Ok((entry, self.parsed_block(number)?))
    }

    /// Appends all rows of a block to `columns`.
    fn decode(&self, number: usize, parsed: &Arc<ParsedBlock>, columns: &mut [Vec<u64>; 4]) -> Result<()> {
        let mut block = Block::open(Arc::clone(parsed));
        let rows = 0..block.rows();
        let mut columns = columns.iter_mut().enumerate();
        let decoded = columns.try_for_each(|(column, out)| block.decode(column, rows.clone(), out));
        self.in_block(number, decoded)
    }

    /// Calls `visit` with each block's rows, in the columns in `columns` (bit `i` = column `i`); the others are empty. Reads past the
    /// cache.
    pub fn for_each_block(
        &self,
        columns: u8,
        visit: &mut dyn FnMut([&[u64]; 4]) -> Result<()>,
    ) -> Result<()> {
        let mut decoded: [Vec<u64>; 4] = Default::default();
        for number in 0..self.blocks() {
            let mut block = Block::open(Arc::new(self.read_block(number)?));
            let rows = 0..block.rows();
            for (column, out) in decoded.iter_mut().enumerate().filter(|(i, _)| (columns >> i) & 1 == 1) {
                out.clear();
                self.in_block(number, block.decode(column, rows.clone(), out))?;
            }
            visit(decoded.each_ref().map(Vec::as_slice))?;
        }
        Ok(())
    }

    fn parsed_block(&self, block: usize) -> Result<Arc<ParsedBlock>> {
        let key = BlockKey { file: self.0.id, block: block as u64 };
        self.0.cache.get_or_load(key, || self.read_block(block))
    }

    /// Reads a block past the cache, verifies its checksum and parses it.
    fn read_block(&self, block: usize) -> Result<ParsedBlock> {
        let Range { start, end } = self.0.index.bytes(block);
        let mut bytes = Vec::with_capacity((end - start) as usize + PADDING);
        bytes.resize((end - start) as usize, 0);
        self.0.file.read_exact_at(&mut bytes, start).map_err(io_error(&self.0.name))?;
        self.0.cache.count_read(end - start);
        if checksum(&bytes) != self.0.index.checksum(block) {
            return self.in_block(block, Err(Damage("the checksum of a block is wrong")));
        }
        let rows = self.0.index.rows(block);
        let parsed = ParsedBlock::parse(bytes).and_then(|parsed| {
            if parsed.rows() as u64 == rows.end - rows.start {
                Ok(parsed)
            } else {
                Err(Damage("rows of a block are not those of the index"))
            }
        });
        self.in_block(block, parsed)
    }
}

#[cfg(test)]
mod tests;
