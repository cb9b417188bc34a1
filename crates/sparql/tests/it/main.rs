//! Integration tests of the planner.

mod broken;
mod fake;
mod goldens;
mod scoping;
mod shop;
mod suites;
