//! Results into a writer: in the formats of the engine, and where the server was built with them, as Arrow and Parquet.

use lode_assist::{Prefix, declared_prefixes, kept_prefixes, prefixes_over_usual};
use lode_engine::{
    Database, EngineError, GraphRules, OutputFormat, QueryResults, TableOptions, write_results_with,
};
use lode_rdf::RdfFormat;
use lode_rdf::serialize::Prefixes;
use std::io::Write;

/// The prefixes of a database, for who may read all of it.
pub(crate) fn prefixes_of(database: &Database, graphs: &GraphRules) -> Vec<Prefix> {
    if graphs.reads_all() { kept_prefixes(database) } else { Vec::new() }
}

/// Writes all results of a query with this text, whose prefixes Turtle has, and those that are kept with the data that was asked; returns how many rows
/// or triples there were.
pub(crate) fn write_results(
    mut results: QueryResults,
    query: &str,
    asked: Option<(&Database, &GraphRules)>,
    format: OutputFormat,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    #[cfg(feature = "arrow")]
    if matches!(format, OutputFormat::Columns(..)) {
        return lode_arrow::write_results(results, format, out);
    }
    let prefixes = match format {
        OutputFormat::Rdf(RdfFormat::Turtle | RdfFormat::TriG) => {
            let kept = asked.map_or_else(Vec::new, |(database, graphs)| prefixes_of(database, graphs));
            prefixes_over_usual(kept.iter().chain(&declared_prefixes(query)))
        }
        _ => Prefixes::default(),
    };
    write_results_with(&mut results, format, &TableOptions::default(), &prefixes, out)
}

/// Whether answers can be written in this format.
pub fn is_offered(format: OutputFormat) -> bool {
    cfg!(feature = "arrow") || !matches!(format, OutputFormat::Columns(..))
}

/// The media types that are offered besides those of the engine, for a 406.
pub(crate) const COLUMNS_OFFERED: &str = match cfg!(feature = "arrow") {
    true => ", application/vnd.apache.arrow.stream, application/vnd.apache.parquet",
    false => "",
};
