//! One sort order of quads in an immutable file: encoded blocks, with a page of the index behind each 512 of them, then an index of the
//! pages, then a footer.

mod ahead;
mod cursor;
mod footer;
mod index;
mod index_parts;
mod info;
mod page;
mod row_block;
mod verify;
mod warm;
mod whole;
mod writer;

use crate::block::{Block, PADDING, ParsedBlock};
use crate::error::{Damage, Result};
use crate::format::PERMUTATION_PAGE_BLOCKS;
use crate::kept::Kept;
use crate::order::Order;
use crate::part::{FileEnd, Part, PartPath};
use crate::read_context::{ReadContext, read_error};
pub use cursor::Cursor;
use footer::Footer;
use index::Index;
pub use info::{BlockBounds, PermutationInfo};
use lode_base::block_cache::{BlockCache, BlockKey};
use lode_base::block_source::{BlockFile, Reading};
use lode_base::checksum::checksum;
use lode_base::vfs::ReadAt;
use page::{BlockEntry, Page};
use std::ops::Range;
use std::sync::Arc;
pub use writer::PermutationWriter;

#[derive(Debug)]
struct Inner {
    name: Arc<str>,
    id: u64,
    cache: Arc<BlockCache>,
    info: PermutationInfo,
    part: Part<Opened>,
}

/// The file, and the upper level of its index.
#[derive(Debug)]
struct Opened {
    file: BlockFile,
    index: Kept<Index>,
}

impl Opened {
    /// What the file holds is told, too.
    fn read(file: Arc<dyn ReadAt>, name: &Arc<str>, cache: &BlockCache) -> Result<(Self, PermutationInfo)> {
        let end = FileEnd::read(file, name)?;
        let footer = Footer::read(&end, name)?;
        let bytes = footer.read_index(&end, name)?;
        cache.count_read(bytes.len() as u64);
        let damaged = |damage: Damage| damage.at(name, footer.index_offset);
        let index = Index::decode(&bytes, &footer).map_err(damaged)?;
        let bytes = index.memory_bytes();
        let index = Kept::new(index, bytes, cache);
        Ok((Self { file: cache.source().file(end.into_file()), index }, footer.info))
    }
}

/// A permutation file, and who reads it, if that is known. Clones share it; readers on many threads are fine.
#[derive(Debug, Clone)]
pub struct Permutation(Arc<Inner>, Option<Arc<ReadContext>>);

impl Permutation {
    /// Opens a file and reads the upper level of its index. `name` is for error messages.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where it is no permutation or
    /// its index is damaged, [`Version`](crate::PackedError::Version) where another version wrote it.
    pub fn open(file: Arc<dyn ReadAt>, name: &str, cache: Arc<BlockCache>) -> Result<Self> {
        let name: Arc<str> = Arc::from(name);
        let (opened, info) = Opened::read(file, &name, &cache)?;
        Ok(Self::new(name, info, cache, Part::Open(opened)))
    }

    /// A file that holds this, and is opened when something in it is wanted.
    pub(crate) fn at_path(path: PartPath, info: PermutationInfo, cache: Arc<BlockCache>) -> Self {
        Self::new(Arc::clone(path.name()), info, cache, Part::at(path))
    }

    fn new(name: Arc<str>, info: PermutationInfo, cache: Arc<BlockCache>, part: Part<Opened>) -> Self {
        let id = cache.file_id();
        Self(Arc::new(Inner { name, id, cache, info, part }), None)
    }

    /// Opens the file now, unless it is open.
    pub(crate) fn open_file(&self) -> Result<()> {
        self.opened().map(drop)
    }

    #[inline]
    fn opened(&self) -> Result<&Opened> {
        let Inner { name, cache, info, part, .. } = &*self.0;
        part.get(info, |file| Opened::read(file, name, cache))
    }

    #[inline]
    fn index(&self) -> Result<&Index> {
        Ok(&self.opened()?.index)
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.opened()?.file.read(bytes, offset, self.reading()).map_err(read_error(&self.0.name))
    }

    fn reading(&self) -> &Reading {
        ReadContext::reading(self.1.as_ref())
    }

