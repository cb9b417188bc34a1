//! The index of a permutation's blocks in two levels. This is the upper one: what is to be known of each page of blocks to find it, to
//! check it, and to count rows and distinct values over pages without reading them. Pages are read when they are needed.

use super::footer::Footer;
use super::page::{BlockEntry, Page, PageBounds, Sums, is_before};
use crate::bytes::Reader;
use crate::codec::{ColumnEncoder, decode_long};
use crate::error::Damage;
use crate::format::{BLOCK_ROWS, HEADER_BYTES, PERMUTATION_PAGE_BLOCKS};
use crate::kept::Kept;
use std::ops::Range;
use std::sync::OnceLock;

/// What the writer notes of a page, which stands behind its blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageEntry {
    pub first: [u64; 4],
    pub blocks: u64,
    pub rows: u64,
    pub block_bytes: u64,
    pub changes: [u64; 3],
    pub page_bytes: u64,
    pub page_checksum: u64,
}

impl PageEntry {
    const FIELDS: usize = 12;

    /// Of these blocks, and a page of so many bytes with this checksum.
    pub(super) fn new(blocks: &[BlockEntry], page_bytes: u64, page_checksum: u64) -> Self {
        let mut page = Self { page_bytes, page_checksum, ..Self::default() };
        page.first = blocks.first().map_or([0; 4], |block| block.first);
        page.blocks = blocks.len() as u64;
        for block in blocks {
            page.rows += block.rows;
            page.block_bytes += block.bytes;
            page.changes.iter_mut().zip(block.changes).for_each(|(sum, changes)| *sum += changes);
        }
        page
    }

    fn fields(&self) -> [u64; Self::FIELDS] {
        let ([f0, f1, f2, f3], [c0, c1, c2]) = (self.first, self.changes);
        let (bytes, sum) = (self.page_bytes, self.page_checksum);
        [f0, f1, f2, f3, self.blocks, self.rows, self.block_bytes, c0, c1, c2, bytes, sum]
    }

    fn from_fields(fields: [u64; Self::FIELDS]) -> Self {
        let [f0, f1, f2, f3, blocks, rows, block_bytes, c0, c1, c2, page_bytes, page_checksum] = fields;
        let (first, changes) = ([f0, f1, f2, f3], [c0, c1, c2]);
        Self { first, blocks, rows, block_bytes, changes, page_bytes, page_checksum }
    }
}

/// Appends the encoded upper level.
pub(super) fn encode(pages: &[PageEntry], encoder: &mut ColumnEncoder, out: &mut Vec<u8>) {
    let mut column = Vec::with_capacity(pages.len());
    for field in 0..PageEntry::FIELDS {
        column.clear();
        column.extend(pages.iter().map(|page| page.fields()[field]));
        encoder.encode_long(&column, out);
    }
}

/// The upper level in memory, and the pages that have been read.
#[derive(Debug)]
pub(super) struct Index {
    pages: Vec<PageEntry>,
    /// What is before each page, and before the end.
    sums: Vec<Sums>,
    blocks: usize,
    opened: Vec<OnceLock<Box<Kept<Page>>>>,
}

impl Index {
    pub(super) fn decode(bytes: &[u8], footer: &Footer) -> Result<Self, Damage> {
        // A block has at least a byte, which bounds what a wrong count can ask for.
        let blocks = footer.info.blocks.min(footer.index_offset);
        let blocks = usize::try_from(blocks).map_err(|_| Damage("a count is too large"))?;
        let index = Self::decode_level(bytes, blocks)?;
        index.check(footer)?;
        Ok(index)
    }

    /// Reads the upper level for so many blocks.
    pub(super) fn decode_level(bytes: &[u8], blocks: usize) -> Result<Self, Damage> {
        let count = blocks.div_ceil(PERMUTATION_PAGE_BLOCKS);
        let mut reader = Reader::new(bytes);
        let mut pages = vec![[0; PageEntry::FIELDS]; 0];
        for field in 0..PageEntry::FIELDS {
            let values = decode_long(&mut reader, count)?;
            pages.resize(count, [0; PageEntry::FIELDS]);
            for (page, value) in pages.iter_mut().zip(values) {
                page[field] = value;
            }
        }
        if !reader.rest().is_empty() {
            return Err(Damage("bytes left over in the index"));
        }
        let pages: Vec<PageEntry> = pages.into_iter().map(PageEntry::from_fields).collect();
        let sums = sums(&pages, blocks)?;
        let opened = (0..count).map(|_| OnceLock::new()).collect();
        Ok(Self { pages, sums, blocks, opened })
    }

