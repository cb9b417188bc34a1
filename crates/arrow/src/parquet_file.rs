//! A Parquet file on its way into a writer.

use crate::memory::{BatchMemory, batch_bytes};
use crate::output::parquet_error;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use lode_engine::{EngineError, MemoryBudget};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::Write;

/// Rows of a row group, at most,
const GROUP_ROWS: usize = 1 << 20;
/// and bytes, encoded and compressed,
const GROUP_BYTES: usize = 64 << 20;
/// and the part of the memory that one may take.
const GROUP_PART: usize = 16;
/// A column's dictionary page; columns of more text are plain after it.
const DICTIONARY_BYTES: usize = 1 << 20;

/// A Parquet file on its way into a writer: what is encoded is handed on after each row group.
pub struct ParquetFile {
    writer: ArrowWriter<Vec<u8>>,
    group_bytes: usize,
    memory: BatchMemory,
}

impl ParquetFile {
    /// A file without rows.
    pub fn new(schema: &SchemaRef, budget: &MemoryBudget) -> Result<Self, EngineError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_dictionary_page_size_limit(DICTIONARY_BYTES)
            .set_created_by(concat!("lodestore ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties));
        let writer = writer.map_err(parquet_error)?;
        let group_bytes = GROUP_BYTES.min(budget.limit() / GROUP_PART);
        Ok(Self { writer, group_bytes, memory: BatchMemory::new(budget) })
    }

    /// Adds rows.
    pub fn write(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<(), EngineError> {
        // What is encoded takes no more than what it is made of, and some for what is not yet compressed.
        self.memory.set(self.writer.memory_size() + 2 * batch_bytes(batch))?;
        self.writer.write(batch).map_err(parquet_error)?;
        if self.writer.memory_size() >= self.group_bytes {
            self.writer.flush().map_err(parquet_error)?;
        }
        self.memory.set(self.writer.memory_size() + self.writer.inner().capacity())?;
        self.hand_on(out)
    }

    /// Writes the rest.
    pub fn finish(mut self, out: &mut dyn Write) -> Result<(), EngineError> {
        self.writer.finish().map_err(parquet_error)?;
        self.hand_on(out)
    }

    fn hand_on(&mut self, out: &mut dyn Write) -> Result<(), EngineError> {
        let bytes = self.writer.inner_mut();
        out.write_all(bytes)?;
        bytes.clear();
        bytes.shrink_to(1 << 20);
        Ok(())
    }
}
