//! Vectored, read-only query execution: plans become operators over batches of ids.
//!
//! [`execute()`] runs a plan; [`Execution::into_result`] gives the answer in the query's form, and [`results`] turns ids into terms.
//! Consumers pull batches through operators (`operators`); where it pays, a sub-plan is split into morsels that several threads run.

mod answer;
mod build;
pub mod context;
mod cursor;
pub mod domain;
mod execute;
pub mod execution;
pub mod exists;
mod fragment_rows;
mod fresh_blank;
mod key_filter;
mod morsel;
mod operator;
mod operators;
mod parallel;
mod pattern;
pub mod profile;
mod range_scan;
mod reservation;
pub mod results;
pub mod service;
mod shared;
mod spill;
mod spill_area;
pub mod statistics;
mod terms;
#[cfg(test)]
mod tests;
pub mod written;

pub use context::QueryContext;
pub use execute::{execute, execute_between};
pub use execution::Execution;
pub use fragment_rows::{Came, FragmentRows, NewTerm, OpenFragment};
pub use lode_eval::expr::decode::{Distinct, distinct};
pub use lode_eval::{Again, Batch, EvalContext, ExecError, aggregate, batch, functions, memo, regex_problem};
pub use lode_scheduler::{turns, wait_for_removals, waiting};
pub use parallel::{has_groups_in_parts, key_ranges, may_be_confined};
pub use profile::{Probe, Profile};
pub use results::{Graph, QueryResult};
pub use terms::VisitTerm;