    fn check(&self, footer: &Footer) -> Result<(), Damage> {
        let total = self.sum(self.pages.len());
        let sorted = self.pages.windows(2).all(|pair| pair[0].first < pair[1].first);
        if self.blocks as u64 != footer.info.blocks
            || total.row != footer.info.rows
            || total.offset != footer.index_offset
            || total.changes[0] != footer.info.distinct_first
            || !sorted
        {
            return Err(Damage("the index does not fit the footer"));
        }
        Ok(())
    }

    /// What is before a page, or before the end.
    fn sum(&self, page: usize) -> Sums {
        self.sums.get(page).or(self.sums.last()).copied().unwrap_or_default()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let opened = self.opened.iter().filter_map(OnceLock::get);
        self.pages.capacity() * size_of::<PageEntry>()
            + self.sums.capacity() * size_of::<Sums>()
            + self.opened.capacity() * size_of::<OnceLock<Box<Kept<Page>>>>()
            + opened.map(|page| page.memory_bytes()).sum::<usize>()
    }

    /// Where a page is kept once it was read.
    #[inline]
    pub(super) fn slot(&self, page: usize) -> Option<&OnceLock<Box<Kept<Page>>>> {
        self.opened.get(page)
    }

    /// What a page has to be.
    pub(super) fn bounds(&self, page: usize) -> PageBounds {
        let entry = self.pages.get(page).copied().unwrap_or_default();
        let (start, mut end) = (self.sum(page), self.sum(page + 1));
        end.offset = start.offset + entry.block_bytes;
        PageBounds { blocks: entry.blocks as usize, first: entry.first, start, end }
    }

    /// Where a page is in the file, and its checksum.
    pub(super) fn place(&self, page: usize) -> (Range<u64>, u64) {
        let entry = self.pages.get(page).copied().unwrap_or_default();
        let start = self.sum(page).offset + entry.block_bytes;
        (start..start + entry.page_bytes, entry.page_checksum)
    }

    pub(super) fn page_of(&self, row: u64) -> usize {
        self.sums.partition_point(|sum| sum.row <= row).saturating_sub(1)
    }

    /// The last page whose first row is before all rows that begin with `key`, or where `or_equal`, not after all of them.
    pub(super) fn page_before(&self, key: &[u64], or_equal: bool) -> Option<usize> {
        self.pages.partition_point(|page| is_before(&page.first, key, or_equal)).checked_sub(1)
    }

    /// The last page, not before `from`, whose first row is before all rows that begin with `key`, or else `from`.
    pub(super) fn seek_page(&self, from: usize, key: &[u64]) -> usize {
        if self.pages.get(from + 1).is_none_or(|next| !is_before(&next.first, key, false)) {
            return from;
        }
        self.page_before(key, false).unwrap_or(from)
    }
}

fn sums(pages: &[PageEntry], blocks: usize) -> Result<Vec<Sums>, Damage> {
    const WRONG: Damage = Damage("a page of the index is not as pages are");
    let mut sums = Vec::with_capacity(pages.len() + 1);
    let mut now = Sums { row: 0, offset: HEADER_BYTES as u64, changes: [0; 3] };
    sums.push(now);
    for (number, page) in pages.iter().enumerate() {
        // All but the last are full, so that the page of a block is known by its number.
        let own = (blocks - number * PERMUTATION_PAGE_BLOCKS).min(PERMUTATION_PAGE_BLOCKS) as u64;
        if page.blocks != own || page.rows < own || page.rows > own * BLOCK_ROWS as u64 {
            return Err(WRONG);
        }
        now.row += page.rows;
        let bytes = page.block_bytes.checked_add(page.page_bytes);
        now.offset = bytes.and_then(|bytes| now.offset.checked_add(bytes)).ok_or(WRONG)?;
        for (sum, changes) in now.changes.iter_mut().zip(page.changes) {
            if changes > page.rows {
                return Err(WRONG);
            }
            *sum += changes;
        }
        sums.push(now);
    }
    Ok(sums)
}
