//! The functions and aggregates that queries may call.

use lode_exec::{aggregate, functions};
pub use lode_sparql::{AggregateFunction, Function};

/// All functions.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    functions::all()
}

/// All aggregates, those among them that only the planner calls.
pub fn aggregates() -> impl Iterator<Item = &'static AggregateFunction> {
    aggregate::all()
}
