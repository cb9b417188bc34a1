//! Rows that come from no data: VALUES, the empty group's one row, no rows at all, and the domain of a dependent plan.

use super::Operator;
use crate::context::QueryContext;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::{Term, ValueId};
use lode_sparql::VarId;
use std::sync::Arc;

/// Rows whose terms are looked up between two looks at the cancel token.
const CHECK_EVERY: usize = 1 << 10;

/// The operator.
pub(crate) struct Values {
    rows: Batch,
    position: usize,
    batch_rows: usize,
}

impl Values {
    /// One row in which nothing is bound.
    pub(crate) fn unit(vars: &Arc<[VarId]>) -> Self {
        let mut rows = Batch::new(Arc::clone(vars));
        rows.columns.iter_mut().for_each(|column| column.push(ValueId::UNDEF));
        rows.rows = 1;
        Self { rows, position: 0, batch_rows: 1 }
    }

    /// No rows.
    pub(crate) fn empty(vars: &Arc<[VarId]>) -> Self {
        Self { rows: Batch::new(Arc::clone(vars)), position: 0, batch_rows: 1 }
    }

    /// Rows that are there already.
    pub(crate) fn of(rows: Batch, batch_rows: usize) -> Self {
        Self { rows, position: 0, batch_rows }
    }

    /// These ids in the only column.
    pub(crate) fn of_ids(cx: &QueryContext, ids: &[ValueId], vars: &Arc<[VarId]>) -> Self {
        let mut rows = Batch::new(Arc::clone(vars));
        rows.columns.iter_mut().for_each(|column| column.extend_from_slice(ids));
        rows.rows = ids.len();
        Self::of(rows, cx.batch_rows)
    }

    /// These rows.
    pub(crate) fn new(
        cx: &QueryContext,
        rows: &[Vec<Option<Term>>],
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let mut batch = Batch::new(Arc::clone(vars));
        for (number, row) in rows.iter().enumerate() {
            if number % CHECK_EVERY == 0 {
                cx.cancel.check()?;
            }
            for (i, column) in batch.columns.iter_mut().enumerate() {
                column.push(match row.get(i) {
                    Some(Some(term)) => cx.intern(term)?,
                    _ => ValueId::UNDEF,
                });
            }
        }
        batch.rows = rows.len();
        Ok(Self { rows: batch, position: 0, batch_rows: cx.batch_rows })
    }
}

impl Operator for Values {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.rows.vars);
        let end = self.rows.rows.min(self.position + self.batch_rows);
        out.append_range(&self.rows, self.position, end);
        self.position = end;
        Ok(out.rows > 0)
    }
}
