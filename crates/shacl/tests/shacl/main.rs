//! Shapes against a naive evaluator, hostile and wrong shapes, and what reports look like.

mod guard;
mod hostile;
mod ill_formed;
mod naive;
mod random;
mod reports;
mod sparql;
mod support;
