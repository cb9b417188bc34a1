//! Queries on workers have the answers that they have without, whatever becomes of the workers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "times and counts, with --nocapture")]

mod answers;
mod failures;
mod members;
mod plans;
mod support;
