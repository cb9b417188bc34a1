//! Integration tests of the planner.

mod fake;
mod suites;
