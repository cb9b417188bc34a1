//! String functions over values (17.4.3). `None` is SPARQL's error.

use super::regex::{self, MatchLimit};
use super::string_predicates::StringRef;
use crate::error::ExecError;
use crate::expr::call::Kernel;
use crate::expr::column::{Column, Constant};
use crate::expr::eval::Evaluator;
use crate::expr::texts::TextLimit;
use crate::values::compare::to_f64;
use crate::values::value::{LangString, Value};
use lode_sparql::Expr;
use lode_sparql::Function;
use lode_sparql::function::ValueType;
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::sync::Arc;

/// The entries.
pub(super) static FUNCTIONS: [Function; 10] = [
    Function::new(
        "STRLEN",
        &[ValueType::String],
        ValueType::Integer,
        &Kernel::One(|rows, a| rows.unary(a, length)),
    ),
    Function::new(
        "UCASE",
        &[ValueType::String],
        ValueType::String,
        &Kernel::One(|rows, a| rows.limited("UCASE", |limit| rows.unary(a, |a| upper(a, limit)))),
    ),
    Function::new(
        "LCASE",
        &[ValueType::String],
        ValueType::String,
        &Kernel::One(|rows, a| rows.limited("LCASE", |limit| rows.unary(a, |a| lower(a, limit)))),
    ),
    Function::new(
        "ENCODE_FOR_URI",
        &[ValueType::String],
        ValueType::String,
        &Kernel::One(|rows, a| {
            rows.limited("ENCODE_FOR_URI", |limit| rows.unary(a, |a| encode_for_uri(a, limit)))
        }),
    ),
    Function::new("CONCAT", &[], ValueType::String, &Kernel::Many(concatenation)).rest(ValueType::String),
    Function::new("SUBSTR", &[ValueType::String, ValueType::Number], ValueType::String, &Kernel::Many(part))
        .optional(&[ValueType::Number]),
    Function::new(
        "STRBEFORE",
        &[ValueType::String, ValueType::String],
        ValueType::String,
        &Kernel::Two(|rows, a, b| rows.binary(a, b, before)),
    ),
    Function::new(
        "STRAFTER",
        &[ValueType::String, ValueType::String],
        ValueType::String,
        &Kernel::Two(|rows, a, b| rows.binary(a, b, after)),
    ),
    Function::new(
        "REPLACE",
        &[ValueType::String, ValueType::String, ValueType::String],
        ValueType::String,
        &Kernel::Many(replace),
    )
    .optional(&[ValueType::String]),
    Function::new(
        "LANGMATCHES",
        &[ValueType::String, ValueType::String],
        ValueType::Boolean,
        &Kernel::Two(|rows, a, b| rows.predicate(a, b, lang_matches)),
    ),
];

fn concatenation<'e>(rows: &Evaluator<'_>, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
    rows.limited("CONCAT", |limit| match arguments {
        [] => Ok(Column::Constant(Constant::Value(Some(Value::string(""))))),
        [a] => rows.unary(a, |a| concat(&[a], limit)),
        [a, b] => rows.binary(a, b, |a, b| concat(&[a, b], limit)),
        _ => rows.variadic(arguments, |values| concat(values, limit)),
    })
}

fn part<'e>(rows: &Evaluator<'_>, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
    match arguments {
        [a, start] => rows.binary(a, start, |a, start| substring(a, start, None)),
        _ => rows.variadic(arguments, |values| match values {
            [text, start, length] => substring(text, start, Some(length)),
            _ => None,
        }),
    }
}

fn replace<'e>(rows: &Evaluator<'_>, arguments: &'e [Expr]) -> Result<Column<'e>, ExecError> {
    let matching = MatchLimit::new(rows.cx);
    let column = rows.limited("REPLACE", |limit| {
        rows.variadic(arguments, |values| match values {
            [text, pattern, with] => regex::replace(text, pattern, with, None, limit, &matching),
            [text, pattern, with, flags] => {
                regex::replace(text, pattern, with, Some(flags), limit, &matching)
            }
            _ => None,
        })
    });
    matching.check()?;
    column
}

/// The texts of two compatible arguments.
fn compatible<'v>(a: &'v Value, b: &'v Value) -> Option<(&'v str, &'v str)> {
    StringRef::of_value(a)?.compatible(StringRef::of_value(b)?)
}

/// `STRLEN`, in characters.
pub(crate) fn length(a: &Value) -> Option<Value> {
    let characters = a.text()?.chars().count();
    i64::try_from(characters).ok().map(Value::Integer)
}

