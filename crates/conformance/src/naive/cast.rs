//! Constructor functions: casts between XSD types (SPARQL 1.1 section 17.5).

use super::arithmetic::{to_double, to_float};
use super::datatypes;
use super::datatypes::{
    Value, boolean, float_syntax, integer_range, is_within, term_value, text, typed, value_of,
};
use super::numbers;
use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef, Term};
use oxsdatatypes::{Boolean, Date, DateTime, Double, Float, Time};
use std::str::FromStr;

/// The cast of a term to a datatype; nothing for an error or a datatype without a cast.
pub(super) fn cast(datatype: NamedNodeRef<'_>, term: &Term) -> Option<Term> {
    if datatype == xsd::STRING {
        return to_string(term);
    }
    let value = term_value(term)?;
    let lexical = match term {
        Term::Literal(l) => l.value().trim_matches([' ', '\t', '\n', '\r']),
        _ => return None,
    };
    if let Some(range) = integer_range(datatype) {
        let integer = to_integer(value, lexical).filter(|integer| is_within(integer, range))?;
        return Some(typed(integer, datatype));
    }
    match datatype {
        xsd::BOOLEAN => to_boolean(value, lexical).map(boolean),
        xsd::DECIMAL => to_decimal(value, lexical).map(|d| typed(numbers::decimal_text(&d), xsd::DECIMAL)),
        xsd::FLOAT => float(value, lexical).map(datatypes::float),
        xsd::DOUBLE => double(value, lexical).map(datatypes::double),
        xsd::DATE_TIME => match value {
            Value::String => DateTime::from_str(lexical).ok(),
            Value::DateTime(d) => Some(d),
            Value::Date(d) => DateTime::try_from(d).ok(),
            _ => None,
        }
        .map(|d| typed(d, xsd::DATE_TIME)),
        xsd::DATE => match value {
            Value::String => Date::from_str(lexical).ok(),
            Value::Date(d) => Some(d),
            Value::DateTime(d) => Date::try_from(d).ok(),
            _ => None,
        }
        .map(|d| typed(d, xsd::DATE)),
        xsd::TIME => match value {
            Value::String => Time::from_str(lexical).ok(),
            Value::Time(t) => Some(t),
            Value::DateTime(d) => Some(Time::from(d)),
            _ => None,
        }
        .map(|t| typed(t, xsd::TIME)),
        xsd::DURATION | xsd::YEAR_MONTH_DURATION | xsd::DAY_TIME_DURATION => {
            to_duration(datatype, value, lexical)
        }
        _ => to_part_of_date(datatype, value, lexical),
    }
}

/// `xsd:gYear` and its kin: the parts of a date that the type has, and the time zone. All are taken from texts.
fn to_part_of_date(datatype: NamedNodeRef<'_>, value: Value, lexical: &str) -> Option<Term> {
    let whole = |text: &str| value_of(&Literal::new_typed_literal(text, datatype)).and_then(literal_of);
    let date = match (value, datatype) {
        (Value::String, _) => return whole(lexical),
        (Value::GYear(v), xsd::G_YEAR) => return Some(typed(v, datatype)),
        (Value::GYearMonth(v), xsd::G_YEAR_MONTH) => return Some(typed(v, datatype)),
        (Value::GMonth(v), xsd::G_MONTH) => return Some(typed(v, datatype)),
        (Value::GMonthDay(v), xsd::G_MONTH_DAY) => return Some(typed(v, datatype)),
        (Value::GDay(v), xsd::G_DAY) => return Some(typed(v, datatype)),
        (Value::DateTime(v), _) => v.to_string(),
        (Value::Date(v), _) => v.to_string(),
        _ => return None,
    };
    // -YYYY-MM-DD, perhaps Thh:mm:ss.s, perhaps a zone.
    let sign = if date.starts_with('-') { "-" } else { "" };
    let (year, rest) = date[sign.len()..].split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let (day, rest) = rest.split_at_checked(2)?;
    let zone = rest.find(['Z', '+', '-']).map_or("", |at| &rest[at..]);
    let text = match datatype {
        xsd::G_YEAR => format!("{sign}{year}{zone}"),
        xsd::G_YEAR_MONTH => format!("{sign}{year}-{month}{zone}"),
        xsd::G_MONTH => format!("--{month}{zone}"),
        xsd::G_MONTH_DAY => format!("--{month}-{day}{zone}"),
        xsd::G_DAY => format!("---{day}{zone}"),
        _ => return None,
    };
    whole(&text)
}

/// Durations lose the parts that the type lacks. All are taken from texts.
fn to_duration(datatype: NamedNodeRef<'_>, value: Value, lexical: &str) -> Option<Term> {
    let whole = |text: &str| value_of(&Literal::new_typed_literal(text, datatype)).and_then(literal_of);
    let duration = match value {
        Value::String => return whole(lexical),
        Value::Duration(v) => v.to_string(),
        Value::YearMonthDuration(v) => v.to_string(),
        Value::DayTimeDuration(v) => v.to_string(),
        _ => return None,
    };
    // -PnYnMnDTnHnMnS: years and months stand before days and the T.
    let (sign, parts) = duration.split_once('P')?;
    let (date, time) = parts.split_once('T').unwrap_or((parts, ""));
    let months = date.rfind(['Y', 'M']).map_or(0, |at| at + 1);
    let (years_and_months, days) = date.split_at(months);
    let time = if time.is_empty() { String::new() } else { format!("T{time}") };
    match datatype {
        xsd::YEAR_MONTH_DURATION if years_and_months.is_empty() => whole("P0M"),
        xsd::YEAR_MONTH_DURATION => whole(&format!("{sign}P{years_and_months}")),
        xsd::DAY_TIME_DURATION if days.is_empty() && time.is_empty() => whole("PT0S"),
        xsd::DAY_TIME_DURATION => whole(&format!("{sign}P{days}{time}")),
        _ => whole(&duration),
    }
}

