//! Adds columns: BIND and select expressions.

use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use lode_eval::batch::{Batch, Mapping};
use lode_eval::error::ExecError;
use lode_eval::{expr, makes_labelled_nodes};
use lode_rdf::ValueId;
use lode_sparql::{Expr, PlanNode, PlanOp, VarId};
use std::sync::Arc;

/// The operator.
pub(crate) struct Extend {
    cx: Arc<QueryContext>,
    input: BoxOp,
    steps: Vec<Step>,
    mapping: Mapping,
    buffer: Batch,
}

/// Longer chains are one operator.
const SINGLE_MAX: usize = 32;

struct Step {
    var: VarId,
    expr: Expr,
    /// The buffer's variables afterwards.
    vars: Arc<[VarId]>,
}

/// The expressions that one operator evaluates for `node`, an Extend, in order, and the node below them.
///
/// `BNODE("x")` is one node within a solution, so expressions that have it must know the solutions: a chain of Extends
/// with such an expression becomes one operator, and so does a long one, whose operators would look at all below them, each by itself.
/// Otherwise each Extend stands for itself.
pub(crate) fn chain(node: &PlanNode) -> (Vec<(VarId, &Expr)>, &PlanNode) {
    let mut exprs = Vec::new();
    let mut input = node;
    while let PlanOp::Extend { input: next, var, expr } = &input.op {
        exprs.push((*var, expr));
        input = next;
    }
    if let PlanOp::Extend { input: next, .. } = &node.op
        && exprs.len() <= SINGLE_MAX
        && !exprs.iter().any(|(_, expr)| makes_labelled_nodes(expr))
    {
        exprs.truncate(1);
        input = next;
    }
    exprs.reverse();
    (exprs, input)
}

impl Extend {
    /// `input` with the values of expressions in further columns, each seeing those before it; delivers `vars`.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        input: BoxOp,
        input_vars: &[VarId],
        exprs: &[(VarId, &Expr)],
        vars: &Arc<[VarId]>,
    ) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        let mut extended = input_vars.to_vec();
        for (var, expr) in exprs {
            // A column that the input has already (never bound, or the plan would be wrong) gives way to the new one.
            extended.insert(0, *var);
            steps.push(Step { var: *var, expr: Expr::clone(expr), vars: extended.as_slice().into() });
        }
        let mapping = Mapping::new(&extended, vars);
        Self { cx: Arc::clone(cx), input, steps, mapping, buffer: Batch::default() }
    }
}

impl Operator for Extend {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        if !self.input.next(&mut self.buffer)? {
            out.clear();
            return Ok(false);
        }
        self.cx.cancel.check()?;
        let numbers = expr::RowNumbers::default();
        for step in &self.steps {
            let values = expr::evaluate_numbered(&self.cx, &step.expr, &self.buffer, &numbers)?;
            self.buffer.columns.insert(0, values);
            self.buffer.vars = Arc::clone(&step.vars);
        }
        self.mapping.apply(&mut self.buffer, out);
        Ok(true)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        if self.steps.iter().any(|step| vars.contains(&step.var)) {
            return Ok(());
        }
        self.input.skip_to(vars, key)
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        if self.steps.iter().all(|step| step.var != var) {
            self.input.keep_keys(var, filter);
        }
    }
}
