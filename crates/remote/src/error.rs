//! What can go wrong with databases on object storage. Each error names the object.

use lode_base::cancel::Cancelled;
use lode_store::{LoadError, StoreError};
use std::io;

/// Errors of databases on object storage.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// An address that cannot be one of a published database, or not of one that can be read or written so.
    #[error("{address}: {what}")]
    Address {
        /// The address.
        address: String,
        /// What is wrong.
        what: String,
    },
    /// There is no published database.
    #[error("there is no published database at {address}{what}")]
    Unpublished {
        /// The address.
        address: String,
        /// What there is instead, and how one comes there.
        what: String,
    },
    /// There is no such version.
    #[error("{address} has no version {wanted}; it has {found}")]
    NoVersion {
        /// The address.
        address: String,
        /// What was asked for.
        wanted: String,
        /// Those that there are.
        found: String,
    },
    /// An object is not there.
    #[error(
        "{object} is missing: it was removed, as garbage collection does with what no kept version needs, or never came here. Ask again: that reads the \
         newest version"
    )]
    Missing {
        /// The object.
        object: String,
    },
    /// An object cannot be read or written.
    #[error("{object}: {source}")]
    Io {
        /// The object.
        object: String,
        /// Why.
        source: io::Error,
    },
    /// The bytes of an object are not those that were published.
    #[error("{object}: damaged at byte {offset}: {what}")]
    Damaged {
        /// The object.
        object: String,
        /// Where the damage begins, as far as that can be told.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// It was written by a later program.
    #[error(
        "{object}: format version {found} of published databases; this program reads version {supported}"
    )]
    Format {
        /// The object.
        object: String,
        /// The version found.
        found: u32,
        /// The version that this program reads and writes.
        supported: u32,
    },
    /// Somebody else publishes there, or has.
    #[error("{address}: {what}")]
    Conflict {
        /// The address.
        address: String,
        /// Who, and what to do.
        what: String,
    },
    /// Of two who published at once it was the other.
    #[error(
        "{address}: somebody else published version {number} meanwhile. Nothing of what was written now is visible; publish again"
    )]
    Lost {
        /// The address.
        address: String,
        /// The version.
        number: u64,
    },
    /// The version was put in place, but the store did not confirm that it is there to stay.
    #[error(
        "{object}: {source}: the version was put in place, but nobody can say whether it stays there; publish again, which finds out"
    )]
    InDoubt {
        /// The object.
        object: String,
        /// Why.
        source: io::Error,
    },
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] StoreError),
    /// A load failed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Somebody called the work off, or its time is over.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl RemoteError {
    pub(crate) fn io(object: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let object = object.into();
        move |source| match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { object },
            _ => Self::Io { object, source },
        }
    }

    pub(crate) fn damaged(object: impl Into<String>, offset: u64, what: impl Into<String>) -> Self {
        Self::Damaged { object: object.into(), offset, what: what.into() }
    }

    /// Whether it is the way to the object that failed, and not the object.
    pub(crate) fn is_of_network(&self) -> bool {
        use io::ErrorKind as K;
        match self {
            Self::Io { source, .. } => matches!(
                source.kind(),
                K::ConnectionRefused
                    | K::ConnectionReset
                    | K::ConnectionAborted
                    | K::NotConnected
                    | K::HostUnreachable
                    | K::NetworkUnreachable
                    | K::TimedOut
                    | K::Interrupted
                    | K::Unsupported
            ),
            _ => false,
        }
    }

    /// Whether the same may go well the next time.
    pub(crate) fn is_transient(&self) -> bool {
        use io::ErrorKind as K;
        match self {
            Self::Io { source, .. } => !matches!(
                source.kind(),
                K::PermissionDenied | K::Unsupported | K::InvalidInput | K::IsADirectory | K::Interrupted
            ),
            // Perhaps it was damaged on its way.
            Self::Damaged { .. } => true,
            _ => false,
        }
    }
}

/// As a file system tells it, for the layers above.
impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        let kind = match &error {
            RemoteError::Missing { .. } => io::ErrorKind::NotFound,
            RemoteError::Damaged { .. } => io::ErrorKind::InvalidData,
            RemoteError::Io { source, .. } | RemoteError::InDoubt { source, .. } => source.kind(),
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

/// As the store tells it, for the layers in which it does what is done here.
impl From<RemoteError> for StoreError {
    fn from(error: RemoteError) -> Self {
        match error {
            RemoteError::Database(error) => error,
            RemoteError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            RemoteError::Io { object, source } | RemoteError::InDoubt { object, source } => {
                Self::Io { path: object.into(), source }
            }
            RemoteError::Damaged { object, offset, what } => Self::Corruption { file: object, offset, what },
            other => Self::Refused(other.to_string()),
        }
    }
}
