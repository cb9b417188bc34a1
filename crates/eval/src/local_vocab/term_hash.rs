//! The hash of a term: it says in which part of the table the term is, and confirms one that is read from disk.

use lode_rdf::Term;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The hash of `term`, the same for equal terms as long as the program runs.
pub fn hash(term: &Term) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}
