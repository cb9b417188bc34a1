//! Arithmetic with numeric promotion (SPARQL 1.1 section 17.3, XPath functions and operators).

use super::calendar;
use super::datatypes::{Value, double, float, int, term_value, typed};
use oxrdf::Term;
use oxrdf::vocab::xsd;
use oxsdatatypes::{Decimal, Double, Float, Integer};

/// The four operators.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Two numbers promoted to one type.
pub(super) enum Promoted {
    Integers(Integer, Integer),
    Decimals(Decimal, Decimal),
    Floats(Float, Float),
    Doubles(Double, Double),
}

/// Both numbers in the least type that has both; nothing unless both are numbers.
pub(super) fn promote(a: Value, b: Value) -> Option<Promoted> {
    use Promoted::{Decimals, Doubles, Floats, Integers};
    if matches!(a, Value::Double(_)) || matches!(b, Value::Double(_)) {
        return Some(Doubles(to_double(a)?, to_double(b)?));
    }
    if matches!(a, Value::Float(_)) || matches!(b, Value::Float(_)) {
        return Some(Floats(to_float(a)?, to_float(b)?));
    }
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => Some(Integers(a, b)),
        (Value::Integer(a), Value::Decimal(b)) => Some(Decimals(a.into(), b)),
        (Value::Decimal(a), Value::Integer(b)) => Some(Decimals(a, b.into())),
        (Value::Decimal(a), Value::Decimal(b)) => Some(Decimals(a, b)),
        _ => None,
    }
}

pub(super) fn to_double(value: Value) -> Option<Double> {
    match value {
        Value::Integer(i) => Some(i.into()),
        Value::Decimal(d) => Some(d.into()),
        Value::Float(f) => Some(f.into()),
        Value::Double(d) => Some(d),
        _ => None,
    }
}

pub(super) fn to_float(value: Value) -> Option<Float> {
    match value {
        Value::Integer(i) => Some(i.into()),
        Value::Decimal(d) => Some(d.into()),
        Value::Float(f) => Some(f),
        _ => None,
    }
}

/// The result, or nothing where an operand is no number, the result does not fit, or an exact division is by zero.
pub(super) fn calculate(operator: Operator, a: &Term, b: &Term) -> Option<Term> {
    let (x, y) = (term_value(a)?, term_value(b)?);
    let Some(numbers) = promote(x, y) else {
        return match operator {
            Operator::Add => calendar::add(x, y),
            Operator::Subtract => calendar::subtract(x, y),
            Operator::Multiply | Operator::Divide => None,
        };
    };
    match numbers {
        Promoted::Integers(a, b) => match operator {
            Operator::Add => a.checked_add(b).map(int),
            Operator::Subtract => a.checked_sub(b).map(int),
            Operator::Multiply => a.checked_mul(b).map(int),
            Operator::Divide => decimal(Decimal::from(a).checked_div(Decimal::from(b))),
        },
        Promoted::Decimals(a, b) => decimal(match operator {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::Divide => a.checked_div(b),
        }),
        Promoted::Floats(a, b) => Some(float(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
        })),
        Promoted::Doubles(a, b) => Some(double(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
        })),
    }
}

fn decimal(value: Option<Decimal>) -> Option<Term> {
    value.map(|v| typed(v, xsd::DECIMAL))
}

/// Unary plus: the number in its promoted type.
pub(super) fn plus(term: &Term) -> Option<Term> {
    number(term_value(term)?)
}

/// Unary minus.
pub(super) fn negate(term: &Term) -> Option<Term> {
    number(match term_value(term)? {
        Value::Integer(i) => Value::Integer(i.checked_neg()?),
        Value::Decimal(d) => Value::Decimal(d.checked_neg()?),
        Value::Float(f) => Value::Float(-f),
        Value::Double(d) => Value::Double(-d),
        other => return calendar::negate(other),
    })
}

/// A number as a literal in canonical form.
pub(super) fn number(value: Value) -> Option<Term> {
    Some(match value {
        Value::Integer(i) => int(i),
        Value::Decimal(d) => typed(d, xsd::DECIMAL),
        Value::Float(f) => float(f),
        Value::Double(d) => double(d),
        _ => return None,
    })
}
