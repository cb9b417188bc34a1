//! Exact numbers that fit no machine word: integers beyond 64 bits, and decimals beyond those of `oxsdatatypes` (128 bits, of which 18
//! digits are behind the point).
//!
//! XML Schema bounds neither `xsd:integer` nor `xsd:decimal`; an implementation may from 18 digits on (XSD 1.1 part 2, 5.4). Here numbers
//! have up to [`DIGITS_MAX`] digits: that bounds what one costs, in memory and in time. What is larger is an error of the expression
//! (XPath's FOAR0002); digits further behind the point are cut off, so that what is too small is 0, as XPath wants it.

use num_bigint::{BigInt, Sign};
use num_integer::Integer as _;
use num_traits::{Pow, Signed, ToPrimitive, Zero};
use oxsdatatypes::Decimal;
use std::cmp::Ordering;

/// The most digits that a number has, and the most behind its point.
pub const DIGITS_MAX: u32 = 4096;
// Sums of shorter numbers never get too long, whatever the number of rows (20 digits) and those behind the point.
const _: () = assert!(2 * lode_sparql::SUMMED_DIGITS_MAX + 20 < DIGITS_MAX);
/// The bits of so many digits: log2(10) = 3.3219.
const BITS_MAX: u64 = DIGITS_MAX as u64 * 33_220 / 10_000 + 1;
/// Digits behind the point of a quotient, as `oxsdatatypes` has them.
const QUOTIENT_DIGITS: u32 = 18;

/// `digits / 10^scale`, with the least scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exact {
    digits: BigInt,
    scale: u32,
    /// Whether the type is `xsd:integer`; then the scale is 0.
    is_integer: bool,
}

impl Exact {
    /// An `xsd:integer`.
    pub fn integer(digits: BigInt) -> Self {
        Self { digits, scale: 0, is_integer: true }
    }

    /// An `xsd:decimal` of so many times 10^-18.
    pub fn of_units(units: i128) -> Self {
        Self { digits: BigInt::from(units), scale: 18, is_integer: false }.reduced()
    }

    /// An `xsd:integer` of the value of a double without its fraction; `None` for infinities and NaN.
    pub fn truncated(double: f64) -> Option<Self> {
        num_traits::FromPrimitive::from_f64(double.trunc()).map(Self::integer)
    }

    /// Reads the lexical form of an `xsd:decimal`; `None` where it is none, or has too many digits.
    pub fn parse_decimal(lexical: &str) -> Option<Self> {
        let (negative, unsigned) = split_sign(lexical);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let scale = u32::try_from(fraction.len()).ok()?;
        Self::of_digits(negative, &[whole, fraction].concat(), scale, false)
    }

    /// Reads the lexical form of an `xsd:integer`; `None` where it is none, or has too many digits.
    pub fn parse_integer(lexical: &str) -> Option<Self> {
        let (negative, unsigned) = split_sign(lexical);
        if unsigned.is_empty() {
            return None;
        }
        Self::of_digits(negative, unsigned.trim_start_matches('0'), 0, true)
    }

