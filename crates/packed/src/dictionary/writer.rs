//! Writes a dictionary from sorted keys, in three steps that a caller may spread over threads: [`KeyBlocks`] front-codes keys into
//! chunks of blocks, [`ChunkPacker`] compresses a chunk, [`DictionaryFile`] appends chunks in order. [`DictionaryWriter`] does
//! all three in turn.

use super::chunk::{ChunkPacker, KeyBlocks, PackedChunk, RawChunk};
use super::footer::Footer;
use super::index::SectionIndex;
use super::{DictionaryInfo, Result, file_name};
use crate::error::io_error;
use crate::format::{DICTIONARY_MAGIC, FORMAT_VERSION};
use lode_base::vfs::WriteFile;
use lode_rdf::value_id::Section;
use std::sync::Arc;

/// A dictionary file being written. It never syncs: that is the caller's to do, with the file that
/// [`DictionaryFile::finish`] gives back.
#[derive(Debug)]
pub struct DictionaryFile {
    file: Box<dyn WriteFile>,
    name: Arc<str>,
    sections: [SectionIndex; Section::COUNT],
    info: DictionaryInfo,
}

impl DictionaryFile {
    /// Writes to an empty file.
    pub fn new(file: Box<dyn WriteFile>) -> Self {
        Self { file, name: file_name(), sections: Default::default(), info: DictionaryInfo::default() }
    }

    /// Appends a chunk; chunks must come in the order in which [`KeyBlocks`] made them. Returns the chunk's buffer, for
    /// [`KeyBlocks::reuse`].
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn append(&mut self, chunk: PackedChunk) -> Result<Vec<u8>> {
        self.write_header()?;
        let (mut blocks, mut index) = (chunk.bytes.as_slice(), chunk.index.as_slice());
        for (number, page) in chunk.pages.iter().enumerate() {
            let (own_blocks, other_blocks) = blocks.split_at(page.block_bytes as usize);
            let (own_index, other_index) = index.split_at((page.filter_bytes + page.page_bytes) as usize);
            self.file.write_all(own_blocks).map_err(io_error(&self.name))?;
            self.file.write_all(own_index).map_err(io_error(&self.name))?;
            (blocks, index) = (other_blocks, other_index);
            self.sections[chunk.section as usize].push(*page, chunk.separators.get(number));
            self.info.counts[chunk.section as usize] += page.terms;
            self.info.blocks += page.blocks;
            self.info.bytes += (own_blocks.len() + own_index.len()) as u64;
        }
        self.info.key_bytes += chunk.key_bytes;
        Ok(chunk.bytes)
    }

    fn write_header(&mut self) -> Result<()> {
        if self.info.bytes == 0 {
            let mut header = DICTIONARY_MAGIC.to_vec();
            header.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
            header.extend_from_slice(&0_u32.to_le_bytes());
            self.file.write_all(&header).map_err(io_error(&self.name))?;
            self.info.bytes = header.len() as u64;
        }
        Ok(())
    }

    /// Writes the index and the footer. Nothing is synced.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn finish(mut self) -> Result<(DictionaryInfo, Box<dyn WriteFile>)> {
        self.write_header()?;
        let mut end = Vec::new();
        for section in &self.sections {
            section.encode(&mut end);
        }
        let info = Footer::append(self.info, &mut end);
        self.file.write_all(&end).map_err(io_error(&self.name))?;
        self.file.flush().map_err(io_error(&self.name))?;
        Ok((info, self.file))
    }
}

/// Takes keys section by section, strictly ascending inside each, and writes them.
#[derive(Debug)]
pub struct DictionaryWriter {
    keys: KeyBlocks,
    full: Vec<RawChunk>,
    packer: ChunkPacker,
    file: DictionaryFile,
}

impl DictionaryWriter {
    /// A writer to an empty file.
    pub fn new(file: Box<dyn WriteFile>) -> Self {
        Self {
            keys: KeyBlocks::default(),
            full: Vec::new(),
            packer: ChunkPacker::default(),
            file: DictionaryFile::new(file),
        }
    }

    /// Appends a key and returns its rank in its section. Sections must come in order, keys must ascend strictly inside
    /// a section.
    ///
    /// # Errors
    /// [`PackedError::Unsorted`](crate::PackedError::Unsorted) where section or key do not come after those before,
    /// [`PackedError::KeyTooLong`](crate::PackedError::KeyTooLong) where the format has no room for the key; where the file cannot be written.
    pub fn push(&mut self, section: Section, key: &[u8]) -> Result<u64> {
        let rank = self.keys.push(section, key, &mut self.full)?;
        self.write_full()?;
        Ok(rank)
    }

    fn write_full(&mut self) -> Result<()> {
        for chunk in self.full.drain(..) {
            let buffer = self.file.append(self.packer.pack(chunk))?;
            self.keys.reuse(buffer);
        }
        Ok(())
    }

    /// Writes what is left, the index and the footer. Nothing is synced.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn finish(self) -> Result<DictionaryInfo> {
        Ok(self.finish_into_file()?.0)
    }

    /// Like [`DictionaryWriter::finish`], and gives the file back so that it can be synced.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn finish_into_file(mut self) -> Result<(DictionaryInfo, Box<dyn WriteFile>)> {
        self.full.extend(self.keys.finish());
        self.write_full()?;
        self.file.finish()
    }
}
