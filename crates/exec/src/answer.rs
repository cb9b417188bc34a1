//! Making what is answered of rows. Where there is no memory for the texts of a whole batch, that is made of half of it first: 4,096 texts of
//! 100 KB are 400 MB.

use crate::context::QueryContext;
use crate::shared::Shared;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use std::sync::Arc;

/// Rows that still have to be answered: a batch, or what is left of one. The next part is the last one.
#[derive(Debug, Default)]
pub(crate) struct Unanswered(Vec<Batch>);

impl Unanswered {
    /// Calls `make` with the next part, of which it has memory for what it makes; `next` gives a batch when all parts are done. `None` at
    /// the end.
    pub fn answer<T>(
        &mut self,
        shared: &Shared,
        next: impl FnOnce() -> Result<Option<Batch>, ExecError>,
        mut make: impl FnMut(&QueryContext, &Batch) -> Result<T, ExecError>,
    ) -> Result<Option<T>, ExecError> {
        if self.0.is_empty() {
            self.0.extend(next()?);
        }
        let (_at_work, counters) = (shared.counters.work(), shared.counters.answer());
        while let Some(batch) = self.0.pop() {
            match counters.measure(|| make(&shared.cx, &batch)) {
                Err(ExecError::OutOfMemory(_)) if batch.rows > 1 => self.0.extend(halves(&batch)),
                made => {
                    counters.batch(made.as_ref().map_or(0, |_| batch.rows));
                    return made.map(Some);
                }
            }
        }
        Ok(None)
    }
}

/// Both halves of the rows, the first one last.
fn halves(batch: &Batch) -> [Batch; 2] {
    let middle = batch.rows / 2;
    [middle..batch.rows, 0..middle].map(|rows| {
        let mut half = Batch::new(Arc::clone(&batch.vars));
        half.append_range(batch, rows.start, rows.end);
        half
    })
}
