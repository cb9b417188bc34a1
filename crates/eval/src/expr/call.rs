//! Function calls.

use super::column::{Column, Tri};
use super::decode;
use super::eval::Evaluator;
use crate::error::ExecError;
use crate::values::value::Value;
use lode_sparql::{Callee, Expr};

/// What a function call is worth for every row.
type Result<'e> = std::result::Result<Column<'e>, ExecError>;

/// What computes a function, by how many arguments it takes: over columns, so that each kernel decides what it has to look at.
pub(crate) enum Kernel {
    /// No argument.
    Zero(fn(&Evaluator<'_>) -> Result<'static>),
    /// One.
    One(for<'e> fn(&Evaluator<'_>, &'e Expr) -> Result<'e>),
    /// Two.
    Two(for<'e> fn(&Evaluator<'_>, &'e Expr, &'e Expr) -> Result<'e>),
    /// As many as the function takes.
    Many(for<'e> fn(&Evaluator<'_>, &'e [Expr]) -> Result<'e>),
}

impl Evaluator<'_> {
    /// What a function call is worth for every row. An unknown function and a wrong number of arguments are errors.
    pub fn call<'e>(&self, callee: &Callee, arguments: &'e [Expr]) -> Result<'e> {
        let Some(function) = callee.function().filter(|function| function.takes(arguments.len())) else {
            return Ok(Column::ERROR);
        };
        match (function.implementation.downcast_ref::<Kernel>(), arguments) {
            (Some(Kernel::Zero(kernel)), []) => kernel(self),
            (Some(Kernel::One(kernel)), [a]) => kernel(self, a),
            (Some(Kernel::Two(kernel)), [a, b]) => kernel(self, a, b),
            (Some(Kernel::Many(kernel)), arguments) => kernel(self, arguments),
            _ => Err(ExecError::Internal(format!("no kernel of {} for these arguments", function.name))),
        }
    }

    /// A function of two values that is true or false.
    pub fn predicate<'e>(
        &self,
        a: &'e Expr,
        b: &'e Expr,
        f: impl Fn(&Value, &Value) -> Option<bool>,
    ) -> Result<'e> {
        self.predicate_columns(&self.eval(a)?, &self.eval(b)?, f)
    }

    /// The same of evaluated columns.
    pub fn predicate_columns<'e>(
        &self,
        a: &Column<'_>,
        b: &Column<'_>,
        f: impl Fn(&Value, &Value) -> Option<bool>,
    ) -> Result<'e> {
        let (a, b) = (decode::operand(self.cx, a)?, decode::operand(self.cx, b)?);
        let apply = |row| Tri::from_option(a.get(row).zip(b.get(row)).and_then(|(a, b)| f(a, b)));
        if a.is_constant() && b.is_constant() {
            return Ok(Column::Bools(vec![apply(0); self.rows()]));
        }
        Ok(Column::Bools((0..self.rows()).map(apply).collect()))
    }
}
