//! The index of a section of a dictionary in two levels. This is the upper one: what is to be known of each page of blocks to find
//! and check it, and the filter of its terms. Pages are read when they are needed.

use super::page::{Page, PageBounds};
use super::separators::Separators;
use crate::bytes::Reader;
use crate::codec::{ColumnEncoder, decode_long};
use crate::error::Damage;
use crate::format::DICTIONARY_PAGE_BLOCKS_MAX;
use crate::kept::Kept;
use lode_base::varint::write_varint;
use std::ops::Range;
use std::sync::OnceLock;

/// No page, with a block and its filter, takes fewer bytes of the file.
const PAGE_STORED_BYTES_MIN: u64 = 32;

/// What the writer notes of a page. In the file, its blocks are followed by their filter, and that by the page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageEntry {
    pub terms: u64,
    pub blocks: u64,
    pub block_bytes: u64,
    pub filter_bytes: u64,
    pub filter_checksum: u64,
    pub page_bytes: u64,
    pub page_checksum: u64,
}

impl PageEntry {
    const FIELDS: usize = 7;

    fn fields(&self) -> [u64; Self::FIELDS] {
        [
            self.terms,
            self.blocks,
            self.block_bytes,
            self.filter_bytes,
            self.filter_checksum,
            self.page_bytes,
            self.page_checksum,
        ]
    }

    fn from_fields(fields: [u64; Self::FIELDS]) -> Self {
        let [terms, blocks, block_bytes, filter_bytes, filter_checksum, page_bytes, page_checksum] = fields;
        Self { terms, blocks, block_bytes, filter_bytes, filter_checksum, page_bytes, page_checksum }
    }

    /// Bytes of the blocks, the filter and the page.
    fn bytes(&self) -> Option<u64> {
        self.block_bytes.checked_add(self.filter_bytes)?.checked_add(self.page_bytes)
    }
}

/// What is before a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub rank: u64,
    /// Blocks, counted through all sections.
    pub block: u64,
    pub offset: u64,
}

/// The upper level of the index of one section; also what the writer builds.
#[derive(Debug, Default)]
pub(super) struct SectionIndex {
    pages: Vec<PageEntry>,
    /// For each page and for the end.
    starts: Vec<Start>,
    /// Those of the first blocks of pages.
    separators: Separators,
    /// Pages that have been read.
    opened: Vec<OnceLock<Box<Kept<Page>>>>,
}

impl SectionIndex {
    /// Appends a page whose first block has this separator.
    pub(super) fn push(&mut self, entry: PageEntry, separator: &[u8]) {
        self.pages.push(entry);
        self.separators.push(separator);
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut encoder = ColumnEncoder::default();
        write_varint(out, self.pages.len() as u64);
        for field in 0..PageEntry::FIELDS {
            let column: Vec<u64> = self.pages.iter().map(|page| page.fields()[field]).collect();
            encoder.encode_long(&column, out);
        }
        self.separators.encode(0..self.pages.len(), &mut encoder, out);
    }

    /// Reads a section that begins at `start` in a file whose pages end before `end`.
    pub(super) fn decode(reader: &mut Reader<'_>, start: Start, end: u64) -> Result<Self, Damage> {
        // Bounds what a wrong count can ask for.
        let count = reader.count(usize::try_from(end / PAGE_STORED_BYTES_MIN).unwrap_or(usize::MAX))?;
        let mut pages = vec![[0; PageEntry::FIELDS]; 0];
        for field in 0..PageEntry::FIELDS {
            let values = decode_long(reader, count)?;
            pages.resize(count, [0; PageEntry::FIELDS]);
            for (page, value) in pages.iter_mut().zip(values) {
                page[field] = value;
            }
        }
        let pages: Vec<PageEntry> = pages.into_iter().map(PageEntry::from_fields).collect();
        let starts = starts(&pages, start, end)?;
        let separators = Separators::decode(reader, count)?;
        let opened = (0..count).map(|_| OnceLock::new()).collect();
        Ok(Self { pages, starts, separators, opened })
    }

