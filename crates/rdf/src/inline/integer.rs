//! Integers as offset binary: value + 2^55, for `xsd:integer` and the types derived from it.

use crate::value_id::Kind;

const BIAS: i64 = 1 << 55;
/// Digits of the largest inline value; longer texts need not be parsed.
const DIGITS_MAX: usize = 17;

/// The values a kind may have, cut to 64 bits.
const fn range(kind: Kind) -> (i64, i64) {
    match kind {
        Kind::Int => (i32::MIN as i64, i32::MAX as i64),
        Kind::Short => (i16::MIN as i64, i16::MAX as i64),
        Kind::Byte => (i8::MIN as i64, i8::MAX as i64),
        Kind::NonNegativeInteger | Kind::UnsignedLong => (0, i64::MAX),
        Kind::PositiveInteger => (1, i64::MAX),
        Kind::NonPositiveInteger => (i64::MIN, 0),
        Kind::NegativeInteger => (i64::MIN, -1),
        Kind::UnsignedInt => (0, u32::MAX as i64),
        Kind::UnsignedShort => (0, u16::MAX as i64),
        Kind::UnsignedByte => (0, u8::MAX as i64),
        _ => (i64::MIN, i64::MAX),
    }
}

/// The payload of a value that fits and that the kind allows.
#[inline]
pub(super) fn payload(value: i64, kind: Kind) -> Option<u64> {
    let (min, max) = range(kind);
    if !kind.is_integer() || value < min.max(-BIAS) || value > max.min(BIAS - 1) {
        return None;
    }
    u64::try_from(value + BIAS).ok()
}

/// The payload of the value, of those that the kind may have, that is nearest to `value`.
pub(super) fn nearest(value: i64, kind: Kind) -> u64 {
    let (min, max) = range(kind);
    let value = value.clamp(min.max(-BIAS), max.min(BIAS - 1));
    u64::try_from(value + BIAS).unwrap_or(0)
}

#[inline]
pub(super) const fn value(payload: u64) -> i64 {
    // A payload has 56 bits, so the cast keeps the value.
    payload as i64 - BIAS
}

pub(super) fn encode(lexical: &[u8], kind: Kind) -> Option<u64> {
    payload(parse_canonical(lexical)?, kind)
}

/// Reads digits without leading zeros, with `-` for negative values only.
#[inline]
pub(super) fn parse_canonical(lexical: &[u8]) -> Option<i64> {
    let (negative, digits) = match lexical {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, lexical),
    };
    let value = parse_digits(digits)?;
    match (negative, value) {
        (false, _) => Some(value),
        (true, 0) => None,
        (true, _) => Some(-value),
    }
}

/// Reads 1 to 17 digits; a leading zero only for zero itself.
#[inline]
pub(super) fn parse_digits(digits: &[u8]) -> Option<i64> {
    match digits {
        [] => return None,
        [b'0'] => return Some(0),
        [b'0', ..] => return None,
        _ if digits.len() > DIGITS_MAX => return None,
        _ => {}
    }
    let mut value = 0_i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(value)
}

/// Appends the canonical digits.
pub(super) fn write(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    write_unsigned(value.unsigned_abs(), out);
}

/// Appends the digits of an unsigned number.
pub(super) fn write_unsigned(mut value: u64, out: &mut Vec<u8>) {
    let mut buffer = [0_u8; 20];
    let mut start = buffer.len();
    for slot in buffer.iter_mut().rev() {
        // A digit is below 10: the cast keeps it.
        *slot = b'0' + (value % 10) as u8;
        start -= 1;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(buffer.get(start..).unwrap_or_default());
}
