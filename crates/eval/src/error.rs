//! Errors of query execution. Errors *in expressions* are values (unbound), never these.

use lode_base::cancel::Cancelled;
use lode_base::memory_budget::OutOfBudget;
use lode_scheduler::Panicked;
use lode_store::StoreError;

/// Why a query stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// Reading the store failed.
    #[error(transparent)]
    Store(StoreError),
    /// Time-out or a request to stop.
    #[error("the query was stopped: {0}")]
    Cancelled(#[from] Cancelled),
    /// Memory ran out where spilling was not possible.
    #[error(
        "{0}; ask for less at once (fewer rows in DISTINCT, GROUP BY, ORDER BY and joins), or give more with --memory"
    )]
    OutOfMemory(#[from] OutOfBudget),
    /// An expression would make a text that is too long.
    #[error(
        "{function} would make a text of more than {bytes_max} bytes: make shorter ones, or give more with --memory (a text may be a sixteenth of it)"
    )]
    TextTooLong {
        /// Which function.
        function: &'static str,
        /// How long it may be.
        bytes_max: usize,
    },
    /// An expression with back-references needs too many steps for a text.
    #[error(
        "the regular expression {pattern:?}, which has back-references, needs too many steps for a text of {text_bytes} bytes: \
         make it simpler (fewer repetitions that can match the same text), or anchor it with ^"
    )]
    PatternTooComplex {
        /// How the expression begins.
        pattern: String,
        /// How long the text is.
        text_bytes: usize,
    },
    /// A temporary file could not be written or read.
    #[error("spilling to a temporary file failed: {0}")]
    Spill(#[from] std::io::Error),
    /// Planning a sub-pattern while running failed.
    #[error("planning a sub-pattern: {0}")]
    Plan(String),
    /// A federated query failed.
    #[error("SERVICE <{endpoint}>: {message}")]
    Service {
        /// The endpoint's IRI.
        endpoint: String,
        /// What went wrong.
        message: String,
    },
    /// What others run of a query failed.
    #[error("{message}")]
    Elsewhere {
        /// What went wrong, and where.
        message: String,
        /// Whether it may be begun again.
        again: Again,
    },
    /// A mistake of ours: the query stopped, the process did not.
    #[error("internal error: {0}")]
    Internal(String),
}

impl ExecError {
    /// Whether what others run of the query may be begun again.
    pub fn again(&self) -> Again {
        match self {
            Self::Elsewhere { again, .. } => *again,
            _ => Again::No,
        }
    }
}

/// Whether what others run of a query may be begun again, as long as no row of it has gone out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It would fail again.
    No,
    /// Who ran it is gone: another may do it.
    Elsewhere,
    /// Others cannot run it as they are: from now on it is run here.
    Here,
}

impl From<StoreError> for ExecError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::OutOfMemory(reason) => Self::OutOfMemory(reason),
            other => Self::Store(other),
        }
    }
}

impl From<Panicked> for ExecError {
    fn from(panicked: Panicked) -> Self {
        Self::Internal(panicked.0)
    }
}
