//! Doubles and floats as decimal numbers: up to 13 significant digits, a decimal exponent, and how they were written.
//!
//! The payload counts outwards from 2^55, so that numbers order as values: zeros at the centre, positive numbers above
//! (`exponent`, then `digits`, then `form`, as one mixed-radix number), negative ones mirrored below, infinities at the
//! ends, NaN last. Exponents go from -307 to 307 for doubles and -37 to 37 for floats, so that every text stands for
//! a normal, finite value. Six forms of writing have codes, because data holds few others:
//!
//! | form | 150 | 0.025 |
//! |---|---|---|
//! | 0 canonical (XSD) | `1.5E2` | `2.5E-2` |
//! | 1 plain | `150` | `0.025` |
//! | 2 plain with a point | `150.0` | (form 1) |
//! | 3 canonical, small e | `1.5e2` | `2.5e-2` |
//! | 4 C and Python | `1.5e+02` | `2.5e-02` |
//! | 5 shortest | (form 3); `2e2` for 200 | (form 3) |
//!
//! Where two forms write one text, the smaller code is used, so one text has one id. The canonical zero is `0.0E0`,
//! negative zero `-0.0E0`.

use crate::value_id::PAYLOAD_MAX;
use std::fmt::Write as _;

/// Digits of a mantissa.
const DIGITS: usize = 13;
/// The smallest mantissa of [`DIGITS`] digits.
const MANTISSA_MIN: u64 = 1_000_000_000_000;
/// How many mantissas there are.
const MANTISSA_COUNT: u64 = 9 * MANTISSA_MIN;
const EXPONENT_MIN: i32 = -307;
const EXPONENT_MAX: i32 = 307;
const FORMS: u64 = 6;
const CENTRE: u64 = 1 << 55;
const NEGATIVE_INFINITY: u64 = 0;
const INFINITY: u64 = PAYLOAD_MAX - 1;
const NAN: u64 = PAYLOAD_MAX;
/// Exponents for which the plain forms are encoded; further out they get long.
const PLAIN_EXPONENTS: std::ops::RangeInclusive<i32> = -7..=20;

/// The exponents of doubles.
pub(super) const DOUBLE: i32 = EXPONENT_MAX;
/// The exponents of floats.
pub(super) const FLOAT: i32 = 37;

const CANONICAL: u64 = 0;
const PLAIN: u64 = 1;
const PLAIN_POINT: u64 = 2;
const SMALL_E: u64 = 3;
const C_STYLE: u64 = 4;
const SHORTEST: u64 = 5;

/// A decimal number `d.ddd * 10^exponent`; the mantissa has 13 digits, or is 0 for zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Number {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

/// What a payload stands for.
enum Decoded {
    Number(Number, u64),
    Infinity,
    NegativeInfinity,
    NaN,
}

fn pack(number: Number, form: u64) -> Option<u64> {
    let distance = if number.mantissa == 0 {
        form
    } else {
        let exponent = u64::try_from(number.exponent - EXPONENT_MIN).ok()?;
        let mantissa = number.mantissa.checked_sub(MANTISSA_MIN)?;
        FORMS + (exponent * MANTISSA_COUNT + mantissa) * FORMS + form
    };
    Some(if number.negative { CENTRE - 1 - distance } else { CENTRE + distance })
}

fn unpack(payload: u64) -> Option<Decoded> {
    match payload {
        NAN => return Some(Decoded::NaN),
        INFINITY => return Some(Decoded::Infinity),
        NEGATIVE_INFINITY => return Some(Decoded::NegativeInfinity),
        _ => {}
    }
    let negative = payload < CENTRE;
    let distance = if negative { CENTRE - 1 - payload } else { payload - CENTRE };
    if distance < FORMS {
        return Some(Decoded::Number(Number { negative, mantissa: 0, exponent: 0 }, distance));
    }
    let code = distance - FORMS;
    let (rest, form) = (code / FORMS, code % FORMS);
    let exponent = i32::try_from(rest / MANTISSA_COUNT).ok()? + EXPONENT_MIN;
    if exponent > EXPONENT_MAX {
        return None;
    }
    let mantissa = MANTISSA_MIN + rest % MANTISSA_COUNT;
    Some(Decoded::Number(Number { negative, mantissa, exponent }, form))
}

