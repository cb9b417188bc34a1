//! Results into a writer, in any of the formats, streaming.

use crate::EngineError;
use crate::format::OutputFormat;
use crate::results::{QueryResults, Solutions, Triples};
use crate::rows::{self, RowFormat};
use crate::table::{TableOptions, write_table};
use crate::xml_characters;
use lode_rdf::format::RdfFormat;
use lode_rdf::serialize::{GraphText, Prefixes, QuadWriter};
use lode_rdf::{GraphNameRef, VariableRef};
use sparesults::{QueryResultsFormat, QueryResultsSerializer};
use std::io::Write;

/// Writes all results; returns how many rows or triples there were (an ASK counts as one).
///
/// # Errors
/// [`EngineError::Format`] where the format cannot hold this kind of result, before anything is written.
pub fn write_results(
    results: &mut QueryResults,
    format: OutputFormat,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    write_results_with(results, format, &TableOptions::default(), &Prefixes::default(), out)
}

/// The same with tables that are drawn so, and with prefixes in Turtle and TriG, each declared before it is used.
///
/// # Errors
/// Like [`write_results`].
pub fn write_results_with(
    results: &mut QueryResults,
    format: OutputFormat,
    table: &TableOptions,
    prefixes: &Prefixes,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    match (results, format) {
        (QueryResults::Solutions(solutions), OutputFormat::Results(format)) => match format {
            QueryResultsFormat::Json => rows::write_rows(solutions, RowFormat::Json, out),
            QueryResultsFormat::Csv => rows::write_rows(solutions, RowFormat::Csv, out),
            QueryResultsFormat::Tsv => rows::write_rows(solutions, RowFormat::Tsv, out),
            _ => write_xml(solutions, format, out),
        },
        (QueryResults::Solutions(solutions), OutputFormat::JsonLines) => {
            rows::write_rows(solutions, RowFormat::JsonLines, out)
        }
        (QueryResults::Boolean(value), OutputFormat::JsonLines) => {
            writeln!(out, r#"{{"boolean":{value}}}"#)?;
            Ok(1)
        }
        (QueryResults::Solutions(solutions), OutputFormat::Table) => write_table(solutions, table, out),
        (QueryResults::Boolean(value), OutputFormat::Results(format)) => {
            QueryResultsSerializer::from_format(format).serialize_boolean_to_writer(out, *value)?;
            Ok(1)
        }
        (QueryResults::Boolean(value), OutputFormat::Table) => {
            writeln!(out, "{}", if *value { "yes" } else { "no" })?;
            Ok(1)
        }
        (QueryResults::Graph(triples), OutputFormat::Rdf(format)) => {
            write_graph(triples, format, prefixes, out)
        }
        (QueryResults::Graph(triples), OutputFormat::Table) => {
            write_graph(triples, RdfFormat::Turtle, prefixes, out)
        }
        (QueryResults::Graph(_), OutputFormat::Results(_) | OutputFormat::JsonLines) => {
            Err(EngineError::Format(
                "CONSTRUCT and DESCRIBE return a graph: use an RDF format (nt, ttl, rdf, jsonld, ...)"
                    .to_owned(),
            ))
        }
        (_, OutputFormat::Columns(..)) => Err(EngineError::Format(
            "this program writes no Arrow and no Parquet: it was built without the feature arrow".to_owned(),
        )),
        (_, OutputFormat::Rdf(_)) => Err(EngineError::Format(
            "SELECT and ASK return no graph: use a result format (table, json, jsonl, xml, csv, tsv)"
                .to_owned(),
        )),
    }
}

/// XML, the only format that is left to the library's serializer.
fn write_xml(
    solutions: &mut Solutions,
    format: QueryResultsFormat,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    let variables = solutions.variables().to_vec();
    let mut serializer =
        QueryResultsSerializer::from_format(format).serialize_solutions_to_writer(out, variables.clone())?;
    let mut rows = 0;
    while let Some(batch) = solutions.next_batch()? {
        for row in 0..batch.rows() {
            let terms: Vec<_> = (0..variables.len())
                .filter_map(|column| {
                    let variable = VariableRef::from(variables.get(column)?);
                    Some((variable, xml_characters::replaced(batch.get(row, column)?)))
                })
                .collect();
            serializer.serialize(terms.iter().map(|(variable, term)| (*variable, (**term).as_ref())))?;
        }
        rows += batch.rows() as u64;
    }
    serializer.finish()?;
    Ok(rows)
}

fn write_graph(
    triples: &mut Triples,
    format: RdfFormat,
    prefixes: &Prefixes,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    if let Some(format) = GraphText::new(format) {
        return rows::write_triples(triples, format.with_prefixes(prefixes), out);
    }
    let mut writer = QuadWriter::start(format, out)?;
    let mut count = 0;
    while let Some(batch) = triples.next_batch()? {
        for triple in batch.triples() {
            writer.write(triple.in_graph(GraphNameRef::DefaultGraph))?;
        }
        count += batch.rows() as u64;
    }
    writer.finish()?;
    Ok(count)
}
