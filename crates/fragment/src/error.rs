//! What goes wrong with what travels.

use lode_exec::ExecError;
use lode_store::StoreError;

/// Why something cannot travel, or what came is not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FragmentError {
    /// It stays at the head.
    #[error("this part of a plan stays where the query was asked: {0}")]
    Stays(&'static str),
    /// It is larger than what travels may be.
    #[error("a part of a plan that is too large to travel: {0}")]
    TooLarge(&'static str),
    /// Bytes that nobody writes.
    #[error("no part of a plan: {0}")]
    Damaged(&'static str),
    /// A plan that breaks a rule between planner and execution.
    #[error("a part of a plan that cannot be run: {0}")]
    Invalid(String),
    /// Another version of the format or of the program.
    #[error("a part of a plan from {found}, but this is {own}: head and workers have to be of one version")]
    Program {
        /// Of what version it is.
        found: String,
        /// The version here.
        own: String,
    },
    /// Another database, or another version of it.
    #[error("a part of a plan for version {wanted} of a database, but what is open here is {found}")]
    Version {
        /// The version that it is for.
        wanted: u64,
        /// What is here.
        found: String,
    },
    /// A term that the version lacks.
    #[error("a part of a plan with the term {0}, which its database does not have")]
    UnknownTerm(String),
    /// A graph that who asks may not read.
    #[error("a part of a plan reads {0}, which its rules for graphs do not allow")]
    Forbidden(&'static str),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Running it failed.
    #[error(transparent)]
    Execution(#[from] ExecError),
}