/// Reads a number with up to 13 significant digits; `exponent_limit` is [`DOUBLE`] or [`FLOAT`].
pub(super) fn encode(lexical: &[u8], exponent_limit: i32) -> Option<u64> {
    match lexical {
        b"INF" => return Some(INFINITY),
        b"-INF" => return Some(NEGATIVE_INFINITY),
        b"NaN" => return Some(NAN),
        _ => {}
    }
    let (number, forms) = parse(lexical)?;
    if number.exponent.abs() > exponent_limit {
        return None;
    }
    forms.iter().find_map(|&form| {
        let mut text = Text::new();
        (render(number, form, &mut text) && text.bytes() == lexical).then(|| pack(number, form)).flatten()
    })
}

/// Reads sign, digits, point and exponent loosely; the forms are those that may have written the text.
fn parse(lexical: &[u8]) -> Option<(Number, &'static [u64])> {
    let (negative, rest) = match lexical {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, lexical),
    };
    let end = rest.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(rest.len());
    let (digits, tail) = rest.split_at_checked(end)?;
    let (written_exponent, forms): (i32, &[u64]) = match tail {
        [] => (0, &[PLAIN, PLAIN_POINT]),
        [b'E', exponent @ ..] => (parse_exponent(exponent)?, &[CANONICAL]),
        [_, exponent @ ..] => (parse_exponent(exponent)?, &[SMALL_E, C_STYLE, SHORTEST]),
    };
    let (mantissa, exponent) = parse_mantissa(digits)?;
    let exponent = if mantissa == 0 { 0 } else { exponent + written_exponent };
    Some((Number { negative, mantissa, exponent }, forms))
}

fn parse_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 3 {
        return None;
    }
    let mut value = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i32::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// The 13-digit mantissa and the exponent of its first digit, from digits with at most one point.
fn parse_mantissa(text: &[u8]) -> Option<(u64, i32)> {
    // Longer texts have too many digits, or zeros that only the dictionary keeps.
    if text.is_empty() || text.len() > 24 {
        return None;
    }
    let (mut mantissa, mut significant, mut zeros) = (0_u64, 0_usize, 0_usize);
    let (mut whole_digits, mut leading_fraction, mut point) = (0_i32, 0_i32, false);
    for &byte in text {
        if byte == b'.' {
            if point {
                return None;
            }
            point = true;
            continue;
        }
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        if significant == 0 && digit == 0 {
            leading_fraction += i32::from(point);
            continue;
        }
        whole_digits += i32::from(!point);
        significant += 1;
        if digit == 0 {
            zeros += 1;
            continue;
        }
        // Zeros count only once a digit follows them.
        if significant > DIGITS {
            return None;
        }
        for _ in 0..=zeros {
            mantissa *= 10;
        }
        zeros = 0;
        mantissa += u64::from(digit);
    }
    if mantissa == 0 {
        return Some((0, 0));
    }
    while mantissa < MANTISSA_MIN {
        mantissa *= 10;
    }
    let exponent = if whole_digits > 0 { whole_digits - 1 } else { -leading_fraction - 1 };
    Some((mantissa, exponent))
}

/// A text under construction, on the stack: the longest, `-0.0000001234567890123`, has 22 bytes.
struct Text {
    bytes: [u8; 48],
    len: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; 48], len: 0 }
    }

    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.len) {
            *slot = byte;
            self.len += 1;
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.push(byte);
        }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl std::fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.extend(text.as_bytes());
        Ok(())
    }
}

