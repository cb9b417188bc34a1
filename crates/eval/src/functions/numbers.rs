//! Functions on numbers (17.4.4).

use crate::expr::call::Kernel;
use crate::values::arithmetic;
use lode_sparql::Function;
use lode_sparql::function::ValueType;

/// The entries.
pub(super) static FUNCTIONS: [Function; 4] = [
    Function::new(
        "ABS",
        &[ValueType::Number],
        ValueType::Number,
        &Kernel::One(|rows, a| rows.unary(a, arithmetic::abs)),
    ),
    Function::new(
        "CEIL",
        &[ValueType::Number],
        ValueType::Number,
        &Kernel::One(|rows, a| rows.unary(a, arithmetic::ceil)),
    ),
    Function::new(
        "FLOOR",
        &[ValueType::Number],
        ValueType::Number,
        &Kernel::One(|rows, a| rows.unary(a, arithmetic::floor)),
    ),
    Function::new(
        "ROUND",
        &[ValueType::Number],
        ValueType::Number,
        &Kernel::One(|rows, a| rows.unary(a, arithmetic::round)),
    ),
];
