//! Columns for others, by the C interface of Arrow: pyarrow, pandas, Polars, DuckDB and others take them as they are, without a copy.

use crate::interruptible;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use lode_arrow::ArrowReader;
use lode_engine::{CancelToken, EngineError, ExecError, MemoryBudget, Reservation};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashSet;
use std::ffi::CStr;
use std::sync::Arc;

/// What the capsule of a stream is called.
const STREAM: &CStr = c"arrow_array_stream";

fn capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    // Dropped with the capsule, unless its taker has moved it out.
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// All record batches of an answer.
#[pyclass(frozen, module = "lodestore._lodestore")]
pub struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// Theirs, for as long as this is there; who takes columns of it keeps them at own expense.
    _memory: Reservation,
}

impl Batches {
    /// Reads all.
    ///
    /// # Errors
    /// Those of the engine; where they take more memory than there is.
    pub fn read(reader: &mut ArrowReader, plain: bool, budget: &MemoryBudget) -> Result<Self, EngineError> {
        let (mut batches, mut memory, mut known) = (Vec::new(), budget.reserve_empty(), HashSet::new());
        let schema = if plain { plain_schema(reader.schema()) } else { reader.schema().clone() };
        while let Some(batch) = reader.next_batch()? {
            let batch = if plain { plain_batch(&batch, &schema).map_err(wrong)? } else { batch };
            let bytes = batch.columns().iter().map(|column| new_bytes(column, &mut known)).sum();
            memory.grow(bytes).map_err(ExecError::OutOfMemory)?;
            batches.push(batch);
        }
        Ok(Self { schema, batches, _memory: memory })
    }
}

/// What there is no reason for: types are those of the schema.
fn wrong(error: ArrowError) -> EngineError {
    EngineError::Format(error.to_string())
}

/// Whether a column is one of texts, each of which is in a dictionary.
fn is_of_texts(of: &DataType) -> bool {
    matches!(of, DataType::Dictionary(keys, texts) if **keys == DataType::Int32 && **texts == DataType::Utf8)
}

/// The schema with plain texts in the place of those in dictionaries: some programs take long to learn dictionaries.
fn plain_schema(schema: &SchemaRef) -> SchemaRef {
    let plain = |field: &Arc<Field>| match is_of_texts(field.data_type()) {
        true => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
        false => Arc::clone(field),
    };
    Arc::new(Schema::new(schema.fields().iter().map(plain).collect::<Vec<_>>()))
}

fn plain_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns =
        batch.columns().iter().map(|column| plain_column(column).unwrap_or_else(|| Arc::clone(column)));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect(), &options)
}

/// The texts of a column that has a dictionary of them.
fn plain_column(column: &ArrayRef) -> Option<ArrayRef> {
    let texts = column.as_dictionary_opt::<Int32Type>()?;
    let texts = texts.downcast_dict::<StringArray>()?;
    Some(Arc::new(texts.into_iter().collect::<StringArray>()))
}

/// Bytes of an array's buffers that are not known yet: batches share dictionaries.
fn new_bytes(array: &dyn Array, known: &mut HashSet<usize>) -> usize {
    let mut arrays = vec![array.to_data()];
    let mut bytes = 0;
    while let Some(data) = arrays.pop() {
        for buffer in data.buffers().iter().chain(data.nulls().map(|nulls| nulls.buffer())) {
            if known.insert(buffer.data_ptr().as_ptr().addr()) {
                bytes += buffer.capacity();
            }
        }
        arrays.extend(data.child_data().iter().cloned());
    }
    bytes
}

#[pymethods]
impl Batches {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish, which the interface lets nobody have to fulfil.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        capsule(py, Box::new(RecordBatchIterator::new(batches, self.schema.clone())))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// Record batches that are computed while somebody reads them.
pub struct ColumnStream {
    reader: ArrowReader,
    cancel: CancelToken,
}

impl ColumnStream {
    /// What is left of a reader.
    pub fn new(reader: ArrowReader, cancel: CancelToken) -> Self {
        Self { reader, cancel }
    }

    /// For who takes it.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn into_capsule(self, py: Python<'_>) -> PyResult<Bound<'_, PyCapsule>> {
        capsule(py, Box::new(self))
    }
}

impl Iterator for ColumnStream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { reader, cancel } = self;
        // The taker may or may not hold the interpreter's lock, and knows no exceptions: only messages.
        let ran = Python::try_attach(|py| {
            interruptible::run(py, cancel, || reader.next_batch()).map_err(|raised| {
                interrupt_again(py);
                ArrowError::ComputeError(raised.to_string())
            })
        });
        match ran {
            Some(Err(interrupted)) => Some(Err(interrupted)),
            Some(Ok(read)) => read.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose(),
            None => Some(Err(ArrowError::ComputeError("the interpreter ends".to_owned()))),
        }
    }
}

/// The taker raises an exception of its own: Ctrl-C must not be lost with it.
fn interrupt_again(py: Python<'_>) {
    let asked = py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main"));
    // Then the taker's exception tells.
    drop(asked);
}

impl RecordBatchReader for ColumnStream {
    fn schema(&self) -> SchemaRef {
        self.reader.schema().clone()
    }
}
