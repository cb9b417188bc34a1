//! EXISTS by substitution, for patterns that could not become semi-joins (SPARQL 1.1 section 18.6, `substitute`).

use crate::context::QueryContext;
use crate::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use lode_sparql::plan::SubPattern;

/// Answers already found, by pattern and binding: one per query, shared by its threads.
#[derive(Debug, Default)]
pub struct ExistsCache {}

/// Whether `pattern`, with these outer variables replaced by their values, has a solution.
pub fn exists(
    _cx: &QueryContext,
    _pattern: &SubPattern,
    _bindings: &[(VarId, ValueId)],
) -> Result<bool, ExecError> {
    unimplemented!()
}
