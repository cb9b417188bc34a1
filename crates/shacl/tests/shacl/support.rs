//! Validates a text against a text.

use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{Database, TableOptions};
use lode_rdf::RdfFormat;
use lode_rdf::parse::ParseOptions;
use lode_shacl::{
    Report, ReportFormat, ShaclError, Shapes, ShapesGraph, Summary, ValidateOptions, ValidationResult,
    validate,
};
use std::sync::Arc;

pub const PREFIXES: &str = "@prefix : <http://e/> . @prefix sh: <http://www.w3.org/ns/shacl#> . \
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . \
    @prefix owl: <http://www.w3.org/2002/07/owl#> .\n";

pub fn database(turtle: &str) -> Database {
    let database = Database::in_memory().unwrap();
    let source = Source::bytes("data", format!("{PREFIXES}{turtle}")).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    database
}

pub fn graph(turtle: &str) -> Result<ShapesGraph, ShaclError> {
    let text = format!("{PREFIXES}{turtle}");
    let mut graph = ShapesGraph::default();
    graph.add_document("shapes", RdfFormat::Turtle, text.as_bytes(), &ParseOptions::default())?;
    Ok(graph)
}

pub fn shapes(turtle: &str) -> Result<Shapes, ShaclError> {
    Shapes::read(graph(turtle)?)
}

pub fn results(
    database: &Database,
    shapes: &Shapes,
    options: &ValidateOptions,
) -> Result<(Vec<ValidationResult>, Summary), ShaclError> {
    let mut results = Vec::new();
    let summary = validate(&database.snapshot(), shapes, options, &mut |result| {
        results.push(result.clone());
        Ok(())
    })?;
    Ok((results, summary))
}

/// Focus node, value, component without its common end: one line for each result.
pub fn found(data: &str, turtle: &str) -> Result<Vec<String>, ShaclError> {
    let shapes = shapes(turtle)?;
    let (results, summary) = results(&database(data), &shapes, &ValidateOptions::default())?;
    assert_eq!(summary.results, results.len() as u64);
    let mut lines: Vec<String> = results.iter().map(line).collect();
    lines.sort();
    Ok(lines)
}

fn line(result: &ValidationResult) -> String {
    let value = result.value.as_ref().map_or(String::new(), |value| format!(" {value}"));
    let component = result.component.as_str().rsplit(['#', '/']).next().unwrap_or_default();
    format!("{}{value} {component}", result.focus).replace("http://e/", "").replace("ConstraintComponent", "")
}

pub fn report(data: &str, turtle: &str, format: ReportFormat, limit: u64) -> String {
    let (database, shapes) = (database(data), shapes(turtle).unwrap());
    let mut report = Report::start(format, TableOptions::default(), Vec::new()).unwrap();
    let options = ValidateOptions { results_max: limit, ..ValidateOptions::default() };
    let summary =
        validate(&database.snapshot(), &shapes, &options, &mut |result| report.push(result)).unwrap();
    String::from_utf8(report.finish(&summary).unwrap()).unwrap()
}
