//! Full-text search over single texts: the words of a text, queries for words, whether a text matches, how well, and where.
//!
//! It knows no terms, no files and no plans: a text is a string and a language tag. The planner reads queries with it, so that what is wrong with one
//! is told before anything runs; the evaluator matches with it. Whoever keeps an index of words has to make them by the same [`analysis`], or else
//! answers with an index and without would differ.

pub mod analysis;
mod error;
mod glob;
pub mod index;
mod matcher;
mod parse;
mod parts;
mod prepared;
mod query;
mod score;
mod segments;
mod snippet;
#[cfg(test)]
mod tests;

pub use error::QueryError;
pub use matcher::Matcher;
pub use parse::{Dialect, parse};
pub use parts::{Part, Parts};
pub use prepared::Prepared;
pub use query::Query;
pub use snippet::Marks;
