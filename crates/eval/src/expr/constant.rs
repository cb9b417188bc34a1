//! A column of ids against a constant: `?price < 100`, `?type = <iri>`, the comparisons that filters are made of.

use super::column::{Column, Constant, Tri};
use super::eval::Evaluator;
use crate::error::ExecError;
use crate::values::compare::Comparison;
use lode_rdf::{ValueId, inline};
use std::cmp::Ordering;

/// Inline decimals have at most so many digits after the point.
const SCALE: i128 = 1_000_000;

impl Comparison {
    /// The comparison with its operands exchanged.
    fn swapped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

impl Evaluator<'_> {
    /// Compares a column with a number, if that is what these are and all of the column are inline numbers or unbound.
    pub fn compare_numbers(
        &self,
        comparison: Comparison,
        a: &Column<'_>,
        b: &Column<'_>,
    ) -> Result<Option<Vec<Tri>>, ExecError> {
        let (ids, term, comparison) = match (a, b) {
            (Column::Ids(ids), Column::Constant(Constant::Term(term))) => (ids, term, comparison),
            (Column::Constant(Constant::Term(term)), Column::Ids(ids)) => (ids, term, comparison.swapped()),
            _ => return Ok(None),
        };
        let constant = self.cx.intern(term)?;
        if let Some(exact) = exact(constant) {
            return Ok(compare_all(ids, comparison, |id| {
                self::exact(id).map(|value| Some(value.cmp(&exact)))
            }));
        }
        if let Some(double) = inline::as_f64(constant) {
            return Ok(compare_all(ids, comparison, |id| Some(double_of(id)?.partial_cmp(&double))));
        }
        Ok(None)
    }
}

/// `=` with an IRI, which is equal to itself alone and known to differ from everything else; the store need not have it.
pub(crate) fn equal_to_iri(ids: &[ValueId], iri: ValueId) -> Vec<Tri> {
    ids.iter().map(|id| if id.is_undef() { Tri::Error } else { Tri::from(*id == iri) }).collect()
}

/// Compares every id, or gives up at the first that `order` cannot decide.
fn compare_all(
    ids: &[ValueId],
    comparison: Comparison,
    order: impl Fn(ValueId) -> Option<Option<Ordering>>,
) -> Option<Vec<Tri>> {
    let mut truths = Vec::with_capacity(ids.len());
    for id in ids {
        truths.push(match order(*id) {
            Some(ordering) => comparison.holds(ordering).into(),
            None if id.is_undef() => Tri::Error,
            None => return None,
        });
    }
    Some(truths)
}

/// An inline integer or decimal times 10^6.
#[inline]
fn exact(id: ValueId) -> Option<i128> {
    match inline::as_i64(id) {
        Some(value) => Some(i128::from(value) * SCALE),
        None => inline::as_decimal_scaled(id).map(i128::from),
    }
}

/// An inline double or integer as a double.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "XPath promotes integers to the nearest double")]
fn double_of(id: ValueId) -> Option<f64> {
    match inline::as_i64(id) {
        Some(value) => Some(value as f64),
        None => inline::as_f64(id),
    }
}
