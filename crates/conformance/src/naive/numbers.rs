//! Exact numbers: `xsd:integer` and `xsd:decimal` as XML Schema has them, without bounds.

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, FromPrimitive, RoundingMode};
use oxsdatatypes::{Decimal, Double, Float};
use std::str::FromStr;

/// Digits behind the point of a quotient.
const QUOTIENT_DIGITS: i64 = 18;

/// Reads an `xsd:integer`.
pub(super) fn integer(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_integer { BigInt::from_str(text).ok() } else { None }
}

/// Reads an `xsd:decimal`.
pub(super) fn decimal(text: &str) -> Option<BigDecimal> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if !are_digits || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    BigDecimal::from_str(&format!("{sign}0{whole}.{fraction}0")).ok()
}

/// The canonical form of a decimal.
pub(super) fn decimal_text(value: &BigDecimal) -> String {
    value.normalized().to_plain_string()
}

/// The nearest double.
pub(super) fn to_double(value: &BigDecimal) -> Option<Double> {
    let text = decimal_text(value);
    match Decimal::from_str(&text) {
        Ok(value) => Some(value.into()),
        Err(_) => text.parse::<f64>().ok().map(Double::from),
    }
}

/// The nearest float.
pub(super) fn to_float(value: &BigDecimal) -> Option<Float> {
    let text = decimal_text(value);
    match Decimal::from_str(&text) {
        Ok(value) => Some(value.into()),
        Err(_) => text.parse::<f32>().ok().map(Float::from),
    }
}

/// The decimal of a double: exact for whole numbers, else with 18 digits behind the point.
pub(super) fn decimal_of(double: Double) -> Option<BigDecimal> {
    let value = f64::from(double);
    if value.fract() == 0.0 {
        return BigInt::from_f64(value).map(BigDecimal::from);
    }
    decimal(&Decimal::try_from(double).ok()?.to_string())
}

/// A double without its fraction.
pub(super) fn integer_of(double: Double) -> Option<BigInt> {
    BigInt::from_f64(f64::from(double).trunc())
}

/// A decimal without its fraction.
pub(super) fn truncated(value: &BigDecimal) -> BigInt {
    value.with_scale_round(0, RoundingMode::Down).into_bigint_and_exponent().0
}

/// The quotient, cut off.
pub(super) fn quotient(a: &BigDecimal, b: &BigDecimal) -> Option<BigDecimal> {
    if *b == 0 {
        return None;
    }
    let (a, scale_a) = a.as_bigint_and_exponent();
    let (b, scale_b) = b.as_bigint_and_exponent();
    // a / 10^scale_a / (b / 10^scale_b) = q / 10^18.
    let shift = QUOTIENT_DIGITS + scale_b - scale_a;
    let power = |exponent: i64| BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0));
    let quotient = if shift >= 0 { a * power(shift) / b } else { a / (b * power(-shift)) };
    Some(BigDecimal::new(quotient, QUOTIENT_DIGITS))
}

/// The nearest whole number; halves go up.
pub(super) fn rounded(value: &BigDecimal) -> BigDecimal {
    (value + BigDecimal::new(5.into(), 1)).with_scale_round(0, RoundingMode::Floor)
}
