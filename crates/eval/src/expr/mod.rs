//! Expressions over columns of ids.
//!
//! [`evaluate`] gives ids, [`select`] row numbers, [`compare()`] ORDER BY's order. Inside, columns hold ids where terms
//! matter and values where meanings do ([`crate::values`]); ids of the dictionary are decoded in batches, each distinct id once,
//! and computed values are interned at the very end only.

pub(crate) mod call;
pub(crate) mod column;
mod comparison;
mod constant;
pub mod decode;
pub(crate) mod eval;
mod exists;
mod integers;
mod logic;
mod order;
mod selection;
pub mod texts;

#[cfg(test)]
pub(crate) mod tests;

use crate::batch::Batch;
use crate::context::EvalContext;
use crate::error::ExecError;
use column::Tri;
use eval::Evaluator;
use lode_rdf::ValueId;
use lode_sparql::Expr;
use std::cell::Cell;

pub(crate) use column::value_id;
pub use order::{OrderKey, compare, order_keys};
pub use order::{Ranks, break_tie, compare_ids, order_key, ranks};

/// The value of `expr` for every row; unbound for an error.
///
/// # Errors
///
/// Where the query was cancelled, has no memory for what is computed, or the store cannot be read. An error of the
/// expression is an unbound value.
pub fn evaluate(cx: &EvalContext, expr: &Expr, batch: &Batch) -> Result<Vec<ValueId>, ExecError> {
    evaluate_numbered(cx, expr, batch, &RowNumbers::default())
}

/// Like [`evaluate`]. Expressions evaluated with the same `numbers` over the same rows see the same solutions, so that
/// `BNODE("x")` is the same node in all of them: use one for all expressions of a SELECT clause.
///
/// # Errors
///
/// As [`evaluate`].
pub fn evaluate_numbered(
    cx: &EvalContext,
    expr: &Expr,
    batch: &Batch,
    numbers: &RowNumbers,
) -> Result<Vec<ValueId>, ExecError> {
    Evaluator::new(cx, batch, &numbers.0).ids_in_parts(expr)
}

/// What tells the rows of one batch from all other rows of the query, for BNODE.
#[derive(Debug, Clone, Default)]
pub struct RowNumbers(Cell<Option<u64>>);

/// The numbers, ascending, of the rows whose effective boolean value is true.
///
/// # Errors
///
/// As [`evaluate`].
pub fn select(cx: &EvalContext, expr: &Expr, batch: &Batch) -> Result<Vec<u32>, ExecError> {
    let numbers = RowNumbers::default();
    select_in_parts(&Evaluator::new(cx, batch, &numbers.0), expr)
}

/// Where there is no memory for the texts of all rows, half of them first.
fn select_in_parts(evaluator: &Evaluator<'_>, expr: &Expr) -> Result<Vec<u32>, ExecError> {
    match select_rows(evaluator, expr) {
        Err(ExecError::OutOfMemory(_)) if evaluator.rows() > 1 => {
            let mut selected = Vec::new();
            for part in evaluator.halves() {
                let rows = select_in_parts(&evaluator.narrow(&part), expr)?;
                selected.extend(rows.iter().filter_map(|row| part.get(*row as usize)));
            }
            Ok(selected)
        }
        other => other,
    }
}

/// Conjunctions narrow the rows operand by operand: a row that one does not accept is not looked at again.
fn select_rows(evaluator: &Evaluator<'_>, expr: &Expr) -> Result<Vec<u32>, ExecError> {
    let operands = match expr {
        Expr::And(operands) => operands,
        Expr::Among(value, set) => {
            let ids = evaluator.eval(value)?.into_ids(evaluator.cx, evaluator.rows())?;
            return Ok(selection::positions(&ids, |id| set.contains(*id)));
        }
        _ => return Ok(selection::positions(&evaluator.truth(expr)?, |truth| *truth == Tri::True)),
    };
    let mut selected: Option<Vec<u32>> = None;
    for operand in operands {
        selected = Some(match selected {
            None => select_rows(evaluator, operand)?,
            Some(rows) if rows.is_empty() => return Ok(rows),
            Some(rows) => {
                let inner = select_rows(&evaluator.narrow(&rows), operand)?;
                inner.iter().filter_map(|row| rows.get(*row as usize).copied()).collect()
            }
        });
    }
    Ok(selected.unwrap_or_else(|| (0..evaluator.rows() as u32).collect()))
}
