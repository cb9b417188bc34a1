//! The terms of a segment in an immutable file: sorted keys by section, in front-coded blocks, compressed by tables of symbols.
//! Rank to key and key to rank both read one block, and a key that the dictionary does not have reads none, but for one in 256.

mod ahead;
mod block;
mod chunk;
mod filter;
mod footer;
mod index;
mod index_parts;
mod page;
mod separators;
mod symbols;
mod terms;
mod unpack;
mod verify;
mod visit;
mod warm;
mod writer;

use crate::bytes::Reader;
use crate::error::{Damage, PackedError};
use crate::kept::Kept;
use crate::part::{FileEnd, Part, PartPath};
use crate::read_context::{ReadContext, read_error};
use block::OpenBlock;
pub use chunk::{ChunkPacker, KeyBlocks, PackedChunk, RawChunk};
use filter::Filter;
pub use filter::KeyHash;
pub use footer::DictionaryInfo;
use footer::Footer;
use index::{SectionIndex, Start};
use lode_base::block_cache::{BlockCache, BlockKey};
use lode_base::block_source::{BlockFile, Reading};
use lode_base::checksum::checksum;
use lode_base::vfs::ReadAt;
use lode_rdf::value_id::Section;
use page::Page;
use std::ops::Range;
use std::sync::Arc;
pub use terms::{BlockSupply, TermBlock, TermBlocks, Terms};
pub use writer::{DictionaryFile, DictionaryWriter};

type Result<T> = std::result::Result<T, PackedError>;

/// In up to so many pages filters are asked before blocks are read. There are more than two only where keys have the same first 256 bytes.
const FILTERS_MAX: usize = 4;

/// The name of a file being written, for error messages.
fn file_name() -> Arc<str> {
    Arc::from(crate::segment::DICTIONARY_FILE)
}

#[derive(Debug)]
struct Inner {
    name: Arc<str>,
    /// That of the blocks in the cache, and that of the filters.
    id: u64,
    filters_id: u64,
    cache: Arc<BlockCache>,
    info: DictionaryInfo,
    part: Part<Opened>,
}

/// The file, and the upper level of its index.
#[derive(Debug)]
struct Opened {
    file: BlockFile,
    sections: Kept<[SectionIndex; Section::COUNT]>,
}

impl Opened {
    /// What the file holds is told, too.
    fn read(file: Arc<dyn ReadAt>, name: &Arc<str>, cache: &BlockCache) -> Result<(Self, DictionaryInfo)> {
        let end = FileEnd::read(file, name)?;
        let footer = Footer::read(&end, name)?;
        let bytes = footer.read_index(&end, name)?;
        cache.count_read(bytes.len() as u64);
        let damaged = |damage: Damage| damage.at(name, footer.index_offset);
        let sections = decode_sections(&bytes, &footer).map_err(damaged)?;
        let bytes = sections.iter().map(SectionIndex::memory_bytes).sum();
        let sections = Kept::new(sections, bytes, cache);
        Ok((Self { file: cache.source().file(end.into_file()), sections }, footer.info))
    }
}

/// A dictionary file, and who reads it, if that is known. Clones share it; readers on many threads are fine.
#[derive(Debug, Clone)]
pub struct Dictionary(Arc<Inner>, Option<Arc<ReadContext>>);

impl Dictionary {
    /// Opens a file and reads the upper level of its index. `name` is for error messages.
    ///
    /// # Errors
    /// Where the file cannot be read, is of another version of the format, or its footer or index are damaged.
    pub fn open(file: Arc<dyn ReadAt>, name: &str, cache: Arc<BlockCache>) -> Result<Self> {
        let name: Arc<str> = Arc::from(name);
        let (opened, info) = Opened::read(file, &name, &cache)?;
        Ok(Self::new(name, info, cache, Part::Open(opened)))
    }

    /// A file that holds this, and is opened when something in it is wanted.
    pub(crate) fn at_path(path: PartPath, info: DictionaryInfo, cache: Arc<BlockCache>) -> Self {
        Self::new(Arc::clone(path.name()), info, cache, Part::at(path))
    }

