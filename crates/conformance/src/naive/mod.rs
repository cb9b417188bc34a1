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
mod numbers;
mod path;
mod pattern;
mod solution;
mod strings;
mod template;
#[cfg(test)]
mod tests;
mod update;

use crate::answer::Answer;
use crate::dataset::Dataset;
use spargebra::Query;
use std::collections::BTreeMap;

pub use compare::{order, order_defined};
pub use update::update;

/// How a query is evaluated.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether the default graph is the union of all graphs (unless the query has FROM).
    pub union_default_graph: bool,
    /// The datasets behind SERVICE endpoints.
    pub services: BTreeMap<String, Dataset>,
    /// How many elementary steps may be taken.
    pub steps_max: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { union_default_graph: false, services: BTreeMap::new(), steps_max: 50_000_000 }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NaiveError {
    /// The evaluation was too long.
    #[error("the step limit was reached")]
    StepLimit,
    /// A SERVICE endpoint is not known.
    #[error("SERVICE <{0}> is not known")]
    Service(String),
    /// An operation of an update cannot be done.
    #[error("{0}")]
    Update(String),
}

/// Evaluates a query over a dataset.
pub fn evaluate(query: &Query, dataset: &Dataset, options: &Options) -> Result<Answer, NaiveError> {
    let base = query.base_iri().map(|b| b.as_str());
    let evaluator = evaluator::Evaluator::new(dataset, query.dataset(), base, options);
    evaluator.query(query)
}