/// A value of one of these types in its canonical form.
fn literal_of(value: Value) -> Option<Term> {
    Some(match value {
        Value::GYear(v) => typed(v, xsd::G_YEAR),
        Value::GYearMonth(v) => typed(v, xsd::G_YEAR_MONTH),
        Value::GMonth(v) => typed(v, xsd::G_MONTH),
        Value::GMonthDay(v) => typed(v, xsd::G_MONTH_DAY),
        Value::GDay(v) => typed(v, xsd::G_DAY),
        Value::Duration(v) => typed(v, xsd::DURATION),
        Value::YearMonthDuration(v) => typed(v, xsd::YEAR_MONTH_DURATION),
        Value::DayTimeDuration(v) => typed(v, xsd::DAY_TIME_DURATION),
        _ => return None,
    })
}

/// IRIs and strings give their text, other literals the canonical form of their value.
fn to_string(term: &Term) -> Option<Term> {
    match term {
        Term::NamedNode(n) => Some(text(n.as_str())),
        Term::Literal(l) => Some(match term_value(term) {
            Some(Value::Boolean(b)) => text(b.to_string()),
            Some(Value::Integer(i)) => text(i.to_string()),
            Some(Value::Decimal(d)) => text(numbers::decimal_text(&d)),
            Some(Value::Float(f)) if is_written_plainly(f.into()) => text(f.to_string()),
            Some(Value::Float(f)) => str_of(&datatypes::float(f))?,
            Some(Value::Double(d)) if is_written_plainly(d) => text(d.to_string()),
            Some(Value::Double(d)) => str_of(&datatypes::double(d))?,
            Some(Value::DateTime(d)) => text(d.to_string()),
            Some(Value::Date(d)) => text(d.to_string()),
            Some(Value::Time(t)) => text(t.to_string()),
            Some(Value::GYear(t)) => text(t.to_string()),
            Some(Value::GYearMonth(t)) => text(t.to_string()),
            Some(Value::GMonth(t)) => text(t.to_string()),
            Some(Value::GMonthDay(t)) => text(t.to_string()),
            Some(Value::GDay(t)) => text(t.to_string()),
            Some(Value::Duration(d)) => text(d.to_string()),
            Some(Value::YearMonthDuration(d)) => text(d.to_string()),
            Some(Value::DayTimeDuration(d)) => text(d.to_string()),
            Some(Value::String | Value::LangString) | None => text(l.value()),
        }),
        _ => None,
    }
}

/// Whether a double or float becomes a string without an exponent (XPath and XQuery Functions and Operators 3.1, 19.1.2.2).
fn is_written_plainly(number: Double) -> bool {
    let magnitude = f64::from(number).abs();
    magnitude == 0. || (0.000_001..1_000_000.).contains(&magnitude)
}

/// A literal's lexical form as a string.
fn str_of(term: &Term) -> Option<Term> {
    match term {
        Term::Literal(literal) => Some(text(literal.value())),
        _ => None,
    }
}

fn to_boolean(value: Value, lexical: &str) -> Option<bool> {
    match value {
        Value::String => Boolean::from_str(lexical).ok().map(bool::from),
        Value::Boolean(b) => Some(b),
        Value::Integer(i) => Some(i != 0.into()),
        Value::Decimal(d) => Some(d != 0),
        Value::Float(f) => Some(!f.is_nan() && f != Float::from(0.)),
        Value::Double(d) => Some(!d.is_nan() && d != Double::from(0.)),
        _ => None,
    }
}

fn to_integer(value: Value, lexical: &str) -> Option<BigInt> {
    match value {
        Value::String => numbers::integer(lexical),
        Value::Boolean(b) => Some(b.into()),
        Value::Integer(i) => Some(i),
        Value::Decimal(d) => Some(numbers::truncated(&d)),
        Value::Float(f) => numbers::integer_of(f.into()),
        Value::Double(d) => numbers::integer_of(d),
        _ => None,
    }
}

fn to_decimal(value: Value, lexical: &str) -> Option<BigDecimal> {
    match value {
        Value::String => numbers::decimal(lexical),
        Value::Boolean(b) => Some(u8::from(b).into()),
        Value::Integer(i) => Some(i.into()),
        Value::Decimal(d) => Some(d),
        Value::Float(f) => numbers::decimal_of(f.into()),
        Value::Double(d) => numbers::decimal_of(d),
        _ => None,
    }
}

fn float(value: Value, lexical: &str) -> Option<Float> {
    match value {
        Value::String => float_syntax(lexical).then(|| Float::from_str(lexical).ok())?,
        Value::Boolean(b) => Some(Boolean::from(b).into()),
        Value::Double(d) => Some(d.into()),
        other => to_float(other),
    }
}

fn double(value: Value, lexical: &str) -> Option<Double> {
    match value {
        Value::String => float_syntax(lexical).then(|| Double::from_str(lexical).ok())?,
        Value::Boolean(b) => Some(Boolean::from(b).into()),
        other => to_double(other),
    }
}
