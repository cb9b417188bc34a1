//! Parts of dates and times (17.4.5). The specification has dateTime alone; dates and times answer for the parts they have.

use crate::expr::call::Kernel;
use crate::expr::column::{Column, Constant};
use crate::values::value::Value;
use lode_sparql::Function;
use lode_sparql::function::{ValueType, Volatility};
use oxsdatatypes::{DayTimeDuration, TimezoneOffset};

/// The entries.
pub(super) static FUNCTIONS: [Function; 9] = [
    Function::new(
        "NOW",
        &[],
        ValueType::Calendar,
        &Kernel::Zero(|rows| Ok(Column::Constant(Constant::Value(Some(Value::DateTime(rows.cx.now)))))),
    )
    .volatility(Volatility::Query),
    Function::new(
        "YEAR",
        &[ValueType::Calendar],
        ValueType::Integer,
        &Kernel::One(|rows, a| rows.unary(a, year)),
    ),
    Function::new(
        "MONTH",
        &[ValueType::Calendar],
        ValueType::Integer,
        &Kernel::One(|rows, a| rows.unary(a, month)),
    ),
    Function::new(
        "DAY",
        &[ValueType::Calendar],
        ValueType::Integer,
        &Kernel::One(|rows, a| rows.unary(a, day)),
    ),
    Function::new(
        "HOURS",
        &[ValueType::Calendar],
        ValueType::Integer,
        &Kernel::One(|rows, a| rows.unary(a, hours)),
    ),
    Function::new(
        "MINUTES",
        &[ValueType::Calendar],
        ValueType::Integer,
        &Kernel::One(|rows, a| rows.unary(a, minutes)),
    ),
    Function::new(
        "SECONDS",
        &[ValueType::Calendar],
        ValueType::Number,
        &Kernel::One(|rows, a| rows.unary(a, seconds)),
    ),
    Function::new(
        "TIMEZONE",
        &[ValueType::Calendar],
        ValueType::Duration,
        &Kernel::One(|rows, a| rows.unary(a, timezone)),
    ),
    Function::new("TZ", &[ValueType::Calendar], ValueType::String, &Kernel::One(|rows, a| rows.unary(a, tz))),
];

/// `YEAR`.
pub(crate) fn year(value: &Value) -> Option<Value> {
    Some(Value::Integer(match value {
        Value::DateTime(value) => value.year(),
        Value::Date(value) => value.year(),
        Value::GYear(value) => value.year(),
        Value::GYearMonth(value) => value.year(),
        _ => return None,
    }))
}

/// `MONTH`.
pub(crate) fn month(value: &Value) -> Option<Value> {
    Some(Value::Integer(i64::from(match value {
        Value::DateTime(value) => value.month(),
        Value::Date(value) => value.month(),
        Value::GYearMonth(value) => value.month(),
        Value::GMonth(value) => value.month(),
        Value::GMonthDay(value) => value.month(),
        _ => return None,
    })))
}

/// `DAY`.
pub(crate) fn day(value: &Value) -> Option<Value> {
    Some(Value::Integer(i64::from(match value {
        Value::DateTime(value) => value.day(),
        Value::Date(value) => value.day(),
        Value::GMonthDay(value) => value.day(),
        Value::GDay(value) => value.day(),
        _ => return None,
    })))
}

/// `HOURS`.
pub(crate) fn hours(value: &Value) -> Option<Value> {
    Some(Value::Integer(i64::from(match value {
        Value::DateTime(value) => value.hour(),
        Value::Time(value) => value.hour(),
        _ => return None,
    })))
}

/// `MINUTES`.
pub(crate) fn minutes(value: &Value) -> Option<Value> {
    Some(Value::Integer(i64::from(match value {
        Value::DateTime(value) => value.minute(),
        Value::Time(value) => value.minute(),
        _ => return None,
    })))
}

/// `SECONDS`.
pub(crate) fn seconds(value: &Value) -> Option<Value> {
    Some(Value::Decimal(match value {
        Value::DateTime(value) => value.second(),
        Value::Time(value) => value.second(),
        _ => return None,
    }))
}

/// The time zone; the outer `None` where the value can have none.
fn zone(value: &Value) -> Option<Option<TimezoneOffset>> {
    Some(match value {
        Value::DateTime(value) => value.timezone_offset(),
        Value::Date(value) => value.timezone_offset(),
        Value::Time(value) => value.timezone_offset(),
        Value::GYear(value) => value.timezone_offset(),
        Value::GYearMonth(value) => value.timezone_offset(),
        Value::GMonth(value) => value.timezone_offset(),
        Value::GMonthDay(value) => value.timezone_offset(),
        Value::GDay(value) => value.timezone_offset(),
        _ => return None,
    })
}

/// `TIMEZONE`: an error without one.
pub(crate) fn timezone(value: &Value) -> Option<Value> {
    zone(value)?.map(|zone| Value::DayTimeDuration(DayTimeDuration::from(zone)))
}

/// `TZ`: the empty string without one.
pub(crate) fn tz(value: &Value) -> Option<Value> {
    Some(Value::string(zone(value)?.map_or_else(String::new, |zone| zone.to_string())))
}
