//! OFFSET and LIMIT.

use super::{BoxOp, Operator};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;

/// The operator. It lets its input go when it has what it wants.
pub(crate) struct Slice {
    input: Option<BoxOp>,
    skip: usize,
    left: usize,
}

impl Slice {
    /// Rows `start..start + length` of `input`.
    pub(crate) fn new(input: BoxOp, start: usize, length: Option<usize>) -> Self {
        Self { input: Some(input), skip: start, left: length.unwrap_or(usize::MAX) }
    }
}

impl Operator for Slice {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        while self.left > 0
            && let Some(input) = &mut self.input
            && input.next(out)?
        {
            let skipped = self.skip.min(out.rows);
            self.skip -= skipped;
            out.keep_range(skipped, skipped.saturating_add(self.left));
            self.left -= out.rows;
            if self.left == 0 {
                self.input = None;
            }
            if out.rows > 0 {
                return Ok(true);
            }
        }
        self.input = None;
        out.clear();
        Ok(false)
    }
}
