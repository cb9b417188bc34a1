//! Casts: constructor functions of XML Schema types (17.5), after XPath's casting table. `None` is SPARQL's error.

use crate::error::ExecError;
use crate::expr::call::Kernel;
use crate::expr::column::Column;
use crate::expr::eval::Evaluator;
use crate::values::compare;
use crate::values::exact::Exact;
use crate::values::value::{LangString, Value, XSD, integer_in_range, integer_range, parse_xsd};
use lode_rdf::{Literal, NamedNode, TermRef, inline};
use lode_sparql::function::{Meaning, ValueType};
use lode_sparql::{Expr, Function};
use oxsdatatypes::{
    Date, DateTime, DayTimeDuration, Decimal, Double, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth,
    Time, YearMonthDuration,
};
use std::sync::Arc;

/// The cast to an XML Schema type.
macro_rules! cast_to {
    ($name:literal, $result:ident) => {
        cast_to!($name, $result, Cast)
    };
    ($name:literal, $result:ident, $meaning:ident) => {
        Function::new(
            concat!("http://www.w3.org/2001/XMLSchema#", $name),
            &[ValueType::Term],
            ValueType::$result,
            &Kernel::One(|rows, a| rows.cast($name, a)),
        )
        .meaning(Meaning::$meaning)
    };
}

/// The entries.
pub(super) static FUNCTIONS: [Function; 29] = [
    cast_to!("string", String, CanonicalText),
    cast_to!("boolean", Boolean),
    cast_to!("decimal", Number),
    cast_to!("float", Floating),
    cast_to!("double", Floating),
    cast_to!("integer", Integer),
    cast_to!("nonPositiveInteger", Integer),
    cast_to!("negativeInteger", Integer),
    cast_to!("nonNegativeInteger", Integer),
    cast_to!("positiveInteger", Integer),
    cast_to!("long", Integer),
    cast_to!("int", Integer),
    cast_to!("short", Integer),
    cast_to!("byte", Integer),
    cast_to!("unsignedLong", Integer),
    cast_to!("unsignedInt", Integer),
    cast_to!("unsignedShort", Integer),
    cast_to!("unsignedByte", Integer),
    cast_to!("dateTime", Calendar),
    cast_to!("date", Calendar),
    cast_to!("time", Calendar),
    cast_to!("gYear", Calendar),
    cast_to!("gYearMonth", Calendar),
    cast_to!("gMonth", Calendar),
    cast_to!("gMonthDay", Calendar),
    cast_to!("gDay", Calendar),
    cast_to!("duration", Duration),
    cast_to!("yearMonthDuration", Duration),
    cast_to!("dayTimeDuration", Duration),
];

impl Evaluator<'_> {
    /// A cast to an XML Schema type; types derived from integer keep their own name.
    fn cast<'e>(&self, name: &str, argument: &'e Expr) -> Result<Column<'e>, ExecError> {
        if name == "integer" || integer_range(name).is_none() {
            return match TextOf::of(argument).filter(|_| name != "string") {
                Some(text) => self.of_term(text.argument, |term| text.cast(term, name)),
                None => self.unary(argument, |value| cast(value, name)),
            };
        }
        let datatype = format!("{XSD}{name}");
        self.terms(std::slice::from_ref(argument), |values| {
            let value = cast(values.first()?, name)?;
            Some(Literal::new_typed_literal(value.lexical()?, NamedNode::new_unchecked(&*datatype)).into())
        })
    }
}

/// The text of a term that is to be cast, `STR(?v)` or `xsd:string(?v)`: read where it lies.
struct TextOf<'e> {
    argument: &'e Expr,
    /// Numbers and the like in their canonical form.
    canonical: bool,
}

impl<'e> TextOf<'e> {
    fn of(expr: &'e Expr) -> Option<Self> {
        let Expr::Call(callee, arguments) = expr else { return None };
        let [argument] = arguments.as_slice() else { return None };
        let canonical = match callee.meaning() {
            Meaning::Text => false,
            Meaning::CanonicalText => true,
            _ => return None,
        };
        Some(Self { argument, canonical })
    }

    fn cast(&self, term: TermRef<'_>, name: &str) -> Option<Value> {
        let text = match term {
            TermRef::NamedNode(node) => node.as_str(),
            TermRef::Literal(literal) => {
                let own = literal.datatype().as_str();
                let has_value = own.starts_with(XSD) && literal.language().is_none();
                if self.canonical && has_value && own.strip_prefix(XSD) != Some("string") {
                    return cast(&cast(&Value::from_term(term), "string")?, name);
                }
                literal.value()
            }
            TermRef::BlankNode(_) | TermRef::Triple(_) => return None,
        };
        cast_text(text, name)
    }
}

