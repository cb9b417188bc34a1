//! Tests of the whole crate on the syntax tests of the standards.

mod corpus;
