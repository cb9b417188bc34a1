//! The end of a dictionary file: where the index is, and what the file holds.

use crate::bytes::Reader;
use crate::error::{Damage, PackedError, io_error};
use crate::format::{DICTIONARY_MAGIC, FORMAT_VERSION, HEADER_BYTES};
use lode_base::checksum::checksum;
use lode_base::vfs::ReadAt;
use lode_rdf::value_id::Section;
use std::sync::Arc;

const NUMBERS: usize = 3 + Section::COUNT + 2 + Section::COUNT;
/// The numbers, version, zeros, magic, checksum.
const FOOTER_BYTES: usize = NUMBERS * 8 + 2 * 4 + 8 + 8;

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
pub(super) struct Footer {
    pub info: DictionaryInfo,
    pub index_offset: u64,
    index_bytes: u64,
    index_checksum: u64,
}

impl Footer {
    /// Appends the footer to the index in `out`; returns what the file then holds.
    pub(super) fn append(mut info: DictionaryInfo, out: &mut Vec<u8>) -> DictionaryInfo {
        let index_bytes = out.len();
        let index_checksum = checksum(out);
        let mut numbers = vec![info.bytes, index_bytes as u64, index_checksum];
        numbers.extend_from_slice(&info.counts);
        numbers.extend_from_slice(&[info.key_bytes, info.blocks]);
        // A dictionary has one part, which begins with the first term of each section.
        numbers.extend_from_slice(&[0; Section::COUNT]);
        for number in numbers {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        out.extend_from_slice(&0_u32.to_le_bytes());
        out.extend_from_slice(&DICTIONARY_MAGIC);
        info.checksum = checksum(&out[index_bytes..]);
        out.extend_from_slice(&info.checksum.to_le_bytes());
        info.bytes += out.len() as u64;
        info
    }

    pub(super) fn read(file: &dyn ReadAt, name: &Arc<str>) -> Result<Self, PackedError> {
        let length = file.len();
        let short = || Damage("too short to be a dictionary").at(name, 0);
        let offset = length.checked_sub(FOOTER_BYTES as u64).ok_or_else(short)?;
        let mut bytes = [0; FOOTER_BYTES];
        file.read_exact_at(&mut bytes, offset).map_err(io_error(name))?;
        let damaged = |damage: Damage| damage.at(name, offset);
        let version = Self::version(&bytes).map_err(damaged)?;
        if version != FORMAT_VERSION {
            let file = Arc::clone(name);
            return Err(PackedError::Version { file, found: version, supported: FORMAT_VERSION });
        }
        let footer = Self::parse(&bytes, length).map_err(damaged)?;
        let end = footer.index_offset.checked_add(footer.index_bytes);
        if end != Some(offset) || footer.index_offset < HEADER_BYTES as u64 {
            return Err(Damage("the index is not where the footer says").at(name, offset));
        }
        Ok(footer)
    }

    /// Footers of all versions end in the same way.
    fn version(bytes: &[u8; FOOTER_BYTES]) -> Result<u32, Damage> {
        let mut reader = Reader::new(bytes);
        reader.take(NUMBERS * 8)?;
        let (version, _) = (reader.u32()?, reader.u32()?);
        if reader.magic()? == DICTIONARY_MAGIC {
            Ok(version)
        } else {
            Err(Damage("not a dictionary file, or cut short"))
        }
    }

    fn parse(bytes: &[u8; FOOTER_BYTES], length: u64) -> Result<Self, Damage> {
        let mut reader = Reader::new(bytes);
        let mut numbers = [0; NUMBERS];
        for number in &mut numbers {
            *number = reader.u64()?;
        }
        let [index_offset, index_bytes, index_checksum, c0, c1, c2, c3, c4, key_bytes, blocks, firsts @ ..] =
            numbers;
        // Version and magic.
        reader.take(2 * 4 + 8)?;
        let covered = reader.position();
        let sum = reader.u64()?;
        if checksum(&bytes[..covered]) != sum {
            return Err(Damage("the checksum of the footer is wrong"));
        }
        if firsts != [0; Section::COUNT] {
            return Err(Damage("a part of a dictionary of several, which this program does not read"));
        }
        let counts = [c0, c1, c2, c3, c4];
        let info = DictionaryInfo { counts, bytes: length, key_bytes, blocks, checksum: sum };
        Ok(Self { info, index_offset, index_bytes, index_checksum })
    }

    pub(super) fn read_index(&self, file: &dyn ReadAt, name: &Arc<str>) -> Result<Vec<u8>, PackedError> {
        // The footer was checked to fit the file's length.
        let mut bytes = vec![0; self.index_bytes as usize];
        file.read_exact_at(&mut bytes, self.index_offset).map_err(io_error(name))?;
        if checksum(&bytes) != self.index_checksum {
            return Err(Damage("the checksum of the index is wrong").at(name, self.index_offset));
        }
        Ok(bytes)
    }
}
