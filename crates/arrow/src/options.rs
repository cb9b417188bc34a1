//! How an answer becomes record batches.

use lode_engine::ColumnForm;

/// How an answer becomes record batches.
#[derive(Debug, Clone)]
pub struct ArrowOptions {
    /// What columns are made of terms.
    pub form: ColumnForm,
    /// Rows of a record batch, at most.
    pub batch_rows: usize,
    /// Rows that are held back, as ids, until types are decided.
    pub window_rows: usize,
}

impl Default for ArrowOptions {
    fn default() -> Self {
        Self { form: ColumnForm::Typed, batch_rows: 1 << 16, window_rows: 1 << 20 }
    }
}
