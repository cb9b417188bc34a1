//! What an operator is.

use crate::key_filter::KeyFilter;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// A running operator: the state of one thread.
pub(crate) trait Operator: Send {
    /// Replaces `out` by the next rows. `true`: there is at least one; `false`: the end, and `out` is empty.
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError>;

    /// A hint: the caller has no use for rows whose values of `vars` (a leading part of this operator's sort order) come before
    /// `key`, so they may be skipped.
    fn skip_to(&mut self, _vars: &[VarId], _key: &[ValueId]) -> Result<(), ExecError> {
        Ok(())
    }

    /// A hint, before the first row is asked for: the caller has no use for rows that bind `var` to a value that is not in `filter`.
    fn keep_keys(&mut self, _var: VarId, _filter: &Arc<KeyFilter>) {}
}

/// Any operator.
pub(crate) type BoxOp = Box<dyn Operator>;
