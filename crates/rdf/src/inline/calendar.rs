//! `xsd:dateTime` and `xsd:date` as instants with the time zone that was written.
//!
//! Days are counted from 0001-01-01 in the proleptic Gregorian calendar, which is also the origin that
//! [`oxsdatatypes`] counts seconds from. A value without time zone is placed as if it were UTC.

use super::integer::write_unsigned;
use oxsdatatypes::{Date, DateTime};

const ZONE_BITS: u32 = 7;
const ZONE_MASK: u64 = (1 << ZONE_BITS) - 1;
const FRACTION_BITS: u32 = 2;
const FRACTION_MASK: u64 = (1 << FRACTION_BITS) - 1;
/// Milliseconds have 47 bits: until the year 4459.
const MILLIS_LIMIT: i64 = 1 << 47;
/// Added to the minutes of a date, so that the first day begins after 0 in every zone.
const DATE_BIAS_MINUTES: i64 = 14 * 60;
const DATE_LIMIT: i64 = 1 << 49;
const ZONE_NONE: u64 = 0;
const ZONE_UTC: u64 = 1;
/// The code of `+00:00`.
const ZONE_ZERO: i64 = 58;
const QUARTERS_MAX: i64 = 56;
const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
/// [`oxsdatatypes`] holds seconds times 10^18, and these bytes for "no time zone".
const NO_ZONE: [u8; 2] = [0xFF; 2];
const UNITS_PER_MILLI: i128 = 1_000_000_000_000_000;
const UNITS_PER_MINUTE: i128 = 60_000 * UNITS_PER_MILLI;

