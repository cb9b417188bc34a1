//! The record batches of an answer, made as they are asked for.

use crate::column::column;
use crate::column_type::ColumnType;
use crate::dictionary::KeptDictionary;
use crate::memory::BatchMemory;
use crate::options::ArrowOptions;
use crate::window::{Waiting, type_of};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use lode_engine::{ColumnForm, Columns, EngineError, ExecError, MemoryBudget, QueryResults};
use std::sync::Arc;

/// What a batch may take of the memory of a query, so that it can be written, too,
const BATCH_PART: usize = 8;
/// and how much at most.
const BATCH_BYTES_MAX: usize = 256 << 20;

/// The memory of a batch.
fn part_of(budget: &MemoryBudget) -> MemoryBudget {
    budget.part(BATCH_BYTES_MAX.min(budget.limit() / BATCH_PART))
}

/// The record batches of an answer.
///
/// A batch counts in the query's memory until the next one is asked for; who keeps more of them has to count them.
pub struct ArrowReader {
    schema: SchemaRef,
    source: Source,
}

enum Source {
    Rows(Box<Rows>),
    /// The answer of an ASK, until it was given.
    Answer(Option<bool>),
}

struct Rows {
    columns: Columns,
    types: Vec<ColumnType>,
    kept: Vec<KeptDictionary>,
    waiting: Waiting,
    is_read: bool,
    batch_rows: usize,
    memory: BatchMemory,
}

impl ArrowReader {
    /// Reads as much of the answer as the types of its columns take.
    ///
    /// # Errors
    /// Where the query was cancelled or took too long, needs more memory than it may take, or a file cannot be read or written.
    pub fn new(results: QueryResults, options: &ArrowOptions) -> Result<Self, EngineError> {
        let mut columns = match Columns::new(results) {
            Ok(columns) => columns,
            Err(answer) => {
                let schema = Schema::new(vec![ColumnType::Boolean.field("boolean")]);
                return Ok(Self { schema: Arc::new(schema), source: Source::Answer(Some(answer)) });
            }
        };
        let mut waiting = Waiting::new(&columns);
        let mut is_read = false;
        let names = columns.names().len();
        let types = match options.form {
            ColumnForm::Struct => vec![ColumnType::Struct; names],
            ColumnForm::Text => vec![ColumnType::Text; names],
            ColumnForm::Typed => {
                let window = Waiting::window(&columns, options.window_rows);
                is_read = waiting.fill(&mut columns, window)?;
                let rows = waiting.rows();
                let of = |at| type_of(&columns, at, waiting.column(at, rows), is_read);
                (0..names).map(of).collect::<Result<_, _>>()?
            }
        };
        let fields: Vec<_> =
            types.iter().zip(columns.names()).map(|(of, name): (&ColumnType, _)| of.field(name)).collect();
        let kept = types.iter().map(|_| KeptDictionary::default()).collect();
        let memory = BatchMemory::new(&part_of(columns.budget()));
        let batch_rows = options.batch_rows.max(1);
        let rows = Rows { columns, types, kept, waiting, is_read, batch_rows, memory };
        Ok(Self { schema: Arc::new(Schema::new(fields)), source: Source::Rows(Box::new(rows)) })
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The memory of the query; none of an ASK, which needs no more.
    pub(crate) fn budget(&self) -> MemoryBudget {
        match &self.source {
            Source::Rows(rows) => rows.columns.budget().clone(),
            Source::Answer(_) => MemoryBudget::unlimited(),
        }
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// Like [`ArrowReader::new`].
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, EngineError> {
        match &mut self.source {
            Source::Rows(rows) => rows.next(&self.schema),
            Source::Answer(answer) => {
                let Some(answer) = answer.take() else { return Ok(None) };
                let column: ArrayRef = Arc::new(BooleanArray::from(vec![answer]));
                let batch = RecordBatch::try_new(Arc::clone(&self.schema), vec![column]);
                batch.map(Some).map_err(crate::output::error)
            }
        }
    }
}

impl Rows {
    fn next(&mut self, schema: &SchemaRef) -> Result<Option<RecordBatch>, EngineError> {
        if !self.is_read {
            self.is_read = self.waiting.fill(&mut self.columns, self.batch_rows)?;
        }
        let mut rows = self.waiting.rows().min(self.batch_rows);
        if rows == 0 {
            self.memory.set(0)?;
            return Ok(None);
        }
        let mut is_whole = false;
        loop {
            self.memory.set(0)?;
            match self.batch(schema, rows) {
                // Texts can be long: half of the rows then, and one with all the memory that there is.
                Err(EngineError::Execution(ExecError::OutOfMemory(_))) if !is_whole => {
                    self.kept.iter_mut().for_each(|kept| *kept = KeptDictionary::default());
                    is_whole = rows == 1;
                    rows = (rows / 2).max(1);
                    if is_whole {
                        self.memory = BatchMemory::new(self.columns.budget());
                    }
                }
                Err(error) => return Err(error),
                Ok(batch) => {
                    self.waiting.take(rows);
                    return Ok(Some(batch));
                }
            }
        }
    }

    fn batch(&mut self, schema: &SchemaRef, rows: usize) -> Result<RecordBatch, EngineError> {
        let Self { columns, types, kept, waiting, memory, .. } = self;
        let made = types
            .iter()
            .zip(kept)
            .enumerate()
            .map(|(at, (of, kept))| column(columns, waiting.column(at, rows), of, kept, memory));
        let made = made.collect::<Result<Vec<ArrayRef>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), made, &options).map_err(crate::output::error)
    }
}

impl Iterator for ArrowReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for ArrowReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
