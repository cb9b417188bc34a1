//! Results into a writer, as Arrow or Parquet or in the formats of the engine, streaming.

use crate::memory::{BatchMemory, batch_bytes};
use crate::options::ArrowOptions;
use crate::output::error;
use crate::parquet_file::ParquetFile;
use crate::reader::ArrowReader;
use arrow_ipc::writer::StreamWriter;
use lode_engine::{ColumnContainer, EngineError, OutputFormat, QueryResults};
use std::io::Write;

/// Writes all results; returns how many rows or triples there were (an ASK counts as one).
///
/// # Errors
/// [`EngineError::Format`] where the format cannot hold this kind of result, before anything is written.
pub fn write_results(
    mut results: QueryResults,
    format: OutputFormat,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    let OutputFormat::Columns(container, form) = format else {
        return lode_engine::write_results(&mut results, format, out);
    };
    let mut reader = ArrowReader::new(results, &ArrowOptions { form, ..ArrowOptions::default() })?;
    match container {
        ColumnContainer::Arrow => write_arrow(&mut reader, out),
        ColumnContainer::Parquet => write_parquet(&mut reader, out),
    }
}

/// Writes all record batches as an Arrow IPC stream; returns how many rows there were.
///
/// # Errors
/// Like [`ArrowReader::next_batch`], and where `out` fails.
pub fn write_arrow(reader: &mut ArrowReader, out: &mut dyn Write) -> Result<u64, EngineError> {
    let mut memory = BatchMemory::new(&reader.budget());
    let mut writer = StreamWriter::try_new(Vec::new(), reader.schema()).map_err(error)?;
    let mut count = 0;
    while let Some(batch) = reader.next_batch()? {
        memory.set(batch_bytes(&batch))?;
        writer.write(&batch).map_err(error)?;
        count += batch.num_rows() as u64;
        hand_on(writer.get_mut(), out)?;
    }
    writer.finish().map_err(error)?;
    hand_on(writer.get_mut(), out)?;
    Ok(count)
}

/// Writes all record batches as a Parquet file; returns how many rows there were.
///
/// # Errors
/// Like [`ArrowReader::next_batch`], and where `out` fails.
pub fn write_parquet(reader: &mut ArrowReader, out: &mut dyn Write) -> Result<u64, EngineError> {
    let mut file = ParquetFile::new(reader.schema(), &reader.budget())?;
    let mut count = 0;
    while let Some(batch) = reader.next_batch()? {
        file.write(&batch, out)?;
        count += batch.num_rows() as u64;
    }
    file.finish(out)?;
    Ok(count)
}

/// Hands all bytes on.
fn hand_on(bytes: &mut Vec<u8>, out: &mut dyn Write) -> Result<(), EngineError> {
    out.write_all(bytes)?;
    // The next batch is likely as long; its memory is counted then.
    *bytes = Vec::new();
    Ok(())
}
