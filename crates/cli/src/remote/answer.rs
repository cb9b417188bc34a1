//! A server's answer, as it is asked for and shown.

use super::Told;
use crate::look::Look;
use crate::talk::say;
use anyhow::anyhow;
use lode_engine::{CancelToken, OutputFormat, ResultKind, Table};
use lode_rdf::serialize::GraphText;
use lode_rdf::{RdfFormat, Term};
use sparesults::{QueryResultsFormat, QueryResultsParser, ReaderQueryResultsParserOutput};
use std::io::{BufRead, BufReader, Read, Write};
use ureq::Body;
use ureq::http::Response;

/// What is read at once.
const BUFFER_BYTES: usize = 64 << 10;
/// The longest line of N-Triples that is made Turtle of: it is held, and so is what is written of it.
const LINE_BYTES_MAX: u64 = 32 << 20;

/// What was shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    /// Rows of a table, where one was.
    pub rows: Option<u64>,
    /// Triples, where they were made Turtle of.
    pub triples: Option<u64>,
}

/// The media types that are asked for, for a format.
pub fn accepted(format: OutputFormat) -> String {
    match format {
        // What is shown as Turtle is made of lines here, for its prefixes.
        OutputFormat::Table => {
            "application/sparql-results+json, application/n-triples;q=0.9, text/turtle;q=0.8".to_owned()
        }
        OutputFormat::Rdf(RdfFormat::Turtle | RdfFormat::TriG) => {
            "application/n-triples, text/turtle;q=0.9".to_owned()
        }
        OutputFormat::Rdf(_) | OutputFormat::JsonLines | OutputFormat::Columns(..) => {
            format.media_type().to_owned()
        }
        OutputFormat::Results(_) => {
            let name = |format: OutputFormat| format.media_type().split(';').next().unwrap_or("").to_owned();
            match format.of_kind(ResultKind::Graph) {
                OutputFormat::Rdf(graph) => {
                    format!("{}, {};q=0.9", name(format), name(OutputFormat::Rdf(graph)))
                }
                _ => name(format),
            }
        }
    }
}

/// Writes an answer as it comes.
pub fn show(
    response: Response<Body>,
    format: OutputFormat,
    look: &Look,
    cancel: &CancelToken,
    out: &mut dyn Write,
) -> anyhow::Result<Shown> {
    super::change::warnings(&response).iter().for_each(|warning| say!("warning: {warning}"));
    let media_type = super::media_type(&response);
    let mut told = BufReader::with_capacity(BUFFER_BYTES, Told::new(response, cancel));
    let wants_turtle =
        matches!(format, OutputFormat::Table | OutputFormat::Rdf(RdfFormat::Turtle | RdfFormat::TriG));
    let shown = match media_type.as_str() {
        // What no format of graphs can hold is shown as a table.
        "application/sparql-results+json" | "application/json"
            if matches!(format, OutputFormat::Table | OutputFormat::Rdf(_)) =>
        {
            table(told, look, out)
        }
        "application/n-triples" | "text/plain" if wants_turtle => turtle(told, look, out),
        _ => std::io::copy(&mut told, out).map(|_| Shown::default()).map_err(anyhow::Error::from),
    };
    shown.map_err(|error| Told::failed(cancel, error))
}

/// Rows, or whether there are some.
fn table(told: impl Read, look: &Look, out: &mut dyn Write) -> anyhow::Result<Shown> {
    let parser = QueryResultsParser::from_format(QueryResultsFormat::Json);
    let failed = |error: sparesults::QueryResultsParseError| anyhow!("the server's answer: {error}");
    match parser.for_reader(told).map_err(failed)? {
        ReaderQueryResultsParserOutput::Boolean(value) => {
            writeln!(out, "{}", if value { "yes" } else { "no" })?;
            Ok(Shown::default())
        }
        ReaderQueryResultsParserOutput::Solutions(solutions) => {
            let variables = solutions.variables().to_vec();
            let names: Vec<&str> = variables.iter().map(|variable| variable.as_str()).collect();
            let mut table = Table::new(&names, look.table.clone());
            let mut rows = 0;
            for solution in solutions {
                let solution = solution.map_err(failed)?;
                let terms: Vec<Option<&Term>> =
                    variables.iter().map(|variable| solution.get(variable)).collect();
                table.push(terms.into_iter(), out)?;
                rows += 1;
            }
            table.finish(out)?;
            Ok(Shown { rows: Some(rows), triples: None })
        }
    }
}

/// Lines of N-Triples as Turtle.
fn turtle(mut told: impl BufRead, look: &Look, out: &mut dyn Write) -> anyhow::Result<Shown> {
    let text = GraphText::new(RdfFormat::Turtle).ok_or_else(|| anyhow!("Turtle is no text"))?;
    let mut text = text.with_prefixes(&look.prefixes);
    let (mut line, mut buffer, mut triples) = (Vec::new(), Vec::new(), 0);
    for number in 1_u64.. {
        line.clear();
        if told.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
            return Err(anyhow!(
                "the server's answer, line {number}: it has more than {LINE_BYTES_MAX} bytes (--format nt takes longer ones, as they are)"
            ));
        }
        let Some(terms) = terms(&line) else {
            if line.trim_ascii().is_empty() || line.trim_ascii_start().starts_with(b"#") {
                continue;
            }
            return Err(anyhow!("the server's answer, line {number}: it is no N-Triples"));
        };
        text.write(terms, &mut buffer);
        triples += 1;
        if buffer.len() >= BUFFER_BYTES {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    text.finish(&mut buffer);
    out.write_all(&buffer)?;
    Ok(Shown { rows: None, triples: Some(triples) })
}

/// The texts of the terms of a line.
fn terms(line: &[u8]) -> Option<[&[u8]; 3]> {
    let line = line.trim_ascii().strip_suffix(b".")?.trim_ascii_end();
    let word = |text| <[u8]>::iter(text).position(|byte| matches!(byte, b' ' | b'\t'));
    let (subject, rest) = line.split_at_checked(word(line)?)?;
    let rest = rest.trim_ascii_start();
    let (predicate, object) = rest.split_at_checked(word(rest)?)?;
    let object = object.trim_ascii_start();
    (!object.is_empty()).then_some([subject, predicate, object])
}
