//! What is wrong with a query for words, where, and what would be right.

use std::ops::Range;

/// Why a text is no query for words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// The place, in bytes of the query.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right; empty where that is not known.
    pub help: &'static str,
}

impl QueryError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>, help: &'static str) -> Self {
        Self { span, message: message.into(), help }
    }
}
