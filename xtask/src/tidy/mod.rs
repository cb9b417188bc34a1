//! `cargo xtask tidy`: the rules of the house that the compiler does not check. Also a test, so that `cargo test` fails too.
//!
//! One file per rule. A rule takes the list of files and gives the problems it found.

mod files;
pub mod format_hash;
mod layers;
mod names;
mod restricted;
mod sizes;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

pub use files::SourceFile;

/// A breach of a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    file: String,
    /// 0 if the whole file is meant.
    line: usize,
    what: String,
}

impl Problem {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
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

/// Checks the workspace at `root`.
pub fn check(root: &Path) -> Vec<Problem> {
    let files = match files::collect(root) {
        Ok(files) => files,
        Err(error) => return vec![Problem::new(".", 0, format!("cannot be read: {error}"))],
    };
    let exceptions = files.iter().find(|file| file.path == sizes::EXCEPTIONS);
    let exceptions = exceptions.map_or("", |file| file.text.as_str());
    let rules = [
        sizes::check(&files, exceptions),
        names::check(&files),
        restricted::check(&files),
        layers::check(&files),
        format_hash::check(&files),
    ];
    rules.into_iter().flatten().collect()
}
