//! Keeps the rows for which all conditions hold.

use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_eval::expr;
use lode_rdf::ValueId;
use lode_sparql::{Expr, VarId};
use std::sync::Arc;

/// The operator.
pub(crate) struct Filter {
    cx: Arc<QueryContext>,
    input: BoxOp,
    exprs: Vec<Expr>,
}

impl Filter {
    /// Rows of `input` for which all of `exprs` are true.
    pub(crate) fn new(cx: &Arc<QueryContext>, input: BoxOp, exprs: &[Expr]) -> Self {
        Self { cx: Arc::clone(cx), input, exprs: exprs.to_vec() }
    }
}

impl Operator for Filter {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        while self.input.next(out)? {
            self.cx.cancel.check()?;
            for expr in &self.exprs {
                if out.rows == 0 {
                    break;
                }
                let selection = expr::select(&self.cx, expr, out)?;
                out.select(&selection);
            }
            if out.rows > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        self.input.skip_to(vars, key)
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        self.input.keep_keys(var, filter);
    }
}