/// Writes a number in a form; `false` where the form does not write such a number.
fn render(number: Number, form: u64, out: &mut Text) -> bool {
    let mut buffer = [b'0'; DIGITS];
    let mut rest = number.mantissa;
    for slot in buffer.iter_mut().rev() {
        // A digit is below 10: the cast keeps it.
        *slot = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let len = buffer.iter().rposition(|&digit| digit != b'0').map_or(1, |at| at + 1);
    let digits = buffer.get(..len).unwrap_or_default();
    if number.negative {
        out.push(b'-');
    }
    if matches!(form, PLAIN | PLAIN_POINT) {
        return PLAIN_EXPONENTS.contains(&number.exponent)
            && render_plain(digits, number.exponent, form == PLAIN_POINT, out);
    }
    let Some((first, fraction)) = digits.split_first() else { return false };
    out.push(*first);
    if !fraction.is_empty() || matches!(form, CANONICAL | SMALL_E) {
        out.push(b'.');
        out.extend(if fraction.is_empty() { b"0" } else { fraction });
    }
    out.push(if form == CANONICAL { b'E' } else { b'e' });
    let result = if form == C_STYLE {
        write!(out, "{:+03}", number.exponent)
    } else {
        write!(out, "{}", number.exponent)
    };
    result.is_ok()
}

/// Writes digits with a plain point; `point_zero`: whole numbers (and only those) get ".0".
fn render_plain(digits: &[u8], exponent: i32, point_zero: bool, out: &mut Text) -> bool {
    let Ok(whole) = usize::try_from(exponent + 1) else {
        if point_zero {
            return false;
        }
        out.extend(b"0.");
        for _ in 0..-(exponent + 1) {
            out.push(b'0');
        }
        out.extend(digits);
        return true;
    };
    if whole == 0 {
        out.extend(b"0.");
        out.extend(digits);
        return !point_zero;
    }
    if digits.len() > whole {
        out.extend(digits.get(..whole).unwrap_or_default());
        out.push(b'.');
        out.extend(digits.get(whole..).unwrap_or_default());
        return !point_zero;
    }
    out.extend(digits);
    for _ in digits.len()..whole {
        out.push(b'0');
    }
    if point_zero {
        out.extend(b".0");
    }
    true
}

pub(super) fn write(payload: u64, out: &mut Vec<u8>) -> bool {
    match unpack(payload) {
        Some(Decoded::NaN) => out.extend_from_slice(b"NaN"),
        Some(Decoded::Infinity) => out.extend_from_slice(b"INF"),
        Some(Decoded::NegativeInfinity) => out.extend_from_slice(b"-INF"),
        Some(Decoded::Number(number, form)) => {
            let mut text = Text::new();
            if !render(number, form, &mut text) {
                return false;
            }
            out.extend_from_slice(text.bytes());
        }
        None => return false,
    }
    true
}

/// Powers of ten that an `f64` holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

#[inline]
pub(super) fn value_f64(payload: u64) -> Option<f64> {
    let number = match unpack(payload)? {
        Decoded::Number(number, _) => number,
        Decoded::Infinity => return Some(f64::INFINITY),
        Decoded::NegativeInfinity => return Some(f64::NEG_INFINITY),
        Decoded::NaN => return Some(f64::NAN),
    };
    let magnitude = match rounded_once(number) {
        Some(magnitude) => magnitude,
        None => parse_text(number)?,
    };
    Some(if number.negative { -magnitude } else { magnitude })
}

/// The magnitude, where both the mantissa and the power of ten are exact, so that it is rounded once.
fn rounded_once(number: Number) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a mantissa of 13 digits is below 2^53")]
    let mantissa = number.mantissa as f64;
    let shift = number.exponent - 12;
    let power = POWERS.get(usize::try_from(shift.abs()).ok()?)?;
    Some(if shift < 0 { mantissa / power } else { mantissa * power })
}

