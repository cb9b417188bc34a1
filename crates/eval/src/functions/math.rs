//! Powers, logarithms and angles: the functions of XPath and XQuery Functions and Operators 3.1, section 4.8, by their IRIs. All are of doubles.

use crate::expr::call::Kernel;
use crate::values::compare::to_f64;
use crate::values::value::Value;
use lode_sparql::Function;
use lode_sparql::function::ValueType;
use std::f64::consts::PI;

/// A function of one number.
macro_rules! of_number {
    ($name:literal, $f:expr) => {
        Function::new(
            concat!("http://www.w3.org/2005/xpath-functions/math#", $name),
            &[ValueType::Number],
            ValueType::Floating,
            &Kernel::One(|rows, a| rows.unary(a, |a| Some(Value::Double(($f)(to_f64(a)?))))),
        )
    };
}

/// A function of two.
macro_rules! of_numbers {
    ($name:literal, $f:expr) => {
        Function::new(
            concat!("http://www.w3.org/2005/xpath-functions/math#", $name),
            &[ValueType::Number, ValueType::Number],
            ValueType::Floating,
            &Kernel::Two(|rows, a, b| {
                rows.binary(a, b, |a, b| Some(Value::Double(($f)(to_f64(a)?, to_f64(b)?))))
            }),
        )
    };
}

/// The entries.
pub(super) static FUNCTIONS: [Function; 14] = [
    Function::new(
        "http://www.w3.org/2005/xpath-functions/math#pi",
        &[],
        ValueType::Floating,
        &Kernel::Zero(|rows| rows.constant(Some(Value::Double(PI)))),
    ),
    of_number!("exp", f64::exp),
    of_number!("exp10", |a| f64::powf(10.0, a)),
    of_number!("log", f64::ln),
    of_number!("log10", f64::log10),
    of_numbers!("pow", f64::powf),
    of_number!("sqrt", f64::sqrt),
    of_number!("sin", f64::sin),
    of_number!("cos", f64::cos),
    of_number!("tan", f64::tan),
    of_number!("asin", f64::asin),
    of_number!("acos", f64::acos),
    of_number!("atan", f64::atan),
    of_numbers!("atan2", f64::atan2),
];
