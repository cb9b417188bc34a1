//! All terms of a section in order: for merges, dumps and checks. Reads several blocks at once and bypasses the cache.
//!
//! Reading and opening blocks ([`TermBlocks`]) can be done apart from walking through them ([`Terms`]), by another thread.

use super::block::OpenBlock;
use super::page::Page;
use super::{Dictionary, Result};
use lode_base::block_cache::CachedBlock;
use lode_rdf::value_id::Section;
use std::fmt;
use std::ops::Range;

/// Bytes read at once, at least one block.
const READ_BYTES: u64 = 256 * 1024;

impl Dictionary {
    /// All terms of a section in order, read ahead in large pieces, past the cache.
    pub fn iter(&self, section: Section) -> Terms {
        let mut blocks = self.blocks(section);
        self.iter_over(section, Box::new(move |old| blocks.next(old)))
    }

    /// The blocks of a section in order, to be read apart from the walk through their terms.
    pub fn blocks(&self, section: Section) -> TermBlocks {
        TermBlocks::new(self.clone(), section)
    }

    /// Like [`Dictionary::iter`], over blocks that [`Dictionary::blocks`] of the same section gives elsewhere.
    pub fn iter_over(&self, section: Section, supply: BlockSupply) -> Terms {
        Terms::new(self.clone(), section, supply)
    }
}

/// A verified, decompressed block of a section.
#[derive(Debug, Default)]
pub struct TermBlock {
    /// Where it is in the file.
    offset: u64,
    opened: OpenBlock,
}

impl TermBlock {
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.opened.bytes()
    }
}

/// Reads the blocks of a section in order. Keeps one page of the index at a time, whatever others have read of it.
#[derive(Debug)]
pub struct TermBlocks {
    dictionary: Dictionary,
    section: Section,
    page: Option<Page>,
    /// The page to be read after it.
    next_page: usize,
    /// Compressed bytes of `read_blocks` of the page, which begin at `read_offset` in the file.
    read: Vec<u8>,
    read_blocks: Range<usize>,
    read_offset: u64,
    /// The block of the page to be opened next.
    next: usize,
}

impl TermBlocks {
    fn new(dictionary: Dictionary, section: Section) -> Self {
        Self {
            dictionary,
            section,
            page: None,
            next_page: 0,
            read: Vec::new(),
            read_blocks: 0..0,
            read_offset: 0,
            next: 0,
        }
    }

    /// The next block, or `None` after the last. Takes the room of `old`.
    ///
    /// # Errors
    /// Where the file cannot be read, or the block or its page of the index is damaged.
    pub fn next(&mut self, old: TermBlock) -> Result<Option<TermBlock>> {
        if self.page.as_ref().is_none_or(|page| self.next >= page.len()) {
            if self.next_page >= self.dictionary.section(self.section)?.len() {
                return Ok(None);
            }
            self.page = Some(self.dictionary.read_page(self.section, self.next_page)?);
            (self.next_page, self.next, self.read_blocks) = (self.next_page + 1, 0, 0..0);
        }
        let Some(page) = &self.page else { return Ok(None) };
        if !self.read_blocks.contains(&self.next) {
            let last = last_to_read(page, self.next);
            let (start, end) = (page.bytes(self.next).start, page.bytes(last).end);
            self.read.resize((end - start) as usize, 0);
            self.dictionary.read(&mut self.read, start)?;
            (self.read_blocks, self.read_offset) = (self.next..last + 1, start);
        }
        let Range { start, end } = page.bytes(self.next);
        let inside = (start - self.read_offset) as usize..(end - self.read_offset) as usize;
        let bytes = self.read.get(inside).unwrap_or(&[]);
        let opened = self.dictionary.open_block(page, self.next, bytes, old.opened.into_buffer())?;
        self.next += 1;
        Ok(Some(TermBlock { offset: start, opened }))
    }
}

/// The last block that is read together with the block `first`.
fn last_to_read(page: &Page, first: usize) -> usize {
    let start = page.bytes(first).start;
    let mut last = first;
    while last + 1 < page.len() && page.bytes(last + 1).end - start <= READ_BYTES {
        last += 1;
    }
    last
}

/// Gives the blocks of a section in order; takes the one before, whose room may be used again.
pub type BlockSupply = Box<dyn FnMut(TermBlock) -> Result<Option<TermBlock>> + Send>;

/// A lending iterator over the keys of a section.
pub struct Terms {
    dictionary: Dictionary,
    section: Section,
    supply: BlockSupply,
    block: TermBlock,
    /// Byte position of the walk inside the block, and terms of it given.
    place: usize,
    given: usize,
    key: Vec<u8>,
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terms").field("section", &self.section).finish_non_exhaustive()
    }
}

impl Terms {
    fn new(dictionary: Dictionary, section: Section, supply: BlockSupply) -> Self {
        Self { dictionary, section, supply, block: TermBlock::default(), place: 0, given: 0, key: Vec::new() }
    }

    /// The next key, or `None` after the last.
    ///
    /// # Errors
    /// Those of the supply of blocks; where the block is damaged.
    #[expect(clippy::should_implement_trait, reason = "it lends, which `Iterator` cannot")]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if self.given == self.block.opened.terms() && !self.open_next()? {
            return Ok(None);
        }
        let stepped = self.block.opened.resume(self.place, self.given).and_then(|mut walk| {
            walk.step(&mut self.key)?;
            Ok(self.place + walk.bytes_read())
        });
        self.place = self.dictionary.at(self.block.offset, stepped)?;
        self.given += 1;
        Ok(Some(&self.key))
    }

    /// The key that [`Terms::next`] gave last.
    #[inline]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    fn open_next(&mut self) -> Result<bool> {
        let Some(block) = (self.supply)(std::mem::take(&mut self.block))? else { return Ok(false) };
        self.block = block;
        (self.place, self.given) = (0, 0);
        self.key.clear();
        Ok(true)
    }
}