/// `value` as an `xsd:name`. Types derived from integer give the integer, in their range.
pub(crate) fn cast(value: &Value, name: &str) -> Option<Value> {
    if let Value::String(text) = value
        && name != "string"
    {
        return cast_text(text, name);
    }
    Some(match name {
        "string" => Value::String(to_string(value)?),
        "boolean" => Value::Boolean(to_boolean(value)?),
        "decimal" => to_decimal(value)?,
        "float" => Value::Float(to_float(value)?),
        "double" => Value::Double(to_double(value)?),
        _ if integer_range(name).is_some() => integer_in_range(to_integer(value)?, name)?,
        _ => return cast_calendar(value, name),
    })
}

/// A text as an `xsd:name` other than a string.
pub(crate) fn cast_text(text: &str, name: &str) -> Option<Value> {
    parse_xsd(text.trim_matches([' ', '\t', '\n', '\r']), name)
}

fn to_string(value: &Value) -> Option<Arc<str>> {
    Some(match value {
        Value::Iri(text) | Value::String(text) | Value::LangString(LangString { text, .. }) => {
            Arc::clone(text)
        }
        Value::Other(literal) => Arc::clone(&literal.lexical),
        Value::Float(value) => {
            float_string(f64::from(*value), &value.to_string(), inline::float_lexical(*value)).into()
        }
        Value::Double(value) => {
            float_string(*value, &value.to_string(), inline::double_lexical(*value)).into()
        }
        _ => value.lexical()?.into(),
    })
}

/// XPath writes doubles between 0.000001 and 1000000 as decimals.
fn float_string(value: f64, plain: &str, scientific: String) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e6).contains(&magnitude) { plain.to_owned() } else { scientific }
}

fn to_boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(value) => Some(*value),
        Value::Integer(_) | Value::Decimal(_) | Value::Exact(_) | Value::Float(_) | Value::Double(_) => {
            value.effective_boolean()
        }
        _ => None,
    }
}

fn to_integer(value: &Value) -> Option<Value> {
    match value {
        Value::Integer(value) => Some(Value::Integer(*value)),
        Value::Boolean(value) => Some(Value::Integer(i64::from(*value))),
        Value::Decimal(decimal) => match oxsdatatypes::Integer::try_from(*decimal) {
            Ok(whole) => Some(Value::Integer(whole.into())),
            Err(_) => value.to_exact()?.truncate().map(Value::from),
        },
        Value::Exact(value) => value.truncate().map(Value::from),
        Value::Float(value) => truncate(f64::from(*value)),
        Value::Double(value) => truncate(*value),
        _ => None,
    }
}

/// A double without its fraction; `None` for infinities and NaN.
#[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
fn truncate(value: f64) -> Option<Value> {
    // 2^63 itself does not fit.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value) {
        return Some(Value::Integer(value as i64));
    }
    Exact::truncated(value)?.bounded().map(Value::from)
}

fn to_decimal(value: &Value) -> Option<Value> {
    match value {
        Value::Decimal(value) => Some(Value::Decimal(*value)),
        Value::Exact(value) => value.to_decimal().map(Value::from),
        Value::Integer(value) => Some(Value::Decimal(Decimal::from(*value))),
        Value::Boolean(value) => Some(Value::Decimal(Decimal::from(i64::from(*value)))),
        Value::Float(value) => double_to_decimal(f64::from(*value)),
        Value::Double(value) => double_to_decimal(*value),
        _ => None,
    }
}

fn double_to_decimal(value: f64) -> Option<Value> {
    // Whole numbers convert exactly, which scaling a double by 10^18 would not.
    if value.fract() == 0.0 {
        return Exact::truncated(value)?.to_decimal().map(Value::from);
    }
    Decimal::try_from(Double::from(value)).ok().map(Value::Decimal)
}

#[expect(clippy::cast_possible_truncation, reason = "casts to the nearest float")]
fn to_float(value: &Value) -> Option<f32> {
    match value {
        Value::Double(value) => Some(*value as f32),
        Value::Boolean(value) => Some(f32::from(u8::from(*value))),
        _ => compare::to_f32(value),
    }
}

fn to_double(value: &Value) -> Option<f64> {
    match value {
        Value::Boolean(value) => Some(f64::from(u8::from(*value))),
        _ => compare::to_f64(value),
    }
}

