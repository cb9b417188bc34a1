//! Mini-blocks of `(value - base) / stride`: the least value of the column as base, the greatest common divisor of the
//! differences as stride (dates written as milliseconds share a large one).

use super::minis::{self, Minis, MinisEncoder};
use super::{AFFINE, ColumnValues, Mini};
use crate::bytes::Reader;
use crate::error::Damage;
use lode_base::varint::write_varint;

/// Base, stride, and the numbers.
#[derive(Debug)]
pub(crate) struct Affine {
    base: u64,
    stride: u64,
    minis: Minis,
}

pub(super) const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest number that divides all `value - base`; gives up at 1, which most columns reach at once.
pub(super) fn stride(values: &[u64], base: u64) -> u64 {
    let mut stride = 0;
    for &value in values {
        let offset = value - base;
        if stride == 0 || !offset.is_multiple_of(stride) {
            stride = gcd(stride, offset);
            if stride == 1 {
                break;
            }
        }
    }
    stride.max(1)
}

/// Encodes; keeps its buffer between calls.
#[derive(Debug, Default)]
pub(crate) struct AffineEncoder {
    base: u64,
    stride: u64,
    numbers: Vec<u64>,
}

impl AffineEncoder {
    /// Takes in a column whose values are a fixed distance from their ids.
    pub(super) fn prepare(&mut self, column: &ColumnValues<'_>) {
        let (values, (base, _)) = (column.values, column.bounds());
        let stride = stride(values, base);
        (self.base, self.stride) = (column.stats.min, stride);
        self.numbers.clear();
        if stride == 1 {
            self.numbers.extend(values.iter().map(|v| v - base));
        } else {
            self.numbers.extend(values.iter().map(|v| (v - base) / stride));
        }
    }

    /// About how many bytes [`AffineEncoder::encode`] appends.
    pub(super) fn bytes(&self) -> usize {
        12 + minis::estimate(&self.numbers)
    }

    pub(super) fn encode(&self, minis: &mut MinisEncoder, out: &mut Vec<u8>) {
        out.push(AFFINE);
        out.extend_from_slice(&self.base.to_le_bytes());
        write_varint(out, self.stride);
        minis.encode(&self.numbers, out);
    }
}

impl Affine {
    pub(super) fn parse(reader: &mut Reader<'_>, rows: usize) -> Result<Self, Damage> {
        Ok(Self { base: reader.u64()?, stride: reader.varint()?, minis: Minis::parse(reader, rows)? })
    }

    #[inline]
    pub(super) fn decode(&self, bytes: &[u8], mini: usize, out: &mut Mini) -> Result<(), Damage> {
        if self.stride == 1 {
            return self.minis.decode(bytes, mini, self.base, out);
        }
        self.minis.decode(bytes, mini, 0, out)?;
        for value in out {
            *value = value.wrapping_mul(self.stride).wrapping_add(self.base);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn first(&self, bytes: &[u8], mini: usize) -> Result<u64, Damage> {
        Ok(self.minis.first(bytes, mini)?.wrapping_mul(self.stride).wrapping_add(self.base))
    }
}
