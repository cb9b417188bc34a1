//! `=`, `<` and the rest over values (17.3, 17.4.1.7), with XSD's numeric promotion.

use super::exact::Exact;
use super::truth::Tri;
use super::value::Value;
use lode_rdf::Triple;
use oxsdatatypes::{Decimal, Double, Duration, Float};
use std::cmp::Ordering;

/// A comparison of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Whether operands in this order fulfil the comparison; `None`: neither is before the other (NaN).
    #[inline]
    pub fn holds(self, ordering: Option<Ordering>) -> bool {
        match self {
            Self::Less => ordering == Some(Ordering::Less),
            Self::LessOrEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => ordering == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// Two numbers in the type that both are promoted to.
#[derive(Debug)]
pub enum Numbers {
    Integer(i64, i64),
    Decimal(Decimal, Decimal),
    /// Boxed, since they are rare and large.
    Exact(Box<(Exact, Exact)>),
    Float(f32, f32),
    Double(f64, f64),
}

impl Numbers {
    /// Promotes two values; `None` where one is no number.
    #[inline]
    pub fn promote(a: &Value, b: &Value) -> Option<Self> {
        Some(match (a, b) {
            (Value::Integer(a), Value::Integer(b)) => Self::Integer(*a, *b),
            (Value::Double(_), _) | (_, Value::Double(_)) => Self::Double(to_f64(a)?, to_f64(b)?),
            (Value::Float(_), _) | (_, Value::Float(_)) => Self::Float(to_f32(a)?, to_f32(b)?),
            (Value::Exact(_), _) | (_, Value::Exact(_)) => Self::exact(a, b)?,
            _ => Self::Decimal(to_decimal(a)?, to_decimal(b)?),
        })
    }

    #[cold]
    fn exact(a: &Value, b: &Value) -> Option<Self> {
        Some(Self::Exact(Box::new((a.to_exact()?, b.to_exact()?))))
    }

    #[inline]
    fn order(self) -> Option<Ordering> {
        match self {
            Self::Integer(a, b) => Some(a.cmp(&b)),
            Self::Decimal(a, b) => Some(a.cmp(&b)),
            Self::Exact(pair) => Some(pair.0.order(&pair.1)),
            Self::Float(a, b) => a.partial_cmp(&b),
            Self::Double(a, b) => a.partial_cmp(&b),
        }
    }
}

/// A number as a double.
#[expect(clippy::cast_precision_loss, reason = "XPath promotes integers to the nearest double")]
pub fn to_f64(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Integer(value) => *value as f64,
        Value::Decimal(value) => f64::from(Double::from(*value)),
        Value::Exact(value) => value.to_f64(),
        Value::Float(value) => f64::from(*value),
        Value::Double(value) => *value,
        _ => return None,
    })
}

/// A number as a float; a double is none.
#[expect(clippy::cast_precision_loss, reason = "XPath promotes integers to the nearest float")]
pub fn to_f32(value: &Value) -> Option<f32> {
    Some(match value {
        Value::Integer(value) => *value as f32,
        Value::Decimal(value) => f32::from(Float::from(*value)),
        Value::Exact(value) => value.to_f32(),
        Value::Float(value) => *value,
        _ => return None,
    })
}

fn to_decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Integer(value) => Some(Decimal::from(*value)),
        Value::Decimal(value) => Some(*value),
        _ => None,
    }
}

/// A duration of any of the three types.
pub fn to_duration(value: &Value) -> Option<Duration> {
    Some(match value {
        Value::Duration(value) => *value,
        Value::YearMonthDuration(value) => (*value).into(),
        Value::DayTimeDuration(value) => (*value).into(),
        _ => return None,
    })
}

