//! Makes numbers of mixed kinds dense: values of one kind (one high byte) become consecutive ranges, each with its own
//! base and stride, one after the other. Order is kept.

use super::ColumnValues;
use super::affine::{Divider, Strides, divide_all, strides};
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

/// What values of one kind have in common.
#[derive(Debug)]
struct KindFound {
    min: u64,
    max: u64,
    /// The first value: differences to it have the same divisors as those to the least.
    first: u64,
    strides: Strides,
}

/// The kinds of a column, as they came.
#[derive(Debug)]
struct Found {
    /// Places in `kinds`.
    by_kind: [u8; 256],
    kinds: Vec<KindFound>,
}

impl Default for Found {
    fn default() -> Self {
        Self { by_kind: [u8::MAX; 256], kinds: Vec::with_capacity(KINDS_MAX) }
    }
}

impl Found {
    #[inline]
    fn add(&mut self, value: u64) -> Option<()> {
        let at = &mut self.by_kind[(value >> KIND_SHIFT) as usize];
        if let Some(kind) = self.kinds.get_mut(usize::from(*at)) {
            kind.min = kind.min.min(value);
            kind.max = kind.max.max(value);
            if !kind.strides.is_one() {
                kind.strides.add(value.abs_diff(kind.first));
            }
            return Some(());
        }
        *at = self.kinds.len() as u8;
        self.kinds.push(KindFound { min: value, max: value, first: value, strides: Strides::NONE });
        (self.kinds.len() <= KINDS_MAX).then_some(())
    }
}

/// How values of a kind become codes.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    base: u64,
    divider: Divider,
}

impl Default for Place {
    fn default() -> Self {
        Self { start: 0, base: 0, divider: Divider::new(1) }
    }
}

/// The ranges of a block, by code.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    ranges: Vec<KindRange>,
}

impl Kinds {
    /// Finds the ranges of a column and replaces `codes` by its codes; `None` where kinds are too many.
    pub(super) fn build(column: &ColumnValues<'_>, codes: &mut Vec<u64>) -> Option<Self> {
        codes.clear();
        if same_kind(column.stats.min, column.stats.max) {
            return Some(Self::of_one_kind(column, codes));
        }
        let mut found = Found::default();
        for &value in column.values {
            found.add(value)?;
        }
        let mut order: Vec<u8> = (0..found.kinds.len() as u8).collect();
        order.sort_unstable_by_key(|at| found.kinds[usize::from(*at)].min);
        let mut ranges = Vec::with_capacity(order.len());
        let mut start = 0;
        let mut places = [Place::default(); KINDS_MAX];
        for at in order.into_iter().map(usize::from) {
            let kind = &found.kinds[at];
            let divider = kind.strides.divider();
            let codes = divider.divide(kind.max - kind.min) + 1;
            places[at] = Place { start, base: kind.min, divider };
            ranges.push(KindRange { start, base: kind.min, stride: kind.strides.stride(), codes });
            // At most 32 ranges of at most 2^56 codes.
            start += codes;
        }
        codes.extend(column.values.iter().map(|value| {
            let place = &places[usize::from(found.by_kind[(value >> KIND_SHIFT) as usize]) % KINDS_MAX];
            place.start + place.divider.divide(value - place.base)
        }));
        Some(Self { ranges })
    }

    fn of_one_kind(column: &ColumnValues<'_>, codes: &mut Vec<u64>) -> Self {
        let (min, max) = column.bounds();
        let strides = strides(column.values, min);
        divide_all(column.values, min, strides, codes);
        let (stride, count) = (strides.stride(), strides.divider().divide(max - min) + 1);
        let range = KindRange { start: 0, base: column.stats.min, stride, codes: count };
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
