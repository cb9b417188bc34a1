//! Immutable packed files: dictionary, permutations, segments. No threads, locks or clocks here: writers take sorted
//! input and end in `finish()`, readers never mutate.

pub mod order;

pub use order::{Order, Position};
