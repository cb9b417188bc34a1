//! All quads as a Parquet file.

use crate::dictionary::Texts;
use crate::memory::BatchMemory;
use crate::output;
use crate::parquet_file::ParquetFile;
use crate::structs;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use lode_engine::store::{DumpError, DumpOptions, Snapshot};
use lode_engine::{CancelToken, EngineError, ExecError, MemoryBudget};
use lode_rdf::{GraphNameRef, QuadRef, TermRef};
use std::io::{self, Write};
use std::sync::Arc;

/// Quads of a record batch, at most,
const BATCH_ROWS: usize = 1 << 16;
/// and bytes of their texts.
const BATCH_BYTES: usize = 32 << 20;
/// The part of the memory that these may be.
const BATCH_PART: usize = 16;
/// The columns, and whether each may have no value.
const COLUMNS: [(&str, bool); 7] = [
    ("subject", false),
    ("predicate", false),
    ("object", false),
    ("object_kind", false),
    ("object_datatype", true),
    ("object_language", true),
    ("graph", true),
];

/// Writes all quads, or those of one graph, as a Parquet file of one table; returns how many there were. Blank nodes begin with `_:`; of the
/// default graph there is no name.
///
/// # Errors
/// Where `out` cannot be written to, a file cannot be read or is damaged, there is no memory for a row, or the work was cancelled.
pub fn dump_quads(
    snapshot: &Snapshot,
    options: impl Into<DumpOptions>,
    budget: &MemoryBudget,
    cancel: &CancelToken,
    out: &mut dyn Write,
) -> Result<u64, EngineError> {
    let fields: Vec<Field> =
        COLUMNS.iter().map(|(name, empty)| Field::new(*name, DataType::Utf8, *empty)).collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let bytes_max = BATCH_BYTES.min(budget.limit() / BATCH_PART);
    let file = ParquetFile::new(&schema, budget)?;
    let columns = COLUMNS.map(|_| Cells::default());
    let mut table = Table { schema, file, columns, rows: 0, bytes: 0, memory: BatchMemory::new(budget) };
    let mut failed = None;
    let dumped = lode_engine::store::dump_quads(snapshot, options, cancel, &mut |quad| {
        let added = table.add(quad).map_err(EngineError::from).and_then(|()| {
            match table.rows >= BATCH_ROWS || table.bytes >= bytes_max {
                true => table.write(out),
                false => Ok(()),
            }
        });
        added.map_err(|error| {
            failed = Some(error);
            io::Error::other("the table cannot be written")
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let count = dumped.map_err(dump_error)?;
    table.write(out)?;
    table.file.finish(out)?;
    Ok(count)
}

fn dump_error(error: DumpError) -> EngineError {
    match error {
        DumpError::Store(error) => error.into(),
        DumpError::Cancelled(reason) => EngineError::Cancelled(reason),
        DumpError::Output(error) => EngineError::Output(error),
        other => EngineError::Execution(ExecError::Internal(other.to_string())),
    }
}

/// The texts of a column, and which rows have one.
#[derive(Default)]
struct Cells {
    texts: Texts,
    bound: Vec<bool>,
}

impl Cells {
    fn push(
        &mut self,
        memory: &mut BatchMemory,
        text: Option<impl FnOnce(&mut Vec<u8>)>,
    ) -> Result<usize, ExecError> {
        self.bound.push(text.is_some());
        let before = self.texts.bytes();
        self.texts.push(memory, |out| {
            if let Some(write) = text {
                write(out);
            }
        })?;
        Ok(self.texts.bytes() - before)
    }

    fn finish(self) -> Result<ArrayRef, EngineError> {
        let nulls = self.bound.contains(&false).then(|| NullBuffer::from(self.bound));
        let (offsets, values, _) = self.texts.finish().map_err(output::error)?.into_parts();
        Ok(Arc::new(StringArray::try_new(offsets, values, nulls).map_err(output::error)?))
    }
}

struct Table {
    schema: SchemaRef,
    file: ParquetFile,
    columns: [Cells; 7],
    rows: usize,
    bytes: usize,
    memory: BatchMemory,
}

impl Table {
    fn add(&mut self, quad: QuadRef<'_>) -> Result<(), ExecError> {
        let Self { columns: [subject, predicate, object, kind, datatype, language, graph], memory, .. } =
            self;
        let as_text = |term: TermRef<'_>, out: &mut Vec<u8>| structs::text(term, out);
        let mut bytes = subject.push(memory, Some(|out: &mut Vec<u8>| as_text(quad.subject.into(), out)))?;
        bytes += predicate.push(memory, Some(|out: &mut Vec<u8>| as_text(quad.predicate.into(), out)))?;
        bytes += object.push(memory, Some(|out: &mut Vec<u8>| as_text(quad.object, out)))?;
        let name = structs::kind_name(quad.object);
        bytes += kind.push(memory, Some(|out: &mut Vec<u8>| out.extend_from_slice(name.as_bytes())))?;
        let literal = match quad.object {
            TermRef::Literal(literal) => Some(literal),
            _ => None,
        };
        let of_type =
            literal.map(|l| move |out: &mut Vec<u8>| out.extend_from_slice(l.datatype().as_str().as_bytes()));
        bytes += datatype.push(memory, of_type)?;
        let tag = literal.and_then(structs::language);
        bytes +=
            language.push(memory, tag.map(|tag| move |out: &mut Vec<u8>| out.extend(tag.into_bytes())))?;
        let name: Option<TermRef<'_>> = match quad.graph_name {
            GraphNameRef::NamedNode(node) => Some(node.into()),
            GraphNameRef::BlankNode(node) => Some(node.into()),
            GraphNameRef::DefaultGraph => None,
        };
        bytes += graph.push(memory, name.map(|name| move |out: &mut Vec<u8>| as_text(name, out)))?;
        self.rows += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// Writes the rows that there are.
    fn write(&mut self, out: &mut dyn Write) -> Result<(), EngineError> {
        let columns = std::mem::replace(&mut self.columns, COLUMNS.map(|_| Cells::default()));
        let columns = columns.into_iter().map(Cells::finish).collect::<Result<Vec<_>, _>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(output::error)?;
        self.file.write(&batch, out)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(self.memory.set(0)?)
    }
}
