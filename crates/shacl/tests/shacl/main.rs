//! Shapes against a naive evaluator, hostile and wrong shapes, and what reports look like.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod guard;
mod hostile;
mod ill_formed;
mod naive;
mod random;
mod reports;
mod sparql;
mod support;