    fn of_digits(negative: bool, text: &str, scale: u32, is_integer: bool) -> Option<Self> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) || text.len() > DIGITS_MAX as usize {
            return None;
        }
        let digits = if text.is_empty() { BigInt::ZERO } else { BigInt::parse_bytes(text.as_bytes(), 10)? };
        Some(Self { digits: if negative { -digits } else { digits }, scale, is_integer })
    }

    /// The integer as a machine word, if it is one and fits.
    pub fn to_i64(&self) -> Option<i64> {
        self.digits.to_i64().filter(|_| self.is_integer)
    }

    /// The decimal in 128 bits, if it fits.
    pub fn to_short_decimal(&self) -> Option<Decimal> {
        let units = &self.digits * power(18_u32.checked_sub(self.scale)?);
        Some(Decimal::from_be_bytes(units.to_i128()?.to_be_bytes()))
    }

    /// Without digits too far behind the point; `None` where too many are left.
    pub fn bounded(mut self) -> Option<Self> {
        if let Some(excess) = self.scale.checked_sub(DIGITS_MAX) {
            // Towards zero.
            self.digits /= power(excess);
            self.scale = DIGITS_MAX;
        }
        let reduced = self.reduced();
        (reduced.digits.bits() <= BITS_MAX).then_some(reduced)
    }

    /// Without zeros at the end of the fraction.
    fn reduced(mut self) -> Self {
        let ten = BigInt::from(10);
        // A number ends in no more zeros than it has factors of two.
        let zeros = self.digits.trailing_zeros().map_or(u64::from(self.scale), |twos| twos);
        for _ in 0..zeros.min(u64::from(self.scale)) {
            let (quotient, remainder) = self.digits.div_rem(&ten);
            if !remainder.is_zero() {
                break;
            }
            (self.digits, self.scale) = (quotient, self.scale - 1);
        }
        self
    }

    pub fn is_integer(&self) -> bool {
        self.is_integer
    }

    pub fn is_negative(&self) -> bool {
        self.digits.sign() == Sign::Minus
    }

    /// Whether the value is one of `u64`.
    pub fn is_u64(&self) -> bool {
        self.scale == 0 && self.digits.to_u64().is_some()
    }

    /// Bytes on the heap, about.
    pub fn heap_bytes(&self) -> usize {
        size_of::<Self>() + usize::try_from(self.digits.bits() / 8).unwrap_or(usize::MAX)
    }

    /// The canonical lexical form.
    pub fn lexical(&self) -> String {
        let mut text = self.digits.magnitude().to_string();
        if self.scale > 0 {
            let scale = self.scale as usize;
            if text.len() <= scale {
                text.insert_str(0, &"0".repeat(scale + 1 - text.len()));
            }
            text.insert(text.len() - scale, '.');
        }
        if self.is_negative() {
            text.insert(0, '-');
        }
        text
    }

    /// The nearest double; infinite where there is none.
    pub fn to_f64(&self) -> f64 {
        // The standard library rounds correctly, also what is as long as this.
        self.lexical().parse().unwrap_or(f64::NAN)
    }

    /// The nearest float.
    pub fn to_f32(&self) -> f32 {
        self.lexical().parse().unwrap_or(f32::NAN)
    }

    /// Both with the scale of the one that has more digits behind the point.
    fn aligned(a: &Self, b: &Self) -> (BigInt, BigInt, u32) {
        let scale = a.scale.max(b.scale);
        (&a.digits * power(scale - a.scale), &b.digits * power(scale - b.scale), scale)
    }

    pub fn add(&self, other: &Self) -> Option<Self> {
        let (a, b, scale) = Self::aligned(self, other);
        self.like(other, a + b, scale)
    }

    pub fn subtract(&self, other: &Self) -> Option<Self> {
        let (a, b, scale) = Self::aligned(self, other);
        self.like(other, a - b, scale)
    }

    pub fn multiply(&self, other: &Self) -> Option<Self> {
        self.like(other, &self.digits * &other.digits, self.scale + other.scale)
    }

    fn like(&self, other: &Self, digits: BigInt, scale: u32) -> Option<Self> {
        Self { digits, scale, is_integer: self.is_integer && other.is_integer }.bounded()
    }

    /// The quotient as a decimal, cut off after 18 digits behind the point; `None` for a division by zero.
    pub fn divide(&self, other: &Self) -> Option<Self> {
        if other.digits.is_zero() {
            return None;
        }
        let (a, b, _) = Self::aligned(self, other);
        let digits = a * power(QUOTIENT_DIGITS) / b;
        Self { digits, scale: QUOTIENT_DIGITS, is_integer: false }.bounded()
    }

    pub fn negate(&self) -> Option<Self> {
        Self { digits: -&self.digits, ..self.clone() }.bounded()
    }

    pub fn abs(&self) -> Option<Self> {
        Self { digits: self.digits.abs(), ..self.clone() }.bounded()
    }

    /// The greatest whole number that is not greater.
    pub fn floor(&self) -> Option<Self> {
        let digits = self.digits.div_floor(&power(self.scale));
        Self { digits, scale: 0, is_integer: self.is_integer }.bounded()
    }

    /// The least whole number that is not less.
    pub fn ceil(&self) -> Option<Self> {
        let digits = self.digits.div_ceil(&power(self.scale));
        Self { digits, scale: 0, is_integer: self.is_integer }.bounded()
    }

    /// The nearest whole number; halves go up.
    pub fn round(&self) -> Option<Self> {
        let one = power(self.scale);
        let doubled: BigInt = &self.digits * 2 + &one;
        let digits = doubled.div_floor(&(one * 2));
        Self { digits, scale: 0, is_integer: self.is_integer }.bounded()
    }

    /// Without the fraction, as an `xsd:integer`.
    pub fn truncate(&self) -> Option<Self> {
        Self::integer(&self.digits / power(self.scale)).bounded()
    }

    /// The same number as an `xsd:decimal`.
    pub fn to_decimal(&self) -> Option<Self> {
        Self { is_integer: false, ..self.clone() }.bounded()
    }

    /// Compares values.
    pub fn order(&self, other: &Self) -> Ordering {
        let (a, b, _) = Self::aligned(self, other);
        a.cmp(&b)
    }

    /// Compares with a finite double, exactly.
    pub fn order_double(&self, double: f64) -> Ordering {
        let (mantissa, shift) = mantissa_and_shift(double);
        let signed = if double < 0.0 { -BigInt::from(mantissa) } else { BigInt::from(mantissa) };
        let theirs = signed * power(self.scale);
        let by = shift.unsigned_abs();
        if shift >= 0 { self.digits.cmp(&(theirs << by)) } else { (&self.digits << by).cmp(&theirs) }
    }
}

impl From<i64> for Exact {
    fn from(value: i64) -> Self {
        Self::integer(value.into())
    }
}

impl From<Decimal> for Exact {
    fn from(value: Decimal) -> Self {
        Self::of_units(units(value))
    }
}

fn split_sign(lexical: &str) -> (bool, &str) {
    (lexical.starts_with('-'), lexical.strip_prefix(['+', '-']).unwrap_or(lexical))
}

fn power(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// The magnitude of a finite double: the first times two to the power of the second.
pub fn mantissa_and_shift(double: f64) -> (u64, i32) {
    let bits = double.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) & 0x7FF);
    let (mantissa, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | (1 << 52), exponent) };
    (mantissa, i32::try_from(exponent).unwrap_or(0) - 1075)
}

/// A decimal times 10^18.
pub fn units(decimal: Decimal) -> i128 {
    i128::from_be_bytes(decimal.to_be_bytes())
}