/// The float nearest to a double that was itself rounded, where that is certainly the one nearest to the exact value: the double is
/// not next to the middle of two floats.
fn float_of_rounded(value: f64) -> Option<f32> {
    const DROPPED: u64 = (1 << 29) - 1;
    const MIDDLE: u64 = 1 << 28;
    let near_middle = (value.to_bits() & DROPPED).abs_diff(MIDDLE) <= 1;
    #[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest float")]
    let float = value as f32;
    (!near_middle && float.is_normal()).then_some(float)
}

/// The correctly rounded magnitude, by the standard library.
fn parse_text<T: std::str::FromStr>(number: Number) -> Option<T> {
    let mut text = Text::new();
    write!(text, "{}e{}", number.mantissa, number.exponent - 12).ok()?;
    std::str::from_utf8(text.bytes()).ok()?.parse().ok()
}

pub(super) fn value_f32(payload: u64) -> Option<f32> {
    let number = match unpack(payload)? {
        Decoded::Number(number, _) => number,
        Decoded::Infinity => return Some(f32::INFINITY),
        Decoded::NegativeInfinity => return Some(f32::NEG_INFINITY),
        Decoded::NaN => return Some(f32::NAN),
    };
    let magnitude: f32 = match rounded_once(number).and_then(float_of_rounded) {
        _ if number.mantissa == 0 => 0.0,
        Some(magnitude) => magnitude,
        None => parse_text(number)?,
    };
    Some(if number.negative { -magnitude } else { magnitude })
}

/// The number of a text with few digits that is read as `value` (`reads_as` tells): what data mostly holds, found without writing
/// texts. Such a text is the shortest of all that are read as the value if no two texts of up to `digits_below`'s length are read as
/// the same number (6 digits of floats, 15 of doubles).
#[inline]
fn with_few_digits(value: f64, digits_below: f64, reads_as: impl Fn(f64) -> bool) -> Option<Number> {
    let magnitude = value.abs();
    for (shift, power) in (0_i32..).zip(POWERS.get(..5)?) {
        let digits = (magnitude * power).round();
        if digits >= digits_below {
            return None;
        }
        // Both are exact, so the quotient is rounded once.
        if digits >= 1.0 && reads_as(digits / power) {
            return Some(whole_digits(digits, shift, value.is_sign_negative()));
        }
    }
    None
}

/// `digits` (whole, 1 to below 10^13) over ten to the power of `shift`.
fn whole_digits(digits: f64, shift: i32, negative: bool) -> Number {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number below 10^13")]
    let mut mantissa = digits as u64;
    let whole = mantissa.ilog10().cast_signed();
    while mantissa < MANTISSA_MIN {
        mantissa *= 10;
    }
    Number { negative, mantissa, exponent: whole - shift }
}

/// The number of the shortest text of a float between 10 and 10^7 for which [`with_few_digits`] has found none: it has 7 to 9 digits.
/// Means and ratios are such.
fn with_many_digits(value: f32) -> Option<Number> {
    let magnitude = f64::from(value.abs());
    // The float below a power of two is nearer than the one above, so the nearest text may not be the shortest.
    let is_power_of_two = value.to_bits().trailing_zeros() >= f32::MANTISSA_DIGITS - 1;
    if is_power_of_two || !(10.0..1e7).contains(&magnitude) {
        return None;
    }
    let whole = POWERS.iter().take_while(|power| **power <= magnitude).count();
    for digits in 7..=9_usize {
        let shift = digits.checked_sub(whole)?;
        let power = POWERS.get(shift)?;
        // Exact: 24 bits times 10^7, which has less than 24.
        let scaled = magnitude * power;
        let nearest = scaled.round();
        #[expect(clippy::float_cmp, reason = "exact numbers")]
        if (scaled - nearest).abs() == 0.5 {
            return None;
        }
        // The quotient is rounded once, by 2^-53 of it. From the middle of two floats, 25 bits over a power of two, it is by at least 2^-49
        // of it away.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::float_cmp,
            reason = "rounds to the nearest float, which has to be this one"
        )]
        if (nearest / power) as f32 == value.abs() {
            let shift = i32::try_from(shift).ok()?;
            return Some(whole_digits(nearest, shift, value.is_sign_negative()));
        }
    }
    None
}

