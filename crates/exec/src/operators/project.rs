//! Chooses and orders columns; one that the input lacks is unbound.

use super::{BoxOp, Operator};
use crate::key_filter::KeyFilter;
use lode_eval::batch::{Batch, Mapping};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// The operator.
pub(crate) struct Project {
    input: BoxOp,
    mapping: Option<Mapping>,
    buffer: Batch,
}

impl Project {
    /// The columns `vars` of `input`, whose columns are `input_vars`.
    pub(crate) fn new(input: BoxOp, input_vars: &[VarId], vars: &Arc<[VarId]>) -> Self {
        let mapping = (*input_vars != **vars).then(|| Mapping::new(input_vars, vars));
        Self { input, mapping, buffer: Batch::default() }
    }
}

impl Operator for Project {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        let Some(mapping) = &self.mapping else { return self.input.next(out) };
        let more = self.input.next(&mut self.buffer)?;
        mapping.apply(&mut self.buffer, out);
        Ok(more)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        self.input.skip_to(vars, key)
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        self.input.keep_keys(var, filter);
    }
}
