//! Writes a dictionary from sorted keys.

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

/// Takes keys section by section, strictly ascending inside each. It never syncs: that is the caller's to do, with the
/// file that [`DictionaryWriter::finish_into_file`] gives back.
pub struct DictionaryWriter {
    file: Box<dyn WriteFile>,
    name: Arc<str>,
    compressor: Option<Compressor<'static>>,
    section: Section,
    builder: BlockBuilder,
    sections: [SectionIndex; Section::COUNT],
    info: DictionaryInfo,
    previous: Vec<u8>,
    /// Separator of the block being built.
    separator: Vec<u8>,
    raw: Vec<u8>,
    packed: Vec<u8>,
}

impl std::fmt::Debug for DictionaryWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DictionaryWriter").field("section", &self.section).field("info", &self.info).finish()
    }
}

impl DictionaryWriter {
    /// A writer to an empty file.
    pub fn new(file: Box<dyn WriteFile>) -> Self {
        Self {
            file,
            name: Arc::from(crate::segment::DICTIONARY_FILE),
            compressor: None,
            section: Section::Iri,
            builder: BlockBuilder::default(),
            sections: Default::default(),
            info: DictionaryInfo::default(),
            previous: Vec::new(),
            separator: Vec::new(),
            raw: Vec::new(),
            packed: Vec::new(),
        }
    }

    /// Appends a key and returns its rank in its section. Sections must come in order, keys must ascend strictly inside
    /// a section.
    pub fn push(&mut self, section: Section, key: &[u8]) -> Result<u64> {
        if key.len() > KEY_BYTES_MAX {
            return Err(PackedError::KeyTooLong { file: Arc::clone(&self.name), bytes: key.len() });
        }
        if section != self.section {
            self.start_section(section)?;
        }
        let count = self.info.counts[section as usize];
        if count > 0 && self.previous.as_slice() >= key {
            return Err(self.unsorted());
        }
        let shared = shared_prefix(&self.previous, key);
        if self.builder.terms == 0 {
            // The shortest prefix of the key that is after the key before it.
            self.separator.clear();
            self.separator.extend_from_slice(key.get(..shared + 1).unwrap_or(key));
        }
        self.builder.push(key, shared);
        self.previous.truncate(shared);
        self.previous.extend_from_slice(&key[shared..]);
        self.info.counts[section as usize] = count + 1;
        self.info.key_bytes += key.len() as u64;
        if self.builder.bytes() >= DICTIONARY_BLOCK_BYTES {
            self.flush()?;
        }
        Ok(count)
    }

    fn unsorted(&self) -> PackedError {
        PackedError::Unsorted { file: Arc::clone(&self.name), entry: self.info.counts.iter().sum() }
    }

    fn start_section(&mut self, section: Section) -> Result<()> {
        if section < self.section {
            return Err(self.unsorted());
        }
        self.flush()?;
        self.section = section;
        self.previous.clear();
        Ok(())
    }

    fn compress(&mut self) -> io::Result<()> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(ZSTD_LEVEL)?),
        };
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(self.raw.len()));
        compressor.compress_to_buffer(&self.raw, &mut self.packed)?;
        if self.packed.len() >= self.raw.len() {
            self.packed.clone_from(&self.raw);
        }
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

    fn flush(&mut self) -> Result<()> {
        let terms = self.builder.terms as u64;
        if terms == 0 {
            return Ok(());
        }
        self.write_header()?;
        self.builder.finish(&mut self.raw);
        self.compress().map_err(io_error(&self.name))?;
        self.file.write_all(&self.packed).map_err(io_error(&self.name))?;
        let entry = BlockEntry {
            terms,
            bytes: self.packed.len() as u64,
            raw_bytes: self.raw.len() as u64,
            checksum: checksum(&self.packed),
        };
        self.sections[self.section as usize].push(entry, &self.separator);
        self.info.bytes += entry.bytes;
        self.info.blocks += 1;
        Ok(())
    }

    /// Writes what is left, the index and the footer. Nothing is synced.
    pub fn finish(self) -> Result<DictionaryInfo> {
        Ok(self.finish_into_file()?.0)
    }

    /// Like [`DictionaryWriter::finish`], and gives the file back so that it can be synced.
    pub fn finish_into_file(mut self) -> Result<(DictionaryInfo, Box<dyn WriteFile>)> {
        self.flush()?;
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
