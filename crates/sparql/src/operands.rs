//! The operands of expressions, for all that walks over them.

use spargebra::algebra::Expression;

/// Visits the operands of `$expr`, a reference that may change them or not; `$list` goes over lists of them in the same way.
macro_rules! each {
    ($expr:expr, $visit:expr, $list:ident) => {
        match $expr {
            Expression::NamedNode(_)
            | Expression::Literal(_)
            | Expression::Variable(_)
            | Expression::Bound(_)
            | Expression::Exists(_) => {}
            Expression::Or(a, b)
            | Expression::And(a, b)
            | Expression::Equal(a, b)
            | Expression::SameTerm(a, b)
            | Expression::Greater(a, b)
            | Expression::GreaterOrEqual(a, b)
            | Expression::Less(a, b)
            | Expression::LessOrEqual(a, b)
            | Expression::Add(a, b)
            | Expression::Subtract(a, b)
            | Expression::Multiply(a, b)
            | Expression::Divide(a, b) => {
                $visit(a);
                $visit(b);
            }
            Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => $visit(a),
            Expression::In(a, list) => {
                $visit(a);
                list.$list().for_each($visit);
            }
            Expression::If(a, b, c) => [a, b, c].into_iter().for_each(|operand| $visit(operand)),
            Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.$list().for_each($visit),
        }
    };
}

/// Visits the operands of an expression, left before right; the pattern of an EXISTS is none.
pub(crate) fn each<'a>(expr: &'a Expression, visit: &mut dyn FnMut(&'a Expression)) {
    each!(expr, visit, iter);
}

/// The same, to change them.
pub(crate) fn each_mut(expr: &mut Expression, visit: &mut dyn FnMut(&mut Expression)) {
    each!(expr, visit, iter_mut);
}

/// The operands of an expression, left before right; the pattern of an EXISTS is none.
pub(crate) fn of(expr: &Expression) -> Vec<&Expression> {
    let mut operands = Vec::new();
    each(expr, &mut |operand| operands.push(operand));
    operands
}