/// `a = b`. An error where the values may or may not be equal: of literals with unknown values and different terms.
pub fn equal(a: &Value, b: &Value) -> Tri {
    if let Some(numbers) = Numbers::promote(a, b) {
        return (numbers.order() == Some(Ordering::Equal)).into();
    }
    if let (Some(a), Some(b)) = (to_duration(a), to_duration(b)) {
        return (a == b).into();
    }
    match (a, b) {
        (Value::Iri(a), Value::Iri(b)) | (Value::Blank(a), Value::Blank(b)) => (a == b).into(),
        (Value::String(a), Value::String(b)) => (a == b).into(),
        (Value::LangString(a), Value::LangString(b)) => (a.text == b.text && a.same_language(b)).into(),
        (Value::Boolean(a), Value::Boolean(b)) => (a == b).into(),
        (Value::Triple(a), Value::Triple(b)) => equal_triples(a, b),
        (Value::Other(a), Value::Other(b)) => {
            if a == b {
                Tri::True
            } else {
                Tri::Error
            }
        }
        (Value::Other(_), known) | (known, Value::Other(_)) => match known {
            Value::Iri(_) | Value::Blank(_) | Value::LangString(_) | Value::Triple(_) => Tri::False,
            _ => Tri::Error,
        },
        _ => match calendar_order(a, b) {
            // Date and time values of one type that neither order nor equate, because one lacks a time zone.
            Some(ordering) => Tri::from_option(ordering.map(|ordering| ordering == Ordering::Equal)),
            None => Tri::False,
        },
    }
}

fn equal_triples(a: &Triple, b: &Triple) -> Tri {
    let (mut a, mut b) = (a, b);
    let mut result = Tri::True;
    loop {
        // Subjects and predicates are IRIs and blank nodes, so only objects can be equal without being the same term.
        if a.subject != b.subject || a.predicate != b.predicate {
            return Tri::False;
        }
        match (&a.object, &b.object) {
            (lode_rdf::Term::Triple(inner_a), lode_rdf::Term::Triple(inner_b)) => (a, b) = (inner_a, inner_b),
            (object_a, object_b) => {
                let objects = (Value::from_term(object_a.as_ref()), Value::from_term(object_b.as_ref()));
                result = result.and(equal(&objects.0, &objects.1));
                return result;
            }
        }
    }
}

/// `None`: not comparable (an error). `Some(None)`: comparable, but neither is before the other (NaN).
pub fn order(a: &Value, b: &Value) -> Option<Option<Ordering>> {
    if let Some(numbers) = Numbers::promote(a, b) {
        return Some(numbers.order());
    }
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(Some(a.cmp(b))),
        (Value::Boolean(a), Value::Boolean(b)) => Some(Some(a.cmp(b))),
        _ => match calendar_order(a, b) {
            // Between a value with and one without time zone the order may be unknown: an error.
            Some(ordering) => ordering.map(Some),
            None => {
                let ordering = to_duration(a)?.partial_cmp(&to_duration(b)?)?;
                Some(Some(ordering))
            }
        },
    }
}

/// The order of two dates or times of one type, if it is known; the outer `None` for all other values.
fn calendar_order(a: &Value, b: &Value) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Value::DateTime(a), Value::DateTime(b)) => a.partial_cmp(b),
        (Value::Date(a), Value::Date(b)) => a.partial_cmp(b),
        (Value::Time(a), Value::Time(b)) => a.partial_cmp(b),
        (Value::GYear(a), Value::GYear(b)) => a.partial_cmp(b),
        (Value::GYearMonth(a), Value::GYearMonth(b)) => a.partial_cmp(b),
        (Value::GMonth(a), Value::GMonth(b)) => a.partial_cmp(b),
        (Value::GMonthDay(a), Value::GMonthDay(b)) => a.partial_cmp(b),
        (Value::GDay(a), Value::GDay(b)) => a.partial_cmp(b),
        _ => return None,
    })
}

/// Whether a comparison of order holds.
#[inline]
pub fn compare(comparison: Comparison, a: &Value, b: &Value) -> Tri {
    Tri::from_option(order(a, b).map(|ordering| comparison.holds(ordering)))
}
