//! Why a load failed. The database is then what it was before, unless the error says otherwise.

use crate::error::StoreError;
use crate::room::MayBeFull;
use crate::segment_builder::BuildError;
use lode_base::cancel::Cancelled;
use lode_ingest::IngestError;
use lode_packed::PackedError;
use std::io;
use std::path::Path;

/// Errors of a load.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A source is not well-formed.
    #[error("{source_name}:{line}:{column}: {message}")]
    Syntax {
        /// Name of the source.
        source_name: String,
        /// Line, from 1.
        line: u64,
        /// Column in characters, from 1.
        column: u64,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// A source cannot be read.
    #[error("{source_name}: {error}")]
    Input {
        /// Name of the source.
        source_name: String,
        /// Why.
        error: io::Error,
    },
    /// The format of a source is not known.
    #[error("{source_name}: {message}")]
    Format {
        /// Name of the source.
        source_name: String,
        /// What to do.
        message: String,
    },
    /// A source names a graph where it must not.
    #[error("{source_name}: names a graph, but what is in it is for one graph")]
    NamesGraph {
        /// Name of the source.
        source_name: String,
    },
    /// What is set aside cannot be written.
    #[error("writing what is set aside: {0}")]
    Quarantine(io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The work needs more memory than it may take.
    #[error("{what} need more memory: try again with --memory {}MiB or more", bytes.div_ceil(1 << 20))]
    Memory {
        /// What does not fit.
        what: &'static str,
        /// How many bytes would do, about.
        bytes: usize,
    },
    /// More than the format has room for.
    #[error("too many or too large {0} for one load")]
    Limit(&'static str),
    /// The sorted orders of the new segment do not hold the same quads: a fault of this program or of the machine.
    #[error("the new segment contradicts itself ({0}); nothing was changed")]
    Inconsistent(String),
}

impl LoadError {
    /// Whether the database may yet turn out to have changed: then what was written must stay.
    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self, Self::Store(StoreError::InDoubt { .. }))
    }

    /// A temporary file failed.
    pub(crate) fn temporary(folder: &Path, source: io::Error) -> Self {
        Self::Store(StoreError::Io { path: folder.to_owned(), source })
    }
}

impl From<IngestError> for LoadError {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Syntax { source_name, line, column, message } => {
                Self::Syntax { source_name, line, column, message }
            }
            IngestError::Input { source_name, error } => Self::Input { source_name, error },
            IngestError::Format { source_name, message } => Self::Format { source_name, message },
            IngestError::NamesGraph { source_name } => Self::NamesGraph { source_name },
            IngestError::Quarantine(error) => Self::Quarantine(error),
            IngestError::Io { path, source } => Self::Store(StoreError::Io { path, source }),
            IngestError::Cancelled(cancelled) => Self::Cancelled(cancelled),
        }
    }
}

impl MayBeFull for LoadError {
    fn is_disk_full(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_disk_full())
    }
}

impl From<PackedError> for LoadError {
    fn from(error: PackedError) -> Self {
        match StoreError::from(error) {
            StoreError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            other => Self::Store(other),
        }
    }
}

impl From<BuildError> for LoadError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Store(error) => Self::Store(error),
            BuildError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            BuildError::Memory { what, bytes } => Self::Memory { what, bytes },
            BuildError::Limit(what) => Self::Limit(what),
            BuildError::Inconsistent(what) => Self::Inconsistent(what),
        }
    }
}
