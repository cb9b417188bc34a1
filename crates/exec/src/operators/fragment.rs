//! Rows that others make, handed in by who runs the plan.

use super::Operator;
use crate::context::QueryContext;
use crate::fragment_rows::{Came, FragmentRows, NewTerm};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::{Kind, ValueId};
use lode_sparql::VarId;
use std::sync::Arc;

/// The operator.
pub(crate) struct Fragment {
    cx: Arc<QueryContext>,
    number: u32,
    /// Begun with the first row that is asked for.
    rows: Option<FragmentRows>,
    /// What has come and is not yet asked for.
    came: Came,
    position: usize,
}

impl Fragment {
    /// The rows of the fragment with this number, which have these columns.
    pub(crate) fn new(cx: &Arc<QueryContext>, number: u32, vars: &Arc<[VarId]>) -> Self {
        let came = Came { batch: Batch::new(Arc::clone(vars)), terms: Vec::new() };
        Self { cx: Arc::clone(cx), number, rows: None, came, position: 0 }
    }

    fn get(&mut self) -> Result<bool, ExecError> {
        self.cx.cancel.check()?;
        let rows = match &mut self.rows {
            Some(rows) => rows,
            none => {
                let open = self.cx.fragments.as_ref();
                let open = open.ok_or_else(|| wrong(self.number, "nobody runs it"))?;
                none.insert(open.open(self.number)?)
            }
        };
        self.came.batch.clear();
        self.came.terms.clear();
        self.position = 0;
        let more = rows(&mut self.came)?;
        checked(self.number, &self.came.batch)?;
        self.intern()?;
        Ok(more)
    }

    /// Terms that the rows' makers made get ids of this query.
    fn intern(&mut self) -> Result<(), ExecError> {
        let Came { batch, terms } = &mut self.came;
        for NewTerm { column, row, term } in terms.drain(..) {
            let place = batch.columns.get_mut(column).and_then(|column| column.get_mut(row));
            let place = place.ok_or_else(|| wrong(self.number, "a term is in no row"))?;
            *place = self.cx.intern(&term)?;
        }
        Ok(())
    }
}

/// What comes from elsewhere is not believed: an id of another query would be another term here.
fn checked(number: u32, came: &Batch) -> Result<(), ExecError> {
    if came.columns.len() != came.vars.len() || came.columns.iter().any(|column| column.len() != came.rows) {
        return Err(wrong(number, "its columns are not of one length"));
    }
    let is_known = |id: &ValueId| match id.kind() {
        Some(Kind::Special) => id.is_undef(),
        Some(Kind::Local) | None => false,
        Some(_) => true,
    };
    match came.columns.iter().all(|column| column.iter().all(is_known)) {
        true => Ok(()),
        false => Err(wrong(number, "a value is no term of the database")),
    }
}

fn wrong(number: u32, what: &str) -> ExecError {
    ExecError::Internal(format!("fragment {number}: {what}"))
}

impl Operator for Fragment {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.came.batch.vars);
        while self.position >= self.came.batch.rows {
            if !self.get()? {
                return Ok(false);
            }
        }
        let end = self.came.batch.rows.min(self.position + self.cx.batch_rows);
        out.append_range(&self.came.batch, self.position, end);
        self.position = end;
        Ok(true)
    }
}
