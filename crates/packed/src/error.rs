//! What can go wrong with packed files.

use lode_base::cancel::Cancelled;
use std::io;
use std::sync::Arc;

pub(crate) type Result<T> = std::result::Result<T, PackedError>;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackedError {
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: Arc<str>,
        /// Why.
        source: io::Error,
    },
    /// The bytes are not what a writer of this format wrote.
    #[error("{file}: damaged at byte {offset}: {what}")]
    Corruption {
        /// The file.
        file: Arc<str>,
        /// Where the damaged part begins.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The file is whole, but of another version of the format.
    #[error("{file}: format version {found}; this program reads version {supported}")]
    Version {
        /// The file.
        file: Arc<str>,
        /// The version in the file.
        found: u32,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// A writer was given rows or keys that do not ascend.
    #[error("{file}: entry {entry} is not after the one before it")]
    Unsorted {
        /// The file being written.
        file: Arc<str>,
        /// The number of the entry, from 0.
        entry: u64,
    },
    /// A writer was given a key that the format has no room for.
    #[error("{file}: a key of {bytes} bytes is too long")]
    KeyTooLong {
        /// The file being written.
        file: Arc<str>,
        /// Its length.
        bytes: usize,
    },
    /// A rank that the dictionary does not have.
    #[error("{file}: no term of rank {rank}")]
    NoSuchRank {
        /// The file.
        file: Arc<str>,
        /// The rank asked for.
        rank: u64,
    },
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What a decoder found wrong in a block; [`PackedError::Corruption`] once file and place are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damage(pub &'static str);

impl Damage {
    pub(crate) fn at(self, file: &Arc<str>, offset: u64) -> PackedError {
        PackedError::Corruption { file: Arc::clone(file), offset, what: self.0 }
    }
}

pub(crate) fn io_error(path: &Arc<str>) -> impl FnOnce(io::Error) -> PackedError {
    let path = Arc::clone(path);
    move |source| PackedError::Io { path, source }
}