/// `UCASE`.
pub(crate) fn upper(a: &Value, limit: &TextLimit) -> Option<Value> {
    let text = a.text()?;
    limit.allow(text.len())?;
    Some(a.with_text(text.to_uppercase()))
}

/// `LCASE`.
pub(crate) fn lower(a: &Value, limit: &TextLimit) -> Option<Value> {
    let text = a.text()?;
    limit.allow(text.len())?;
    Some(a.with_text(text.to_lowercase()))
}

/// `STRBEFORE`: without a match the simple empty string.
pub(crate) fn before(a: &Value, b: &Value) -> Option<Value> {
    let (text, needle) = compatible(a, b)?;
    Some(match text.split_once(needle) {
        Some((before, _)) => a.with_text(before),
        None => Value::string(""),
    })
}

/// `STRAFTER`: without a match the simple empty string.
pub(crate) fn after(a: &Value, b: &Value) -> Option<Value> {
    let (text, needle) = compatible(a, b)?;
    Some(match text.split_once(needle) {
        Some((_, after)) => a.with_text(after),
        None => Value::string(""),
    })
}

/// `CONCAT`: with a language where all arguments have the same.
pub(crate) fn concat(values: &[&Value], limit: &TextLimit) -> Option<Value> {
    let bytes = values.iter().filter_map(|value| value.text()).map(|text| text.len()).sum();
    limit.allow(bytes)?;
    let mut text = String::with_capacity(bytes);
    for value in values {
        text.push_str(value.text()?);
    }
    let text: Arc<str> = text.into();
    let first = match values.first() {
        Some(Value::LangString(first)) => first,
        _ => return Some(Value::String(text)),
    };
    let same = |value: &&Value| matches!(value, Value::LangString(string) if string.same_language(first));
    if values.iter().all(same) {
        return Some(Value::LangString(LangString { text, ..first.clone() }));
    }
    Some(Value::String(text))
}

/// `SUBSTR`: `fn:substring`, characters counted from 1, positions rounded.
pub(crate) fn substring(a: &Value, start: &Value, length: Option<&Value>) -> Option<Value> {
    let text = a.text()?;
    let start = rounded(start)?;
    let end = match length {
        Some(length) => start + rounded(length)?,
        None => f64::INFINITY,
    };
    Some(a.with_text(slice(text, start, end)))
}

/// A number rounded as `fn:round` does.
fn rounded(value: &Value) -> Option<f64> {
    let number = to_f64(value)?;
    Some((number + 0.5).floor())
}

/// The characters at positions p (from 1) with `start <= p < end`.
fn slice(text: &str, start: f64, end: f64) -> &str {
    // NaN is in no order, so it gives the empty string, as the specification wants.
    if start.partial_cmp(&end) != Some(Ordering::Less) || end <= 1.0 {
        return "";
    }
    let skip = to_position(start);
    let stop = to_position(end);
    if text.is_ascii() {
        let stop = stop.min(text.len());
        return text.get(skip.min(stop)..stop).unwrap_or_default();
    }
    let mut offsets = text.char_indices().map(|(offset, _)| offset).chain(std::iter::once(text.len()));
    let Some(from) = offsets.nth(skip) else { return "" };
    let to = if stop > skip { offsets.nth(stop - skip - 1).unwrap_or(text.len()) } else { from };
    text.get(from..to).unwrap_or_default()
}

/// Characters before position `position`, which is a whole number or infinite.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float casts saturate; negative becomes 0"
)]
fn to_position(position: f64) -> usize {
    (position - 1.0) as usize
}

/// `ENCODE_FOR_URI`.
pub(crate) fn encode_for_uri(a: &Value, limit: &TextLimit) -> Option<Value> {
    let text = a.text()?;
    let escapes = text.bytes().filter(|byte| !is_unreserved(*byte)).count();
    limit.allow(text.len() + 2 * escapes)?;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_unreserved(byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    Some(Value::string(out))
}

/// RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~')
}

/// `LANGMATCHES`: basic filtering of RFC 4647.
pub(crate) fn lang_matches(tag: &Value, range: &Value) -> Option<bool> {
    let (tag, range) = (tag.simple()?, range.simple()?);
    if &**range == "*" {
        return Some(!tag.is_empty());
    }
    let Some(head) = tag.get(..range.len()) else { return Some(false) };
    let rest = tag.get(range.len()..).unwrap_or_default();
    Some(head.eq_ignore_ascii_case(range) && (rest.is_empty() || rest.starts_with('-')))
}
