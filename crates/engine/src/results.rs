//! Results as terms: execution works on ids, and only here, batch by batch, do they become terms (texts of a format in [`crate::rows`]).

use crate::EngineError;
use lode_exec::batch::Batch;
use lode_exec::context::QueryContext;
use lode_exec::results::{TermColumn, batch_terms};
use lode_exec::{Execution, Graph};
use lode_rdf::{Term, Triple, Variable};

/// What a query returns.
pub enum QueryResults {
    /// SELECT.
    Solutions(Solutions),
    /// ASK.
    Boolean(bool),
    /// CONSTRUCT and DESCRIBE.
    Graph(Triples),
}

/// Rows of terms; each distinct term of a column is held once.
#[derive(Debug)]
pub struct TermBatch {
    columns: Vec<TermColumn>,
    rows: usize,
}

impl TermBatch {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The term in a row and column; `None` where unbound.
    pub fn get(&self, row: usize, column: usize) -> Option<&Term> {
        self.columns.get(column)?.get(row)
    }
}

/// The rows of a SELECT, computed as they are asked for.
pub struct Solutions {
    pub(crate) variables: Vec<Variable>,
    pub(crate) execution: Execution,
}

impl Solutions {
    /// The selected variables, in order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The next rows as ids; `None` at the end.
    pub(crate) fn next_ids(&mut self) -> Result<Option<Batch>, EngineError> {
        Ok(self.execution.next()?)
    }

    /// Makes what is answered of `rows` rows, with what ids are read with.
    pub(crate) fn make<T>(&self, rows: usize, step: impl FnOnce(&QueryContext) -> T) -> T {
        self.execution.make_answer(rows, || step(self.execution.context()))
    }

    /// The next rows; `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<TermBatch>, EngineError> {
        let Some(batch) = self.next_ids()? else { return Ok(None) };
        let columns = self.make(batch.rows, |cx| batch_terms(cx, &batch))?;
        Ok(Some(TermBatch { columns, rows: batch.rows }))
    }

    /// All remaining rows, each with one optional term a variable.
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
}

impl Triples {
    /// The next triples as ids; `None` at the end.
    pub(crate) fn next_ids(&mut self) -> Result<Option<Batch>, EngineError> {
        Ok(self.inner.next_ids()?)
    }

    /// Makes what is answered of `rows` triples, with what ids are read with.
    pub(crate) fn make<T>(&self, rows: usize, step: impl FnOnce(&QueryContext) -> T) -> T {
        self.inner.make_answer(rows, step)
    }

    /// The next triples; `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<Vec<Triple>>, EngineError> {
        Ok(self.inner.next()?)
    }
}
