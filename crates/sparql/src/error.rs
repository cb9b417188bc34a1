//! Why there is no plan.

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
