//! Aggregates: a list of entries, each with its name, types, what it does with duplicates and with parts, and its state per group.
//!
//! An aggregate is a file here with its entry, and a place in the list. The planner finds it by its name ([`find`]), and its state by
//! the reference that the planner puts into the plan.
//!
//! An error in the argument (unbound) stays in the multiset that an aggregate sees (SPARQL 1.1 section 11): COUNT leaves
//! it out, MIN, MAX and SAMPLE choose among the values there are, and SUM, AVG and GROUP_CONCAT, which compute with every
//! value, are errors themselves.

mod concat;
mod count;
mod distinct;
mod extreme;
#[cfg(feature = "geo")]
mod geometries;
mod grow;
mod mean;
mod sample;
mod state;
mod sum;

#[cfg(test)]
mod tests;

use crate::batch::BATCH_ROWS;
use crate::context::EvalContext;
use crate::error::ExecError;
use distinct::DistinctValues;
use lode_rdf::ValueId;
use lode_sparql::AggregateFunction;
use state::{Kernel, Missing, State};

pub use concat::GROUP_CONCAT;
pub use count::{COUNT, COUNT_ROWS};
pub use extreme::{MAX, MIN};
pub use mean::AVG;
pub use sample::SAMPLE;
pub use sum::{SUM, SUM_OF_COUNTS};

/// All of them.
static AGGREGATES: [&AggregateFunction; 9] =
    [&COUNT_ROWS, &COUNT, &SUM_OF_COUNTS, &SUM, &AVG, &MIN, &MAX, &SAMPLE, &GROUP_CONCAT];

/// Those of geometries, where the program was built with them.
#[cfg(feature = "geo")]
static OF_GEOMETRIES: &[AggregateFunction] = &geometries::AGGREGATES;
#[cfg(not(feature = "geo"))]
static OF_GEOMETRIES: &[AggregateFunction] = &[];

/// All aggregates.
pub fn all() -> impl Iterator<Item = &'static AggregateFunction> {
    AGGREGATES.into_iter().chain(OF_GEOMETRIES)
}

/// The aggregate of this name: a keyword as SPARQL writes it, `COUNT(*)`, or an IRI.
pub fn find(name: &str) -> Option<&'static AggregateFunction> {
    all().find(|aggregate| aggregate.name == name)
}

/// The states of one aggregate for groups numbered from 0.
#[derive(Debug)]
pub struct Accumulator {
    states: Box<dyn State>,
    /// With DISTINCT, the values that were added.
    distinct: Option<DistinctValues>,
}

impl Accumulator {
    /// States for `function`; with `distinct`, equal terms of a group count once.
    ///
    /// For `COUNT(DISTINCT *)` the caller gives each distinct row an id of its own as its value.
    pub fn new(function: &AggregateFunction, separator: Option<&str>, distinct: bool) -> Self {
        let states: Box<dyn State> = match function.implementation.downcast_ref() {
            Some(Kernel(states)) => states(separator),
            None => Box::new(Missing(function.name)),
        };
        Self { states, distinct: (distinct && function.counts_duplicates).then(DistinctValues::default) }
    }

    /// Makes room for groups `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        self.states.resize(groups);
    }

    /// Adds `values[i]` (unbound: the argument was an error) to group `groups[i]`. For COUNT(*) `values` are ignored.
    ///
    /// # Errors
    ///
    /// Where the query was cancelled, has no memory for what is computed, or the store cannot be read.
    pub fn update(&mut self, cx: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        match &mut self.distinct {
            None => self.states.update(cx, groups, values),
            Some(distinct) => {
                let (new_groups, new_values) = distinct.insert(groups, values, &cx.cancel)?;
                self.states.update(cx, &new_groups, &new_values)
            }
        }
    }

    /// Adds the states of `other`, whose group `i` is group `groups[i]` here.
    ///
    /// # Errors
    ///
    /// As [`Accumulator::update`].
    pub fn merge(&mut self, cx: &EvalContext, other: Self, groups: &[u32]) -> Result<(), ExecError> {
        match (&mut self.distinct, other.distinct) {
            (Some(_), Some(theirs)) => {
                let (mut their_groups, mut their_values) = (Vec::new(), Vec::new());
                for entries in theirs.into_entries().chunks(BATCH_ROWS) {
                    cx.cancel.check()?;
                    their_groups.clear();
                    their_values.clear();
                    for (group, value) in entries {
                        let Some(group) = groups.get(*group as usize) else { continue };
                        their_groups.push(*group);
                        their_values.push(*value);
                    }
                    self.update(cx, &their_groups, &their_values)?;
                }
                Ok(())
            }
            _ => self.states.merge(cx, other.states, groups),
        }
    }

    /// The result of a group; unbound for an error.
    ///
    /// # Errors
    ///
    /// Where there is neither memory nor disk for the result.
    pub fn finish(&self, cx: &EvalContext, group: u32) -> Result<ValueId, ExecError> {
        self.states.finish(cx, group as usize)
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        self.states.bytes() + self.distinct.as_ref().map_or(0, DistinctValues::bytes)
    }
}
