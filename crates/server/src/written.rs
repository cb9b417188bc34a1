//! Results into a writer: in the formats of the engine, and where the server was built with them, as Arrow and Parquet.

use lode_engine::{EngineError, OutputFormat, QueryResults};
use std::io::Write;

/// Writes all results; returns how many rows or triples there were.
#[cfg(feature = "arrow")]
pub(crate) fn write_results(
    results: QueryResults,
    format: OutputFormat,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    lode_arrow::write_results(results, format, out)
}

/// Writes all results; returns how many rows or triples there were.
#[cfg(not(feature = "arrow"))]
pub(crate) fn write_results(
    mut results: QueryResults,
    format: OutputFormat,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    lode_engine::write_results(&mut results, format, out)
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
