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
    /// A source is wrong, or could not be read.
    #[error(transparent)]
    Source(IngestError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The segment could not be made.
    #[error(transparent)]
    Build(BuildError),
}

impl LoadError {
    /// Whether the database may yet turn out to have changed: then what was written must stay.
    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self, Self::Store(StoreError::InDoubt { .. }))
    }

    /// More than the format has room for.
    pub(crate) fn limit(what: &'static str) -> Self {
        Self::Build(BuildError::Limit(what))
    }

    /// A temporary file failed.
    pub(crate) fn temporary(folder: &Path, source: io::Error) -> Self {
        Self::Store(StoreError::Io { path: folder.to_owned(), source })
    }
}

impl From<IngestError> for LoadError {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Io { path, source } => Self::Store(StoreError::Io { path, source }),
            IngestError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            wrong => Self::Source(wrong),
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
            other => Self::Build(other),
        }
    }
}
