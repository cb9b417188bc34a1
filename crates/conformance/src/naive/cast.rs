//! Constructor functions: casts between XSD types (SPARQL 1.1 section 17.5).

use super::arithmetic::{to_double, to_float};
use super::datatypes;
use super::datatypes::{Value, boolean, float_syntax, int, term_value, text, typed};
use super::numbers;
use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;
use oxrdf::vocab::xsd;
use oxrdf::{NamedNodeRef, Term};
use oxsdatatypes::{Boolean, Date, DateTime, Double, Float, Time};
use std::str::FromStr;

/// The cast of a term to a datatype; nothing for an error or a datatype without a cast.
pub(super) fn cast(datatype: NamedNodeRef<'_>, term: &Term) -> Option<Term> {
    if datatype == xsd::STRING {
        return to_string(term);
    }
    let value = term_value(term)?;
    let lexical = match term {
        Term::Literal(l) => l.value(),
        _ => return None,
    };
    match datatype {
        xsd::BOOLEAN => to_boolean(value, lexical).map(boolean),
        xsd::INTEGER => to_integer(value, lexical).map(int),
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
        _ => None,
    }
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
