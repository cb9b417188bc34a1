//! The oracle: SPARQL evaluated straight from the definition of its algebra (SPARQL 1.1 sections 17 and 18, and SPARQL 1.2), and updates.
//!
//! It shares no code with the planner, the executor and the store, which is what makes its agreement with them worth something.
//! Solutions are maps from variables to terms, multisets are vectors, joins are nested loops. Nothing is clever; a limit on the
//! number of steps ends evaluations that would take too long.

mod arithmetic;
mod bgp;
mod calendar;
mod cast;
mod compare;
mod datatypes;
mod describe;
mod evaluator;
mod expression;
mod functions;
mod group;
pub mod known;
mod numbers;
mod options;
mod path;
mod pattern;
mod scope;
mod search;
mod solution;
mod strings;
mod template;
#[cfg(test)]
mod tests;
mod update;

use crate::answer::Answer;
use crate::dataset::Dataset;
use spargebra::Query;

pub use compare::{order, order_defined};
pub use options::{NaiveError, Options};
pub use update::update;

/// Evaluates a query over a dataset.
///
/// # Errors
///
/// [`NaiveError`]: where the oracle does not know what the query asks for, or the query takes too many steps.
pub fn evaluate(query: &Query, dataset: &Dataset, options: &Options) -> Result<Answer, NaiveError> {
    let base = query.base_iri().map(|b| b.as_str());
    let evaluator = evaluator::Evaluator::new(dataset, query.dataset(), base, options);
    evaluator.query(query)
}
