//! Benchmarks: data generators, query mixes and, later, their drivers.
//!
//! A development crate that only the command line depends on (`lode bench`, `lode demo`).
//! One module per benchmark; each generates its data from a seed, so that a result can be repeated on
//! any machine without shipping data files.

pub mod analytic;
pub mod bsbm;
pub mod cluster;
pub mod entropy;
pub mod geo;
pub mod hostile;
pub mod load;
pub mod lubm;
mod named_query;
pub mod paths;
pub mod reason;
pub mod soak;
pub mod text;

pub use named_query::NamedQuery;
