//! Rows as aligned columns for people: widths from the first rows, long values cut, everything still streaming.

use crate::EngineError;
use crate::results::Solutions;
use lode_rdf::Term;
use lode_rdf::serialize::goes_bare;
use std::io::Write;

/// Rows that decide the columns' widths; later ones are only cut to fit.
const SAMPLE_ROWS: usize = 200;

/// How a table is drawn.
#[derive(Debug, Clone)]
pub struct TableOptions {
    /// The widest a column gets, in characters.
    pub column_width_max: usize,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { column_width_max: 60 }
    }
}

/// Writes all rows; returns how many there were.
pub(crate) fn write_table(
    solutions: &mut Solutions,
    options: &TableOptions,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    let names: Vec<String> = solutions.variables().iter().map(|v| format!("?{}", v.as_str())).collect();
    let mut table = Table::new(names, options.column_width_max);
    let mut rows = 0;
    while let Some(batch) = solutions.next_batch()? {
        for row in 0..batch.rows() {
            let cell = |term| cell(term, options.column_width_max);
            let cells =
                (0..table.names.len()).map(|column| batch.get(row, column).map_or(String::new(), cell));
            table.push(cells.collect(), out)?;
        }
        rows += batch.rows() as u64;
    }
    table.finish(out)?;
    Ok(rows)
}

/// A term as in Turtle: numbers and booleans bare, all else as N-Triples, with line breaks escaped so that a row stays a line. Of long ones
/// one character more than is shown, since rows wait here.
fn cell(term: &Term, width_max: usize) -> String {
    let mut cell = match term {
        Term::Literal(literal) if goes_bare(literal.as_ref()) => literal.value().to_owned(),
        other => other.to_string(),
    };
    if let Some((end, _)) = cell.char_indices().nth(width_max + 1) {
        cell.truncate(end);
        cell.shrink_to_fit();
    }
    cell
}

struct Table {
    names: Vec<String>,
    width_max: usize,
    widths: Option<Vec<usize>>,
    waiting: Vec<Vec<String>>,
}

impl Table {
    fn new(names: Vec<String>, width_max: usize) -> Self {
        Self { names, width_max, widths: None, waiting: Vec::new() }
    }

    fn push(&mut self, row: Vec<String>, out: &mut dyn Write) -> std::io::Result<()> {
        match &self.widths {
            Some(widths) => write_row(&row, widths, out),
            None => {
                self.waiting.push(row);
                if self.waiting.len() < SAMPLE_ROWS { Ok(()) } else { self.start(out) }
            }
        }
    }

    /// Fixes the widths and writes the head and the rows that waited.
    fn start(&mut self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut widths: Vec<usize> = self.names.iter().map(|name| name.chars().count()).collect();
        for row in &self.waiting {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count().min(self.width_max));
            }
        }
        if !self.names.is_empty() {
            write_row(&self.names, &widths, out)?;
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            write_row(&rule, &widths, out)?;
        }
        for row in std::mem::take(&mut self.waiting) {
            write_row(&row, &widths, out)?;
        }
        self.widths = Some(widths);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> std::io::Result<()> {
        if self.widths.is_none() { self.start(out) } else { Ok(()) }
    }
}

fn write_row(cells: &[String], widths: &[usize], out: &mut dyn Write) -> std::io::Result<()> {
    let mut line = String::new();
    for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if i > 0 {
            line.push_str("  ");
        }
        push_padded(&mut line, cell, *width);
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// Appends `cell` cut or padded to `width` characters; a cut is shown by an ellipsis.
fn push_padded(line: &mut String, cell: &str, width: usize) {
    let length = cell.chars().count();
    if length <= width {
        line.push_str(cell);
        line.extend(std::iter::repeat_n(' ', width - length));
    } else {
        line.extend(cell.chars().take(width.saturating_sub(1)));
        line.push('…');
    }
}