    /// The same file for a reader; where one is known already, that stays.
    #[must_use]
    pub fn read_by(&self, context: Option<&Arc<ReadContext>>) -> Self {
        Self(Arc::clone(&self.0), self.1.as_ref().or(context).map(Arc::clone))
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

    /// Bytes of memory that the index takes, as far as it was read.
    pub fn index_bytes(&self) -> usize {
        self.0.part.if_open().map_or(0, |opened| opened.index.memory_bytes())
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        usize::try_from(self.0.info.blocks).unwrap_or(usize::MAX)
    }

    /// What the index knows of block number `block`, to skip it without reading it.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn block_bounds(&self, block: usize) -> Result<Option<BlockBounds>> {
        if block >= self.blocks() {
            return Ok(None);
        }
        let place = self.locate(block)?;
        Ok(place.page.bounds(place.at))
    }

    /// The number of the block that holds `row`.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn block_of(&self, row: u64) -> Result<Option<usize>> {
        if row < self.rows() { Ok(Some(self.block_of_row(row)?.number)) } else { Ok(None) }
    }

    /// The exact range of the rows whose first columns are `prefix` (0 to 4 ids).
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn range(&self, prefix: &[u64]) -> Result<Range<u64>> {
        assert!(prefix.len() <= 4, "a prefix of {} columns", prefix.len());
        if prefix.is_empty() {
            return Ok(0..self.rows());
        }
        let Some(high) = self.block_before(prefix, true)? else { return Ok(0..0) };
        let low = self.block_before(prefix, false)?.map_or_else(|| self.locate(0), Ok)?;
        // Of many small segments most have none of the rows: told without their blocks.
        if low.number == high.number && !low.may_hold(prefix) {
            return Ok(0..0);
        }
        let mut block = self.open_block(low)?;
        let start = self.in_block(low, block.lower_bound(prefix, 0..block.rows()))?;
        let same = high.number == low.number;
        if !same {
            block = self.open_block(high)?;
        }
        let from = if same { start } else { 0 };
        let end = self.in_block(high, block.upper_bound(prefix, from..block.rows()))?;
        let start = low.rows().start + start as u64;
        Ok(start..(high.rows().start + end as u64).max(start))
    }

    /// The first row of `rows` that is not before `key` (1 to 4 ids: the first columns), or the end of `rows`.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn lower_bound(&self, key: &[u64], rows: Range<u64>) -> Result<u64> {
        let rows = self.clip(rows);
        let row = match self.block_before(key, false)? {
            Some(place) if !key.is_empty() => {
                let mut open = self.open_block(place)?;
                let inside = self.in_block(place, open.lower_bound(key, 0..open.rows()))?;
                place.rows().start + inside as u64
            }
            _ => 0,
        };
        Ok(row.clamp(rows.start, rows.end))
    }

    /// One row: its four columns.
    ///
    /// # Errors
    ///
    /// [`Corruption`](crate::PackedError::Corruption) where there is no such row, or bytes are damaged; [`Io`](crate::PackedError::Io) where the
    /// file cannot be read.
    pub fn row(&self, row: u64) -> Result<[u64; 4]> {
        if row >= self.rows() {
            return Err(Damage("no such row").at(&self.0.name, 0));
        }
        let place = self.block_of_row(row)?;
        let mut block = self.open_block(place)?;
        let inside = (row - place.rows().start) as usize;
        let mut key = [0; 4];
        for (column, value) in key.iter_mut().enumerate() {
            *value = self.in_block(place, block.value(column, inside))?;
        }
        Ok(key)
    }

    /// At most `parts - 1` rows that cut `rows` into pieces of about equal size, at block boundaries, ascending.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn split(&self, rows: Range<u64>, parts: usize) -> Result<Vec<u64>> {
        let rows = self.clip(rows);
        let length = rows.end - rows.start;
        let mut cuts: Vec<u64> = Vec::new();
        if length == 0 {
            return Ok(cuts);
        }
        for part in 1..parts as u64 {
            let target = rows.start + (u128::from(length) * u128::from(part) / parts as u128) as u64;
            let around = self.block_of_row(target)?.rows();
            let cut = if target - around.start <= around.end - target { around.start } else { around.end };
            if cut > rows.start && cut < rows.end && cuts.last().is_none_or(|last| *last < cut) {
                cuts.push(cut);
            }
        }
        Ok(cuts)
    }

    /// The exact number of distinct values of column `prefix.len()` among the rows that begin with `prefix` (0 to 3 ids).
    /// Reads at most four blocks.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn distinct(&self, prefix: &[u64]) -> Result<u64> {
        assert!(prefix.len() < 4, "a prefix of {} columns leaves none to count", prefix.len());
        if prefix.is_empty() {
            return Ok(self.0.info.distinct_first);
        }
        let rows = self.range(prefix)?;
        self.distinct_in(prefix.len(), rows)
    }

    /// The exact number of distinct values of `column` among `rows`, in all of which the columns before it are the same.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::PackedError::Io) where the file cannot be read, [`Corruption`](crate::PackedError::Corruption) where its bytes are damaged.
    pub fn distinct_in(&self, column: usize, rows: Range<u64>) -> Result<u64> {
        let rows = self.clip(rows);
        if rows.is_empty() {
            return Ok(0);
        }
        if column >= 3 {
            return Ok(rows.end - rows.start);
        }
        let (first, last) = (self.block_of_row(rows.start)?, self.block_of_row(rows.end - 1)?);
        if first.number == last.number {
            return Ok(1 + self.changes_in(first, column, rows)?);
        }
        let head = self.changes_in(first, column, rows.start..first.rows().end)?;
        let tail = self.changes_in(last, column, last.rows().start..rows.end)?;
        let before = |place: Located<'_>, at| place.page.sum(at).changes.get(column).copied().unwrap_or(0);
        let between = before(last, last.at).saturating_sub(before(first, first.at + 1));
        let starts_new = u64::from(last.page.starts_new(last.at, column));
        Ok(1 + head + between + starts_new + tail)
    }

    fn changes_in(&self, place: Located<'_>, column: usize, rows: Range<u64>) -> Result<u64> {
        let start = place.rows().start;
        let mut open = self.open_block(place)?;
        let inside = (rows.start - start) as usize..(rows.end - start) as usize;
        self.in_block(place, open.changes(column, inside))
    }

    fn clip(&self, rows: Range<u64>) -> Range<u64> {
        let end = rows.end.min(self.rows());
        rows.start.min(end)..end
    }

    /// A page of the index, which is kept from then on.
    #[inline]
    fn page(&self, number: usize) -> Result<&Page> {
        match self.index()?.slot(number).and_then(|slot| slot.get()) {
            Some(page) => Ok(page),
            None => self.read_page(number),
        }
    }

    #[cold]
    fn read_page(&self, number: usize) -> Result<&Page> {
        let missing = || Damage("no such page of the index").at(&self.0.name, 0);
        let index = self.index()?;
        let slot = index.slot(number).ok_or_else(missing)?;
        let (place, sum) = index.place(number);
        let mut bytes = vec![0; (place.end - place.start) as usize];
        self.read(&mut bytes, place.start)?;
        self.0.cache.count_read(place.end - place.start);
        let page = if checksum(&bytes) == sum {
            Page::decode(&bytes, &index.bounds(number))
        } else {
            Err(Damage("the checksum of a page of the index is wrong"))
        };
        let page = page.map_err(|damage| damage.at(&self.0.name, place.start))?;
        let bytes = page.memory_bytes();
        Ok(slot.get_or_init(|| Box::new(Kept::new(page, bytes, &self.0.cache))))
    }

    /// Finds a block in the index.
    #[inline]
    fn locate(&self, number: usize) -> Result<Located<'_>> {
        let page = self.page(number / PERMUTATION_PAGE_BLOCKS)?;
        let at = number % PERMUTATION_PAGE_BLOCKS;
        if at < page.len() {
            Ok(Located { page, at, number })
        } else {
            Err(Damage("no such block").at(&self.0.name, 0))
        }
    }

    /// The block that holds a row that there is.
    fn block_of_row(&self, row: u64) -> Result<Located<'_>> {
        let number = self.index()?.page_of(row);
        let page = self.page(number)?;
        let at = page.block_of(row);
        Ok(Located { page, at, number: number * PERMUTATION_PAGE_BLOCKS + at })
    }

    /// The last block whose first row is before all rows that begin with `key` (the first of those is in it, or the first of the
    /// next), or where `or_equal`, not after all of them.
    fn block_before(&self, key: &[u64], or_equal: bool) -> Result<Option<Located<'_>>> {
        let Some(number) = self.index()?.page_before(key, or_equal) else { return Ok(None) };
        let page = self.page(number)?;
        let at = page.block_before(key, or_equal);
        Ok(Some(Located { page, at, number: number * PERMUTATION_PAGE_BLOCKS + at }))
    }

    /// Puts file and place to what a decoder found wrong in a block.
    fn in_block<T>(&self, place: Located<'_>, result: std::result::Result<T, Damage>) -> Result<T> {
        result.map_err(|damage| damage.at(&self.0.name, place.bytes().start))
    }

    fn open_block(&self, place: Located<'_>) -> Result<Block> {
        Ok(Block::open(self.parsed_block(place)?))
    }

    /// A block and its index entry, for a writer that copies it.
    fn block(&self, number: usize) -> Result<(BlockEntry, Arc<ParsedBlock>)> {
        let place = self.locate(number)?;
        Ok((place.entry(), self.parsed_block(place)?))
    }

    /// Appends all rows of a block to `columns`.
    fn decode(&self, number: usize, parsed: &Arc<ParsedBlock>, columns: &mut [Vec<u64>; 4]) -> Result<()> {
        let mut block = Block::open(Arc::clone(parsed));
        let rows = 0..block.rows();
        let mut columns = columns.iter_mut().enumerate();
        let decoded = columns.try_for_each(|(column, out)| block.decode(column, rows.clone(), out));
        self.in_block(self.locate(number)?, decoded)
    }

    fn parsed_block(&self, place: Located<'_>) -> Result<Arc<ParsedBlock>> {
        self.parsed_block_after(place, || {})
    }

    /// The same; `prepare` is called before the block is read, if it is.
    fn parsed_block_after(&self, place: Located<'_>, prepare: impl FnOnce()) -> Result<Arc<ParsedBlock>> {
        let key = BlockKey { file: self.0.id, block: place.number as u64 };
        self.0.cache.get_or_load_aside(ReadContext::own_cache(self.1.as_ref()), key, || {
            prepare();
            self.read_missed(place)
        })
    }

    /// Reads a block past the cache, verifies its checksum and parses it.
    fn read_block(&self, place: Located<'_>) -> Result<ParsedBlock> {
        let Range { start, end } = place.bytes();
        let mut bytes = Vec::with_capacity((end - start) as usize + PADDING);
        bytes.resize((end - start) as usize, 0);
        self.read(&mut bytes, start)?;
        self.0.cache.count_read(end - start);
        let entry = place.entry();
        if checksum(&bytes) != entry.checksum {
            return self.in_block(place, Err(Damage("the checksum of a block is wrong")));
        }
        let parsed = ParsedBlock::parse(bytes).and_then(|parsed| {
            if parsed.rows() as u64 == entry.rows {
                Ok(parsed)
            } else {
                Err(Damage("rows of a block are not those of the index"))
            }
        });
        self.in_block(place, parsed)
    }
}

