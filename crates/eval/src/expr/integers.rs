//! Arithmetic on columns of integers: from ids to ids, without values between.

use super::column::{Column, Constant};
use super::eval::Evaluator;
use crate::error::ExecError;
use crate::values::value::Value;
use lode_rdf::{Term, ValueId, inline};
use lode_sparql::Expr;

impl Evaluator<'_> {
    /// `a + b` and its kin: by `on_integers` where all operands and results are inline integers, else by `on_values`.
    pub fn arithmetic<'e>(
        &self,
        a: &'e Expr,
        b: &'e Expr,
        on_integers: fn(i64, i64) -> Option<i64>,
        on_values: fn(&Value, &Value) -> Option<Value>,
    ) -> Result<Column<'e>, ExecError> {
        let (a, b) = (self.eval(a)?, self.eval(b)?);
        match integers(&a, &b, self.rows(), on_integers) {
            Some(ids) => Ok(Column::Ids(ids)),
            None => self.binary_columns(&a, &b, on_values),
        }
    }
}

fn integers(
    a: &Column<'_>,
    b: &Column<'_>,
    rows: usize,
    f: fn(i64, i64) -> Option<i64>,
) -> Option<Vec<ValueId>> {
    let (a, b) = (Integers::of(a)?, Integers::of(b)?);
    if let (Integers::One(_), Integers::One(_)) = (&a, &b) {
        return None;
    }
    (0..rows).map(|row| inline::from_i64(f(a.get(row)?, b.get(row)?)?)).collect()
}

/// A column that may be one of integers.
enum Integers<'c> {
    One(i64),
    Rows(&'c [ValueId]),
}

impl<'c> Integers<'c> {
    fn of(column: &'c Column<'_>) -> Option<Self> {
        match column {
            Column::Ids(ids) => Some(Self::Rows(ids)),
            Column::Constant(Constant::Term(Term::Literal(literal))) => {
                let id = inline::encode_literal(literal.value(), literal.datatype().as_str())?;
                inline::as_i64(id).map(Self::One)
            }
            Column::Constant(Constant::Value(Some(Value::Integer(value)))) => Some(Self::One(*value)),
            _ => None,
        }
    }

    /// The integer in a row; `None` for everything else.
    #[inline]
    fn get(&self, row: usize) -> Option<i64> {
        match self {
            Self::One(value) => Some(*value),
            Self::Rows(ids) => inline::as_i64(*ids.get(row)?),
        }
    }
}
