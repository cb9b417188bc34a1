//! `+ - * /`, signs and rounding over values: numbers with XSD promotion, dates and durations.
//!
//! `None` is SPARQL's error: no numbers, overflow, exact division by zero.

use super::compare::{Numbers, to_duration};
use super::value::Value;
use oxsdatatypes::{Decimal, Double, Float};

/// `a + b`.
pub(crate) fn add(a: &Value, b: &Value) -> Option<Value> {
    match Numbers::promote(a, b) {
        Some(Numbers::Integer(a, b)) => a.checked_add(b).map(Value::Integer),
        Some(Numbers::Decimal(a, b)) => a.checked_add(b).map(Value::Decimal),
        Some(Numbers::Float(a, b)) => Some(Value::Float(a + b)),
        Some(Numbers::Double(a, b)) => Some(Value::Double(a + b)),
        None => add_calendar(a, b).or_else(|| add_calendar(b, a)),
    }
}

/// `a - b`.
pub(crate) fn subtract(a: &Value, b: &Value) -> Option<Value> {
    match Numbers::promote(a, b) {
        Some(Numbers::Integer(a, b)) => a.checked_sub(b).map(Value::Integer),
        Some(Numbers::Decimal(a, b)) => a.checked_sub(b).map(Value::Decimal),
        Some(Numbers::Float(a, b)) => Some(Value::Float(a - b)),
        Some(Numbers::Double(a, b)) => Some(Value::Double(a - b)),
        None => subtract_calendar(a, b),
    }
}

/// `a * b`.
pub(crate) fn multiply(a: &Value, b: &Value) -> Option<Value> {
    Some(match Numbers::promote(a, b)? {
        Numbers::Integer(a, b) => Value::Integer(a.checked_mul(b)?),
        Numbers::Decimal(a, b) => Value::Decimal(a.checked_mul(b)?),
        Numbers::Float(a, b) => Value::Float(a * b),
        Numbers::Double(a, b) => Value::Double(a * b),
    })
}

/// `a / b`: a decimal for integers.
pub(crate) fn divide(a: &Value, b: &Value) -> Option<Value> {
    Some(match Numbers::promote(a, b)? {
        Numbers::Integer(a, b) => Value::Decimal(Decimal::from(a).checked_div(Decimal::from(b))?),
        Numbers::Decimal(a, b) => Value::Decimal(a.checked_div(b)?),
        Numbers::Float(a, b) => Value::Float(a / b),
        Numbers::Double(a, b) => Value::Double(a / b),
    })
}

/// `+a`.
pub(crate) fn plus(a: &Value) -> Option<Value> {
    match a {
        Value::Integer(_) | Value::Decimal(_) | Value::Float(_) | Value::Double(_) => Some(a.clone()),
        _ => None,
    }
}

/// `-a`.
pub(crate) fn minus(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => Value::Integer(value.checked_neg()?),
        Value::Decimal(value) => Value::Decimal(value.checked_neg()?),
        Value::Float(value) => Value::Float(-value),
        Value::Double(value) => Value::Double(-value),
        Value::YearMonthDuration(value) => Value::YearMonthDuration(value.checked_neg()?),
        Value::DayTimeDuration(value) => Value::DayTimeDuration(value.checked_neg()?),
        Value::Duration(value) => Value::Duration(value.checked_neg()?),
        _ => return None,
    })
}

/// `ABS`.
pub(crate) fn abs(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => Value::Integer(value.checked_abs()?),
        Value::Decimal(value) => Value::Decimal(value.checked_abs()?),
        Value::Float(value) => Value::Float(value.abs()),
        Value::Double(value) => Value::Double(value.abs()),
        _ => return None,
    })
}

/// `CEIL`.
pub(crate) fn ceil(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => Value::Integer(*value),
        Value::Decimal(value) => Value::Decimal(value.checked_ceil()?),
        Value::Float(value) => Value::Float(value.ceil()),
        Value::Double(value) => Value::Double(value.ceil()),
        _ => return None,
    })
}

/// `FLOOR`.
pub(crate) fn floor(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => Value::Integer(*value),
        Value::Decimal(value) => Value::Decimal(value.checked_floor()?),
        Value::Float(value) => Value::Float(value.floor()),
        Value::Double(value) => Value::Double(value.floor()),
        _ => return None,
    })
}

/// `ROUND`: halves go up.
pub(crate) fn round(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => Value::Integer(*value),
        Value::Decimal(value) => Value::Decimal(value.checked_round()?),
        Value::Float(value) => Value::Float(f32::from(Float::from(*value).round())),
        Value::Double(value) => Value::Double(f64::from(Double::from(*value).round())),
        _ => return None,
    })
}

/// A date or time, or a duration, plus a duration.
fn add_calendar(a: &Value, b: &Value) -> Option<Value> {
    if let (Value::YearMonthDuration(a), Value::YearMonthDuration(b)) = (a, b) {
        return a.checked_add(*b).map(Value::YearMonthDuration);
    }
    if let (Value::DayTimeDuration(a), Value::DayTimeDuration(b)) = (a, b) {
        return a.checked_add(*b).map(Value::DayTimeDuration);
    }
    let b = to_duration(b)?;
    Some(match a {
        Value::DateTime(a) => Value::DateTime(a.checked_add_duration(b)?),
        Value::Date(a) => Value::Date(a.checked_add_duration(b)?),
        Value::Time(a) => Value::Time(a.checked_add_duration(b)?),
        _ => Value::Duration(to_duration(a)?.checked_add(b)?),
    })
}

/// A date or time minus one of its type or minus a duration, or a difference of durations.
fn subtract_calendar(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::DateTime(a), Value::DateTime(b)) => return a.checked_sub(*b).map(Value::DayTimeDuration),
        (Value::Date(a), Value::Date(b)) => return a.checked_sub(*b).map(Value::DayTimeDuration),
        (Value::Time(a), Value::Time(b)) => return a.checked_sub(*b).map(Value::DayTimeDuration),
        (Value::YearMonthDuration(a), Value::YearMonthDuration(b)) => {
            return a.checked_sub(*b).map(Value::YearMonthDuration);
        }
        (Value::DayTimeDuration(a), Value::DayTimeDuration(b)) => {
            return a.checked_sub(*b).map(Value::DayTimeDuration);
        }
        _ => {}
    }
    let b = to_duration(b)?;
    Some(match a {
        Value::DateTime(a) => Value::DateTime(a.checked_sub_duration(b)?),
        Value::Date(a) => Value::Date(a.checked_sub_duration(b)?),
        Value::Time(a) => Value::Time(a.checked_sub_duration(b)?),
        _ => Value::Duration(to_duration(a)?.checked_sub(b)?),
    })
}
