//! Rows in columns: what operators hand to each other.

use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// The most rows of a batch, unless a query asks for smaller ones (tests do).
pub const BATCH_ROWS: usize = 4096;

/// Rows as columns of ids; [`ValueId::UNDEF`] is unbound. All columns are dense and of equal length `rows`.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The variable of each column.
    pub vars: Arc<[VarId]>,
    /// One per variable.
    pub columns: Vec<Vec<ValueId>>,
    /// Number of rows (a batch without columns has rows, too).
    pub rows: usize,
}

impl Batch {
    /// An empty batch with these columns.
    pub fn new(vars: Arc<[VarId]>) -> Self {
        let columns = vec![Vec::new(); vars.len()];
        Self { vars, columns, rows: 0 }
    }

    /// The column of `var`.
    pub fn column(&self, var: VarId) -> Option<&[ValueId]> {
        self.vars.iter().position(|v| *v == var).map(|i| self.columns[i].as_slice())
    }

    /// Removes all rows, keeps the memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.rows = 0;
    }
}
