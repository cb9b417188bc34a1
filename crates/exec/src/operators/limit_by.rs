//! OFFSET and LIMIT of the rows with the same keys: of a sub-query in each graph, or for each binding of a dependent pattern.

use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::profile::NodeCounters;
use crate::reservation::cover;
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_eval::hash::IdHash;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::collections::HashMap;
use std::sync::Arc;

/// The operator.
pub(crate) struct LimitBy {
    cx: Arc<QueryContext>,
    counters: Arc<NodeCounters>,
    input: BoxOp,
    /// Columns of the input.
    keys: Vec<usize>,
    start: usize,
    end: usize,
    /// Rows with each combination of keys so far.
    counts: HashMap<Vec<ValueId>, usize, IdHash>,
    reservation: Reservation,
}

impl LimitBy {
    /// Rows `start..start + length` of those of `input`, which has columns `vars`, with the same `keys`.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        counters: &Arc<NodeCounters>,
        input: BoxOp,
        (vars, keys): (&[VarId], &[VarId]),
        (start, length): (usize, Option<usize>),
    ) -> Result<Self, ExecError> {
        Ok(Self {
            cx: Arc::clone(cx),
            counters: Arc::clone(counters),
            input,
            keys: keys.iter().filter_map(|key| position(vars, *key)).collect(),
            start,
            end: length.map_or(usize::MAX, |length| start.saturating_add(length)),
            counts: HashMap::default(),
            reservation: cx.budget.reserve(0)?,
        })
    }

    /// Drops the rows of a batch that are not wanted.
    fn keep(&mut self, batch: &mut Batch) -> Result<(), ExecError> {
        let mut kept = Vec::with_capacity(batch.rows);
        for (number, row) in (0..batch.rows).zip(0u32..) {
            let key = self.keys.iter().map(|key| batch.columns[*key][number]).collect();
            let count = self.counts.entry(key).or_default();
            if (self.start..self.end).contains(count) {
                kept.push(row);
            }
            *count += 1;
        }
        let key_bytes = size_of::<(Vec<ValueId>, usize)>() + self.keys.len() * size_of::<ValueId>();
        let bytes = self.counts.capacity() * key_bytes;
        cover(&mut self.reservation, bytes)?;
        self.counters.hold(bytes);
        batch.select(&kept);
        Ok(())
    }
}

impl Operator for LimitBy {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        while self.input.next(out)? {
            self.cx.cancel.check()?;
            self.keep(out)?;
            if out.rows > 0 {
                return Ok(true);
            }
        }
        out.clear();
        Ok(false)
    }
}
