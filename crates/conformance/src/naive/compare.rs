//! `=`, `<` and ORDER BY (SPARQL 1.1 sections 15.1 and 17.3).

use super::arithmetic::{Promoted, promote};
use super::datatypes::{Value, term_value, value_of};
use oxrdf::{Literal, Term};
use std::cmp::Ordering;

/// `=`: nothing for an error, that is where the literals' values are not known to be equal or different.
pub(super) fn equal(a: &Term, b: &Term) -> Option<bool> {
    match (a, b) {
        (Term::Literal(a), Term::Literal(b)) => equal_literals(a, b),
        (Term::Triple(a), Term::Triple(b)) => {
            let subject = equal(&a.subject.clone().into(), &b.subject.clone().into());
            let predicate = Some(a.predicate == b.predicate);
            let object = equal(&a.object, &b.object);
            both(both(subject, predicate), object)
        }
        _ => Some(a == b),
    }
}

fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn equal_literals(a: &Literal, b: &Literal) -> Option<bool> {
    if a.language().is_some() != b.language().is_some() {
        return Some(false);
    }
    let (Some(x), Some(y)) = (value_of(a), value_of(b)) else {
        return (a == b).then_some(true);
    };
    if let Some(numbers) = promote(x.clone(), y.clone()) {
        return Some(match numbers {
            Promoted::Integers(a, b) => a == b,
            Promoted::Decimals(a, b) => a == b,
            Promoted::Floats(a, b) => a == b,
            Promoted::Doubles(a, b) => a == b,
        });
    }
    match (x.clone(), y.clone()) {
        (Value::String, Value::String) | (Value::LangString, Value::LangString) => Some(a == b),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a == b),
        (Value::DateTime(a), Value::DateTime(b)) => moments(a.partial_cmp(&b)),
        (Value::Date(a), Value::Date(b)) => moments(a.partial_cmp(&b)),
        (Value::Time(a), Value::Time(b)) => moments(a.partial_cmp(&b)),
        (Value::GYear(a), Value::GYear(b)) => moments(a.partial_cmp(&b)),
        (Value::GYearMonth(a), Value::GYearMonth(b)) => moments(a.partial_cmp(&b)),
        (Value::GMonth(a), Value::GMonth(b)) => moments(a.partial_cmp(&b)),
        (Value::GMonthDay(a), Value::GMonthDay(b)) => moments(a.partial_cmp(&b)),
        (Value::GDay(a), Value::GDay(b)) => moments(a.partial_cmp(&b)),
        _ => match (duration(x), duration(y)) {
            (Some(a), Some(b)) => Some(a == b),
            _ => Some(false),
        },
    }
}

/// Equality of points in time: an error where a missing time zone leaves it open.
fn moments(order: Option<Ordering>) -> Option<bool> {
    order.map(Ordering::is_eq)
}

fn duration(value: Value) -> Option<oxsdatatypes::Duration> {
    match value {
        Value::Duration(d) => Some(d),
        Value::YearMonthDuration(d) => Some(d.into()),
        Value::DayTimeDuration(d) => Some(d.into()),
        _ => None,
    }
}

/// `<` and its kin: nothing for an error. NaN is comparable, but in no order: the comparison is false.
pub(super) fn less(a: &Term, b: &Term, wanted: fn(Ordering) -> bool) -> Option<bool> {
    if let (Some(x), Some(y)) = (term_value(a), term_value(b))
        && promote(x.clone(), y.clone()).is_some()
    {
        return Some(compare(a, b).is_some_and(wanted));
    }
    compare(a, b).map(wanted)
}

/// The order that the operators define.
fn compare(a: &Term, b: &Term) -> Option<Ordering> {
    let (Term::Literal(la), Term::Literal(lb)) = (a, b) else { return None };
    let (x, y) = (value_of(la)?, value_of(lb)?);
    if let Some(numbers) = promote(x.clone(), y.clone()) {
        return match numbers {
            Promoted::Integers(a, b) => Some(a.cmp(&b)),
            Promoted::Decimals(a, b) => Some(a.cmp(&b)),
            Promoted::Floats(a, b) => a.partial_cmp(&b),
            Promoted::Doubles(a, b) => a.partial_cmp(&b),
        };
    }
    match (x.clone(), y.clone()) {
        (Value::String, Value::String) => Some(la.value().cmp(lb.value())),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(&b)),
        (Value::DateTime(a), Value::DateTime(b)) => a.partial_cmp(&b),
        (Value::Date(a), Value::Date(b)) => a.partial_cmp(&b),
        (Value::Time(a), Value::Time(b)) => a.partial_cmp(&b),
        (Value::GYear(a), Value::GYear(b)) => a.partial_cmp(&b),
        (Value::GYearMonth(a), Value::GYearMonth(b)) => a.partial_cmp(&b),
        (Value::GMonth(a), Value::GMonth(b)) => a.partial_cmp(&b),
        (Value::GMonthDay(a), Value::GMonthDay(b)) => a.partial_cmp(&b),
        (Value::GDay(a), Value::GDay(b)) => a.partial_cmp(&b),
        _ => duration(x)?.partial_cmp(&duration(y)?),
    }
}

