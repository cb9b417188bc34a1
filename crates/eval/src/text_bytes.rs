//! How much text values and terms have.

use lode_rdf::{Term, term_bytes};

/// What has text on the heap.
pub trait TextBytes {
    /// How many bytes, about.
    fn text_bytes(&self) -> usize;
}

impl TextBytes for bool {
    fn text_bytes(&self) -> usize {
        0
    }
}

impl TextBytes for Term {
    fn text_bytes(&self) -> usize {
        term_bytes(self.as_ref())
    }
}