pub(super) fn from_f64(value: f64) -> Option<u64> {
    #[expect(clippy::float_cmp, reason = "the text has to be read as this very number")]
    if let Some(number) = with_few_digits(value, 1e13, |read| read == value.abs()) {
        return pack(number, CANONICAL);
    }
    from_shortest(
        format_args!("{value:e}"),
        value.is_nan(),
        value.is_infinite(),
        value.is_sign_negative(),
        DOUBLE,
    )
}

pub(super) fn from_f32(value: f32) -> Option<u64> {
    // A text of six digits is further from the middle of two floats than a double's rounding, so rounding twice is right.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::float_cmp,
        reason = "rounds to the nearest float, which has to be this one"
    )]
    let few = with_few_digits(f64::from(value), 1e6, |read| read as f32 == value.abs());
    if let Some(number) = few.or_else(|| with_many_digits(value)) {
        return pack(number, CANONICAL);
    }
    from_shortest(
        format_args!("{value:e}"),
        value.is_nan(),
        value.is_infinite(),
        value.is_sign_negative(),
        FLOAT,
    )
}

/// Reads the standard library's shortest form of a number.
fn from_shortest(
    shortest: std::fmt::Arguments<'_>,
    nan: bool,
    infinite: bool,
    negative: bool,
    exponent_limit: i32,
) -> Option<u64> {
    match (nan, infinite, negative) {
        (true, ..) => return Some(NAN),
        (_, true, false) => return Some(INFINITY),
        (_, true, true) => return Some(NEGATIVE_INFINITY),
        _ => {}
    }
    let mut text = Text::new();
    text.write_fmt(shortest).ok()?;
    let (number, _) = parse(text.bytes())?;
    if number.exponent.abs() > exponent_limit {
        return None;
    }
    pack(number, CANONICAL)
}

/// Appends the canonical lexical form of an `xsd:double`: "1.5E0", "INF", "NaN".
pub fn write_double(value: f64, out: &mut Vec<u8>) {
    write_canonical(format_args!("{value:e}"), value.is_nan(), value.is_infinite(), value < 0.0, out);
}

/// Appends the canonical lexical form of an `xsd:float`.
pub fn write_float(value: f32, out: &mut Vec<u8>) {
    write_canonical(format_args!("{value:e}"), value.is_nan(), value.is_infinite(), value < 0.0, out);
}

/// [`write_double`] as a string.
pub fn double_lexical(value: f64) -> String {
    let mut out = Vec::new();
    write_double(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// [`write_float`] as a string.
pub fn float_lexical(value: f32) -> String {
    let mut out = Vec::new();
    write_float(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

fn write_canonical(
    shortest: std::fmt::Arguments<'_>,
    nan: bool,
    infinite: bool,
    negative: bool,
    out: &mut Vec<u8>,
) {
    if nan {
        return out.extend_from_slice(b"NaN");
    }
    if infinite {
        return out.extend_from_slice(if negative { b"-INF" } else { b"INF" });
    }
    let mut text = Text::new();
    // Writing to `Text` cannot fail.
    let _ = text.write_fmt(shortest);
    let bytes = text.bytes();
    let end = bytes.iter().position(|&byte| byte == b'e').unwrap_or(bytes.len());
    let (mantissa, exponent) = bytes.split_at_checked(end).unwrap_or((bytes, b""));
    out.extend_from_slice(mantissa);
    if !mantissa.contains(&b'.') {
        out.extend_from_slice(b".0");
    }
    out.push(b'E');
    out.extend_from_slice(exponent.get(1..).unwrap_or(b"0"));
}
