//! Why a compaction failed. The database then holds what it held, unless the error says otherwise.

use crate::error::StoreError;
use crate::room::MayBeFull;
use crate::segment_builder::BuildError;

/// Errors of a compaction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompactError {
    /// A segment could not be written.
    #[error(transparent)]
    Build(BuildError),
    /// Segments that were merged have gone meanwhile, or lost their quads.
    #[error(
        "graphs were dropped or replaced all the while the database was compacted, and nothing was changed: try again later"
    )]
    Overtaken,
}

impl CompactError {
    /// Whether the database may yet turn out to have changed: then what was written must stay.
    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self, Self::Build(BuildError::Store(StoreError::InDoubt { .. })))
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Build(BuildError::Cancelled(_) | BuildError::Store(StoreError::Cancelled(_))))
    }
}

impl<E: Into<BuildError>> From<E> for CompactError {
    fn from(error: E) -> Self {
        Self::Build(error.into())
    }
}

impl MayBeFull for CompactError {
    fn is_disk_full(&self) -> bool {
        matches!(self, Self::Build(error) if error.is_disk_full())
    }
}
