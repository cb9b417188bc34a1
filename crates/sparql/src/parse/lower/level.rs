//! Where expressions stand, as to aggregates.

use lode_rdf::Variable;
use spargebra::algebra::AggregateExpression;

/// Where an expression stands.
#[derive(Debug)]
pub(super) enum Level {
    /// In SELECT, HAVING or ORDER BY: the aggregates so far.
    Group(Vec<(Variable, AggregateExpression)>),
    /// Where none may be: in FILTER, BIND, GROUP BY, and in each other.
    None,
}
