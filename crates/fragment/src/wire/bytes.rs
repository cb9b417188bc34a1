//! Bytes that are written, and that are read by who believes nothing of them.

use crate::error::FragmentError;
use crate::limits::PARTS_MAX;
use lode_base::checksum::checksum;
use lode_base::varint::{read_varint, write_varint};
use lode_rdf::ValueId;
use std::ops::Range;

/// What sealed bytes begin with.
const MAGIC: [u8; 8] = *b"LODEPART";
/// The version of the layout.
const VERSION: u32 = 1;
/// What wrote them.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// What sealed bytes are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum What {
    Fragment = 1,
    Scan = 2,
    Ranges = 3,
}

/// Bytes that grow.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    /// What stands before all else in sealed bytes.
    pub(crate) fn sealed(what: What) -> Self {
        let mut writer = Self { bytes: MAGIC.to_vec() };
        writer.bytes.extend(VERSION.to_le_bytes());
        writer.text(PROGRAM);
        writer.byte(what as u8);
        writer
    }

    /// All of it, and its checksum.
    pub(crate) fn seal(mut self) -> Vec<u8> {
        let sum = checksum(&self.bytes);
        self.bytes.extend(sum.to_le_bytes());
        self.bytes
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    pub(crate) fn number(&mut self, number: u64) {
        write_varint(&mut self.bytes, number);
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    pub(crate) fn fixed(&mut self, bits: u64) {
        self.bytes.extend(bits.to_le_bytes());
    }

    pub(crate) fn estimate(&mut self, number: f64) {
        self.fixed(number.to_bits());
    }

    pub(crate) fn wide(&mut self, number: u128) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.slice(text.as_bytes());
    }

    pub(crate) fn slice(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn range(&mut self, range: &Range<ValueId>) {
        self.fixed(range.start.to_bits());
        self.fixed(range.end.to_bits());
    }
}

const SHORT: FragmentError = FragmentError::Damaged("it ends too early");

/// What is left to read.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// How much more may be counted.
    parts: usize,
}

impl<'a> Reader<'a> {
    /// Behind what stands before all else in sealed bytes, which are whole, of this version, and of this.
    pub(crate) fn sealed(bytes: &'a [u8], what: What) -> Result<Self, FragmentError> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(SHORT)?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(FragmentError::Damaged("its checksum is another"));
        }
        let mut reader = Self { rest: body, parts: PARTS_MAX };
        if reader.array()? != MAGIC {
            return Err(FragmentError::Damaged("it begins with something else"));
        }
        let version = u32::from_le_bytes(reader.array()?);
        let own = || format!("lodestore {PROGRAM}, layout {VERSION}");
        if version != VERSION {
            return Err(FragmentError::Program { found: format!("layout {version}"), own: own() });
        }
        let program = reader.text()?;
        if program != PROGRAM {
            let found = format!("lodestore {}", program.chars().take(40).collect::<String>());
            return Err(FragmentError::Program { found, own: own() });
        }
        match reader.byte()? == what as u8 {
            true => Ok(reader),
            false => Err(FragmentError::Damaged("it is of another kind")),
        }
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), FragmentError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(FragmentError::Damaged("there is more behind its end"))
        }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], FragmentError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(SHORT)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, FragmentError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn flag(&mut self) -> Result<bool, FragmentError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FragmentError::Damaged("neither yes nor no")),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u64, FragmentError> {
        read_varint(&mut self.rest).ok_or(SHORT)
    }

    /// A number of things that are held in memory, of `each` parts.
    pub(crate) fn count(&mut self, each: usize) -> Result<usize, FragmentError> {
        let large = FragmentError::TooLarge("it counts more than it may have");
        let Ok(count) = usize::try_from(self.number()?) else { return Err(large) };
        let parts = count.checked_mul(each).and_then(|parts| self.parts.checked_sub(parts));
        self.parts = parts.ok_or(large)?;
        Ok(count)
    }

    /// One more thing that is held in memory.
    pub(crate) fn part(&mut self) -> Result<(), FragmentError> {
        let left = self.parts.checked_sub(1);
        self.parts = left.ok_or(FragmentError::TooLarge("it has more than it may have"))?;
        Ok(())
    }

    pub(crate) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<T, FragmentError>,
    ) -> Result<Vec<T>, FragmentError> {
        let count = self.count(1)?;
        // Not with room for all: it may end early.
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(each(self)?);
        }
        Ok(list)
    }

    pub(crate) fn small(&mut self) -> Result<u32, FragmentError> {
        u32::try_from(self.number()?).map_err(|_| FragmentError::Damaged("a number is too large"))
    }

    pub(crate) fn size(&mut self) -> Result<usize, FragmentError> {
        usize::try_from(self.number()?).map_err(|_| FragmentError::Damaged("a number is too large"))
    }

    pub(crate) fn fixed(&mut self) -> Result<u64, FragmentError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A finite number that is not below zero.
    pub(crate) fn estimate(&mut self) -> Result<f64, FragmentError> {
        let number = f64::from_bits(self.fixed()?);
        let fine = number.is_finite() && number >= 0.0;
        if fine { Ok(number) } else { Err(FragmentError::Damaged("an estimate that is none")) }
    }

    pub(crate) fn wide(&mut self) -> Result<u128, FragmentError> {
        Ok(u128::from_le_bytes(self.array()?))
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, FragmentError> {
        std::str::from_utf8(self.slice()?).map_err(|_| FragmentError::Damaged("a text that is not UTF-8"))
    }

    pub(crate) fn slice(&mut self) -> Result<&'a [u8], FragmentError> {
        let length = self.size()?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(SHORT)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn range(&mut self) -> Result<Range<ValueId>, FragmentError> {
        let (start, end) = (ValueId::from_bits(self.fixed()?), ValueId::from_bits(self.fixed()?));
        if start <= end {
            Ok(start..end)
        } else {
            Err(FragmentError::Damaged("a range that ends before it begins"))
        }
    }
}
