//! From algebra to a physical plan: the entry points.

use crate::plan::{DatasetOverride, Plan, SubPattern, VarId, VarTable};
use crate::statistics::Statistics;
use lode_rdf::Term;
use spargebra::Query;

/// How to plan.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlanOptions {
    /// The default graph is the de-duplicated union of all graphs, unless the query names its own dataset.
    pub default_graph_union: bool,
    /// Reorder, push down and choose join methods by cost. Without: a straightforward plan, for tests and for comparison.
    pub optimize: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { default_graph_union: false, optimize: true }
    }
}

/// Why a query has no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A feature that the engine does not have.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// A variable is assigned where it is bound already.
    #[error("?{0} is assigned where it may be bound already")]
    AssignedTwice(String),
    /// The query is too deep or too large.
    #[error("the query is too complex: {0}")]
    TooComplex(String),
}

/// Plans a query.
pub fn plan_query(
    _query: &Query,
    _dataset: &DatasetOverride,
    _options: &PlanOptions,
    _stats: &dyn Statistics,
) -> Result<Plan, PlanError> {
    Err(PlanError::Unsupported("planning".into()))
}

/// Plans a pattern while its query runs, its outer variables replaced by `bindings`. Variables keep the ids they have in
/// `vars`, the outer query's table; the plan's own table starts with those. The result's form is `Select` of the pattern's
/// visible variables without the replaced ones.
pub fn plan_sub(
    _sub: &SubPattern,
    _bindings: &[(VarId, Term)],
    _vars: &VarTable,
    _options: &PlanOptions,
    _stats: &dyn Statistics,
) -> Result<Plan, PlanError> {
    Err(PlanError::Unsupported("planning".into()))
}
