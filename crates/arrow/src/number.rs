//! Values of literals as Arrow has them; `None` where it cannot have them as they are.

use oxsdatatypes::{Boolean, Date, DateTime, Decimal, Double, Float, Integer, TimezoneOffset};

/// The greatest decimal of 38 digits.
const DECIMAL_MAX: i128 = 10_i128.pow(38) - 1;
const DAY_MICROS: i64 = 86_400_000_000;

pub fn boolean(text: &str) -> Option<bool> {
    text.parse::<Boolean>().ok().map(bool::from)
}

pub fn integer(text: &str) -> Option<i64> {
    text.parse::<Integer>().ok().map(i64::from)
}

/// Times 10^18.
pub fn decimal(text: &str) -> Option<i128> {
    let value: Decimal = text.parse().ok()?;
    Some(i128::from_be_bytes(value.to_be_bytes())).filter(|value| value.abs() <= DECIMAL_MAX)
}

pub fn double(text: &str) -> Option<f64> {
    text.parse::<Double>().ok().map(f64::from)
}

pub fn float(text: &str) -> Option<f32> {
    text.parse::<Float>().ok().map(f32::from)
}

/// Days since 1970, of a date without a time zone.
pub fn date(text: &str) -> Option<i32> {
    of_date(text.parse().ok()?)
}

pub fn of_date(date: Date) -> Option<i32> {
    if date.timezone_offset().is_some() {
        return None;
    }
    i32::try_from(days(date.year(), date.month(), date.day())?).ok()
}

/// Microseconds since 1970, and whether they are of UTC, of a time in UTC or without a time zone.
pub fn date_time(text: &str) -> Option<(i64, bool)> {
    of_date_time(text.parse().ok()?)
}

pub fn of_date_time(time: DateTime) -> Option<(i64, bool)> {
    let utc = match time.timezone_offset() {
        None => false,
        Some(offset) if offset == TimezoneOffset::UTC => true,
        Some(_) => return None,
    };
    // Times 10^18; what is below a microsecond would be lost.
    let seconds = i128::from_be_bytes(time.second().to_be_bytes());
    let micro = 10_i128.pow(12);
    if seconds % micro != 0 {
        return None;
    }
    let of_second = i64::try_from(seconds / micro).ok()?;
    let minutes = i64::from(time.hour()) * 60 + i64::from(time.minute());
    let days = days(time.year(), time.month(), time.day())?;
    let micros = days.checked_mul(DAY_MICROS)?.checked_add(minutes * 60_000_000)?.checked_add(of_second)?;
    Some((micros, utc))
}

/// Days from the first of January 1970 in the Gregorian calendar, which goes on before it was introduced; the year 0 is that before 1.
fn days(year: i64, month: u8, day: u8) -> Option<i64> {
    // Years that begin in March, so that a leap day is the last.
    let (month, day) = (i64::from(month), i64::from(day));
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era.checked_mul(146_097)?.checked_add(of_era)?.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    //! Days and microseconds of calendars, and what has no place in a column.
    use super::*;

    #[test]
    fn days_are_those_of_the_gregorian_calendar() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("2026-11-24", 20_781),
            ("1900-03-01", -25_508),
            ("0001-01-01", -719_162),
            ("0000-12-31", -719_163),
        ] {
            assert_eq!(date(text), Some(days), "{text}");
        }
        assert_eq!(date("2026-11-24Z"), None);
    }

    #[test]
    fn times_are_microseconds_or_nothing() {
        assert_eq!(date_time("1970-01-01T00:00:00"), Some((0, false)));
        assert_eq!(date_time("1970-01-01T00:00:01.000001Z"), Some((1_000_001, true)));
        assert_eq!(date_time("1969-12-31T23:59:59.5Z"), Some((-500_000, true)));
        assert_eq!(date_time("1970-01-01T00:00:00.0000001"), None);
        assert_eq!(date_time("1970-01-01T00:00:00+02:00"), None);
        assert_eq!(date_time("999999-01-01T00:00:00Z"), None);
    }

    #[test]
    fn decimals_have_digits_for_what_sparql_computes() {
        assert_eq!(decimal("1.5"), Some(1_500_000_000_000_000_000));
        assert_eq!(decimal("-0.000000000000000001"), Some(-1));
        assert_eq!(decimal("100000000000000000000"), None);
    }
}
