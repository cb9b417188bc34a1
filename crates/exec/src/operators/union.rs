//! Bag union: one input after the other, their columns brought into one order.

use super::project::Project;
use super::{BoxOp, Operator};
use crate::key_filter::KeyFilter;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_sparql::VarId;
use std::sync::Arc;

/// The operator.
pub(crate) struct Union {
    /// Inputs not yet finished, the next one last.
    inputs: Vec<BoxOp>,
}

impl Union {
    /// The rows of `inputs`, each given with its columns; delivers `vars`.
    pub(crate) fn new(inputs: Vec<(BoxOp, &[VarId])>, vars: &Arc<[VarId]>) -> Self {
        let project = |(input, input_vars)| Box::new(Project::new(input, input_vars, vars)) as BoxOp;
        Self { inputs: inputs.into_iter().rev().map(project).collect() }
    }
}

impl Operator for Union {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        while let Some(input) = self.inputs.last_mut() {
            if input.next(out)? {
                return Ok(true);
            }
            self.inputs.pop();
        }
        out.clear();
        Ok(false)
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        self.inputs.iter_mut().for_each(|input| input.keep_keys(var, filter));
    }
}
