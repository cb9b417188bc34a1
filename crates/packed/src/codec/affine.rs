//! Mini-blocks of `(value - base) / stride`: the least value of the column as base, the greatest common divisor of the
//! differences as stride (dates written as milliseconds share a large one).

use super::minis::{self, Minis, MinisEncoder};
use super::tags::AFFINE;
use super::{ColumnValues, Mini};
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

/// Divides by a stride without the slow instruction: by its power of two, then by its odd factor, whose inverse modulo 2^64 undoes
/// the multiplication of all multiples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Divider {
    stride: u64,
    shift: u32,
    inverse: u64,
    /// The greatest quotient there is.
    most: u64,
}

impl Divider {
    /// `stride` must not be 0.
    pub(super) const fn new(stride: u64) -> Self {
        let shift = stride.trailing_zeros();
        let odd = stride >> shift;
        // Right in the three lowest bits, then in twice as many with each round.
        let mut inverse = odd;
        let mut bits = 3;
        while bits < 64 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
            bits *= 2;
        }
        Self { stride, shift, inverse, most: u64::MAX / stride }
    }

    /// A multiple of the stride, divided.
    #[inline]
    pub(super) const fn divide(&self, multiple: u64) -> u64 {
        (multiple >> self.shift).wrapping_mul(self.inverse)
    }

    #[inline]
    const fn divides(&self, number: u64) -> bool {
        let quotient = self.divide(number);
        quotient <= self.most && quotient.wrapping_mul(self.stride) == number
    }
}

/// Finds the greatest number that divides all of some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strides(Option<Divider>);

impl Strides {
    pub(super) const NONE: Self = Self(None);

    #[inline]
    pub(super) fn add(&mut self, number: u64) {
        match self.0 {
            Some(divider) if divider.divides(number) => {}
            _ => self.narrow(number),
        }
    }

    #[cold]
    fn narrow(&mut self, number: u64) {
        let stride = gcd(self.0.map_or(0, |divider| divider.stride), number);
        self.0 = (stride != 0).then(|| Divider::new(stride));
    }

    /// Once it is 1 it stays so.
    #[inline]
    pub(super) fn is_one(&self) -> bool {
        self.0.is_some_and(|divider| divider.stride == 1)
    }

    /// By 1 if all numbers were 0.
    pub(super) fn divider(&self) -> Divider {
        self.0.unwrap_or(Divider::new(1))
    }

    pub(super) fn stride(&self) -> u64 {
        self.divider().stride
    }
}

/// The greatest number that divides all `value - base`; gives up at 1, which most columns reach at once.
pub(super) fn strides(values: &[u64], base: u64) -> Strides {
    let mut strides = Strides::NONE;
    let mut before = base;
    for &value in values {
        if value != before {
            strides.add(value - base);
            if strides.is_one() {
                break;
            }
            before = value;
        }
    }
    strides
}

/// Replaces `numbers` by `(value - base) / stride`.
pub(super) fn divide_all(values: &[u64], base: u64, strides: Strides, numbers: &mut Vec<u64>) {
    numbers.clear();
    if strides.stride() == 1 {
        numbers.extend(values.iter().map(|value| value - base));
    } else {
        let divider = strides.divider();
        numbers.extend(values.iter().map(|value| divider.divide(value - base)));
    }
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
        let strides = strides(values, base);
        (self.base, self.stride) = (column.stats.min, strides.stride());
        divide_all(values, base, strides, &mut self.numbers);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dividers_divide(stride in 1_u64.., shift in 0_u32..64, number: u64, quotient: u64) {
            let stride = (stride >> shift).max(1);
            let divider = Divider::new(stride);
            prop_assert_eq!(divider.divides(number), number % stride == 0);
            let multiple = (quotient % (u64::MAX / stride)) * stride;
            prop_assert!(divider.divides(multiple));
            prop_assert_eq!(divider.divide(multiple), multiple / stride);
        }

        #[test]
        fn strides_are_common_divisors(factor in 1_u64..1_000_000, numbers in proptest::collection::vec(0_u64..1000, 0..20)) {
            let mut found = Strides::NONE;
            numbers.iter().for_each(|number| found.add(number * factor));
            let expected = numbers.iter().fold(0, |a, number| gcd(a, number * factor)).max(1);
            prop_assert_eq!(found.stride(), expected);
        }
    }
}
