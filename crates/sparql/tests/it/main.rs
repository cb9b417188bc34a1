//! Integration tests of the planner.

#![expect(clippy::expect_used, reason = "a test that fails may panic")]

mod broken;
mod cancelled;
mod effort;
mod fake;
mod goldens;
mod mistakes;
mod multiway;
mod one_row;
mod scoping;
mod shop;
mod spools;
mod stars;
mod suites;
