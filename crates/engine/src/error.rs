//! Errors of the facade: one enum over the layers below, telling apart what callers answer differently.

use lode_base::cancel::Cancelled;
use lode_exec::ExecError;
use lode_sparql::ParseError;
use lode_store::{CompactError, LoadError, StoreError};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The query's text is not SPARQL.
    #[error("{0}")]
    Syntax(Box<ParseError>),
    /// The query cannot be planned.
    #[error("{0}")]
    Plan(String),
    /// The store cannot be read.
    #[error(transparent)]
    Store(StoreError),
    /// Time-out or a request to stop.
    #[error("stopped: {0}")]
    Cancelled(Cancelled),
    /// An operation of an update cannot be done. Nothing was changed.
    #[error("{0}")]
    Update(String),
    /// Rules are wrong, or cannot be applied. Nothing was changed.
    #[error("{0}")]
    Rules(String),
    /// A graph may not be changed by who asks. It says nothing of whether there is the graph. Nothing was changed.
    #[error("{0}")]
    Forbidden(String),
    /// The check of commits has refused a change. Nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// LOAD names what this process may not read. Nothing was changed.
    #[error("{0}")]
    LoadRefused(String),
    /// What LOAD names is not there, or could not be read to its end. Nothing was changed.
    #[error("{0}")]
    LoadUnreachable(String),
    /// A document cannot be read or loaded. Nothing was changed.
    #[error(transparent)]
    Load(LoadError),
    /// The database cannot be compacted. It holds what it held.
    #[error(transparent)]
    Compact(CompactError),
    /// What the caller wanted to be so for a change is not so. Nothing was changed.
    #[error("{0}: nothing was changed")]
    Condition(String),
    /// What was asked for cannot be done with so much at once. Nothing was changed.
    #[error("{0}")]
    TooLarge(String),
    /// The answer has more rows or triples than it may have ([`crate::QueryOptions::rows_max`]).
    #[error("the answer has more than {0} rows")]
    TooManyRows(u64),
    /// Execution failed.
    #[error(transparent)]
    Execution(ExecError),
    /// The query asks for something that the caller's format cannot hold.
    #[error("{0}")]
    Format(String),
    /// Results could not be written.
    #[error("writing results: {0}")]
    Output(#[from] std::io::Error),
}

impl EngineError {
    /// Whether files of the version that was read are gone: the same can be asked of the version of the moment.
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_stale())
    }
}

impl From<ParseError> for EngineError {
    fn from(error: ParseError) -> Self {
        Self::Syntax(error.into())
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Cancelled(reason) => Self::Cancelled(reason),
            StoreError::Refused(reason) => Self::Refused(reason),
            StoreError::OutOfMemory(reason) => Self::Execution(ExecError::OutOfMemory(reason)),
            other => Self::Store(other),
        }
    }
}

impl From<LoadError> for EngineError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Cancelled(reason) => Self::Cancelled(reason),
            LoadError::Store(error) => error.into(),
            other => Self::Load(other),
        }
    }
}

impl From<CompactError> for EngineError {
    fn from(error: CompactError) -> Self {
        match error {
            CompactError::Build(error) => LoadError::from(error).into(),
            other => Self::Compact(other),
        }
    }
}

impl From<ExecError> for EngineError {
    fn from(error: ExecError) -> Self {
        match error {
            ExecError::Cancelled(reason) => Self::Cancelled(reason),
            ExecError::Store(error) => error.into(),
            other => Self::Execution(other),
        }
    }
}
