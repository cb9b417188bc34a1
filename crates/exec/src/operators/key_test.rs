//! How a scan drops rows that a run-time filter has no key of.

use crate::key_filter::KeyFilter;
use crate::pattern::Columns;
use std::sync::Arc;

/// Rows that are tested before it is clear whether that pays.
const TRIAL_ROWS: usize = 1 << 13;

/// A test of one column, and what it has done.
#[derive(Debug)]
pub(crate) struct KeyTest {
    column: usize,
    filter: Arc<KeyFilter>,
    tested: usize,
    passed: usize,
}

impl KeyTest {
    /// Of this column.
    pub(crate) fn new(column: usize, filter: &Arc<KeyFilter>) -> Self {
        Self { column, filter: Arc::clone(filter), tested: 0, passed: 0 }
    }

    /// Leaves those of the rows of `selection` that may have one of the keys.
    pub(crate) fn retain(&mut self, columns: &Columns, selection: &mut Vec<u32>) {
        let Some(ids) = columns.get(self.column) else { return };
        self.tested += selection.len();
        self.filter.retain(ids, selection);
        self.passed += selection.len();
    }

    /// Whether at least a quarter of the rows are dropped, or it is too early to tell.
    pub(crate) fn pays(&self) -> bool {
        self.tested < TRIAL_ROWS || self.passed <= self.tested / 4 * 3
    }
}
