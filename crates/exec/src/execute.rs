//! Where execution begins: a plan and what it runs in.

use crate::build::FACTORY;
use crate::context::QueryContext;
use crate::execution::Execution;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::Plan;
use std::ops::Range;
use std::sync::Arc;

/// Runs `plan`. Work begins with the first [`Execution::next`], but for opening scans.
///
/// # Errors
///
/// Where the query was cancelled, a scan cannot be opened, or there is no memory for what operators hold from the beginning.
pub fn execute(plan: Arc<Plan>, cx: Arc<QueryContext>) -> Result<Execution, ExecError> {
    Execution::new(plan, &cx, FACTORY)
}

/// Runs the part of `plan` whose values lie in `range`, which are values of the variable that [`crate::key_ranges`] tells. A plan that
/// [has groups in parts](crate::has_groups_in_parts) gives those of this part.
///
/// # Errors
///
/// As [`execute`], and where the plan has no such parts.
pub fn execute_between(
    plan: Arc<Plan>,
    cx: Arc<QueryContext>,
    range: &Range<ValueId>,
) -> Result<Execution, ExecError> {
    Execution::between(plan, &cx, range, FACTORY)
}
