//! What is in the place of spatial joins where the program is built without geometries: there are none.

use super::join_output::Pairs;
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_sparql::plan::JoinCondition;
use lode_sparql::{PlanNode, VarId};
use std::sync::Arc;

/// Bytes of a right row beside its values.
pub(super) const SPATIAL_ROW_BYTES: usize = 0;

/// None is made.
#[derive(Debug, Clone)]
pub(crate) enum SpatialTest {}

impl SpatialTest {
    /// No join is one.
    pub(crate) fn of(_: &PlanNode, _: &PlanNode, _: &JoinCondition) -> Option<(Self, JoinCondition)> {
        None
    }

    pub(super) fn left(&self) -> VarId {
        match *self {}
    }

    pub(crate) fn index(&self, _: &QueryContext, _: &Arc<Batch>) -> Result<SpatialIndex, ExecError> {
        match *self {}
    }
}

/// None is made.
#[derive(Debug)]
pub(crate) enum SpatialIndex {}

impl SpatialIndex {
    pub(super) fn near(
        &self,
        _: &QueryContext,
        _: &SpatialTest,
        _: f64,
    ) -> Result<Option<Arc<KeyFilter>>, ExecError> {
        match *self {}
    }
}

/// None is made.
#[derive(Debug)]
pub(crate) enum SpatialProber {}

/// What pairs are wanted.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) max: usize,
    pub(crate) one_suffices: bool,
}

impl SpatialProber {
    pub(crate) fn new(test: &SpatialTest) -> Self {
        match *test {}
    }

    pub(crate) fn begin(&mut self) {
        match *self {}
    }

    pub(crate) fn pairs(
        &mut self,
        _: &QueryContext,
        _: (&SpatialIndex, &Batch),
        _: &Batch,
        _: &mut usize,
        (_, Wanted { max: _, one_suffices: _ }): (&mut Pairs, Wanted),
    ) -> Result<(), ExecError> {
        match *self {}
    }
}
