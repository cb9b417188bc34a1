//! All terms of a section in order: for merges, dumps and checks. Reads several blocks at once and bypasses the cache.

use super::block::OpenBlock;
use super::{Dictionary, Result};
use lode_rdf::value_id::Section;
use std::ops::Range;

/// Bytes read at once, at least one block.
const READ_BYTES: u64 = 256 * 1024;

/// A lending iterator over the keys of a section.
#[derive(Debug)]
pub struct Terms {
    dictionary: Dictionary,
    section: Section,
    /// Compressed bytes of `read_blocks`, which begin at `read_offset` in the file.
    read: Vec<u8>,
    read_blocks: Range<usize>,
    read_offset: u64,
    opened: OpenBlock,
    /// The next block to open.
    block: usize,
    /// Byte position of the walk inside the open block, and terms of it given.
    place: usize,
    given: usize,
    key: Vec<u8>,
}

impl Terms {
    pub(super) fn new(dictionary: Dictionary, section: Section) -> Self {
        Self {
            dictionary,
            section,
            read: Vec::new(),
            read_blocks: 0..0,
            read_offset: 0,
            opened: OpenBlock::default(),
            block: 0,
            place: 0,
            given: 0,
            key: Vec::new(),
        }
    }

    /// The next key, or `None` after the last.
    #[expect(clippy::should_implement_trait, reason = "it lends, which `Iterator` cannot")]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if self.given == self.opened.terms() && !self.open_next()? {
            return Ok(None);
        }
        let block = self.block - 1;
        let stepped = self.opened.resume(self.place, self.given).and_then(|mut walk| {
            walk.step(&mut self.key)?;
            Ok(self.place + walk.bytes_read())
        });
        self.place = self.dictionary.in_block(self.section, block, stepped)?;
        self.given += 1;
        Ok(Some(&self.key))
    }

    /// The key that [`Terms::next`] gave last.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    fn open_next(&mut self) -> Result<bool> {
        let index = self.dictionary.section(self.section);
        let number = self.block;
        if number >= index.len() {
            return Ok(false);
        }
        if !self.read_blocks.contains(&number) {
            self.read_from(number)?;
        }
        let index = self.dictionary.section(self.section);
        let Range { start, end } = index.bytes(number);
        let inside = (start - self.read_offset) as usize..(end - self.read_offset) as usize;
        let terms = index.entry(number).terms as usize;
        let bytes = self.read.get(inside).unwrap_or(&[]);
        let mut raw = std::mem::take(&mut self.opened).into_buffer();
        (self.place, self.given) = (0, 0);
        self.dictionary.unpack(self.section, number, bytes, &mut raw)?;
        self.opened = self.dictionary.in_block(self.section, number, OpenBlock::parse(raw, terms))?;
        self.key.clear();
        self.block = number + 1;
        Ok(true)
    }

    fn read_from(&mut self, first: usize) -> Result<()> {
        let index = self.dictionary.section(self.section);
        let start = index.bytes(first).start;
        let mut last = first + 1;
        while last < index.len() && index.bytes(last).end - start <= READ_BYTES {
            last += 1;
        }
        let end = index.bytes(last - 1).end;
        self.read.resize((end - start) as usize, 0);
        self.dictionary.read(&mut self.read, start)?;
        self.read_blocks = first..last;
        self.read_offset = start;
        Ok(())
    }
}
