//! How a query is evaluated, and why it may have no answer.

use crate::dataset::Dataset;
use std::collections::BTreeMap;

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
