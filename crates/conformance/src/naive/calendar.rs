//! `+`, `-` and unary minus on dates, times and durations. SPARQL leaves them to implementations; these are XPath's.

use super::datatypes::{Value, typed};
use oxrdf::Term;
use oxrdf::vocab::xsd;
use oxsdatatypes::Duration;

/// `a + b`.
pub(super) fn add(a: Value, b: Value) -> Option<Term> {
    sum(a, b).or_else(|| sum(b, a))
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
