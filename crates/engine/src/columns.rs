//! Results as columns of ids, for who makes columns of another kind of them: text is read where it is wanted, and once for each id.

use crate::EngineError;
use crate::always;
use crate::results::{QueryResults, Solutions, Triples};
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_exec::context::QueryContext;
use lode_exec::{Distinct, ExecError, VisitTerm};
use lode_rdf::{Kind, ValueId};

/// Rows of ids; [`ValueId::UNDEF`] is unbound.
#[derive(Debug, Clone, Default)]
pub struct IdRows {
    /// One for each column of the answer.
    pub columns: Vec<Vec<ValueId>>,
    /// Number of rows (also where there are no columns).
    pub rows: usize,
}

/// The rows of a SELECT, or the triples of a CONSTRUCT or DESCRIBE, computed as they are asked for.
pub struct Columns(Inner);

enum Inner {
    Solutions(Solutions),
    Graph(Triples),
}

/// Columns of triples.
const TRIPLE: [&str; 3] = ["subject", "predicate", "object"];

impl Columns {
    /// The columns of results.
    ///
    /// # Errors
    /// The answer of an ASK, which has none.
    pub fn new(results: QueryResults) -> Result<Self, bool> {
        match results {
            QueryResults::Solutions(solutions) => Ok(Self(Inner::Solutions(solutions))),
            QueryResults::Graph(triples) => Ok(Self(Inner::Graph(triples))),
            QueryResults::Boolean(answer) => Err(answer),
        }
    }

    /// The names of variables, without `?`; of triples `subject`, `predicate` and `object`.
    pub fn names(&self) -> Vec<&str> {
        match &self.0 {
            Inner::Solutions(solutions) => solutions.variables().iter().map(|v| v.as_str()).collect(),
            Inner::Graph(_) => TRIPLE.to_vec(),
        }
    }

    fn context(&self) -> &QueryContext {
        match &self.0 {
            Inner::Solutions(solutions) => solutions.execution.context(),
            Inner::Graph(triples) => triples.inner.context(),
        }
    }

    /// The memory of the query.
    pub fn budget(&self) -> &MemoryBudget {
        &self.context().budget
    }

    /// What stops the query.
    pub fn cancel(&self) -> &CancelToken {
        &self.context().cancel
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// Like [`Solutions::next_batch`].
    pub fn next_rows(&mut self) -> Result<Option<IdRows>, EngineError> {
        let made = |batch: &lode_exec::Batch| IdRows { columns: batch.columns.clone(), rows: batch.rows };
        match &mut self.0 {
            Inner::Solutions(solutions) => solutions.answer(|_, batch| Ok(made(batch))),
            Inner::Graph(triples) => triples.answer(|_, batch| Ok(made(batch))),
        }
    }

    /// Calls `visit` with the term of each id of this answer and its index in `ids`, in no order; what is unbound has none. Each id had
    /// better be there once.
    ///
    /// # Errors
    /// Where the query was cancelled, or the store cannot be read; what `visit` returns.
    pub fn terms(&self, ids: &[ValueId], visit: &mut VisitTerm<'_>) -> Result<(), EngineError> {
        let visited: Result<(), ExecError> = match &self.0 {
            Inner::Solutions(solutions) => solutions.execution.terms(ids, visit),
            Inner::Graph(triples) => triples.inner.terms(ids, visit),
        };
        Ok(visited?)
    }

    /// Whether it is certain that all values of a column are terms of this kind, in all rows, also those that were not read yet. `false` says
    /// nothing. IRIs that the query has made have ids of [`Kind::Local`] all the same.
    ///
    /// # Errors
    /// Where the query was cancelled, or the store cannot be read.
    pub fn are_always(&self, column: usize, kind: Kind) -> Result<bool, EngineError> {
        match &self.0 {
            Inner::Graph(_) => Ok(column == 1 && kind == Kind::Iri),
            Inner::Solutions(solutions) => {
                let (plan, cx) = (solutions.execution.plan(), solutions.execution.context());
                always::are_always(plan, &cx.snapshot, column, kind)
            }
        }
    }

    /// The distinct ids of some rows of a column, and for each row which of them it has.
    pub fn distinct(ids: &[ValueId]) -> Distinct {
        lode_exec::distinct(ids)
    }
}
