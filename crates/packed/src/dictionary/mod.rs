//! The terms of a segment in an immutable file: sorted keys by section, in front-coded blocks, compressed by tables of symbols.
//! Rank to key and key to rank both read one block.

mod block;
mod chunk;
mod footer;
mod index;
mod symbols;
mod terms;
mod unpack;
mod verify;
mod writer;

use crate::bytes::Reader;
use crate::error::{Damage, PackedError, io_error};
use block::OpenBlock;
pub use chunk::{ChunkPacker, KeyBlocks, PackedChunk, RawChunk};
use footer::Footer;
use index::SectionIndex;
use lode_base::block_cache::{BlockCache, BlockKey};
use lode_base::checksum::checksum;
use lode_base::vfs::ReadAt;
use lode_rdf::value_id::Section;
use std::ops::Range;
use std::sync::Arc;
pub use terms::{BlockSupply, TermBlock, TermBlocks, Terms};
pub use writer::{DictionaryFile, DictionaryWriter};

type Result<T> = std::result::Result<T, PackedError>;

/// The name of a file being written, for error messages.
fn file_name() -> Arc<str> {
    Arc::from(crate::segment::DICTIONARY_FILE)
}

/// What a dictionary file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DictionaryInfo {
    /// Terms of each section.
    pub counts: [u64; Section::COUNT],
    /// Length of the file.
    pub bytes: u64,
    /// Length of all keys together.
    pub key_bytes: u64,
    /// Blocks.
    pub blocks: u64,
    /// Checksum at the end of the footer, which depends on every byte of the file through the checksums it covers.
    pub checksum: u64,
}

#[derive(Debug)]
struct Inner {
    file: Arc<dyn ReadAt>,
    name: Arc<str>,
    id: u64,
    cache: Arc<BlockCache>,
    info: DictionaryInfo,
    sections: [SectionIndex; Section::COUNT],
}

/// An open dictionary file. Clones share it; readers on many threads are fine.
#[derive(Debug, Clone)]
pub struct Dictionary(Arc<Inner>);

impl Dictionary {
    /// Opens a file and reads its index. `name` is for error messages.
    pub fn open(file: Arc<dyn ReadAt>, name: &str, cache: Arc<BlockCache>) -> Result<Self> {
        let name: Arc<str> = Arc::from(name);
        let footer = Footer::read(&*file, &name)?;
        let bytes = footer.read_index(&*file, &name)?;
        cache.count_read(bytes.len() as u64);
        let damaged = |damage: Damage| damage.at(&name, footer.index_offset);
        let sections = decode_sections(&bytes, &footer).map_err(damaged)?;
        let id = cache.file_id();
        Ok(Self(Arc::new(Inner { file, name, id, cache, info: footer.info, sections })))
    }

    fn section(&self, section: Section) -> &SectionIndex {
        &self.0.sections[section as usize]
    }

    /// What the footer says.
    pub fn info(&self) -> DictionaryInfo {
        self.0.info
    }

    /// Bytes of memory that the index takes.
    pub fn index_bytes(&self) -> usize {
        self.0.sections.iter().map(SectionIndex::memory_bytes).sum()
    }

    /// Terms of a section; ranks are below this.
    pub fn len(&self, section: Section) -> u64 {
        self.section(section).terms()
    }

    /// Whether there are no terms at all.
    pub fn is_empty(&self) -> bool {
        Section::ALL.into_iter().all(|section| self.len(section) == 0)
    }

    /// The rank of the term with this key.
    pub fn find(&self, section: Section, key: &[u8]) -> Result<Option<u64>> {
        let (rank, equal) = self.search(section, key)?;
        Ok(equal.then_some(rank))
    }

    /// The rank of the first term whose key is not before `key`; the number of terms where all are before it.
    pub fn lower_bound(&self, section: Section, key: &[u8]) -> Result<u64> {
        Ok(self.search(section, key)?.0)
    }

    fn search(&self, section: Section, key: &[u8]) -> Result<(u64, bool)> {
        let index = self.section(section);
        let Some(block) = index.block_of_key(key) else { return Ok((0, false)) };
        let ranks = index.ranks(block);
        let opened = self.block(section, block)?;
        let (rank, equal) = self.in_block(section, block, opened.lower_bound(key))?;
        Ok((ranks.start + rank as u64, equal))
    }

