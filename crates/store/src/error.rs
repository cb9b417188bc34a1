//! What can go wrong in the store.

use lode_base::cancel::Cancelled;
use lode_base::memory_budget::OutOfBudget;
use lode_packed::PackedError;
use lode_rdf::ValueId;
use std::io;
use std::path::{Path, PathBuf};

/// What can be done about damage to a backup, which nobody writes to but who backs up.
pub(crate) const BACKUP_ADVICE: &str = "`lode backup` of the database into this folder makes the backup whole; without the database, copy the \
     folder, remove the file BACKUP from the copy, and let `lode check --salvage` mend that";

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
    /// The words of a segment's texts need more memory than there is.
    #[error("the words of the texts do not fit into {memory_bytes} bytes of memory; --memory gives it more")]
    WordsTooMany {
        /// The memory.
        memory_bytes: usize,
    },
    /// A segment has more geometries than an index of them has numbers.
    #[error(
        "a segment with more than {most} literals is not indexed: conditions on its geometries read them"
    )]
    PlacesTooMany {
        /// The most.
        most: u64,
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
    #[error("there is no database at {}; `lode load` makes one, and so does `lode update --create`", path.display())]
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
    /// There are the files of a database at this path, but not its manifest.
    #[error(
        "{} is a database that has lost its MANIFEST (found: {found}). Nothing was changed. Put the MANIFEST back, or let \
         `lode check --salvage` make it again",
        path.display()
    )]
    NoManifest {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: String,
    },
    /// A database was being restored here, and that did not end.
    #[error(
        "{} is being restored, or that did not end: wait for it, or restore again (`lode restore`), which first removes what is there",
        path.display()
    )]
    RestoreUnfinished {
        /// The path.
        path: PathBuf,
    },
    /// Another process writes to the database.
    #[error(
        "{} is locked: another process is writing to it, or serves it, as `lode serve` does until it is stopped. Wait for it to end or \
         stop it; a server that runs takes data at /data and updates at /update",
        path.display()
    )]
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
    #[error(
        "{} is a backup: it can be read, but not written to; `lode restore` makes a database of it, and `lode backup` of its database into a new \
         folder another backup",
        path.display()
    )]
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
    #[error("there is no whole backup at {}{}", path.display(), part_of_a_backup(found))]
    NoBackup {
        /// The path.
        path: PathBuf,
        /// What is there of one.
        found: String,
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
    /// The disk is full, and what is left of it is for what makes room.
    #[error(
        "{}: the disk that holds it is full, or your share of it: until there is room again, only deletions, compactions and the dropping of \
         snapshots are done; nothing was changed: make room and try again",
        path.display()
    )]
    Full {
        /// The folder of the database.
        path: PathBuf,
    },
    /// Changes come faster than they can be written as segments.
    #[error("too many changes wait to be written to segments{}; nothing was changed: try again in a while", cause.as_deref().map(|cause| format!(" (the last attempt failed: {cause})")).unwrap_or_default())]
    Behind {
        /// Why segments cannot be written, if that is the reason.
        cause: Option<String>,
    },
    /// Memory ran out where changes that a transaction has made are read.
    #[error("{0}; change less at once, or give more with --memory")]
    OutOfMemory(OutOfBudget),
    /// The check of commits has refused a change. Nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// A limit of the format, or an invariant of a writer.
    #[error("{0}")]
    Limit(String),
}

/// What is the matter with the name of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotProblem {
    /// It cannot be one.
    #[error("a name has 1 to 64 ASCII letters, digits, -, _ and .")]
    Name,
    /// Nothing has it.
    #[error("there is no such snapshot")]
    Missing,
    /// Its manifest is damaged or missing.
    #[error(
        "its manifest is damaged or missing, so nobody can read it; no segment that it may need is removed until `lode snapshot drop` drops it"
    )]
    Damaged,
    /// Another snapshot has it.
    #[error("there is such a snapshot already")]
    Exists,
}

/// What to do about a backup of which only this is there.
fn part_of_a_backup(found: &str) -> String {
    if found.is_empty() {
        return String::new();
    }
    format!(": one did not end there, or has lost its MANIFEST (found: {found}). {BACKUP_ADVICE}")
}

/// What to do about an error of the file system, where that is not plain from its text.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ": the disk that holds it is full, or your share of it; make room and try again (the database is as it was)"
        }
        io::ErrorKind::StaleNetworkFileHandle => {
            ": another process has replaced this version of the database; open it again, and ask again"
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

    /// Whether the disk is full, or somebody's share of it.
    pub fn is_disk_full(&self) -> bool {
        let is_full = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        };
        matches!(self, Self::Full { .. }) || matches!(self, Self::Io { source, .. } if is_full(source))
    }

    /// Whether a file of an open version is gone, since another process has replaced it and there were too few descriptors to keep
    /// all files open: there is a later version.
    pub fn is_stale(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::StaleNetworkFileHandle)
    }

    /// Whether there is no manifest where one was looked for, whatever else is there.
    pub(crate) fn is_without_manifest(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. }
                | Self::NotADatabase { .. }
                | Self::NoManifest { .. }
                | Self::RestoreUnfinished { .. }
                | Self::NoBackup { .. }
        )
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
