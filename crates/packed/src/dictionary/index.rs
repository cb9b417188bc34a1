//! The index of a dictionary's blocks: for each section, where its blocks are, how many terms they hold, and a
//! separator, the shortest key that tells a block from the one before it; and the tables of symbols, each for a run of blocks.

use super::symbols::SymbolTable;
use crate::bytes::Reader;
use crate::codec::{ColumnEncoder, decode_long};
use crate::error::Damage;
use crate::format::RAW_BLOCK_BYTES_MAX;
use lode_base::varint::write_varint;
use std::ops::Range;

/// What the writer notes of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BlockEntry {
    pub terms: u64,
    pub bytes: u64,
    pub raw_bytes: u64,
    pub checksum: u64,
}

impl BlockEntry {
    const FIELDS: usize = 4;

    fn fields(&self) -> [u64; Self::FIELDS] {
        [self.terms, self.bytes, self.raw_bytes, self.checksum]
    }
}

/// The index of one section; also what the writer builds.
#[derive(Debug, Default)]
pub(super) struct SectionIndex {
    blocks: Vec<BlockEntry>,
    /// Rank of the first term and offset in the file, for each block and for the end.
    starts: Vec<(u64, u64)>,
    separators: Vec<u8>,
    /// Where in `separators` each begins, and the end of the last.
    separator_starts: Vec<usize>,
    /// The table of each chunk.
    tables: Vec<SymbolTable>,
    /// The number of the first block after each chunk.
    chunk_ends: Vec<usize>,
}

impl SectionIndex {
    /// Appends a block whose keys are all at or after `separator`, and after all separators before.
    pub(super) fn push(&mut self, entry: BlockEntry, separator: &[u8]) {
        self.blocks.push(entry);
        if self.separator_starts.is_empty() {
            self.separator_starts.push(0);
        }
        self.separators.extend_from_slice(separator);
        self.separator_starts.push(self.separators.len());
    }

    /// Ends a chunk: the blocks pushed since the last one share `table`.
    pub(super) fn end_chunk(&mut self, table: SymbolTable) {
        self.tables.push(table);
        self.chunk_ends.push(self.blocks.len());
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut encoder = ColumnEncoder::default();
        write_varint(out, self.blocks.len() as u64);
        for field in 0..BlockEntry::FIELDS {
            let column: Vec<u64> = self.blocks.iter().map(|block| block.fields()[field]).collect();
            encoder.encode_long(&column, out);
        }
        let (mut shared, mut suffixes, mut text) = (Vec::new(), Vec::new(), Vec::new());
        let mut previous = &[][..];
        for block in 0..self.blocks.len() {
            let separator = self.separator(block);
            let common = super::block::shared_prefix(previous, separator);
            shared.push(common as u64);
            suffixes.push((separator.len() - common) as u64);
            text.extend_from_slice(&separator[common..]);
            previous = separator;
        }
        encoder.encode_long(&shared, out);
        encoder.encode_long(&suffixes, out);
        write_varint(out, text.len() as u64);
        out.extend_from_slice(&text);
        let starts = [0].into_iter().chain(self.chunk_ends.iter().copied());
        let lens: Vec<u64> =
            self.chunk_ends.iter().zip(starts).map(|(end, start)| (end - start) as u64).collect();
        write_varint(out, lens.len() as u64);
        encoder.encode_long(&lens, out);
        for table in &self.tables {
            table.write(out);
        }
    }

    /// Reads a section whose first block is at `offset`.
    pub(super) fn decode(reader: &mut Reader<'_>, offset: u64, file_bytes: u64) -> Result<Self, Damage> {
        // A block has at least a byte, which bounds what a wrong count can ask for.
        let count = reader.count(usize::try_from(file_bytes).unwrap_or(usize::MAX))?;
        let mut fields = [const { Vec::new() }; BlockEntry::FIELDS];
        for field in &mut fields {
            *field = decode_long(reader, count)?;
        }
        let [terms, bytes, raw_bytes, checksum] = fields;
        let zipped = terms.into_iter().zip(bytes).zip(raw_bytes).zip(checksum);
        let blocks = zipped.map(|(((terms, bytes), raw_bytes), checksum)| BlockEntry {
            terms,
            bytes,
            raw_bytes,
            checksum,
        });
        let mut index = Self { blocks: blocks.collect(), ..Self::default() };
        index.sum(offset, file_bytes)?;
        index.decode_separators(reader)?;
        index.decode_tables(reader)?;
        Ok(index)
    }

    fn sum(&mut self, offset: u64, file_bytes: u64) -> Result<(), Damage> {
        let (mut rank, mut offset) = (0_u64, offset);
        self.starts.push((rank, offset));
        for block in &self.blocks {
            // Each term has at least a byte before compression.
            if block.terms == 0 || block.terms > block.raw_bytes || block.raw_bytes > RAW_BLOCK_BYTES_MAX {
                return Err(Damage("a block of the index has no terms or too many"));
            }
            rank += block.terms;
            offset = offset
                .checked_add(block.bytes)
                .filter(|end| *end <= file_bytes)
                .ok_or(Damage("a block of the index is outside the file"))?;
            self.starts.push((rank, offset));
        }
        Ok(())
    }