    /// Number of pages.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let opened = self.opened.iter().filter_map(OnceLock::get);
        self.separators.memory_bytes()
            + self.pages.capacity() * size_of::<PageEntry>()
            + self.starts.capacity() * size_of::<Start>()
            + self.opened.capacity() * size_of::<OnceLock<Box<Kept<Page>>>>()
            + opened.map(|page| page.memory_bytes()).sum::<usize>()
    }

    pub(super) fn entry(&self, page: usize) -> PageEntry {
        self.pages.get(page).copied().unwrap_or_default()
    }

    /// What is before a page, or before the end.
    pub(super) fn start(&self, page: usize) -> Start {
        self.starts.get(page).or(self.starts.last()).copied().unwrap_or_default()
    }

    /// What is before the end of the section.
    pub(super) fn end(&self) -> Start {
        self.start(self.len())
    }

    /// Terms of the section.
    pub(super) fn terms(&self) -> u64 {
        self.end().rank - self.start(0).rank
    }

    /// What a page has to be.
    pub(super) fn bounds(&self, page: usize) -> PageBounds<'_> {
        let (start, entry) = (self.start(page), self.entry(page));
        PageBounds {
            blocks: entry.blocks as usize,
            ranks: start.rank..self.start(page + 1).rank,
            bytes: start.offset..start.offset + entry.block_bytes,
            separator: self.separators.get(page),
        }
    }

    /// Where the filter of a page is in the file.
    pub(super) fn filter_bytes(&self, page: usize) -> Range<u64> {
        let (start, entry) = (self.start(page).offset, self.entry(page));
        let start = start + entry.block_bytes;
        start..start + entry.filter_bytes
    }

    /// Where a page is in the file.
    pub(super) fn page_bytes(&self, page: usize) -> Range<u64> {
        self.filter_bytes(page).end..self.start(page + 1).offset
    }

    /// Where a page is kept once it was read.
    #[inline]
    pub(super) fn slot(&self, page: usize) -> Option<&OnceLock<Box<Kept<Page>>>> {
        self.opened.get(page)
    }

    pub(super) fn page_of_rank(&self, rank: u64) -> usize {
        self.starts.partition_point(|start| start.rank <= rank).saturating_sub(1)
    }

    /// The page of a block, by the number of the block in the whole dictionary.
    pub(super) fn page_of_block(&self, block: u64) -> usize {
        self.starts.partition_point(|start| start.block <= block).saturating_sub(1)
    }

    /// The pages one of which holds `key` if the section does.
    #[inline]
    pub(super) fn pages_of_key(&self, key: &[u8]) -> Range<usize> {
        self.separators.candidates(key)
    }
}

/// What is before each page; checks what can be checked without reading them.
fn starts(pages: &[PageEntry], start: Start, end: u64) -> Result<Vec<Start>, Damage> {
    let mut now = start;
    let mut starts = Vec::with_capacity(pages.len() + 1);
    starts.push(now);
    for page in pages {
        if page.blocks == 0 || page.blocks > DICTIONARY_PAGE_BLOCKS_MAX as u64 || page.terms < page.blocks {
            return Err(Damage("a page of the index has no blocks or too many"));
        }
        const OUTSIDE: Damage = Damage("a page of the index is outside the file");
        now.rank = now.rank.checked_add(page.terms).ok_or(OUTSIDE)?;
        now.block += page.blocks;
        let bytes = page.bytes().and_then(|bytes| now.offset.checked_add(bytes));
        now.offset = bytes.filter(|offset| *offset <= end).ok_or(OUTSIDE)?;
        starts.push(now);
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(entries: &[PageEntry]) -> Result<SectionIndex, Damage> {
        let mut index = SectionIndex::default();
        (0..).zip(entries).for_each(|(number, entry)| index.push(*entry, &[number]));
        let mut bytes = Vec::new();
        index.encode(&mut bytes);
        SectionIndex::decode(&mut Reader::new(&bytes), Start::default(), 1000)
    }

    #[test]
    fn pages_are_inside_the_file() {
        let page = PageEntry {
            terms: 9,
            blocks: 2,
            block_bytes: 100,
            filter_bytes: 50,
            page_bytes: 70,
            ..Default::default()
        };
        let index = decode(&[page; 4]).unwrap();
        assert_eq!(index.end(), Start { rank: 36, block: 8, offset: 880 });
        assert_eq!((index.filter_bytes(1), index.page_bytes(1)), (320..370, 370..440));
        assert_eq!([0, 8, 9, 35].map(|rank| index.page_of_rank(rank)), [0, 0, 1, 3]);
        assert_eq!([0, 1, 2, 7].map(|block| index.page_of_block(block)), [0, 0, 1, 3]);
        assert!(decode(&[page; 5]).is_err());
        let blocks = DICTIONARY_PAGE_BLOCKS_MAX as u64 + 1;
        assert!(decode(&[PageEntry { terms: 9000, blocks, ..page }]).is_err());
        assert!(decode(&[PageEntry { blocks: 0, ..page }]).is_err());
        assert!(decode(&[PageEntry { terms: 1, ..page }]).is_err());
        assert!(decode(&[PageEntry { filter_bytes: u64::MAX, ..page }]).is_err());
        assert!(decode(&[PageEntry { terms: u64::MAX - 3, ..page }, page]).is_err());
    }

    #[test]
    fn a_wrong_count_takes_no_memory() {
        let mut bytes = Vec::new();
        write_varint(&mut bytes, 1 << 40);
        let damage = SectionIndex::decode(&mut Reader::new(&bytes), Start::default(), 1 << 40);
        assert_eq!(damage.err(), Some(Damage("a count is too large")));
    }
}
