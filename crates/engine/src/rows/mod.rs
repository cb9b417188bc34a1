//! Rows of a SELECT as JSON, CSV and TSV, and triples of a graph as N-Triples and Turtle: from the dictionary's bytes to the format's, each distinct term of a batch once.
//!
//! The general serializers take terms one by one and characters one by one; an export spends most of its time there. XML and JSON-LD, which hardly
//! anybody exports, are left to them.

mod json;
mod separated;
#[cfg(test)]
mod tests;

use crate::EngineError;
use crate::results::{Solutions, Triples};
use lode_exec::ExecError;
use lode_exec::written::WrittenColumn;
use lode_rdf::serialize::{GraphText, write_term_ntriples};
use lode_rdf::{TermRef, Variable};
use std::io::Write;

/// Bytes gathered before they are handed on.
const BUFFER_BYTES: usize = 64 << 10;

/// A format that is written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// SPARQL 1.1 Query Results JSON Format.
    Json,
    /// SPARQL 1.1 Query Results CSV Format: texts, without what tells their kind.
    Csv,
    /// SPARQL 1.1 Query Results TSV Format: terms as Turtle has them.
    Tsv,
}

impl RowFormat {
    fn head(self, variables: &[Variable], out: &mut Vec<u8>) {
        match self {
            Self::Json => json::head(variables, out),
            Self::Csv => separated::csv_head(variables, out),
            Self::Tsv => separated::tsv_head(variables, out),
        }
    }

    fn term(self, term: TermRef<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Json => json::term(term, out),
            Self::Csv => separated::csv_term(term, out),
            Self::Tsv => separated::tsv_term(term, out),
        }
    }

    fn tail(self, out: &mut Vec<u8>) {
        if self == Self::Json {
            json::tail(out);
        }
    }
}

/// Writes all rows; returns how many there were.
pub fn write_rows(
    solutions: &mut Solutions,
    format: RowFormat,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    let variables = solutions.variables().to_vec();
    let names = json::names(&variables);
    let mut buffer = Vec::with_capacity(2 * BUFFER_BYTES);
    format.head(&variables, &mut buffer);
    let mut columns = vec![WrittenColumn::default(); variables.len()];
    let mut count = 0;
    while let Some(batch) = solutions.next_ids()? {
        solutions.make(batch.rows, |cx| {
            let mut both = columns.iter_mut().zip(&batch.columns);
            both.try_for_each(|(column, ids)| column.fill(cx, ids, |term, out| format.term(term, out)))
        })?;
        for row in 0..batch.rows {
            match format {
                RowFormat::Json => json::row(&columns, &names, row, count == 0, &mut buffer),
                RowFormat::Csv => separated::row(&columns, row, b',', b"\r\n", &mut buffer),
                RowFormat::Tsv => separated::row(&columns, row, b'\t', b"\n", &mut buffer),
            }
            count += 1;
            if buffer.len() >= BUFFER_BYTES {
                out.write_all(&buffer)?;
                buffer.clear();
            }
        }
    }
    format.tail(&mut buffer);
    out.write_all(&buffer)?;
    Ok(count)
}

/// Writes all triples; returns how many there were.
pub fn write_triples(
    triples: &mut Triples,
    mut format: GraphText,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    let mut buffer = Vec::with_capacity(2 * BUFFER_BYTES);
    let mut columns: [WrittenColumn; 3] = Default::default();
    let mut count = 0;
    while let Some(batch) = triples.next_ids()? {
        triples.make(batch.rows, |cx| {
            let mut both = columns.iter_mut().zip(&batch.columns);
            both.try_for_each(|(column, ids)| column.fill(cx, ids, write_term_ntriples))
        })?;
        for row in 0..batch.rows {
            let [Some(s), Some(p), Some(o)] = columns.each_ref().map(|column| column.get(row)) else {
                return Err(ExecError::Internal("a triple without one of its terms".into()).into());
            };
            format.write([s, p, o], &mut buffer);
            if buffer.len() >= BUFFER_BYTES {
                out.write_all(&buffer)?;
                buffer.clear();
            }
        }
        count += batch.rows as u64;
    }
    format.finish(&mut buffer);
    out.write_all(&buffer)?;
    Ok(count)
}
