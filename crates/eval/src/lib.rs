//! Expressions over columns of ids, and what they are made of: batches, values, the terms that a query makes, and aggregates.
//!
//! Nothing here knows a plan or an operator. What an expression needs of those that run it is in [`EvalContext`]; patterns of EXISTS are
//! run by who hands [`SubQueries`](context::SubQueries) in.

pub mod aggregate;
pub mod batch;
pub mod context;
pub mod error;
pub mod expr;
pub mod functions;
#[cfg(feature = "geo")]
mod geometries;
pub mod growth;
pub mod hash;
pub mod local_vocab;
pub mod memo;
pub mod merge_sort;
pub mod number_index;
mod shape;
pub mod text_bytes;
pub(crate) mod values;

pub use batch::Batch;
pub use context::EvalContext;
pub use error::{Again, ExecError};
pub use functions::regex_problem;
pub use shape::makes_labelled_nodes;
