//! Reports: what was found, as RDF in the vocabulary of SHACL, as JSON, or as a table for people. Written while it is found.

mod json;
mod rdf;

use crate::error::ShaclError;
use crate::result::ValidationResult;
use crate::validate::Summary;
use json::JsonReport;
use lode_engine::{Table, TableOptions};
use lode_rdf::{Literal, RdfFormat, Term};
use rdf::RdfReport;
use std::io::Write;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// As triples.
    Rdf(RdfFormat),
    /// One object.
    Json,
    /// A table: nothing where nothing violates.
    Table,
}

/// A report that is being written.
pub struct Report<W: Write>(Inner<W>);

enum Inner<W: Write> {
    Rdf(Box<RdfReport<W>>),
    Json(JsonReport<W>),
    Table(Box<Table>, W),
}

/// The columns of a table.
const COLUMNS: [&str; 5] = ["severity", "focus", "path", "value", "message"];

impl<W: Write> Report<W> {
    /// Begins a report. `table` says how tables are drawn.
    ///
    /// # Errors
    /// Where the writer fails.
    pub fn start(format: ReportFormat, table: TableOptions, out: W) -> Result<Self, ShaclError> {
        Ok(Self(match format {
            ReportFormat::Rdf(format) => Inner::Rdf(Box::new(RdfReport::start(format, out)?)),
            ReportFormat::Json => Inner::Json(JsonReport::new(out)),
            ReportFormat::Table => Inner::Table(Box::new(Table::new(&COLUMNS, table)), out),
        }))
    }

    /// Adds a result.
    ///
    /// # Errors
    /// Where the writer fails.
    pub fn push(&mut self, result: &ValidationResult) -> Result<(), ShaclError> {
        match &mut self.0 {
            Inner::Rdf(report) => report.push(result)?,
            Inner::Json(report) => report.push(result)?,
            Inner::Table(table, out) => {
                let path = result.path.as_ref().map(|path| match path {
                    crate::path::Path::Predicate(name) => Term::from(name.clone()),
                    other => Literal::new_simple_literal(other.to_string()).into(),
                });
                let severity = Term::from(result.severity.clone());
                let message = result.messages.first().map(|message| Term::from(message.clone()));
                let row = [
                    Some(&severity),
                    Some(&result.focus),
                    path.as_ref(),
                    result.value.as_ref(),
                    message.as_ref(),
                ];
                table.push(row.into_iter(), out)?;
            }
        }
        Ok(())
    }

    /// Ends the report.
    ///
    /// # Errors
    /// Where the writer fails.
    pub fn finish(self, summary: &Summary) -> Result<W, ShaclError> {
        Ok(match self.0 {
            Inner::Rdf(report) => report.finish(summary)?,
            Inner::Json(report) => report.finish(summary)?,
            Inner::Table(table, mut out) => {
                if !summary.conforms() {
                    table.finish(&mut out)?;
                }
                out
            }
        })
    }
}
