//! Dates, times and durations: their parts (SPARQL 1.1 section 17.4.5), and `+`, `-` and unary minus, which SPARQL leaves to
//! implementations; these are XPath's.

use super::datatypes::{Value, int, term_value, text, typed};
use oxrdf::Term;
use oxrdf::vocab::xsd;
use oxsdatatypes::{DayTimeDuration, Duration, TimezoneOffset};
use spargebra::algebra::Function;

/// `YEAR` and its kin. The specification has them for dateTime alone; here, as in the engine, other points in time have the parts that
/// they have.
pub(super) fn part(function: &Function, args: &[Term]) -> Option<Term> {
    use Value::{Date, DateTime, GDay, GMonth, GMonthDay, GYear, GYearMonth, Time};
    match (function, term_value(args.first()?)?) {
        (Function::Year, DateTime(v)) => Some(int(v.year())),
        (Function::Year, Date(v)) => Some(int(v.year())),
        (Function::Year, GYear(v)) => Some(int(v.year())),
        (Function::Year, GYearMonth(v)) => Some(int(v.year())),
        (Function::Month, DateTime(v)) => Some(int(v.month())),
        (Function::Month, Date(v)) => Some(int(v.month())),
        (Function::Month, GYearMonth(v)) => Some(int(v.month())),
        (Function::Month, GMonth(v)) => Some(int(v.month())),
        (Function::Month, GMonthDay(v)) => Some(int(v.month())),
        (Function::Day, DateTime(v)) => Some(int(v.day())),
        (Function::Day, Date(v)) => Some(int(v.day())),
        (Function::Day, GMonthDay(v)) => Some(int(v.day())),
        (Function::Day, GDay(v)) => Some(int(v.day())),
        (Function::Hours, DateTime(v)) => Some(int(v.hour())),
        (Function::Hours, Time(v)) => Some(int(v.hour())),
        (Function::Minutes, DateTime(v)) => Some(int(v.minute())),
        (Function::Minutes, Time(v)) => Some(int(v.minute())),
        (Function::Seconds, DateTime(v)) => Some(typed(v.second(), xsd::DECIMAL)),
        (Function::Seconds, Time(v)) => Some(typed(v.second(), xsd::DECIMAL)),
        (Function::Timezone, value) => {
            zone(value)?.map(|z| typed(DayTimeDuration::from(z), xsd::DAY_TIME_DURATION))
        }
        (Function::Tz, value) => Some(text(zone(value)?.map(|z| z.to_string()).unwrap_or_default())),
        _ => None,
    }
}

/// The time zone; nothing at all for values that cannot have one.
fn zone(value: Value) -> Option<Option<TimezoneOffset>> {
    Some(match value {
        Value::DateTime(v) => v.timezone_offset(),
        Value::Date(v) => v.timezone_offset(),
        Value::Time(v) => v.timezone_offset(),
        Value::GYear(v) => v.timezone_offset(),
        Value::GYearMonth(v) => v.timezone_offset(),
        Value::GMonth(v) => v.timezone_offset(),
        Value::GMonthDay(v) => v.timezone_offset(),
        Value::GDay(v) => v.timezone_offset(),
        _ => return None,
    })
}

/// `a + b`.
pub(super) fn add(a: Value, b: Value) -> Option<Term> {
    sum(a.clone(), b.clone()).or_else(|| sum(b, a))
}

fn sum(a: Value, b: Value) -> Option<Term> {
    literal(match (a, b) {
        (Value::YearMonthDuration(a), Value::YearMonthDuration(b)) => {
            Value::YearMonthDuration(a.checked_add(b)?)
        }
        (Value::DayTimeDuration(a), Value::DayTimeDuration(b)) => Value::DayTimeDuration(a.checked_add(b)?),
        (Value::DateTime(a), b) => Value::DateTime(a.checked_add_duration(duration(b)?)?),
        (Value::Date(a), b) => Value::Date(a.checked_add_duration(duration(b)?)?),
        (Value::Time(a), b) => Value::Time(a.checked_add_duration(duration(b)?)?),
        (a, b) => Value::Duration(duration(a)?.checked_add(duration(b)?)?),
    })
}

/// `a - b`.
pub(super) fn subtract(a: Value, b: Value) -> Option<Term> {
    literal(match (a, b) {
        (Value::DateTime(a), Value::DateTime(b)) => Value::DayTimeDuration(a.checked_sub(b)?),
        (Value::Date(a), Value::Date(b)) => Value::DayTimeDuration(a.checked_sub(b)?),
        (Value::Time(a), Value::Time(b)) => Value::DayTimeDuration(a.checked_sub(b)?),
        (Value::YearMonthDuration(a), Value::YearMonthDuration(b)) => {
            Value::YearMonthDuration(a.checked_sub(b)?)
        }
        (Value::DayTimeDuration(a), Value::DayTimeDuration(b)) => Value::DayTimeDuration(a.checked_sub(b)?),
        (Value::DateTime(a), b) => Value::DateTime(a.checked_sub_duration(duration(b)?)?),
        (Value::Date(a), b) => Value::Date(a.checked_sub_duration(duration(b)?)?),
        (Value::Time(a), b) => Value::Time(a.checked_sub_duration(duration(b)?)?),
        (a, b) => Value::Duration(duration(a)?.checked_sub(duration(b)?)?),
    })
}

/// `-a`.
pub(super) fn negate(a: Value) -> Option<Term> {
    literal(match a {
        Value::YearMonthDuration(d) => Value::YearMonthDuration(d.checked_neg()?),
        Value::DayTimeDuration(d) => Value::DayTimeDuration(d.checked_neg()?),
        Value::Duration(d) => Value::Duration(d.checked_neg()?),
        _ => return None,
    })
}

fn duration(value: Value) -> Option<Duration> {
    match value {
        Value::Duration(d) => Some(d),
        Value::YearMonthDuration(d) => Some(d.into()),
        Value::DayTimeDuration(d) => Some(d.into()),
        _ => None,
    }
}

fn literal(value: Value) -> Option<Term> {
    Some(match value {
        Value::DateTime(v) => typed(v, xsd::DATE_TIME),
        Value::Date(v) => typed(v, xsd::DATE),
        Value::Time(v) => typed(v, xsd::TIME),
        Value::Duration(v) => typed(v, xsd::DURATION),
        Value::YearMonthDuration(v) => typed(v, xsd::YEAR_MONTH_DURATION),
        Value::DayTimeDuration(v) => typed(v, xsd::DAY_TIME_DURATION),
        _ => return None,
    })
}
