//! Vectored, read-only query execution: plans become operators over batches of ids.
//!
//! [`execute`] runs a plan; [`Execution::into_result`] gives the answer in the query's form, and [`results`] turns ids into terms.
//! Consumers pull batches through operators (`operators`); where it pays, a sub-plan is cut into morsels that several threads run.

pub mod aggregate;
mod answer;
pub mod batch;
mod build;
pub mod context;
mod cursor;
pub mod domain;
pub mod error;
pub mod eval_context;
mod execute;
pub mod execution;
pub mod exists;
pub mod expr;
mod frame;
mod fresh_blank;
mod growth;
mod hash;
mod held;
mod key_filter;
mod later;
pub mod local_vocab;
mod lock;
mod merge_sort;
mod morsel;
mod number_index;
mod operator;
mod operators;
mod parallel;
mod pattern;
pub mod profile;
mod range_scan;
mod removal;
pub mod results;
mod scheduler;
pub mod service;
mod shared;
mod spill;
pub mod statistics;
mod steps;
#[cfg(test)]
mod tests;
pub mod turns;
pub mod written;

pub use batch::Batch;
pub use context::QueryContext;
pub use error::ExecError;
pub use execute::execute;
pub use execution::Execution;
pub use expr::is_regular_expression;
pub use profile::{Probe, Profile, waiting};
pub use removal::wait_for_removals;
pub use results::{Graph, QueryResult};
