//! Integration tests of the planner.

mod fake;
mod goldens;
mod shop;
mod suites;
