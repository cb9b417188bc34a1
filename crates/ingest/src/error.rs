//! Why sources could not be read.

use lode_base::cancel::Cancelled;
use lode_rdf::input::MalformedText;
use std::io;
use std::path::{Path, PathBuf};

/// Errors of reading sources.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
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
    /// A temporary file failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or its folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl IngestError {
    /// A temporary file failed.
    pub(crate) fn temporary(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A source could not be read; bytes that are none of its encoding are a mistake in its text.
    pub(crate) fn input(source_name: &str, error: io::Error) -> Self {
        let source_name = source_name.to_owned();
        match MalformedText::of(&error) {
            Some(malformed) => {
                let (line, column, message) = (malformed.line, malformed.column, malformed.to_string());
                Self::Syntax { source_name, line, column, message }
            }
            None => Self::Input { source_name, error },
        }
    }

    /// Whether it is only about one source: others can be loaded all the same.
    pub(crate) fn is_of_source(&self) -> bool {
        matches!(self, Self::Syntax { .. } | Self::Input { .. } | Self::Format { .. })
    }

    /// Line and column; what has none comes last.
    pub(crate) fn place(&self) -> (u64, u64) {
        match self {
            Self::Syntax { line, column, .. } => (*line, *column),
            _ => (u64::MAX, 0),
        }
    }
}
