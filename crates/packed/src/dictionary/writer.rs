//! Writes a dictionary from sorted keys, in three steps that a caller may spread over threads: [`KeyBlocks`] front-codes keys into
//! blocks, [`BlockPacker`] compresses a block, [`DictionaryFile`] appends blocks in order. [`DictionaryWriter`] does all
//! three in turn.

use super::block::{BlockBuilder, shared_prefix};
use super::footer::Footer;
use super::index::{BlockEntry, SectionIndex};
use super::{DictionaryInfo, Result};
use crate::error::{PackedError, io_error};
use crate::format::{DICTIONARY_BLOCK_BYTES, DICTIONARY_MAGIC, FORMAT_VERSION, KEY_BYTES_MAX};
use lode_base::checksum::checksum;
use lode_base::vfs::WriteFile;
use lode_rdf::value_id::Section;
use std::io;
use std::sync::Arc;
use zstd::bulk::Compressor;

/// Higher levels cost much more time for a few per cent.
const ZSTD_LEVEL: i32 = 1;

fn file_name() -> Arc<str> {
    Arc::from(crate::segment::DICTIONARY_FILE)
}

/// Front-coded keys of one block, before compression.
#[derive(Debug)]
pub struct RawBlock {
    section: Section,
    terms: u64,
    key_bytes: u64,
    /// The shortest key that tells the block from the one before it.
    separator: Vec<u8>,
    raw: Vec<u8>,
}

/// A block as it goes to the file.
#[derive(Debug)]
pub struct PackedBlock {
    section: Section,
    key_bytes: u64,
    entry: BlockEntry,
    separator: Vec<u8>,
    packed: Vec<u8>,
}

/// Takes keys section by section, strictly ascending inside each, and makes blocks of them.
#[derive(Debug)]
pub struct KeyBlocks {
    section: Section,
    builder: BlockBuilder,
    counts: [u64; Section::COUNT],
    key_bytes: u64,
    previous: Vec<u8>,
    /// Separator of the block being built.
    separator: Vec<u8>,
}

impl Default for KeyBlocks {
    fn default() -> Self {
        Self {
            section: Section::Iri,
            builder: BlockBuilder::default(),
            counts: [0; Section::COUNT],
            key_bytes: 0,
            previous: Vec::new(),
            separator: Vec::new(),
        }
    }
}

impl KeyBlocks {
    /// Appends a key and returns its rank in its section. Blocks that are complete are appended to `full`.
    pub fn push(&mut self, section: Section, key: &[u8], full: &mut Vec<RawBlock>) -> Result<u64> {
        if key.len() > KEY_BYTES_MAX {
            return Err(PackedError::KeyTooLong { file: file_name(), bytes: key.len() });
        }
        if section != self.section {
            self.start_section(section, full)?;
        }
        let count = self.counts[section as usize];
        let shared = shared_prefix(&self.previous, key);
        let (tail, previous_tail) = (&key[shared..], &self.previous[shared..]);
        if count > 0 && previous_tail >= tail {
            return Err(self.unsorted());
        }
        if self.builder.terms == 0 {
            // The shortest prefix of the key that is after the key before it.
            self.separator.clear();
            self.separator.extend_from_slice(key.get(..shared + 1).unwrap_or(key));
        }
        self.builder.push(key, shared);
        self.previous.truncate(shared);
        self.previous.extend_from_slice(tail);
        self.counts[section as usize] = count + 1;
        self.key_bytes += key.len() as u64;
        if self.builder.bytes() >= DICTIONARY_BLOCK_BYTES {
            full.extend(self.finish());
        }
        Ok(count)
    }

    fn unsorted(&self) -> PackedError {
        PackedError::Unsorted { file: file_name(), entry: self.counts.iter().sum() }
    }

    fn start_section(&mut self, section: Section, full: &mut Vec<RawBlock>) -> Result<()> {
        if section < self.section {
            return Err(self.unsorted());
        }
        full.extend(self.finish());
        self.section = section;
        self.previous.clear();
        Ok(())
    }

