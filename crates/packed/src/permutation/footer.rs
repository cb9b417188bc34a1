//! The end of a permutation file: where the upper level of the index is, and what the file holds.

use super::info::PermutationInfo;
use crate::bytes::Reader;
use crate::error::{Damage, PackedError, Result, io_error};
use crate::format::{FORMAT_VERSION, HEADER_BYTES, PERMUTATION_MAGIC};
use crate::order::Order;
use lode_base::checksum::checksum;
use lode_base::vfs::ReadAt;
use std::sync::Arc;

const NUMBERS: usize = 8;
/// The numbers, order and version, magic, checksum.
const FOOTER_BYTES: usize = NUMBERS * 8 + 2 * 4 + 8 + 8;

/// The end of a permutation file.
#[derive(Debug)]
pub(super) struct Footer {
    pub info: PermutationInfo,
    pub index_offset: u64,
    index_bytes: u64,
    index_checksum: u64,
}

impl Footer {
    /// Appends the footer to the upper level of the index in `out`; returns what the file then holds.
    pub(super) fn append(mut info: PermutationInfo, out: &mut Vec<u8>) -> PermutationInfo {
        let index_offset = info.bytes;
        let index_bytes = out.len();
        let index_checksum = checksum(out);
        let numbers = [
            index_offset,
            index_bytes as u64,
            index_checksum,
            info.rows,
            info.blocks,
            info.fingerprint,
            info.distinct_first,
            // A permutation has one part, which begins with its first row.
            0,
        ];
        for number in numbers {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&u32::from(info.order as u8).to_le_bytes());
        out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        out.extend_from_slice(&PERMUTATION_MAGIC);
        info.checksum = checksum(&out[index_bytes..]);
        out.extend_from_slice(&info.checksum.to_le_bytes());
        info.bytes += out.len() as u64;
        info
    }

    pub(super) fn read(file: &dyn ReadAt, name: &Arc<str>) -> Result<Self> {
        let length = file.len();
        let short = || Damage("too short to be a permutation").at(name, 0);
        let offset = length.checked_sub(FOOTER_BYTES as u64).ok_or_else(short)?;
        let mut bytes = [0; FOOTER_BYTES];
        file.read_exact_at(&mut bytes, offset).map_err(io_error(name))?;
        let damaged = |damage: Damage| damage.at(name, offset);
        let found = Self::version(&bytes).map_err(damaged)?;
        if found != FORMAT_VERSION {
            return Err(PackedError::Version { file: Arc::clone(name), found, supported: FORMAT_VERSION });
        }
        Self::parse(&bytes, length).map_err(damaged)
    }

    /// Footers of all versions end in the same way.
    fn version(bytes: &[u8; FOOTER_BYTES]) -> std::result::Result<u32, Damage> {
        let mut reader = Reader::new(bytes);
        reader.take(NUMBERS * 8)?;
        let (_, version) = (reader.u32()?, reader.u32()?);
        if reader.magic()? == PERMUTATION_MAGIC {
            Ok(version)
        } else {
            Err(Damage("not a permutation file, or cut short"))
        }
    }

    fn parse(bytes: &[u8; FOOTER_BYTES], length: u64) -> std::result::Result<Self, Damage> {
        let mut reader = Reader::new(bytes);
        let mut numbers = [0; NUMBERS];
        for number in &mut numbers {
            *number = reader.u64()?;
        }
        let [index_offset, index_bytes, index_checksum, rows, blocks, fingerprint, distinct_first, first_row] =
            numbers;
        let order = reader.u32()?;
        // Version and magic.
        reader.take(4 + 8)?;
        let covered = reader.position();
        let sum = reader.u64()?;
        if checksum(&bytes[..covered]) != sum {
            return Err(Damage("the checksum of the footer is wrong"));
        }
        if first_row != 0 {
            return Err(Damage("a part of a permutation of several, which this program does not read"));
        }
        let order = usize::try_from(order).ok().and_then(|order| Order::ALL.get(order).copied());
        let order = order.ok_or(Damage("unknown sort order"))?;
        let end = index_offset.checked_add(index_bytes).and_then(|end| end.checked_add(FOOTER_BYTES as u64));
        if end != Some(length) || index_offset < HEADER_BYTES as u64 {
            return Err(Damage("the index is not where the footer says"));
        }
        let info = PermutationInfo {
            order,
            rows,
            bytes: length,
            blocks,
            fingerprint,
            distinct_first,
            checksum: sum,
        };
        Ok(Self { info, index_offset, index_bytes, index_checksum })
    }

    pub(super) fn read_index(&self, file: &dyn ReadAt, name: &Arc<str>) -> Result<Vec<u8>> {
        // The footer was checked to fit the file's length.
        let mut bytes = vec![0; self.index_bytes as usize];
        file.read_exact_at(&mut bytes, self.index_offset).map_err(io_error(name))?;
        if checksum(&bytes) != self.index_checksum {
            return Err(Damage("the checksum of the index is wrong").at(name, self.index_offset));
        }
        Ok(bytes)
    }
}