    fn decode_separators(&mut self, reader: &mut Reader<'_>) -> Result<(), Damage> {
        let count = self.blocks.len();
        let shared = decode_long(reader, count)?;
        let suffixes = decode_long(reader, count)?;
        let length = reader.count(usize::MAX)?;
        let mut text = Reader::new(reader.take(length)?);
        self.separator_starts.push(0);
        let mut previous = 0..0;
        for (shared, suffix) in shared.into_iter().zip(suffixes) {
            let start = self.separators.len();
            let shared = usize::try_from(shared).ok().filter(|shared| *shared <= previous.len());
            let shared = shared.ok_or(Damage("a separator shares more than there is"))?;
            self.separators.extend_from_within(previous.start..previous.start + shared);
            let suffix = usize::try_from(suffix).map_err(|_| Damage("a separator is too long"))?;
            self.separators.extend_from_slice(text.take(suffix)?);
            if self.separators[previous.clone()] >= self.separators[start..] && start > 0 {
                return Err(Damage("separators are not in order"));
            }
            previous = start..self.separators.len();
            self.separator_starts.push(previous.end);
        }
        Ok(())
    }

    fn decode_tables(&mut self, reader: &mut Reader<'_>) -> Result<(), Damage> {
        const WRONG: Damage = Damage("the chunks of the index are not its blocks");
        let count = reader.count(self.blocks.len())?;
        let mut end = 0_usize;
        for len in decode_long(reader, count)? {
            let len = usize::try_from(len).ok().filter(|len| *len > 0).ok_or(WRONG)?;
            end = end.checked_add(len).ok_or(WRONG)?;
            self.chunk_ends.push(end);
        }
        if end != self.blocks.len() {
            return Err(WRONG);
        }
        for _ in 0..count {
            self.tables.push(SymbolTable::read(reader)?);
        }
        Ok(())
    }

    fn separator(&self, block: usize) -> &[u8] {
        match self.separator_starts.get(block..block + 2) {
            Some(&[start, end]) => self.separators.get(start..end).unwrap_or(&[]),
            _ => &[],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    #[cfg(test)]
    pub(super) fn chunks(&self) -> usize {
        self.tables.len()
    }

    #[cfg(test)]
    pub(super) fn raw_bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.raw_bytes).sum()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.separators.capacity()
            + self.separator_starts.capacity() * size_of::<usize>()
            + self.blocks.capacity() * size_of::<BlockEntry>()
            + self.starts.capacity() * size_of::<(u64, u64)>()
            + self.tables.capacity() * size_of::<SymbolTable>()
            + self.chunk_ends.capacity() * size_of::<usize>()
    }

    pub(super) fn entry(&self, block: usize) -> BlockEntry {
        self.blocks.get(block).copied().unwrap_or_default()
    }

    /// The table of symbols of a block.
    pub(super) fn table(&self, block: usize) -> Option<&SymbolTable> {
        self.tables.get(self.chunk_ends.partition_point(|end| *end <= block))
    }

    fn start(&self, block: usize) -> (u64, u64) {
        self.starts.get(block).or(self.starts.last()).copied().unwrap_or((0, 0))
    }

    /// Ranks of the terms of a block.
    pub(super) fn ranks(&self, block: usize) -> Range<u64> {
        self.start(block).0..self.start(block + 1).0
    }

    /// Where a block is in the file.
    pub(super) fn bytes(&self, block: usize) -> Range<u64> {
        self.start(block).1..self.start(block + 1).1
    }

    /// Terms of the section.
    pub(super) fn terms(&self) -> u64 {
        self.start(self.len()).0
    }

    /// Where the blocks of the section end.
    pub(super) fn end(&self) -> u64 {
        self.start(self.len()).1
    }

    pub(super) fn block_of_rank(&self, rank: u64) -> usize {
        self.starts.partition_point(|start| start.0 <= rank).saturating_sub(1)
    }

    /// The block that holds `key` if the section does; `None` where `key` is before all blocks.
    pub(super) fn block_of_key(&self, key: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.separator(middle) <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_must_be_all_blocks() {
        let mut index = SectionIndex::default();
        let entry = BlockEntry { terms: 2, bytes: 10, raw_bytes: 20, checksum: 7 };
        let decode = |index: &SectionIndex| {
            let mut bytes = Vec::new();
            index.encode(&mut bytes);
            SectionIndex::decode(&mut Reader::new(&bytes), 16, 1000)
        };
        index.push(entry, b"a");
        index.push(entry, b"b");
        assert!(decode(&index).is_err());
        index.end_chunk(SymbolTable::default());
        index.push(entry, b"c");
        assert!(decode(&index).is_err());
        index.end_chunk(SymbolTable::default());
        let read = decode(&index).unwrap();
        assert_eq!((read.len(), read.chunks()), (3, 2));
        index.end_chunk(SymbolTable::default());
        assert!(decode(&index).is_err(), "a chunk without blocks");
    }
}