fn cast_calendar(value: &Value, name: &str) -> Option<Value> {
    Some(match (name, value) {
        ("dateTime", Value::DateTime(value)) => Value::DateTime(*value),
        ("dateTime", Value::Date(value)) => Value::DateTime(DateTime::try_from(*value).ok()?),
        ("date", Value::Date(value)) => Value::Date(*value),
        ("date", Value::DateTime(value)) => Value::Date(Date::try_from(*value).ok()?),
        ("time", Value::Time(value)) => Value::Time(*value),
        ("time", Value::DateTime(value)) => Value::Time(Time::from(*value)),
        ("gYear", Value::GYear(value)) => Value::GYear(*value),
        ("gYear", Value::DateTime(value)) => Value::GYear(GYear::try_from(*value).ok()?),
        ("gYear", Value::Date(value)) => Value::GYear(GYear::try_from(*value).ok()?),
        ("gYearMonth", Value::GYearMonth(value)) => Value::GYearMonth(*value),
        ("gYearMonth", Value::DateTime(value)) => Value::GYearMonth(GYearMonth::try_from(*value).ok()?),
        ("gYearMonth", Value::Date(value)) => Value::GYearMonth(GYearMonth::from(*value)),
        ("gMonth", Value::GMonth(value)) => Value::GMonth(*value),
        ("gMonth", Value::DateTime(value)) => Value::GMonth(GMonth::from(*value)),
        ("gMonth", Value::Date(value)) => Value::GMonth(GMonth::from(*value)),
        ("gMonthDay", Value::GMonthDay(value)) => Value::GMonthDay(*value),
        ("gMonthDay", Value::DateTime(value)) => Value::GMonthDay(GMonthDay::from(*value)),
        ("gMonthDay", Value::Date(value)) => Value::GMonthDay(GMonthDay::from(*value)),
        ("gDay", Value::GDay(value)) => Value::GDay(*value),
        ("gDay", Value::DateTime(value)) => Value::GDay(GDay::from(*value)),
        ("gDay", Value::Date(value)) => Value::GDay(GDay::from(*value)),
        _ => return cast_duration(value, name),
    })
}

/// Durations lose the parts that the target lacks.
fn cast_duration(value: &Value, name: &str) -> Option<Value> {
    let duration: Duration = compare::to_duration(value)?;
    Some(match name {
        "duration" => Value::Duration(duration),
        "yearMonthDuration" => {
            let months = duration.years().checked_mul(12)?.checked_add(duration.months())?;
            Value::YearMonthDuration(YearMonthDuration::new(months))
        }
        "dayTimeDuration" => {
            let bytes = duration.to_be_bytes();
            let [_, _, _, _, _, _, _, _, seconds @ ..] = bytes;
            Value::DayTimeDuration(DayTimeDuration::new(Decimal::from_be_bytes(seconds)))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    //! Which types there are casts to.
    use crate::functions::find;
    use crate::values::value::XSD;
    use crate::values::value::{Value, integer_range};

    /// What the planner does not warn of can be cast to, and the other way round.
    fn is_cast(name: &str) -> bool {
        find(&format!("{XSD}{name}")).is_some()
    }

    #[test]
    fn the_planner_knows_the_casts() {
        let texts = [
            ("string", "x"),
            ("boolean", "true"),
            ("decimal", "1.5"),
            ("float", "1e0"),
            ("double", "1e0"),
            ("dateTime", "2020-01-01T00:00:00Z"),
            ("date", "2020-01-01"),
            ("time", "12:00:00"),
            ("gYear", "2020"),
            ("gYearMonth", "2020-01"),
            ("gMonth", "--01"),
            ("gMonthDay", "--01-01"),
            ("gDay", "---01"),
            ("duration", "P1Y"),
            ("yearMonthDuration", "P1Y"),
            ("dayTimeDuration", "P1D"),
            ("integer", "1"),
            ("long", "1"),
            ("int", "1"),
            ("short", "1"),
            ("byte", "1"),
            ("nonNegativeInteger", "1"),
            ("positiveInteger", "1"),
            ("nonPositiveInteger", "-1"),
            ("negativeInteger", "-1"),
            ("unsignedLong", "1"),
            ("unsignedInt", "1"),
            ("unsignedShort", "1"),
            ("unsignedByte", "1"),
        ];
        for (name, text) in texts {
            assert!(is_cast(name) && super::cast(&Value::String(text.into()), name).is_some(), "{name}");
        }
        for name in ["", "anyURI", "hexBinary", "Integer", "token", "dateTimeStamp", "anyType"] {
            assert!(!is_cast(name) && integer_range(name).is_none(), "{name}");
        }
    }
}
