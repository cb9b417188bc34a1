//! Results as terms: execution works on ids, and only here, batch by batch, do they become terms (texts of a format in [`crate::rows`]).

use crate::EngineError;
use lode_exec::batch::Batch;
use lode_exec::context::QueryContext;
pub use lode_exec::results::TermBatch;
use lode_exec::{ExecError, Execution, Graph};
use lode_rdf::{Term, Variable};

/// What a query returns.
pub enum QueryResults {
    /// SELECT.
    Solutions(Solutions),
    /// ASK.
    Boolean(bool),
    /// CONSTRUCT and DESCRIBE.
    Graph(Triples),
}

/// The rows of a SELECT, computed as they are asked for.
pub struct Solutions {
    pub(crate) variables: Vec<Variable>,
    pub(crate) execution: Execution,
    pub(crate) rows: RowsLeft,
}

/// How many rows an answer may still have.
pub(crate) struct RowsLeft {
    max: Option<u64>,
    taken: u64,
}

impl RowsLeft {
    pub(crate) fn new(max: Option<u64>) -> Self {
        Self { max, taken: 0 }
    }

    fn take(&mut self, rows: usize) -> Result<(), EngineError> {
        self.taken += rows as u64;
        match self.max {
            Some(max) if self.taken > max => Err(EngineError::TooManyRows(max)),
            _ => Ok(()),
        }
    }
}

impl Solutions {
    /// The selected variables, in order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Calls `make` with the next rows, to make of them what is answered; `None` at the end. Where `make` has no memory for all of them, it
    /// is called again with fewer.
    pub(crate) fn answer<T>(
        &mut self,
        mut make: impl FnMut(&QueryContext, &Batch) -> Result<T, ExecError>,
    ) -> Result<Option<T>, EngineError> {
        let mut rows = 0;
        let made = self.execution.answer(|cx, batch| {
            rows = batch.rows;
            make(cx, batch)
        })?;
        if made.is_some() {
            self.rows.take(rows)?;
        }
        Ok(made)
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// Where the query was cancelled or took too long, needs more memory than it may take, or a file cannot be read or written.
    pub fn next_batch(&mut self) -> Result<Option<TermBatch>, EngineError> {
        self.answer(TermBatch::new)
    }

    /// All remaining rows, each with one optional term a variable.
    ///
    /// # Errors
    /// Like [`Solutions::next_batch`].
    pub fn collect_rows(&mut self) -> Result<Vec<Vec<Option<Term>>>, EngineError> {
        let mut rows = Vec::new();
        while let Some(batch) = self.next_batch()? {
            let columns = self.variables.len();
            rows.extend(
                (0..batch.rows()).map(|row| (0..columns).map(|c| batch.get(row, c).cloned()).collect()),
            );
        }
        Ok(rows)
    }
}

/// The triples of a CONSTRUCT or DESCRIBE, without duplicates.
pub struct Triples {
    pub(crate) inner: Graph,
    pub(crate) rows: RowsLeft,
}

impl Triples {
    /// Like [`Solutions::answer`], with triples.
    pub(crate) fn answer<T>(
        &mut self,
        mut make: impl FnMut(&QueryContext, &Batch) -> Result<T, ExecError>,
    ) -> Result<Option<T>, EngineError> {
        let mut rows = 0;
        let made = self.inner.answer(|cx, batch| {
            rows = batch.rows;
            make(cx, batch)
        })?;
        if made.is_some() {
            self.rows.take(rows)?;
        }
        Ok(made)
    }

    /// The next triples (see [`TermBatch::triples`]); `None` at the end.
    ///
    /// # Errors
    /// Like [`Solutions::next_batch`].
    pub fn next_batch(&mut self) -> Result<Option<TermBatch>, EngineError> {
        self.answer(TermBatch::new)
    }
}
