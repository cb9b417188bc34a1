//! Results into a writer: in the formats of the engine, and in a build with the feature arrow as Arrow and Parquet.

use crate::look::Look;
use lode_engine::{EngineError, OutputFormat, QueryResults};
use std::io::Write;

/// What is told who asks for Arrow or Parquet where there is none.
pub const NO_COLUMNS: &str =
    "this lode writes no Arrow and no Parquet: build one with `cargo build --release --features arrow`";

/// Writes all results; returns how many rows or triples there were.
pub fn write_results(
    mut results: QueryResults,
    format: OutputFormat,
    look: &Look,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    #[cfg(feature = "arrow")]
    if matches!(format, OutputFormat::Columns(..)) {
        return lode_arrow::write_results(results, format, out);
    }
    lode_engine::write_results_with(&mut results, format, &look.table, &look.prefixes, out)
}

/// The names of all formats.
pub fn format_names() -> String {
    match cfg!(feature = "arrow") {
        true => format!("{}, {}", OutputFormat::NAMES, OutputFormat::COLUMN_NAMES),
        false => OutputFormat::NAMES.to_owned(),
    }
}