    /// Replaces `key` by the key of the term of this rank.
    pub fn get(&self, section: Section, rank: u64, key: &mut Vec<u8>) -> Result<()> {
        let (block, ranks) = self.block_of_rank(section, rank)?;
        let opened = self.block(section, block)?;
        key.clear();
        self.in_block(section, block, opened.get((rank - ranks.start) as usize, key))
    }

    fn block_of_rank(&self, section: Section, rank: u64) -> Result<(usize, Range<u64>)> {
        let index = self.section(section);
        if rank >= index.terms() {
            return Err(PackedError::NoSuchRank { file: Arc::clone(&self.0.name), rank });
        }
        let block = index.block_of_rank(rank);
        Ok((block, index.ranks(block)))
    }

    /// Calls `visit` with the index and the key of each of `ranks`, which must ascend (repeats are fine). Opens each block
    /// once.
    pub fn visit_sorted<E: From<PackedError>>(
        &self,
        section: Section,
        ranks: &[u64],
        visit: &mut dyn FnMut(usize, &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut key = Vec::new();
        let mut start = 0;
        while let Some(&rank) = ranks.get(start) {
            let (block, inside) = self.block_of_rank(section, rank)?;
            let end = start + ranks[start..].partition_point(|rank| *rank < inside.end);
            let opened = self.block(section, block)?;
            let mut walk = self.in_block(section, block, opened.walk(0))?;
            key.clear();
            for (offset, rank) in ranks[start..end].iter().enumerate() {
                let rank = rank.saturating_sub(inside.start) as usize;
                let group = rank / crate::format::GROUP_TERMS;
                if group > walk.next_rank() / crate::format::GROUP_TERMS {
                    walk = self.in_block(section, block, opened.walk(group))?;
                }
                self.in_block(section, block, walk.advance_to(rank, &mut key))?;
                visit(start + offset, &key)?;
            }
            start = end;
        }
        Ok(())
    }

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

    fn in_block<T>(
        &self,
        section: Section,
        block: usize,
        result: std::result::Result<T, Damage>,
    ) -> Result<T> {
        result.map_err(|damage| damage.at(&self.0.name, self.section(section).bytes(block).start))
    }

    /// An opened block, from the cache if possible.
    fn block(&self, section: Section, block: usize) -> Result<Arc<OpenBlock>> {
        // Numbered through all sections.
        let before: usize = self.0.sections.iter().take(section as usize).map(SectionIndex::len).sum();
        let key = BlockKey { file: self.0.id, block: (before + block) as u64 };
        self.0.cache.get_or_load(key, || {
            let Range { start, end } = self.section(section).bytes(block);
            let mut bytes = vec![0; (end - start) as usize];
            self.read(&mut bytes, start)?;
            let mut raw = Vec::new();
            self.unpack(section, block, &bytes, &mut raw)?;
            let terms = self.section(section).entry(block).terms as usize;
            self.in_block(section, block, OpenBlock::parse(raw, terms))
        })
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.0.file.read_exact_at(bytes, offset).map_err(io_error(&self.0.name))?;
        self.0.cache.count_read(bytes.len() as u64);
        Ok(())
    }

    /// Verifies and decompresses a block.
    fn unpack(&self, section: Section, block: usize, bytes: &[u8], raw: &mut Vec<u8>) -> Result<()> {
        let index = self.section(section);
        let entry = index.entry(block);
        let unpacked = if checksum(bytes) == entry.checksum {
            let table = index.table(block).ok_or(Damage("a block has no table of symbols"));
            table.and_then(|table| unpack::unpack(bytes, entry, table, raw))
        } else {
            Err(Damage("the checksum of a block is wrong"))
        };
        self.in_block(section, block, unpacked)
    }
}

fn decode_sections(
    bytes: &[u8],
    footer: &Footer,
) -> std::result::Result<[SectionIndex; Section::COUNT], Damage> {
    let mut reader = Reader::new(bytes);
    let mut sections: [SectionIndex; Section::COUNT] = Default::default();
    let mut offset = crate::format::HEADER_BYTES as u64;
    let mut blocks = 0;
    for (section, count) in sections.iter_mut().zip(footer.info.counts) {
        *section = SectionIndex::decode(&mut reader, offset, footer.index_offset)?;
        if section.terms() != count {
            return Err(Damage("the index does not fit the footer"));
        }
        offset = section.end();
        blocks += section.len() as u64;
    }
    if offset != footer.index_offset || blocks != footer.info.blocks || !reader.rest().is_empty() {
        return Err(Damage("the index does not fit the footer"));
    }
    Ok(sections)
}

#[cfg(test)]
mod tests;
