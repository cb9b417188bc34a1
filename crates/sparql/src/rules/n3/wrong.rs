//! A mistake in a text of N3 and its place, for lexer and parser.

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub at: usize,
    pub message: String,
}
