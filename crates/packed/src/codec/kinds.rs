//! Makes numbers of mixed kinds dense: values of one kind (one high byte) become consecutive ranges, each with its own
//! base and stride, one after the other. Order is kept.

use super::ColumnValues;
use super::affine::{gcd, stride};
use crate::bytes::Reader;
use crate::error::Damage;
use lode_base::varint::write_varint;

/// The most kinds in a block.
const KINDS_MAX: usize = 32;
/// Where the kind is in a value.
const KIND_SHIFT: u32 = 56;

/// Whether all values from `min` to `max` are of one kind.
pub(super) const fn same_kind(min: u64, max: u64) -> bool {
    min >> KIND_SHIFT == max >> KIND_SHIFT
}

/// The values of one kind: `base + stride * (code - start)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct KindRange {
    pub start: u64,
    pub base: u64,
    pub stride: u64,
    /// How many codes the range has.
    codes: u64,
}

impl KindRange {
    #[inline]
    pub(super) fn value(&self, code: u64) -> u64 {
        self.base.wrapping_add(code.wrapping_sub(self.start).wrapping_mul(self.stride))
    }
}

/// The ranges of a block, by code.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    ranges: Vec<KindRange>,
}

impl Kinds {
    /// Finds the ranges of a column and appends its codes; `None` where kinds are too many.
    pub(super) fn build(column: &ColumnValues<'_>, codes: &mut Vec<u64>) -> Option<Self> {
        if same_kind(column.stats.min, column.stats.max) {
            return Some(Self::of_one_kind(column, codes));
        }
        let values = column.values;
        let mut bounds = [(u64::MAX, 0_u64); 256];
        for &value in values {
            let (min, max) = &mut bounds[(value >> KIND_SHIFT) as usize];
            *min = value.min(*min);
            *max = value.max(*max);
        }
        let mut strides = [0_u64; 256];
        for &value in values {
            let kind = (value >> KIND_SHIFT) as usize;
            let offset = value - bounds[kind].0;
            if strides[kind] != 1 && (strides[kind] == 0 || !offset.is_multiple_of(strides[kind])) {
                strides[kind] = gcd(strides[kind], offset);
            }
        }
        let mut ranges = Vec::new();
        let mut by_kind = [KindRange::default(); 256];
        let mut start = 0;
        for (kind, &(base, max)) in bounds.iter().enumerate().filter(|(_, (min, max))| min <= max) {
            let stride = strides[kind].max(1);
            let range = KindRange { start, base, stride, codes: (max - base) / stride + 1 };
            // At most 32 ranges of at most 2^56 codes.
            start += range.codes;
            by_kind[kind] = range;
            ranges.push(range);
        }
        codes.extend(values.iter().map(|value| {
            let range = by_kind[(value >> KIND_SHIFT) as usize];
            let offset = value - range.base;
            range.start + if range.stride == 1 { offset } else { offset / range.stride }
        }));
        (ranges.len() <= KINDS_MAX).then_some(Self { ranges })
    }

    fn of_one_kind(column: &ColumnValues<'_>, codes: &mut Vec<u64>) -> Self {
        let (min, max) = column.bounds();
        let stride = stride(column.values, min);
        if stride == 1 {
            codes.extend(column.values.iter().map(|value| value - min));
        } else {
            codes.extend(column.values.iter().map(|value| (value - min) / stride));
        }
        let range = KindRange { start: 0, base: column.stats.min, stride, codes: (max - min) / stride + 1 };
        Self { ranges: vec![range] }
    }

    /// How many bytes [`Kinds::encode`] appends at most.
    pub(super) fn bytes(&self) -> usize {
        1 + self.ranges.len() * (8 + 10 + 10)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        write_varint(out, self.ranges.len() as u64);
        for range in &self.ranges {
            out.extend_from_slice(&range.base.to_le_bytes());
            write_varint(out, range.stride);
            write_varint(out, range.codes);
        }
    }

    pub(super) fn parse(reader: &mut Reader<'_>) -> Result<Self, Damage> {
        let count = reader.count(KINDS_MAX)?;
        let mut ranges = Vec::with_capacity(count);
        let mut start = 0_u64;
        for _ in 0..count {
            let range =
                KindRange { start, base: reader.u64()?, stride: reader.varint()?, codes: reader.varint()? };
            start = start.checked_add(range.codes).ok_or(Damage("ranges of kinds are too large"))?;
            ranges.push(range);
        }
        if ranges.is_empty() {
            return Err(Damage("no kinds"));
        }
        Ok(Self { ranges })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.ranges.capacity() * size_of::<KindRange>()
    }

    /// One more than the greatest code.
    pub(super) fn codes(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.start + range.codes)
    }

    /// The range that holds `code`, or the last.
    #[inline]
    pub(super) fn range(&self, code: u64) -> KindRange {
        let after = self.ranges.partition_point(|range| range.start <= code);
        self.ranges.get(after.saturating_sub(1)).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn value(&self, code: u64) -> u64 {
        self.range(code).value(code)
    }
}