    fn new(name: Arc<str>, info: DictionaryInfo, cache: Arc<BlockCache>, part: Part<Opened>) -> Self {
        let (id, filters_id) = (cache.file_id(), cache.file_id());
        Self(Arc::new(Inner { name, id, filters_id, cache, info, part }), None)
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

    /// The same file for a reader; where one is known already, that stays.
    #[must_use]
    pub fn read_by(&self, context: Option<&Arc<ReadContext>>) -> Self {
        Self(Arc::clone(&self.0), self.1.as_ref().or(context).map(Arc::clone))
    }

    fn reading(&self) -> &Reading {
        ReadContext::reading(self.1.as_ref())
    }

    fn section(&self, section: Section) -> Result<&SectionIndex> {
        Ok(&self.opened()?.sections[section as usize])
    }

    /// What the footer says.
    pub fn info(&self) -> DictionaryInfo {
        self.0.info
    }

    /// Bytes of memory that the index takes, as far as it was read.
    pub fn index_bytes(&self) -> usize {
        let sections = self.0.part.if_open().map(|opened| opened.sections.iter());
        sections.into_iter().flatten().map(SectionIndex::memory_bytes).sum()
    }

    /// Terms of a section; ranks are below this.
    pub fn len(&self, section: Section) -> u64 {
        self.0.info.counts[section as usize]
    }

    /// Whether there are no terms at all.
    pub fn is_empty(&self) -> bool {
        Section::ALL.into_iter().all(|section| self.len(section) == 0)
    }

    /// The rank of the term with this key.
    ///
    /// # Errors
    /// Where the file cannot be read, or a part of it that the key leads to is damaged.
    pub fn find(&self, section: Section, key: &[u8]) -> Result<Option<u64>> {
        self.find_hashed(section, key, KeyHash::of(key))
    }

    /// Like [`Dictionary::find`], with the key's hash: for who looks into several dictionaries.
    ///
    /// # Errors
    /// Like [`Dictionary::find`].
    pub fn find_hashed(&self, section: Section, key: &[u8], hash: KeyHash) -> Result<Option<u64>> {
        let pages = self.section(section)?.pages_of_key(key);
        let _asked = self.ask_for_top(section, pages.start)?;
        if !self.may_have(section, pages.clone(), hash)? {
            return Ok(None);
        }
        let (rank, equal) = self.search(section, pages, key)?;
        Ok(equal.then_some(rank))
    }

    /// The rank of the first term whose key is not before `key`; the number of terms where all are before it.
    ///
    /// # Errors
    /// Like [`Dictionary::find`].
    pub fn lower_bound(&self, section: Section, key: &[u8]) -> Result<u64> {
        Ok(self.search(section, self.section(section)?.pages_of_key(key), key)?.0)
    }

    /// Whether filters leave it possible that a key with this hash is in one of the pages.
    fn may_have(&self, section: Section, mut pages: Range<usize>, hash: KeyHash) -> Result<bool> {
        if pages.len() > FILTERS_MAX {
            return Ok(true);
        }
        pages.try_fold(false, |found, page| Ok(found || self.filter(section, page)?.may_have(hash)))
    }

    /// The rank of the first term that is not before `key`, and whether it is equal. `pages`: those of the key.
    fn search(&self, section: Section, pages: Range<usize>, key: &[u8]) -> Result<(u64, bool)> {
        let Some(last) = pages.end.checked_sub(1).filter(|last| *last >= pages.start) else {
            return Ok((0, false));
        };
        let index = self.section(section)?;
        // By the number of blocks in the dictionary: the one wanted is the last that does not begin after the key, or the first.
        let candidates = |page| Ok::<_, PackedError>(self.page(section, page)?.separators().candidates(key));
        let mut low = index.start(pages.start).block + candidates(pages.start)?.start as u64;
        let mut high = index.start(last).block + candidates(last)?.end as u64;
        let mut opened = None;
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            let block = self.numbered_block(section, middle)?;
            if self.at(block.offset, block.opened.first_key(0))? <= key {
                low = middle;
                opened = Some(block);
            } else {
                high = middle;
            }
        }
        let block = opened.map_or_else(|| self.numbered_block(section, low), Ok)?;
        let (rank, equal) = self.at(block.offset, block.opened.lower_bound(key))?;
        Ok((block.ranks.start + rank as u64, equal))
    }

    /// Replaces `key` by the key of the term of this rank.
    ///
    /// # Errors
    /// [`PackedError::NoSuchRank`] where the section has no such rank; where the file cannot be read or the term's block is damaged.
    pub fn get(&self, section: Section, rank: u64, key: &mut Vec<u8>) -> Result<()> {
        let block = self.block_of_rank(section, rank, || {})?;
        key.clear();
        self.at(block.offset, block.opened.get((rank - block.ranks.start) as usize, key))
    }

    /// The block of a term; `prepare` is called before it is read, if it is.
    fn block_of_rank(&self, section: Section, rank: u64, prepare: impl FnOnce()) -> Result<Block> {
        let index = self.section(section)?;
        if rank >= index.terms() {
            return Err(PackedError::NoSuchRank { file: Arc::clone(&self.0.name), rank });
        }
        let number = index.page_of_rank(rank);
        let page = self.page(section, number)?;
        self.block(page, page.block_of_rank(rank), index.start(number).block, prepare)
    }

    /// Puts file and place to what a decoder found wrong.
    fn at<T>(&self, offset: u64, result: std::result::Result<T, Damage>) -> Result<T> {
        result.map_err(|damage| damage.at(&self.0.name, offset))
    }

    /// A page of the index, which is kept from then on.
    fn page(&self, section: Section, number: usize) -> Result<&Page> {
        let slot = self.section(section)?.slot(number).ok_or(Damage("no such page of the index"));
        let slot = self.at(0, slot)?;
        match slot.get() {
            Some(page) => Ok(page),
            None => {
                let page = self.read_page(section, number)?;
                let bytes = page.memory_bytes();
                Ok(slot.get_or_init(|| Box::new(Kept::new(page, bytes, &self.0.cache))))
            }
        }
    }

