//! Arithmetic with numeric promotion (SPARQL 1.1 section 17.3, XPath functions and operators).

use super::calendar;
use super::datatypes::{Value, double, float, int, term_value, typed};
use super::numbers;
use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;
use oxrdf::Term;
use oxrdf::vocab::xsd;
use oxsdatatypes::{Double, Float};

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
    Integers(BigInt, BigInt),
    Decimals(BigDecimal, BigDecimal),
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
        Value::Integer(i) => numbers::to_double(&i.into()),
        Value::Decimal(d) => numbers::to_double(&d),
        Value::Float(f) => Some(f.into()),
        Value::Double(d) => Some(d),
        _ => None,
    }
}

pub(super) fn to_float(value: Value) -> Option<Float> {
    match value {
        Value::Integer(i) => numbers::to_float(&i.into()),
        Value::Decimal(d) => numbers::to_float(&d),
        Value::Float(f) => Some(f),
        _ => None,
    }
}

/// The result, or nothing where an operand is no number, the result does not fit, or an exact division is by zero.
pub(super) fn calculate(operator: Operator, a: &Term, b: &Term) -> Option<Term> {
    let (x, y) = (term_value(a)?, term_value(b)?);
    let Some(numbers) = promote(x.clone(), y.clone()) else {
        return match operator {
            Operator::Add => calendar::add(x, y),
            Operator::Subtract => calendar::subtract(x, y),
            Operator::Multiply | Operator::Divide => None,
        };
    };
    match numbers {
        Promoted::Integers(a, b) => match operator {
            Operator::Add => Some(int(a + b)),
            Operator::Subtract => Some(int(a - b)),
            Operator::Multiply => Some(int(a * b)),
            Operator::Divide => decimal(numbers::quotient(&a.into(), &b.into())),
        },
        Promoted::Decimals(a, b) => decimal(match operator {
            Operator::Add => Some(a + b),
            Operator::Subtract => Some(a - b),
            Operator::Multiply => Some(a * b),
            Operator::Divide => numbers::quotient(&a, &b),
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

fn decimal(value: Option<BigDecimal>) -> Option<Term> {
    value.map(|v| typed(numbers::decimal_text(&v), xsd::DECIMAL))
}

/// Unary plus: the number in its promoted type.
pub(super) fn plus(term: &Term) -> Option<Term> {
    number(term_value(term)?)
}

/// Unary minus.
pub(super) fn negate(term: &Term) -> Option<Term> {
    number(match term_value(term)? {
        Value::Integer(i) => Value::Integer(-i),
        Value::Decimal(d) => Value::Decimal(-d),
        Value::Float(f) => Value::Float(-f),
        Value::Double(d) => Value::Double(-d),
        other => return calendar::negate(other),
    })
}

/// A number as a literal in canonical form.
pub(super) fn number(value: Value) -> Option<Term> {
    Some(match value {
        Value::Integer(i) => int(i),
        Value::Decimal(d) => typed(numbers::decimal_text(&d), xsd::DECIMAL),
        Value::Float(f) => float(f),
        Value::Double(d) => double(d),
        _ => return None,
    })
}
