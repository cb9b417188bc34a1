//! Why a segment could not be written.

use crate::error::StoreError;
use crate::room::MayBeFull;
use lode_base::cancel::Cancelled;
use lode_packed::PackedError;
use std::io;
use std::path::Path;

/// Errors of what writes segments. No manifest names the segment then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
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

impl BuildError {
    /// A temporary file failed.
    pub(crate) fn temporary(folder: &Path, source: io::Error) -> Self {
        Self::Store(StoreError::Io { path: folder.to_owned(), source })
    }
}

impl MayBeFull for BuildError {
    fn is_disk_full(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_disk_full())
    }
}

impl From<PackedError> for BuildError {
    fn from(error: PackedError) -> Self {
        match StoreError::from(error) {
            StoreError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            other => Self::Store(other),
        }
    }
}

impl From<BuildError> for StoreError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Store(error) => error,
            BuildError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            other => Self::Limit(other.to_string()),
        }
    }
}
