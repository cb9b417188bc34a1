//! Literals and their values: which datatypes are known, and how values become literals again.

use super::numbers;
use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNodeRef, Term};
use oxsdatatypes::{
    Boolean, Date, DateTime, DayTimeDuration, Double, Duration, Float, GDay, GMonth, GMonthDay, GYear,
    GYearMonth, Time, YearMonthDuration,
};
use std::str::FromStr;

/// The value of a literal of a known datatype. Strings' values are their lexical forms.
#[derive(Debug, Clone)]
pub(super) enum Value {
    String,
    LangString,
    Boolean(bool),
    Integer(BigInt),
    Decimal(BigDecimal),
    Float(Float),
    Double(Double),
    DateTime(DateTime),
    Date(Date),
    Time(Time),
    GYear(GYear),
    GYearMonth(GYearMonth),
    GMonth(GMonth),
    GMonthDay(GMonthDay),
    GDay(GDay),
    Duration(Duration),
    YearMonthDuration(YearMonthDuration),
    DayTimeDuration(DayTimeDuration),
}

/// The value, or nothing for unknown datatypes and for lexical forms that their datatype does not have.
pub(super) fn value_of(literal: &Literal) -> Option<Value> {
    let (text, datatype) = (literal.value(), literal.datatype());
    if literal.language().is_some() {
        return Some(Value::LangString);
    }
    if let Some(range) = integer_range(datatype) {
        return numbers::integer(text).filter(|integer| is_within(integer, range)).map(Value::Integer);
    }
    Some(match datatype {
        xsd::STRING => Value::String,
        xsd::BOOLEAN => Value::Boolean(Boolean::from_str(text).ok()?.into()),
        xsd::DECIMAL => Value::Decimal(numbers::decimal(text)?),
        xsd::FLOAT => Value::Float(float_syntax(text).then(|| Float::from_str(text).ok())??),
        xsd::DOUBLE => Value::Double(float_syntax(text).then(|| Double::from_str(text).ok())??),
        xsd::DATE_TIME | xsd::DATE_TIME_STAMP => {
            let value = DateTime::from_str(text).ok()?;
            if datatype == xsd::DATE_TIME_STAMP {
                value.timezone()?;
            }
            Value::DateTime(value)
        }
        xsd::DATE => Value::Date(Date::from_str(text).ok()?),
        xsd::TIME => Value::Time(Time::from_str(text).ok()?),
        xsd::G_YEAR => Value::GYear(GYear::from_str(text).ok()?),
        xsd::G_YEAR_MONTH => Value::GYearMonth(GYearMonth::from_str(text).ok()?),
        xsd::G_MONTH => Value::GMonth(GMonth::from_str(text).ok()?),
        xsd::G_MONTH_DAY => Value::GMonthDay(GMonthDay::from_str(text).ok()?),
        xsd::G_DAY => Value::GDay(GDay::from_str(text).ok()?),
        xsd::DURATION => Value::Duration(Duration::from_str(text).ok()?),
        xsd::YEAR_MONTH_DURATION => Value::YearMonthDuration(YearMonthDuration::from_str(text).ok()?),
        xsd::DAY_TIME_DURATION => Value::DayTimeDuration(DayTimeDuration::from_str(text).ok()?),
        _ => return None,
    })
}

/// The floating-point lexical space: Rust also reads `inf`, `infinity` and `nan` in any case.
pub(super) fn float_syntax(text: &str) -> bool {
    matches!(text, "INF" | "+INF" | "-INF" | "NaN")
        || text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'))
}

/// The least and the greatest number of a type, as far as it has them.
type Range = (Option<i128>, Option<i128>);

/// Whether a number is in a range.
pub(super) fn is_within(integer: &BigInt, (min, max): Range) -> bool {
    min.is_none_or(|min| *integer >= min.into()) && max.is_none_or(|max| *integer <= max.into())
}

