//! Tests of the whole crate on the syntax tests of the standards.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod corpus;