/// Decodes bytes as each part of an index.
pub(crate) fn decode_index_parts(blocks: usize, bytes: &[u8]) {
    let sums = page::Sums::default();
    let bounds = page::PageBounds { blocks, first: [0; 4], start: sums, end: sums };
    let _ = Page::decode(bytes, &bounds).map(|page| page.block_before(&[1], true));
    let _ = Index::decode_level(bytes, blocks).map(|index| index.page_before(&[1], true));
}

/// Where a block is in the index.
#[derive(Debug, Clone, Copy)]
struct Located<'a> {
    page: &'a Page,
    /// Its number in the page.
    at: usize,
    /// And among all blocks.
    number: usize,
}

impl Located<'_> {
    #[inline]
    fn rows(self) -> Range<u64> {
        self.page.rows(self.at)
    }

    /// Where the block is in the file.
    fn bytes(self) -> Range<u64> {
        self.page.bytes(self.at)
    }

    fn entry(self) -> BlockEntry {
        self.page.entry(self.at).copied().unwrap_or_default()
    }

    /// Whether there may be rows that begin with `prefix`, given the least and the greatest value of each column.
    fn may_hold(self, prefix: &[u64]) -> bool {
        let Some(entry) = self.page.entry(self.at) else { return true };
        let mut bounds = entry.min.iter().zip(&entry.max).zip(prefix);
        bounds.all(|((min, max), value)| (min..=max).contains(&value))
    }
}

#[cfg(test)]
mod posting_list_tests;
#[cfg(test)]
mod tests;