/// The range of `xsd:integer` and the types derived from it, as far as they have ends.
pub(super) fn integer_range(datatype: NamedNodeRef<'_>) -> Option<Range> {
    let range = |min, max| (Some(min), Some(max));
    Some(match datatype {
        xsd::INTEGER => (None, None),
        xsd::BYTE => range(i128::from(i8::MIN), i128::from(i8::MAX)),
        xsd::SHORT => range(i128::from(i16::MIN), i128::from(i16::MAX)),
        xsd::INT => range(i128::from(i32::MIN), i128::from(i32::MAX)),
        xsd::LONG => range(i128::from(i64::MIN), i128::from(i64::MAX)),
        xsd::UNSIGNED_BYTE => range(0, i128::from(u8::MAX)),
        xsd::UNSIGNED_SHORT => range(0, i128::from(u16::MAX)),
        xsd::UNSIGNED_INT => range(0, i128::from(u32::MAX)),
        xsd::UNSIGNED_LONG => range(0, i128::from(u64::MAX)),
        xsd::POSITIVE_INTEGER => (Some(1), None),
        xsd::NON_NEGATIVE_INTEGER => (Some(0), None),
        xsd::NEGATIVE_INTEGER => (None, Some(-1)),
        xsd::NON_POSITIVE_INTEGER => (None, Some(0)),
        _ => return None,
    })
}

/// The value of a term that is a literal.
pub(super) fn term_value(term: &Term) -> Option<Value> {
    match term {
        Term::Literal(literal) => value_of(literal),
        _ => None,
    }
}

/// The text of a term that is a string without a language.
pub(super) fn simple(term: &Term) -> Option<&str> {
    match term {
        Term::Literal(l) if l.datatype() == xsd::STRING => Some(l.value()),
        _ => None,
    }
}

/// A literal that is a string, with or without a language.
pub(super) fn string_literal(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(l) if matches!(l.datatype(), xsd::STRING | rdf::LANG_STRING | rdf::DIR_LANG_STRING) => {
            Some(l)
        }
        _ => None,
    }
}

/// A string of the same language and direction as another one.
pub(super) fn like(model: &Literal, text: impl Into<String>) -> Term {
    match (model.language(), model.direction()) {
        (Some(language), Some(direction)) => {
            Literal::new_directional_language_tagged_literal_unchecked(text, language, direction).into()
        }
        (Some(language), None) => Literal::new_language_tagged_literal_unchecked(text, language).into(),
        _ => Literal::new_simple_literal(text).into(),
    }
}

/// `xsd:boolean`.
pub(super) fn boolean(value: bool) -> Term {
    Literal::from(value).into()
}

/// `xsd:string`.
pub(super) fn text(value: impl Into<String>) -> Term {
    Literal::new_simple_literal(value).into()
}

/// `xsd:integer`.
pub(super) fn int(value: impl Into<BigInt>) -> Term {
    typed(value.into(), xsd::INTEGER)
}

/// `xsd:double` in the canonical form of XSD: one digit before the point, at least one after it, an exponent.
pub(super) fn double(value: Double) -> Term {
    Literal::new_typed_literal(scientific(value.into(), &format!("{:e}", f64::from(value))), xsd::DOUBLE)
        .into()
}

/// `xsd:float`, likewise.
pub(super) fn float(value: Float) -> Term {
    Literal::new_typed_literal(scientific(f64::from(value), &format!("{:e}", f32::from(value))), xsd::FLOAT)
        .into()
}

/// `1e0` as `1.0E0`, and the names of the special values.
fn scientific(value: f64, digits: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0. { "INF".to_owned() } else { "-INF".to_owned() };
    }
    match digits.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => format!("{mantissa}E{exponent}"),
        Some((mantissa, exponent)) => format!("{mantissa}.0E{exponent}"),
        None => digits.to_owned(),
    }
}

/// A literal with the value's canonical form.
pub(super) fn typed(value: impl ToString, datatype: NamedNodeRef<'_>) -> Term {
    Literal::new_typed_literal(value.to_string(), datatype).into()
}
