//! Some rows of a column.

use super::column::{Column, Tri};

/// The rows for which `keep` holds.
pub(crate) fn positions<T>(column: &[T], keep: impl Fn(&T) -> bool) -> Vec<u32> {
    let mut rows = Vec::with_capacity(column.len());
    for (row, value) in column.iter().enumerate() {
        if keep(value) {
            rows.push(row as u32);
        }
    }
    rows
}

/// The column whose row `i` is row `rows[i]` of `column`.
pub(crate) fn gather<'e>(column: Column<'e>, rows: &[u32]) -> Column<'e> {
    match column {
        Column::Ids(ids) => Column::Ids(pick(&ids, rows)),
        Column::Bools(bools) => Column::Bools(
            rows.iter().map(|row| bools.get(*row as usize).copied().unwrap_or(Tri::Error)).collect(),
        ),
        Column::Values(values, texts) => Column::Values(pick(&values, rows), texts),
        Column::Constant(constant) => Column::Constant(constant),
    }
}

/// The elements at `rows`.
pub(crate) fn pick<T: Clone + Default>(column: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|row| column.get(*row as usize).cloned().unwrap_or_default()).collect()
}
