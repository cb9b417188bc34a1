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
use lode_exec::written::WrittenBatch;
use lode_rdf::serialize::{GraphText, write_term_ntriples};
use lode_rdf::{TermRef, Variable};
use std::io::{self, Write};

/// Bytes gathered before they are handed on.
const BUFFER_BYTES: usize = 64 << 10;

/// A format that is written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// SPARQL 1.1 Query Results JSON Format.
    Json,
    /// Its solutions alone, one a line.
    JsonLines,
    /// SPARQL 1.1 Query Results CSV Format: texts, without what tells their kind.
    Csv,
    /// SPARQL 1.1 Query Results TSV Format: terms as Turtle has them.
    Tsv,
}

impl RowFormat {
    fn head(self, variables: &[Variable], out: &mut Vec<u8>) {
        match self {
            Self::Json => json::head(variables, out),
            Self::JsonLines => {}
            Self::Csv => separated::csv_head(variables, out),
            Self::Tsv => separated::tsv_head(variables, out),
        }
    }

    fn term(self, term: TermRef<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Json | Self::JsonLines => json::term(term, out),
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
    let mut buffer = Buffer::new(out);
    format.head(&variables, &mut buffer.bytes);
    let mut texts = WrittenBatch::default();
    let mut count = 0;
    while let Some(rows) = solutions
        .answer(|cx, batch| texts.fill(cx, batch, |term, out| format.term(term, out)).map(|()| batch.rows))?
    {
        let columns = texts.columns();
        for row in 0..rows {
            match format {
                RowFormat::Json => json::row(columns, &names, row, count == 0, &mut buffer.bytes),
                RowFormat::JsonLines => json::line(columns, &names, row, &mut buffer.bytes),
                RowFormat::Csv => separated::row(columns, row, b',', b"\r\n", &mut buffer.bytes),
                RowFormat::Tsv => separated::row(columns, row, b'\t', b"\n", &mut buffer.bytes),
            }
            count += 1;
            buffer.hand_on()?;
        }
    }
    format.tail(&mut buffer.bytes);
    buffer.finish()?;
    Ok(count)
}

/// Writes all triples; returns how many there were.
pub fn write_triples(
    triples: &mut Triples,
    mut format: GraphText,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    let mut buffer = Buffer::new(out);
    let mut texts = WrittenBatch::default();
    let mut count = 0;
    while let Some(rows) =
        triples.answer(|cx, batch| texts.fill(cx, batch, write_term_ntriples).map(|()| batch.rows))?
    {
        for row in 0..rows {
            let [s, p, o] = [0, 1, 2].map(|at| texts.columns().get(at)?.get(row));
            let (Some(s), Some(p), Some(o)) = (s, p, o) else {
                return Err(ExecError::Internal("a triple without one of its terms".into()).into());
            };
            format.write([s, p, o], &mut buffer.bytes);
            buffer.hand_on()?;
        }
        count += rows as u64;
    }
    format.finish(&mut buffer.bytes);
    buffer.finish()?;
    Ok(count)
}

/// Text on its way out.
struct Buffer<'a> {
    bytes: Vec<u8>,
    out: &'a mut dyn Write,
}

impl<'a> Buffer<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { bytes: Vec::with_capacity(2 * BUFFER_BYTES), out }
    }

    /// Hands on what there is if that is enough.
    #[inline]
    fn hand_on(&mut self) -> io::Result<()> {
        if self.bytes.len() < BUFFER_BYTES {
            return Ok(());
        }
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        // A row can be long.
        self.bytes.shrink_to(2 * BUFFER_BYTES);
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        self.out.write_all(&self.bytes)
    }
}
