//! `+ - * /`, signs and rounding over values: numbers with XSD promotion, dates and durations.
//!
//! Integers and decimals that overflow go on as [`Exact`] numbers. `None` is SPARQL's error: no numbers, too many digits, exact
//! division by zero.

use super::compare::{Numbers, to_duration};
use super::exact::Exact;
use super::value::Value;
use oxsdatatypes::{Decimal, Double, Float};

/// `a + b`.
pub fn add(a: &Value, b: &Value) -> Option<Value> {
    match Numbers::promote(a, b) {
        Some(Numbers::Integer(a, b)) => binary((a, b), Value::Integer, i64::checked_add, Exact::add),
        Some(Numbers::Decimal(a, b)) => binary((a, b), Value::Decimal, |a, b| a.checked_add(b), Exact::add),
        Some(Numbers::Exact(pair)) => pair.0.add(&pair.1).map(Value::from),
        Some(Numbers::Float(a, b)) => Some(Value::Float(a + b)),
        Some(Numbers::Double(a, b)) => Some(Value::Double(a + b)),
        None => add_calendar(a, b).or_else(|| add_calendar(b, a)),
    }
}

/// `a - b`.
pub fn subtract(a: &Value, b: &Value) -> Option<Value> {
    match Numbers::promote(a, b) {
        Some(Numbers::Integer(a, b)) => binary((a, b), Value::Integer, i64::checked_sub, Exact::subtract),
        Some(Numbers::Decimal(a, b)) => {
            binary((a, b), Value::Decimal, |a, b| a.checked_sub(b), Exact::subtract)
        }
        Some(Numbers::Exact(pair)) => pair.0.subtract(&pair.1).map(Value::from),
        Some(Numbers::Float(a, b)) => Some(Value::Float(a - b)),
        Some(Numbers::Double(a, b)) => Some(Value::Double(a - b)),
        None => subtract_calendar(a, b),
    }
}

/// `a * b`.
pub fn multiply(a: &Value, b: &Value) -> Option<Value> {
    match Numbers::promote(a, b)? {
        Numbers::Integer(a, b) => binary((a, b), Value::Integer, i64::checked_mul, Exact::multiply),
        Numbers::Decimal(a, b) => binary((a, b), Value::Decimal, |a, b| a.checked_mul(b), Exact::multiply),
        Numbers::Exact(pair) => pair.0.multiply(&pair.1).map(Value::from),
        Numbers::Float(a, b) => Some(Value::Float(a * b)),
        Numbers::Double(a, b) => Some(Value::Double(a * b)),
    }
}

/// `a / b`: a decimal for integers.
pub fn divide(a: &Value, b: &Value) -> Option<Value> {
    match Numbers::promote(a, b)? {
        Numbers::Integer(a, b) => quotient(a.into(), b.into()),
        Numbers::Decimal(a, b) => quotient(a, b),
        Numbers::Exact(pair) => pair.0.divide(&pair.1).map(Value::from),
        Numbers::Float(a, b) => Some(Value::Float(a / b)),
        Numbers::Double(a, b) => Some(Value::Double(a / b)),
    }
}

fn quotient(a: Decimal, b: Decimal) -> Option<Value> {
    binary((a, b), Value::Decimal, |a, b| a.checked_div(b), Exact::divide)
}

/// The result of `fast`, or that of `exact` where it does not fit.
#[inline]
fn binary<T: Copy + Into<Exact>>(
    (a, b): (T, T),
    value: fn(T) -> Value,
    fast: impl FnOnce(T, T) -> Option<T>,
    exact: fn(&Exact, &Exact) -> Option<Exact>,
) -> Option<Value> {
    fast(a, b).map(value).or_else(|| exact(&a.into(), &b.into()).map(Value::from))
}

/// The same of one operand.
fn unary<T: Copy + Into<Exact>>(
    a: T,
    value: fn(T) -> Value,
    fast: impl FnOnce(T) -> Option<T>,
    exact: fn(&Exact) -> Option<Exact>,
) -> Option<Value> {
    fast(a).map(value).or_else(|| exact(&a.into()).map(Value::from))
}

/// `+a`.
pub fn plus(a: &Value) -> Option<Value> {
    match a {
        Value::Integer(_) | Value::Decimal(_) | Value::Exact(_) | Value::Float(_) | Value::Double(_) => {
            Some(a.clone())
        }
        _ => None,
    }
}

/// `-a`.
pub fn minus(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => unary(*value, Value::Integer, i64::checked_neg, Exact::negate)?,
        Value::Decimal(value) => unary(*value, Value::Decimal, Decimal::checked_neg, Exact::negate)?,
        Value::Exact(value) => value.negate()?.into(),
        Value::Float(value) => Value::Float(-value),
        Value::Double(value) => Value::Double(-value),
        Value::YearMonthDuration(value) => Value::YearMonthDuration(value.checked_neg()?),
        Value::DayTimeDuration(value) => Value::DayTimeDuration(value.checked_neg()?),
        Value::Duration(value) => Value::Duration(value.checked_neg()?),
        _ => return None,
    })
}

/// `ABS`.
pub fn abs(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => unary(*value, Value::Integer, i64::checked_abs, Exact::abs)?,
        Value::Decimal(value) => unary(*value, Value::Decimal, Decimal::checked_abs, Exact::abs)?,
        Value::Exact(value) => value.abs()?.into(),
        Value::Float(value) => Value::Float(value.abs()),
        Value::Double(value) => Value::Double(value.abs()),
        _ => return None,
    })
}

/// `CEIL`.
pub fn ceil(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => Value::Integer(*value),
        Value::Decimal(value) => unary(*value, Value::Decimal, Decimal::checked_ceil, Exact::ceil)?,
        Value::Exact(value) => value.ceil()?.into(),
        Value::Float(value) => Value::Float(value.ceil()),
        Value::Double(value) => Value::Double(value.ceil()),
        _ => return None,
    })
}

/// `FLOOR`.
pub fn floor(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => Value::Integer(*value),
        Value::Decimal(value) => unary(*value, Value::Decimal, Decimal::checked_floor, Exact::floor)?,
        Value::Exact(value) => value.floor()?.into(),
        Value::Float(value) => Value::Float(value.floor()),
        Value::Double(value) => Value::Double(value.floor()),
        _ => return None,
    })
}

/// `ROUND`: halves go up.
pub fn round(a: &Value) -> Option<Value> {
    Some(match a {
        Value::Integer(value) => Value::Integer(*value),
        Value::Decimal(value) => unary(*value, Value::Decimal, Decimal::checked_round, Exact::round)?,
        Value::Exact(value) => value.round()?.into(),
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
