//! Rows as aligned columns for people: widths from the first rows, everything still streaming.
//!
//! Where a width is given, a table is for a terminal: IRIs have prefixes, cells are cut, numbers are on the right, and counts have bars. Else nothing is
//! cut, and terms are written as they are.

mod cell;
mod layout;
mod options;
#[cfg(test)]
mod tests;
mod width;

use crate::EngineError;
use crate::results::Solutions;
use cell::Cell;
use layout::Layout;
use lode_rdf::Term;
pub use options::TableOptions;
use std::io::Write;

/// Rows that decide the columns' widths; later ones are only made to fit.
const SAMPLE_ROWS: usize = 200;
/// Fewer do where they have so many bytes.
const SAMPLE_BYTES: usize = 1 << 20;

/// Writes all rows; returns how many there were.
pub(crate) fn write_table(
    solutions: &mut Solutions,
    options: &TableOptions,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    let names: Vec<&str> = solutions.variables().iter().map(|variable| variable.as_str()).collect();
    let columns = names.len();
    let mut table = Table::new(&names, options.clone());
    let mut rows = 0;
    while let Some(batch) = solutions.next_batch()? {
        for row in 0..batch.rows() {
            table.push((0..columns).map(|column| batch.get(row, column)), out)?;
        }
        rows += batch.rows() as u64;
    }
    table.finish(out)?;
    Ok(rows)
}

/// A table that is being written.
pub struct Table {
    options: TableOptions,
    names: Vec<String>,
    layout: Option<Layout>,
    waiting: Vec<Vec<Cell>>,
    waiting_bytes: usize,
}

impl Table {
    /// One with columns for these variables, without their question marks.
    pub fn new(variables: &[&str], options: TableOptions) -> Self {
        let names = variables.iter().map(|name| (*name).to_owned()).collect();
        Self { options, names, layout: None, waiting: Vec::new(), waiting_bytes: 0 }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Where the writer fails.
    pub fn push<'a>(
        &mut self,
        row: impl Iterator<Item = Option<&'a Term>>,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let row: Vec<Cell> = row.map(|term| self.cell(term)).collect();
        if let Some(layout) = &self.layout {
            return layout.write_row(&row, out);
        }
        self.waiting_bytes += row.iter().map(|cell| size_of::<Cell>() + cell.text.len()).sum::<usize>();
        self.waiting.push(row);
        if self.waiting.len() < SAMPLE_ROWS && self.waiting_bytes < SAMPLE_BYTES {
            return Ok(());
        }
        self.start(out)
    }

    fn cell(&self, term: Option<&Term>) -> Cell {
        match (term, self.options.width) {
            (None, _) => Cell::default(),
            (Some(term), Some(width)) => Cell::short(term, &self.options.prefixes, width),
            (Some(term), None) => Cell::whole(term),
        }
    }

    /// Fixes the widths and writes the head and the rows that waited.
    fn start(&mut self, out: &mut dyn Write) -> std::io::Result<()> {
        let layout = Layout::new(&self.names, &self.waiting, &self.options);
        if !self.names.is_empty() {
            layout.write_head(&self.names, out)?;
        }
        for row in std::mem::take(&mut self.waiting) {
            layout.write_row(&row, out)?;
        }
        self.layout = Some(layout);
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Where the writer fails.
    pub fn finish(mut self, out: &mut dyn Write) -> std::io::Result<()> {
        if self.layout.is_none() { self.start(out) } else { Ok(()) }
    }
}
