//! Accumulators of aggregates, one state per group.

use crate::context::QueryContext;
use crate::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::AggregateFunction;

/// The states of one aggregate for groups numbered from 0.
#[derive(Debug)]
pub struct Accumulator {}

impl Accumulator {
    /// States for `function`; with `distinct`, equal terms of a group count once.
    pub fn new(_function: &AggregateFunction, _distinct: bool) -> Self {
        unimplemented!()
    }

    /// Makes room for groups `0..groups`.
    pub fn resize(&mut self, _groups: usize) {
        unimplemented!()
    }

    /// Adds `values[i]` (unbound: the argument was an error) to group `groups[i]`. For COUNT(*) `values` are ignored.
    pub fn update(
        &mut self,
        _cx: &QueryContext,
        _groups: &[u32],
        _values: &[ValueId],
    ) -> Result<(), ExecError> {
        unimplemented!()
    }

    /// Adds the states of `other`, whose group `i` is group `groups[i]` here.
    pub fn merge(&mut self, _cx: &QueryContext, _other: Self, _groups: &[u32]) -> Result<(), ExecError> {
        unimplemented!()
    }

    /// The result of a group; unbound for an error.
    pub fn finish(&self, _cx: &QueryContext, _group: u32) -> Result<ValueId, ExecError> {
        unimplemented!()
    }

    /// Bytes held, about.
    pub fn bytes(&self) -> usize {
        unimplemented!()
    }
}
