//! What the choice of an encoding needs to know about the values of one mini-block.

use super::packing::Mini;
use crate::format::MINI_ROWS;

/// The greatest number whose differences to others fit 32 bits with their signs.
const NARROW_MAX: u64 = i32::MAX as u64;

/// Gathered in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MiniStats {
    pub first: u64,
    pub last: u64,
    pub min: u64,
    pub max: u64,
    /// No value is less than the one before it.
    pub ascending: bool,
    /// Least and greatest difference of neighbours; 0 where values do not ascend.
    pub delta_min: u64,
    pub delta_max: u64,
    /// Stretches of equal values.
    pub runs: usize,
}

impl MiniStats {
    pub(super) fn of(values: &[u64]) -> Self {
        match <&Mini>::try_from(values) {
            Ok(values) if values.iter().fold(0, |all, value| all | value) <= NARROW_MAX => {
                Self::of_narrow(values)
            }
            _ => Self::of_any(values),
        }
    }

    /// The same for numbers of 31 bits, in loops that compilers turn into vector code.
    fn of_narrow(values: &Mini) -> Self {
        let mut narrow = [0_i32; MINI_ROWS];
        for (narrow, value) in narrow.iter_mut().zip(values) {
            *narrow = *value as i32;
        }
        let (mut delta_min, mut delta_max, mut changes) = (i32::MAX, i32::MIN, 0_i32);
        for (before, value) in narrow.iter().zip(&narrow[1..]) {
            let delta = value - before;
            delta_min = delta_min.min(delta);
            delta_max = delta_max.max(delta);
            changes += i32::from(delta != 0);
        }
        let [first, last] = [values[0], values[MINI_ROWS - 1]];
        let ascending = delta_min >= 0;
        let (min, max) = if ascending {
            (first, last)
        } else {
            let bounds =
                narrow.iter().fold((i32::MAX, 0), |(min, max), value| (*value.min(&min), *value.max(&max)));
            (bounds.0 as u64, bounds.1 as u64)
        };
        let [delta_min, delta_max] = if ascending { [delta_min as u64, delta_max as u64] } else { [0, 0] };
        Self { first, last, min, max, ascending, delta_min, delta_max, runs: 1 + changes as usize }
    }

    fn of_any(values: &[u64]) -> Self {
        let first = values.first().copied().unwrap_or(0);
        let (mut min, mut max, mut last) = (first, first, first);
        let (mut delta_min, mut delta_max, mut descents, mut runs) = (u64::MAX, 0, 0, 1);
        for &value in values.iter().skip(1) {
            let delta = value.wrapping_sub(last);
            descents += usize::from(value < last);
            runs += usize::from(delta != 0);
            delta_min = delta.min(delta_min);
            delta_max = delta.max(delta_max);
            min = value.min(min);
            max = value.max(max);
            last = value;
        }
        let ascending = descents == 0;
        let [delta_min, delta_max] = if ascending { [delta_min, delta_max] } else { [0, 0] };
        Self { first, last, min, max, ascending, delta_min, delta_max, runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn narrow_numbers_in_vectors(seed: u64, spread in 0_u32..31, ascending: bool, repeat in 1_u64..40) {
            let number = |i: u64| (seed ^ (i / repeat)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (33 + spread);
            let mut values: Mini = std::array::from_fn(|i| number(i as u64));
            if ascending {
                values.sort_unstable();
            }
            prop_assert_eq!(MiniStats::of_narrow(&values), MiniStats::of_any(&values));
        }
    }
}
