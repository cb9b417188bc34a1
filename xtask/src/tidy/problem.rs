//! What a rule reports.

use std::fmt;

/// A breach of a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    file: String,
    /// 0 if the whole file is meant.
    line: usize,
    what: String,
}

impl Problem {
    pub fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}
