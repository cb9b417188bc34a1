//! What can go wrong in the store.

use lode_base::cancel::Cancelled;
use lode_packed::PackedError;
use lode_rdf::ValueId;
use std::io;
use std::path::{Path, PathBuf};

/// Errors of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file system refused.
    #[error("{}: {source}{}", path.display(), advice(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The new version was put in place, but nobody can say whether it stays there.
    #[error(
        "{}: {source}: the new version was put in place, but the file system did not confirm that it is there to stay; \
         after a power cut the database may be the one before. Both are whole. Look after the disk, then see with `lode stats` \
         which one it is",
        path.display()
    )]
    InDoubt {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The bytes of a file are not what was written.
    #[error("{file}: damaged at byte {offset}: {what}")]
    Corruption {
        /// The file.
        file: String,
        /// Where the damage begins.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// There is nothing at this path.
    #[error("there is no database at {}; `lode load` makes one", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// There is something else at this path.
    #[error("{} is not a database: it has no MANIFEST but holds other files; give the path of a database, or of an empty or new folder to make one", path.display())]
    NotADatabase {
        /// The path.
        path: PathBuf,
    },
    /// Another process writes to the database.
    #[error("{} is locked: another process is writing to it; wait for it to end, or stop it", path.display())]
    Locked {
        /// The path.
        path: PathBuf,
    },
    /// The database was opened for reading.
    #[error("{} was opened for reading only", path.display())]
    ReadOnly {
        /// The path.
        path: PathBuf,
    },
    /// A named snapshot cannot be made, or is not there.
    #[error("snapshot {name:?}: {what}")]
    Snapshot {
        /// The name.
        name: String,
        /// Why.
        what: SnapshotProblem,
    },
    /// Somebody wants to write to a backup.
    #[error("{} is a backup: it can be read, but not written to; `lode restore` makes a database of it", path.display())]
    IsBackup {
        /// The path.
        path: PathBuf,
    },
    /// A backup cannot be put at this path.
    #[error("{}: {what}; give the path of a new or empty folder, or of a backup of this database", path.display())]
    BackupTarget {
        /// The path.
        path: PathBuf,
        /// What is there.
        what: String,
    },
    /// There is no backup at this path.
    #[error("there is no whole backup at {}", path.display())]
    NoBackup {
        /// The path.
        path: PathBuf,
    },
    /// A database can be restored only where nothing is.
    #[error("{} is not empty: a database is restored into a new or an empty folder only", path.display())]
    NotEmpty {
        /// The path.
        path: PathBuf,
    },
    /// The files are of another version of the format.
    #[error("{file}: format version {found}; this program reads version {supported}")]
    Version {
        /// The file.
        file: String,
        /// The version in the file.
        found: u32,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// An id that this version of the database never gave.
    #[error("no term has the id {0:?}")]
    UnknownId(ValueId),
    /// The work was cancelled or took too long.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A limit of the format, or an invariant of a writer.
    #[error("{0}")]
    Limit(String),
}

/// What is the matter with the name of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotProblem {
    /// It cannot be one.
    #[error("a name has 1 to 64 letters, digits, and - _ .")]
    Name,
    /// Nothing has it.
    #[error("there is no such snapshot")]
    Missing,
    /// Another snapshot has it.
    #[error("there is such a snapshot already")]
    Exists,
}

/// What to do about an error of the file system, where that is not plain from its text.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ": the disk that holds it is full, or your share of it; make room and try again (the database is as it was)"
        }
        _ => "",
    }
}

impl StoreError {
    /// Wraps an error of the file system, with the path.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// A damaged file.
    pub(crate) fn corruption(file: &Path, offset: u64, what: impl Into<String>) -> Self {
        Self::Corruption { file: file.display().to_string(), offset, what: what.into() }
    }
}

impl From<PackedError> for StoreError {
    fn from(error: PackedError) -> Self {
        match error {
            PackedError::Io { path, source } => Self::Io { path: PathBuf::from(&*path), source },
            PackedError::Corruption { file, offset, what } => {
                Self::Corruption { file: file.to_string(), offset, what: what.to_string() }
            }
            PackedError::Version { file, found, supported } => {
                Self::Version { file: file.to_string(), found, supported }
            }
            PackedError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            other => Self::Limit(other.to_string()),
        }
    }
}
