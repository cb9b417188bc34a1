//! Expressions over columns of ids.

use crate::batch::Batch;
use crate::context::QueryContext;
use crate::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::Expr;
use std::cmp::Ordering;

/// The value of `expr` for every row; unbound for an error.
pub fn evaluate(_cx: &QueryContext, _expr: &Expr, _batch: &Batch) -> Result<Vec<ValueId>, ExecError> {
    unimplemented!()
}

/// The numbers, ascending, of the rows whose effective boolean value is true.
pub fn select(_cx: &QueryContext, _expr: &Expr, _batch: &Batch) -> Result<Vec<u32>, ExecError> {
    unimplemented!()
}

/// SPARQL's ORDER BY: unbound, blank nodes, IRIs, literals, triple terms; literals by value where comparable, and always a total order.
pub fn compare(_cx: &QueryContext, _a: ValueId, _b: ValueId) -> Result<Ordering, ExecError> {
    unimplemented!()
}