    /// The block that was begun, if there is one.
    pub fn finish(&mut self) -> Option<RawBlock> {
        let terms = self.builder.terms as u64;
        if terms == 0 {
            return None;
        }
        let mut raw = Vec::with_capacity(self.builder.bytes() + self.builder.bytes() / 64 + 64);
        self.builder.finish(&mut raw);
        Some(RawBlock {
            section: self.section,
            terms,
            key_bytes: std::mem::take(&mut self.key_bytes),
            separator: self.separator.clone(),
            raw,
        })
    }
}

/// Compresses blocks. Keeps what the compressor needs from block to block.
#[derive(Default)]
pub struct BlockPacker {
    compressor: Option<Compressor<'static>>,
    buffer: Vec<u8>,
}

impl std::fmt::Debug for BlockPacker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockPacker").finish_non_exhaustive()
    }
}

impl BlockPacker {
    /// Compresses one block.
    pub fn pack(&mut self, block: RawBlock) -> Result<PackedBlock> {
        self.compress(&block.raw).map_err(io_error(&file_name()))?;
        let raw_bytes = block.raw.len() as u64;
        let packed = if self.buffer.len() < block.raw.len() { self.buffer.clone() } else { block.raw };
        let entry = BlockEntry {
            terms: block.terms,
            bytes: packed.len() as u64,
            raw_bytes,
            checksum: checksum(&packed),
        };
        let RawBlock { section, key_bytes, separator, .. } = block;
        Ok(PackedBlock { section, key_bytes, entry, separator, packed })
    }

    fn compress(&mut self, raw: &[u8]) -> io::Result<()> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(ZSTD_LEVEL)?),
        };
        self.buffer.clear();
        self.buffer.reserve(zstd::zstd_safe::compress_bound(raw.len()));
        compressor.compress_to_buffer(raw, &mut self.buffer)?;
        Ok(())
    }
}

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

    /// Appends a block; blocks must come in the order in which [`KeyBlocks`] made them.
    pub fn append(&mut self, block: PackedBlock) -> Result<()> {
        self.write_header()?;
        self.file.write_all(&block.packed).map_err(io_error(&self.name))?;
        self.sections[block.section as usize].push(block.entry, &block.separator);
        self.info.counts[block.section as usize] += block.entry.terms;
        self.info.key_bytes += block.key_bytes;
        self.info.bytes += block.entry.bytes;
        self.info.blocks += 1;
        Ok(())
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
    full: Vec<RawBlock>,
    packer: BlockPacker,
    file: DictionaryFile,
}

impl DictionaryWriter {
    /// A writer to an empty file.
    pub fn new(file: Box<dyn WriteFile>) -> Self {
        Self {
            keys: KeyBlocks::default(),
            full: Vec::new(),
            packer: BlockPacker::default(),
            file: DictionaryFile::new(file),
        }
    }

    /// Appends a key and returns its rank in its section. Sections must come in order, keys must ascend strictly inside
    /// a section.
    pub fn push(&mut self, section: Section, key: &[u8]) -> Result<u64> {
        let rank = self.keys.push(section, key, &mut self.full)?;
        self.write_full()?;
        Ok(rank)
    }

    fn write_full(&mut self) -> Result<()> {
        for block in self.full.drain(..) {
            self.file.append(self.packer.pack(block)?)?;
        }
        Ok(())
    }

    /// Writes what is left, the index and the footer. Nothing is synced.
    pub fn finish(self) -> Result<DictionaryInfo> {
        Ok(self.finish_into_file()?.0)
    }

    /// Like [`DictionaryWriter::finish`], and gives the file back so that it can be synced.
    pub fn finish_into_file(mut self) -> Result<(DictionaryInfo, Box<dyn WriteFile>)> {
        self.full.extend(self.keys.finish());
        self.write_full()?;
        self.file.finish()
    }
}
