//! Reading numbers off the front of bytes that may be damaged.

use crate::error::Damage;
use lode_base::checksum::checksum;
use lode_base::varint::read_varint;

const SHORT: Damage = Damage("ends too early");

/// What is left to read of some bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
}

/// What is told of bytes that are not what was sealed.
pub(crate) struct Unsealed {
    pub(crate) short: Damage,
    pub(crate) changed: Damage,
    pub(crate) foreign: Damage,
}

impl<'a> Reader<'a> {
    /// Of bytes that begin with `magic` and a version and end with their checksum: the version, and a reader behind it.
    pub(crate) fn sealed(bytes: &'a [u8], magic: [u8; 8], told: &Unsealed) -> Result<(u32, Self), Damage> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(told.short)?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(told.changed);
        }
        let mut reader = Self::new(body);
        if reader.magic()? != magic {
            return Err(told.foreign);
        }
        Ok((reader.u32()?, reader))
    }

    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, len: bytes.len() }
    }

    /// Bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.len - self.rest.len()
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(SHORT)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Damage> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Damage> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Damage> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Damage> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn u128(&mut self) -> Result<u128, Damage> {
        Ok(u128::from_le_bytes(self.array()?))
    }

    pub(crate) fn magic(&mut self) -> Result<[u8; 8], Damage> {
        self.array()
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Damage> {
        read_varint(&mut self.rest).ok_or(SHORT)
    }

    /// A number that counts or measures something in memory, at most `max`.
    pub(crate) fn count(&mut self, max: usize) -> Result<usize, Damage> {
        let count = self.varint()?;
        usize::try_from(count).ok().filter(|c| *c <= max).ok_or(Damage("a count is too large"))
    }
}
