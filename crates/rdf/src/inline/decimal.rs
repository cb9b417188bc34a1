//! Decimals as value * 10^6 in offset binary, with the number of fraction digits that were written.

use super::integer::{parse_digits, write_unsigned};
use crate::value_id::PAYLOAD_MAX;
use oxsdatatypes::Decimal;
use std::ops::RangeInclusive;

/// Fraction digits of the scaled value.
pub(super) const SCALE_DIGITS: u32 = 6;
const SCALE: i64 = 1_000_000;
const BIAS: i64 = 1 << 52;
const DIGIT_BITS: u32 = 3;
pub(super) const DIGIT_MASK: u64 = (1 << DIGIT_BITS) - 1;
/// Powers of ten that bring `n` fraction digits to six.
const POWERS: [i64; 7] = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];

#[inline]
fn pack(scaled: i64, fraction_digits: u64) -> Option<u64> {
    if !(-BIAS..BIAS).contains(&scaled) {
        return None;
    }
    Some((u64::try_from(scaled + BIAS).ok()? << DIGIT_BITS) | fraction_digits)
}

#[inline]
pub(super) const fn scaled(payload: u64) -> i64 {
    (payload >> DIGIT_BITS) as i64 - BIAS
}

/// The payload of the same value with the fewest digits: the first of all ways of writing it.
pub(super) const fn exact(payload: u64) -> u64 {
    payload & !DIGIT_MASK
}

/// The payloads of a whole number; those of all numbers there are beyond, where it does not fit.
pub(super) fn whole(value: i64) -> Option<RangeInclusive<u64>> {
    let scaled = value.checked_mul(SCALE).filter(|scaled| (-BIAS..BIAS).contains(scaled));
    let payload = match scaled {
        Some(scaled) => pack(scaled, 0)?,
        None if value < 0 => 0,
        None => PAYLOAD_MAX & !DIGIT_MASK,
    };
    Some(payload..=payload | DIGIT_MASK)
}

/// Reads `-?(0|[1-9][0-9]*)(\.[0-9]{1,6})?`, without a sign before zero.
pub(super) fn encode(lexical: &[u8]) -> Option<u64> {
    let (negative, digits) = match lexical {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, lexical),
    };
    let point = digits.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = match point {
        Some(at) => (digits.get(..at)?, digits.get(at + 1..)?),
        None => (digits, [].as_slice()),
    };
    if (point.is_some() && fraction.is_empty()) || fraction.len() > SCALE_DIGITS as usize {
        return None;
    }
    let mut fraction_value = 0_i64;
    for &byte in fraction {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        fraction_value = fraction_value * 10 + i64::from(digit);
    }
    let power = *POWERS.get(fraction.len())?;
    let scaled = parse_digits(whole)?.checked_mul(SCALE)?.checked_add(fraction_value * power)?;
    if negative && scaled == 0 {
        return None;
    }
    pack(if negative { -scaled } else { scaled }, fraction.len() as u64)
}

pub(super) fn write(payload: u64, out: &mut Vec<u8>) -> bool {
    let value = scaled(payload);
    let Some(&power) = POWERS.get((payload & DIGIT_MASK) as usize) else { return false };
    if value % power != 0 {
        return false;
    }
    if value < 0 {
        out.push(b'-');
    }
    let magnitude = value.unsigned_abs();
    write_unsigned(magnitude / SCALE.unsigned_abs(), out);
    let mut rest = magnitude % SCALE.unsigned_abs();
    let fraction_digits = payload & DIGIT_MASK;
    if fraction_digits > 0 {
        out.push(b'.');
    }
    let mut place = SCALE.unsigned_abs() / 10;
    for _ in 0..fraction_digits {
        // A digit is below 10: the cast keeps it.
        out.push(b'0' + (rest / place) as u8);
        rest %= place;
        place /= 10;
    }
    true
}

/// The payload of the shortest form, which is what `Display` of [`Decimal`] writes.
pub(super) fn from_value(value: Decimal) -> Option<u64> {
    // `Decimal` holds value * 10^18.
    let raw = i128::from_be_bytes(value.to_be_bytes());
    let unit = 1_000_000_000_000_i128;
    if raw % unit != 0 {
        return None;
    }
    let scaled = i64::try_from(raw / unit).ok()?;
    let digits = POWERS.iter().position(|power| scaled % power == 0)?;
    pack(scaled, digits as u64)
}