#[derive(Clone, Copy)]
struct Day {
    year: i64,
    month: i64,
    day: i64,
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 0001-01-01. Years are counted from March, so that the leap day ends a year.
const fn days_from_date(date: Day) -> i64 {
    let year = if date.month <= 2 { date.year - 1 } else { date.year };
    let month = (date.month + 9) % 12;
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + date.day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 306
}

const fn date_from_days(days: i64) -> Day {
    let days = days + 306;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    Day { year, month, day }
}

/// Reads exactly `N` digits.
#[inline]
fn digits<const N: usize>(text: &[u8]) -> Option<(i64, &[u8])> {
    let (head, rest) = text.split_first_chunk::<N>()?;
    let mut value = 0;
    for &byte in head {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some((value, rest))
}

#[inline]
fn expect(text: &[u8], byte: u8) -> Option<&[u8]> {
    match text.split_first() {
        Some((&first, rest)) if first == byte => Some(rest),
        _ => None,
    }
}

/// `YYYY-MM-DD`, a year of four digits from 0001.
fn parse_day(text: &[u8]) -> Option<(Day, &[u8])> {
    let (year, rest) = digits::<4>(text)?;
    let (month, rest) = digits::<2>(expect(rest, b'-')?)?;
    let (day, rest) = digits::<2>(expect(rest, b'-')?)?;
    let valid = year >= 1 && (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month);
    valid.then_some((Day { year, month, day }, rest))
}

/// The zone's code, and the minutes that local time is ahead of UTC.
fn parse_zone(text: &[u8]) -> Option<(u64, i64)> {
    let (sign, rest) = match text {
        [] => return Some((ZONE_NONE, 0)),
        b"Z" => return Some((ZONE_UTC, 0)),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, rest) = digits::<2>(rest)?;
    let (minutes, rest) = digits::<2>(expect(rest, b':')?)?;
    let offset = hours * 60 + minutes;
    // "-00:00" has no code of its own.
    if !rest.is_empty()
        || minutes > 59
        || offset % 15 != 0
        || offset / 15 > QUARTERS_MAX
        || (sign < 0 && offset == 0)
    {
        return None;
    }
    let code = u64::try_from(ZONE_ZERO + sign * offset / 15).ok()?;
    Some((code, sign * offset))
}

/// The minutes that local time is ahead of UTC, `None` for codes that no encoder makes.
fn zone_offset(code: u64) -> Option<i64> {
    match code {
        ZONE_NONE | ZONE_UTC => Some(0),
        2..=114 => Some((i64::try_from(code).ok()? - ZONE_ZERO) * 15),
        _ => None,
    }
}

pub(super) fn encode_date_time(text: &[u8]) -> Option<u64> {
    let (day, rest) = parse_day(text)?;
    let (hour, rest) = digits::<2>(expect(rest, b'T')?)?;
    let (minute, rest) = digits::<2>(expect(rest, b':')?)?;
    let (second, rest) = digits::<2>(expect(rest, b':')?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (fraction_millis, fraction_digits, rest) = parse_fraction(rest)?;
    let (zone, offset) = parse_zone(rest)?;
    let of_day = ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction_millis;
    pack_date_time(days_from_date(day) * DAY + of_day, fraction_digits, zone)
}

/// Up to three fraction digits as milliseconds.
fn parse_fraction(text: &[u8]) -> Option<(i64, u64, &[u8])> {
    let Some(mut rest) = expect(text, b'.') else { return Some((0, 0, text)) };
    let (mut millis, mut count, mut place) = (0, 0, 100);
    while let Some((byte @ b'0'..=b'9', tail)) = rest.split_first() {
        if count == 3 {
            return None;
        }
        millis += i64::from(byte - b'0') * place;
        place /= 10;
        count += 1;
        rest = tail;
    }
    (count > 0).then_some((millis, count, rest))
}

fn pack_date_time(millis: i64, fraction_digits: u64, zone: u64) -> Option<u64> {
    if !(0..MILLIS_LIMIT).contains(&millis) {
        return None;
    }
    let millis = u64::try_from(millis).ok()?;
    Some((((millis << FRACTION_BITS) | fraction_digits) << ZONE_BITS) | zone)
}

/// Milliseconds since 0001-01-01T00:00:00Z, fraction digits, zone.
fn unpack_date_time(payload: u64) -> Option<(i64, u64, u64)> {
    let millis = i64::try_from(payload >> (FRACTION_BITS + ZONE_BITS)).ok()?;
    Some((millis, (payload >> ZONE_BITS) & FRACTION_MASK, payload & ZONE_MASK))
}

fn write_padded(value: i64, width: u32, out: &mut Vec<u8>) {
    let mut place = 10_i64.pow(width.saturating_sub(1));
    while place > 1 && value < place {
        out.push(b'0');
        place /= 10;
    }
    write_unsigned(value.unsigned_abs(), out);
}

fn write_day(day: Day, out: &mut Vec<u8>) {
    write_padded(day.year, 4, out);
    out.push(b'-');
    write_padded(day.month, 2, out);
    out.push(b'-');
    write_padded(day.day, 2, out);
}

fn write_zone(code: u64, offset: i64, out: &mut Vec<u8>) {
    match code {
        ZONE_NONE => {}
        ZONE_UTC => out.push(b'Z'),
        _ => {
            out.push(if offset < 0 { b'-' } else { b'+' });
            write_padded(offset.abs() / 60, 2, out);
            out.push(b':');
            write_padded(offset.abs() % 60, 2, out);
        }
    }
}

pub(super) fn write_date_time(payload: u64, out: &mut Vec<u8>) -> bool {
    let Some((millis, fraction_digits, zone)) = unpack_date_time(payload) else { return false };
    let Some(offset) = zone_offset(zone) else { return false };
    let local = millis + offset * MINUTE;
    let day = date_from_days(local.div_euclid(DAY));
    let of_day = local.rem_euclid(DAY);
    let fraction = of_day % 1000;
    let dropped = match fraction_digits {
        0 => 1000,
        1 => 100,
        2 => 10,
        _ => 1,
    };
    if fraction % dropped != 0 || !(1..=9999).contains(&day.year) {
        return false;
    }
    write_day(day, out);
    out.push(b'T');
    write_padded(of_day / 3_600_000, 2, out);
    out.push(b':');
    write_padded(of_day / MINUTE % 60, 2, out);
    out.push(b':');
    write_padded(of_day / 1000 % 60, 2, out);
    if let Ok(width @ 1..) = u32::try_from(fraction_digits) {
        out.push(b'.');
        write_padded(fraction / dropped, width, out);
    }
    write_zone(zone, offset, out);
    true
}

pub(super) fn encode_date(text: &[u8]) -> Option<u64> {
    let (day, rest) = parse_day(text)?;
    let (zone, offset) = parse_zone(rest)?;
    pack_date(days_from_date(day) * 1440 - offset, zone)
}

fn pack_date(minutes: i64, zone: u64) -> Option<u64> {
    let biased = minutes + DATE_BIAS_MINUTES;
    if !(0..DATE_LIMIT).contains(&biased) {
        return None;
    }
    Some((u64::try_from(biased).ok()? << ZONE_BITS) | zone)
}

/// Minutes from 0001-01-01T00:00Z to the start of the day, and the zone.
fn unpack_date(payload: u64) -> Option<(i64, u64)> {
    Some((i64::try_from(payload >> ZONE_BITS).ok()? - DATE_BIAS_MINUTES, payload & ZONE_MASK))
}

pub(super) fn write_date(payload: u64, out: &mut Vec<u8>) -> bool {
    let Some((minutes, zone)) = unpack_date(payload) else { return false };
    let Some(offset) = zone_offset(zone) else { return false };
    let local = minutes + offset;
    let day = date_from_days(local.div_euclid(1440));
    if local % 1440 != 0 || !(1..=9999).contains(&day.year) {
        return false;
    }
    write_day(day, out);
    write_zone(zone, offset, out);
    true
}

/// The bytes from which [`oxsdatatypes`] makes a value: seconds times 10^18, then the zone.
fn to_bytes(units: i128, zone: u64) -> Option<[u8; 18]> {
    let mut bytes = [0; 18];
    let (value, zone_bytes) = bytes.split_at_mut(16);
    value.copy_from_slice(&units.to_be_bytes());
    let offset = i16::try_from(zone_offset(zone)?).ok()?;
    zone_bytes.copy_from_slice(&if zone == ZONE_NONE { NO_ZONE } else { offset.to_be_bytes() });
    Some(bytes)
}

/// The reverse of [`to_bytes`]; UTC is written `Z`, as `Display` does.
fn from_bytes(bytes: [u8; 18]) -> Option<(i128, u64, i64)> {
    let (value, zone_bytes) = bytes.split_first_chunk::<16>()?;
    let units = i128::from_be_bytes(*value);
    let zone_bytes: [u8; 2] = zone_bytes.try_into().ok()?;
    if zone_bytes == NO_ZONE {
        return Some((units, ZONE_NONE, 0));
    }
    let offset = i64::from(i16::from_be_bytes(zone_bytes));
    if offset == 0 {
        return Some((units, ZONE_UTC, 0));
    }
    if offset % 15 != 0 || offset.abs() / 15 > QUARTERS_MAX {
        return None;
    }
    Some((units, u64::try_from(ZONE_ZERO + offset / 15).ok()?, offset))
}

pub(super) fn date_time_value(payload: u64) -> Option<DateTime> {
    let (millis, _, zone) = unpack_date_time(payload)?;
    Some(DateTime::from_be_bytes(to_bytes(i128::from(millis) * UNITS_PER_MILLI, zone)?))
}

pub(super) fn date_value(payload: u64) -> Option<Date> {
    let (minutes, zone) = unpack_date(payload)?;
    Some(Date::from_be_bytes(to_bytes(i128::from(minutes) * UNITS_PER_MINUTE, zone)?))
}

/// Whether a local time is in a year of four digits that an encoder takes.
fn year_fits(local_days: i64) -> bool {
    (0..days_from_date(Day { year: 10_000, month: 1, day: 1 })).contains(&local_days)
}

pub(super) fn from_date_time(value: DateTime) -> Option<u64> {
    let (units, zone, offset) = from_bytes(value.to_be_bytes())?;
    if units % UNITS_PER_MILLI != 0 {
        return None;
    }
    let millis = i64::try_from(units / UNITS_PER_MILLI).ok()?;
    let local = millis.checked_add(offset * MINUTE)?;
    if !year_fits(local.div_euclid(DAY)) {
        return None;
    }
    let fraction = local.rem_euclid(1000);
    let fraction_digits = match fraction {
        0 => 0,
        _ if fraction % 100 == 0 => 1,
        _ if fraction % 10 == 0 => 2,
        _ => 3,
    };
    pack_date_time(millis, fraction_digits, zone)
}

pub(super) fn from_date(value: Date) -> Option<u64> {
    let (units, zone, offset) = from_bytes(value.to_be_bytes())?;
    if units % UNITS_PER_MINUTE != 0 {
        return None;
    }
    let minutes = i64::try_from(units / UNITS_PER_MINUTE).ok()?;
    let local = minutes.checked_add(offset)?;
    if local % 1440 != 0 || !year_fits(local.div_euclid(1440)) {
        return None;
    }
    pack_date(minutes, zone)
}
