//! Adds a column: BIND and select expressions.

use super::{BoxOp, Operator};
use crate::batch::{Batch, Mapping};
use crate::context::QueryContext;
use crate::error::ExecError;
use crate::expr;
use lode_rdf::ValueId;
use lode_sparql::{Expr, VarId};
use std::sync::Arc;

/// The operator.
pub(crate) struct Extend {
    cx: Arc<QueryContext>,
    input: BoxOp,
    var: VarId,
    expr: Expr,
    mapping: Mapping,
    buffer: Batch,
    extended: Arc<[VarId]>,
}

impl Extend {
    /// `input` with the value of an expression in a further column; delivers `vars`.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        input: BoxOp,
        input_vars: &[VarId],
        (var, expr): (VarId, &Expr),
        vars: &Arc<[VarId]>,
    ) -> Self {
        // A column that the input has already (never bound, or the plan would be wrong) gives way to the new one.
        let mut extended: Vec<VarId> = vec![var];
        extended.extend_from_slice(input_vars);
        Self {
            cx: Arc::clone(cx),
            input,
            var,
            expr: expr.clone(),
            mapping: Mapping::new(&extended, vars),
            buffer: Batch::default(),
            extended: extended.into(),
        }
    }
}

impl Operator for Extend {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        if !self.input.next(&mut self.buffer)? {
            out.clear();
            return Ok(false);
        }
        self.cx.cancel.check()?;
        let values = expr::evaluate(&self.cx, &self.expr, &self.buffer)?;
        self.buffer.columns.insert(0, values);
        self.buffer.vars = Arc::clone(&self.extended);
        self.mapping.apply(&mut self.buffer, out);
        Ok(true)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        if vars.contains(&self.var) {
            return Ok(());
        }
        self.input.skip_to(vars, key)
    }
}
