//! Accumulators of aggregates, one state per group.
//!
//! An error in the argument (unbound) stays in the multiset that an aggregate sees (SPARQL 1.1 section 11): COUNT leaves
//! it out, MIN, MAX and SAMPLE choose among the values there are, and SUM, AVG and GROUP_CONCAT, which compute with every
//! value, are errors themselves.

mod concat;
mod distinct;
mod extreme;
mod grow;
mod sum;

#[cfg(test)]
mod tests;

use crate::batch::BATCH_ROWS;
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::value_id;
use crate::values::value::Value;
use concat::Concats;
use distinct::DistinctValues;
use extreme::Extremes;
use grow::grow;
use lode_rdf::ValueId;
use lode_scheduler::steps::steps;
use lode_sparql::AggregateFunction;
use sum::Totals;

/// The states of one aggregate for groups numbered from 0.
#[derive(Debug)]
pub struct Accumulator {
    states: States,
    /// With DISTINCT, the values that were added.
    distinct: Option<DistinctValues>,
}

#[derive(Debug)]
enum States {
    CountAll(Vec<u64>),
    Count(Vec<u64>),
    Sum(Totals),
    Avg(Totals),
    Extreme(Extremes),
    Sample(Vec<ValueId>),
    Concat(Concats),
}

impl Accumulator {
    /// States for `function`; with `distinct`, equal terms of a group count once.
    ///
    /// For `COUNT(DISTINCT *)` the caller gives each distinct row an id of its own as its value.
    pub fn new(function: &AggregateFunction, distinct: bool) -> Self {
        let states = match function {
            AggregateFunction::CountAll => States::CountAll(Vec::new()),
            AggregateFunction::Count => States::Count(Vec::new()),
            AggregateFunction::Sum | AggregateFunction::CountSum => States::Sum(Totals::default()),
            AggregateFunction::Avg => States::Avg(Totals::default()),
            AggregateFunction::Min => States::Extreme(Extremes::least()),
            AggregateFunction::Max => States::Extreme(Extremes::greatest()),
            AggregateFunction::Sample => States::Sample(Vec::new()),
            AggregateFunction::GroupConcat(separator) => States::Concat(Concats::new(separator)),
        };
        let matters = function.counts_duplicates();
        Self { states, distinct: (distinct && matters).then(DistinctValues::default) }
    }

    /// Makes room for groups `0..groups`.
    pub fn resize(&mut self, groups: usize) {
        match &mut self.states {
            States::CountAll(counts) | States::Count(counts) => grow(counts, groups, 0),
            States::Sum(totals) | States::Avg(totals) => totals.resize(groups),
            States::Extreme(extremes) => extremes.resize(groups),
            States::Sample(samples) => grow(samples, groups, ValueId::UNDEF),
            States::Concat(concats) => concats.resize(groups),
        }
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
        let at = group as usize;
        let value = match &self.states {
            States::CountAll(counts) | States::Count(counts) => {
                i64::try_from(counts.get(at).copied().unwrap_or(0)).ok().map(Value::Integer)
            }
            States::Sum(totals) => totals.sum(at),
            States::Avg(totals) => totals.average(at),
            States::Extreme(extremes) => return Ok(extremes.get(at)),
            States::Sample(samples) => return Ok(samples.get(at).copied().unwrap_or_default()),
            States::Concat(concats) => concats.get(at),
        };
        value_id(cx, value.as_ref())
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        let states = match &self.states {
            States::CountAll(counts) | States::Count(counts) => counts.capacity() * size_of::<u64>(),
            States::Sum(totals) | States::Avg(totals) => totals.bytes(),
            States::Extreme(extremes) => extremes.bytes(),
            States::Sample(samples) => samples.capacity() * size_of::<ValueId>(),
            States::Concat(concats) => concats.bytes(),
        };
        states + self.distinct.as_ref().map_or(0, DistinctValues::bytes)
    }
}

impl States {
    fn update(&mut self, cx: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        match self {
            Self::CountAll(counts) => {
                for group in groups {
                    if let Some(count) = counts.get_mut(*group as usize) {
                        *count += 1;
                    }
                }
            }
            Self::Count(counts) => {
                for (group, value) in groups.iter().zip(values) {
                    if let Some(count) = counts.get_mut(*group as usize) {
                        *count += u64::from(!value.is_undef());
                    }
                }
            }
            Self::Sum(totals) | Self::Avg(totals) => totals.update(cx, groups, values)?,
            Self::Extreme(extremes) => extremes.update(cx, groups, values)?,
            Self::Sample(samples) => sample(samples, groups, values),
            Self::Concat(concats) => concats.update(cx, groups, values)?,
        }
        Ok(())
    }

    fn merge(&mut self, cx: &EvalContext, other: Self, groups: &[u32]) -> Result<(), ExecError> {
        match (self, other) {
            (Self::CountAll(counts), Self::CountAll(more)) | (Self::Count(counts), Self::Count(more)) => {
                for step in steps(groups.len().min(more.len()), &cx.cancel) {
                    let step = step?;
                    for (group, more) in groups[step.clone()].iter().zip(&more[step]) {
                        if let Some(count) = counts.get_mut(*group as usize) {
                            *count += more;
                        }
                    }
                }
            }
            (Self::Sum(totals), Self::Sum(more)) | (Self::Avg(totals), Self::Avg(more)) => {
                totals.merge(&more, groups, &cx.cancel)?;
            }
            (Self::Extreme(extremes), Self::Extreme(more)) => extremes.merge(cx, &more, groups)?,
            (Self::Sample(samples), Self::Sample(more)) => {
                for step in steps(groups.len().min(more.len()), &cx.cancel) {
                    let step = step?;
                    sample(samples, &groups[step.clone()], &more[step]);
                }
            }
            (Self::Concat(concats), Self::Concat(more)) => concats.merge(cx, &more, groups)?,
            _ => debug_assert!(false, "states of different aggregates"),
        }
        Ok(())
    }
}

/// Keeps the first bound value of each group.
fn sample(samples: &mut [ValueId], groups: &[u32], values: &[ValueId]) {
    for (group, value) in groups.iter().zip(values) {
        if let Some(sample) = samples.get_mut(*group as usize)
            && sample.is_undef()
        {
            *sample = *value;
        }
    }
}