/// The order that ORDER BY requires, as far as the specification goes; nothing where an implementation may choose.
pub fn order_defined(a: Option<&Term>, b: Option<&Term>) -> Option<Ordering> {
    match rank(a).cmp(&rank(b)) {
        Ordering::Equal => {}
        unequal => return Some(unequal),
    }
    match (a, b) {
        (Some(Term::NamedNode(a)), Some(Term::NamedNode(b))) => Some(a.as_str().cmp(b.as_str())),
        (Some(Term::Triple(a)), Some(Term::Triple(b))) => {
            let subject = order_defined(Some(&a.subject.clone().into()), Some(&b.subject.clone().into()))?;
            let predicate = a.predicate.as_str().cmp(b.predicate.as_str());
            match subject.then(predicate) {
                Ordering::Equal => order_defined(Some(&a.object), Some(&b.object)),
                unequal => Some(unequal),
            }
        }
        (Some(a), Some(b)) if a == b => Some(Ordering::Equal),
        // Different terms of one value are in no order; an implementation may put them into one.
        (Some(a), Some(b)) => compare(a, b).filter(|o| o.is_ne()),
        _ => Some(Ordering::Equal),
    }
}

/// A total order that agrees with [`order_defined`].
pub fn order(a: Option<&Term>, b: Option<&Term>) -> Ordering {
    match rank(a).cmp(&rank(b)) {
        Ordering::Equal => {}
        unequal => return unequal,
    }
    match (a, b) {
        (Some(Term::Triple(a)), Some(Term::Triple(b))) => {
            let subject = order(Some(&a.subject.clone().into()), Some(&b.subject.clone().into()));
            let predicate = a.predicate.as_str().cmp(b.predicate.as_str());
            subject.then(predicate).then_with(|| order(Some(&a.object), Some(&b.object)))
        }
        (Some(Term::Literal(x)), Some(Term::Literal(y))) => {
            let classes = class(x).cmp(&class(y));
            classes
                .then_with(|| compare_in_class(x, y).unwrap_or(Ordering::Equal))
                .then_with(|| x.to_string().cmp(&y.to_string()))
        }
        (Some(Term::NamedNode(a)), Some(Term::NamedNode(b))) => a.as_str().cmp(b.as_str()),
        (Some(a), Some(b)) => a.to_string().cmp(&b.to_string()),
        _ => Ordering::Equal,
    }
}

fn rank(term: Option<&Term>) -> u8 {
    match term {
        None => 0,
        Some(Term::BlankNode(_)) => 1,
        Some(Term::NamedNode(_)) => 2,
        Some(Term::Literal(_)) => 3,
        Some(Term::Triple(_)) => 4,
    }
}

/// Literals of one class are comparable with each other, but for NaN and durations of different kinds.
fn class(literal: &Literal) -> u8 {
    match value_of(literal) {
        Some(Value::Integer(_) | Value::Decimal(_)) => 0,
        Some(Value::Float(f)) => u8::from(f.is_nan()),
        Some(Value::Double(f)) => u8::from(f.is_nan()),
        Some(Value::Boolean(_)) => 2,
        Some(Value::DateTime(_)) => 3,
        Some(Value::Date(_)) => 4,
        Some(Value::Time(_)) => 5,
        Some(Value::GYear(_)) => 6,
        Some(Value::GYearMonth(_)) => 7,
        Some(Value::GMonth(_)) => 8,
        Some(Value::GMonthDay(_)) => 9,
        Some(Value::GDay(_)) => 10,
        Some(Value::DayTimeDuration(_)) => 11,
        Some(Value::YearMonthDuration(_)) => 12,
        Some(Value::Duration(_)) => 13,
        Some(Value::String) => 14,
        Some(Value::LangString) => 15,
        None => 16,
    }
}

/// Comparison within a class: points in time without a zone count as UTC, which agrees with the order where that is defined.
fn compare_in_class(a: &Literal, b: &Literal) -> Option<Ordering> {
    let utc = oxsdatatypes::TimezoneOffset::new(0).ok();
    match (value_of(a)?, value_of(b)?) {
        (Value::DateTime(a), Value::DateTime(b)) => {
            zoned(a, b, a.timezone().is_some(), b.timezone().is_some(), |v| v.adjust(utc))
        }
        (Value::Date(a), Value::Date(b)) => {
            zoned(a, b, a.timezone().is_some(), b.timezone().is_some(), |v| v.adjust(utc))
        }
        (Value::Time(a), Value::Time(b)) => {
            zoned(a, b, a.timezone().is_some(), b.timezone().is_some(), |v| v.adjust(utc))
        }
        _ => compare(&a.clone().into(), &b.clone().into()),
    }
}

/// Compares after giving those without a zone one.
fn zoned<T: PartialOrd + Copy>(
    a: T,
    b: T,
    zone_a: bool,
    zone_b: bool,
    give: impl Fn(T) -> Option<T>,
) -> Option<Ordering> {
    let a = if zone_a { a } else { give(a)? };
    let b = if zone_b { b } else { give(b)? };
    a.partial_cmp(&b)
}