    /// Reads a page of the index that nobody keeps.
    fn read_page(&self, section: Section, number: usize) -> Result<Page> {
        let index = self.section(section)?;
        let place = index.page_bytes(number);
        let bytes = self.read_sealed(place.clone(), index.entry(number).page_checksum)?;
        self.at(place.start, Page::decode(&bytes, &index.bounds(number)))
    }

    /// The filter of a page, from the cache if possible.
    fn filter(&self, section: Section, page: usize) -> Result<Arc<Filter>> {
        let index = self.section(section)?;
        // Numbered by their first blocks.
        let key = BlockKey { file: self.0.filters_id, block: index.start(page).block };
        self.0.cache.get_or_load_aside(ReadContext::own_cache(self.1.as_ref()), key, || {
            self.read_filter(section, page)
        })
    }

    fn read_filter(&self, section: Section, page: usize) -> Result<Filter> {
        let index = self.section(section)?;
        let place = index.filter_bytes(page);
        let bytes = self.read_sealed(place.clone(), index.entry(page).filter_checksum)?;
        self.at(place.start, Filter::decode(&bytes))
    }

    /// A part of the index that has a checksum.
    fn read_sealed(&self, place: Range<u64>, sum: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (place.end - place.start) as usize];
        self.read(&mut bytes, place.start)?;
        if checksum(&bytes) != sum {
            return self.at(place.start, Err(Damage("the checksum of a part of the index is wrong")));
        }
        Ok(bytes)
    }

    fn numbered_block(&self, section: Section, number: u64) -> Result<Block> {
        let index = self.section(section)?;
        let page = index.page_of_block(number);
        let first = index.start(page).block;
        self.block(self.page(section, page)?, (number - first) as usize, first, || {})
    }

    /// Block `block` of a page whose first block has the number `first`, from the cache if possible.
    fn block(&self, page: &Page, block: usize, first: u64, prepare: impl FnOnce()) -> Result<Block> {
        let key = BlockKey { file: self.0.id, block: first + block as u64 };
        let opened = self.0.cache.get_or_load_aside(ReadContext::own_cache(self.1.as_ref()), key, || {
            prepare();
            self.read_missed(page, block, first)
        })?;
        Ok(Block { opened, ranks: page.ranks(block), offset: page.bytes(block).start })
    }

    /// Reads a block past the cache.
    fn load_block(&self, page: &Page, block: usize) -> Result<OpenBlock> {
        let Range { start, end } = page.bytes(block);
        let mut bytes = vec![0; (end - start) as usize];
        self.read(&mut bytes, start)?;
        self.open_block(page, block, &bytes, Vec::new())
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.opened()?.file.read(bytes, offset, self.reading()).map_err(read_error(&self.0.name))?;
        self.0.cache.count_read(bytes.len() as u64);
        Ok(())
    }

    /// Verifies and decompresses a block into `raw`.
    fn open_block(&self, page: &Page, block: usize, bytes: &[u8], mut raw: Vec<u8>) -> Result<OpenBlock> {
        let entry = page.entry(block);
        let opened = if checksum(bytes) == entry.checksum {
            unpack::unpack(bytes, entry, page.table(), &mut raw)
                .and_then(|()| OpenBlock::parse(raw, entry.terms as usize))
        } else {
            Err(Damage("the checksum of a block is wrong"))
        };
        self.at(page.bytes(block).start, opened)
    }
}

/// Decodes bytes as each part of an index.
pub(crate) fn decode_index_parts(blocks: usize, bytes: &[u8]) {
    let _ = Filter::decode(bytes).map(|filter| filter.may_have(KeyHash::of(bytes)));
    let index = SectionIndex::decode(&mut Reader::new(bytes), Start::default(), 1 << 20);
    let _ = index.map(|index| index.pages_of_key(bytes));
    let (ranks, bytes_of_blocks) = (0..blocks as u64, 0..1 << 20);
    let bounds = page::PageBounds { blocks, ranks, bytes: bytes_of_blocks, separator: b"" };
    let _ = Page::decode(bytes, &bounds).map(|page| page.separators().candidates(bytes));
}

/// An open block and where it is.
struct Block {
    opened: Arc<OpenBlock>,
    /// Of its terms.
    ranks: Range<u64>,
    offset: u64,
}

fn decode_sections(
    bytes: &[u8],
    footer: &Footer,
) -> std::result::Result<[SectionIndex; Section::COUNT], Damage> {
    let mut reader = Reader::new(bytes);
    let mut sections: [SectionIndex; Section::COUNT] = Default::default();
    let mut start = Start { offset: crate::format::HEADER_BYTES as u64, ..Start::default() };
    for (section, count) in sections.iter_mut().zip(footer.info.counts) {
        *section = SectionIndex::decode(&mut reader, Start { rank: 0, ..start }, footer.index_offset)?;
        if section.terms() != count {
            return Err(Damage("the index does not fit the footer"));
        }
        start = section.end();
    }
    if start.offset != footer.index_offset || start.block != footer.info.blocks || !reader.rest().is_empty() {
        return Err(Damage("the index does not fit the footer"));
    }
    Ok(sections)
}

#[cfg(test)]
mod tests;
