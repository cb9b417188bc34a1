//! A Parquet file for each class: a row for each resource, a column for each predicate.

use crate::column::column;
use crate::column_type::ColumnType;
use crate::dictionary::KeptDictionary;
use crate::memory::BatchMemory;
use crate::names::Names;
use crate::output;
use crate::parquet_file::ParquetFile;
use crate::window::exact;
use arrow_array::{ArrayRef, ListArray, RecordBatch};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use lode_engine::store::Snapshot;
use lode_engine::{Columns, Database, EngineError, ExecError, QueryOptions, QueryResults};
use lode_rdf::{Term, ValueId};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

const CLASSES: &str = "SELECT DISTINCT ?class { ?s a ?class FILTER(isIRI(?class)) } ORDER BY ?class";
const VALUES: &str = "SELECT ?s ?p ?o { ?s a ?class . ?s ?p ?o } ORDER BY ?s ?p";
/// Resources of a record batch, at most, and values of one.
const BATCH_ROWS: usize = 1 << 15;
const BATCH_VALUES: usize = 1 << 16;
/// The column of the resources themselves.
const RESOURCE: &str = "resource";

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassFile {
    /// Its name.
    pub name: String,
    /// The IRI of the class.
    pub class: String,
    /// Resources of it.
    pub rows: u64,
}

/// Writes a Parquet file for each class that has resources: `create` makes each by its name. The column `resource` has the IRI or label, and each
/// predicate has a column of its own: of lists if a resource has several values of it. Types are those of all values, as in
/// [`crate::ArrowReader`]. Resources of several classes are in several files, those of none in no file.
///
/// # Errors
/// Where a file cannot be written or read, the work was cancelled, or needs more memory than it may take.
pub fn dump_by_class(
    database: &Database,
    snapshot: &Snapshot,
    options: &QueryOptions,
    create: &mut dyn FnMut(&str) -> io::Result<Box<dyn Write>>,
) -> Result<Vec<ClassFile>, EngineError> {
    let results = database.prepare_at(snapshot.clone(), CLASSES, options)?.run()?;
    let QueryResults::Solutions(mut solutions) = results else { return Ok(Vec::new()) };
    let (mut names, mut files) = (Names::of_files(), Vec::new());
    while let Some(batch) = solutions.next_batch()? {
        for row in 0..batch.rows() {
            let Some(Term::NamedNode(class)) = batch.get(row, 0) else { continue };
            let options = QueryOptions {
                bindings: vec![("class".to_owned(), class.clone().into())],
                ..options.clone()
            };
            let ask = || {
                let results = database.prepare_at(snapshot.clone(), VALUES, &options)?.run()?;
                Columns::new(results).map_err(|_| internal("a SELECT has no rows"))
            };
            let name = names.of(class.as_str()) + ".parquet";
            let shape = Shape::new(&mut ask()?)?;
            let mut out = create(&name)?;
            let rows = Table::new(ask()?, &shape, class.as_str())?.write(&mut out)?;
            out.flush()?;
            files.push(ClassFile { name, class: class.as_str().to_owned(), rows });
        }
    }
    Ok(files)
}

fn internal(what: &str) -> EngineError {
    EngineError::Execution(ExecError::Internal(what.to_owned()))
}

/// What is known of a predicate.
struct Predicate {
    name: String,
    values: ColumnType,
    is_list: bool,
}

/// The columns of a class, found by reading all of its values once.
struct Shape {
    resource: ColumnType,
    predicates: BTreeMap<ValueId, Predicate>,
}

impl Shape {
    fn new(columns: &mut Columns) -> Result<Self, EngineError> {
        let mut resource: Option<ColumnType> = None;
        let mut predicates: BTreeMap<ValueId, (Option<ColumnType>, bool)> = BTreeMap::new();
        let mut last = None;
        while let Some(rows) = columns.next_rows()? {
            let [subjects, of, values] = three(&rows.columns)?;
            resource = Some(joined(resource, exact(columns, subjects)?));
            let mut by_predicate: BTreeMap<ValueId, Vec<ValueId>> = BTreeMap::new();
            for ((subject, predicate), value) in subjects.iter().zip(of).zip(values) {
                by_predicate.entry(*predicate).or_default().push(*value);
                let (_, is_list) = predicates.entry(*predicate).or_default();
                *is_list |= last == Some((*subject, *predicate));
                last = Some((*subject, *predicate));
            }
            for (predicate, values) in by_predicate {
                let (found, _) = predicates.entry(predicate).or_default();
                *found = Some(joined(found.take(), exact(columns, &values)?));
            }
        }
        let mut names = Names::of_columns(RESOURCE);
        let mut named = BTreeMap::new();
        let ids: Vec<ValueId> = predicates.keys().copied().collect();
        let mut iris = vec![String::new(); ids.len()];
        columns.terms(&ids, &mut |at, term| {
            if let (lode_rdf::TermRef::NamedNode(iri), Some(slot)) = (term, iris.get_mut(at)) {
                iri.as_str().clone_into(slot);
            }
            Ok(())
        })?;
        for ((id, (values, is_list)), iri) in predicates.into_iter().zip(&iris) {
            let values = values.unwrap_or(ColumnType::String);
            named.insert(id, Predicate { name: names.of(iri), values, is_list });
        }
        Ok(Self { resource: resource.unwrap_or(ColumnType::Iri), predicates: named })
    }
}

fn joined(a: Option<ColumnType>, b: ColumnType) -> ColumnType {
    match a {
        Some(a) => a.with(&b),
        None => b,
    }
}

fn three(columns: &[Vec<ValueId>]) -> Result<[&[ValueId]; 3], EngineError> {
    match columns {
        [a, b, c] => Ok([a, b, c]),
        _ => Err(internal("a row of other than three columns")),
    }
}

/// The values of a predicate in a batch: those of a row are between its offset and the next.
#[derive(Default)]
struct Values {
    ids: Vec<ValueId>,
    ends: Vec<usize>,
}

struct Table<'a> {
    columns: Columns,
    shape: &'a Shape,
    schema: SchemaRef,
    resources: Vec<ValueId>,
    values: BTreeMap<ValueId, Values>,
    count: usize,
    rows: u64,
    memory: BatchMemory,
}

impl<'a> Table<'a> {
    fn new(columns: Columns, shape: &'a Shape, class: &str) -> Result<Self, EngineError> {
        let mut fields = vec![shape.resource.field(RESOURCE)];
        for predicate in shape.predicates.values() {
            let of = predicate.values.field(&predicate.name);
            fields.push(match predicate.is_list {
                true => Field::new(&predicate.name, list_type(&predicate.values), true)
                    .with_metadata(of.metadata().clone()),
                false => of,
            });
        }
        let metadata = HashMap::from([("rdf.class".to_owned(), class.to_owned())]);
        let schema = Arc::new(Schema::new(fields).with_metadata(metadata));
        let memory = BatchMemory::new(columns.budget());
        let (resources, values) = (Vec::new(), BTreeMap::new());
        Ok(Self { columns, shape, schema, resources, values, count: 0, rows: 0, memory })
    }

    fn write(mut self, out: &mut dyn Write) -> Result<u64, EngineError> {
        let mut file = ParquetFile::new(&self.schema, self.columns.budget())?;
        while let Some(rows) = self.columns.next_rows()? {
            let [subjects, predicates, values] = three(&rows.columns)?;
            for ((subject, predicate), value) in subjects.iter().zip(predicates).zip(values) {
                if self.resources.last() != Some(subject) {
                    if self.resources.len() >= BATCH_ROWS || self.count >= BATCH_VALUES {
                        self.write_batch(&mut file, out)?;
                    }
                    self.resources.push(*subject);
                }
                self.memory.add(2 * size_of::<ValueId>())?;
                let row = self.resources.len();
                let of = self.values.entry(*predicate).or_default();
                of.pad(row - 1);
                of.ids.push(*value);
                self.count += 1;
            }
        }
        self.write_batch(&mut file, out)?;
        file.finish(out)?;
        Ok(self.rows)
    }

    /// Writes the rows that there are.
    fn write_batch(&mut self, file: &mut ParquetFile, out: &mut dyn Write) -> Result<(), EngineError> {
        let rows = self.resources.len();
        if rows == 0 {
            return Ok(());
        }
        let resources = std::mem::take(&mut self.resources);
        let mut made = vec![self.column(&resources, &self.shape.resource.clone())?];
        let mut all = std::mem::take(&mut self.values);
        for (id, predicate) in &self.shape.predicates {
            let mut values = all.remove(id).unwrap_or_default();
            values.pad(rows);
            self.memory.add(rows * size_of::<usize>())?;
            made.push(match predicate.is_list {
                true => self.list(values, &predicate.values)?,
                false => self.column(&values.singles(), &predicate.values)?,
            });
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), made).map_err(output::error)?;
        file.write(&batch, out)?;
        self.rows += rows as u64;
        self.count = 0;
        Ok(self.memory.set(0)?)
    }

    fn column(&mut self, ids: &[ValueId], of: &ColumnType) -> Result<ArrayRef, EngineError> {
        column(&self.columns, ids, of, &mut KeptDictionary::default(), &mut self.memory)
    }

    fn list(&mut self, values: Values, of: &ColumnType) -> Result<ArrayRef, EngineError> {
        let starts = std::iter::once(0).chain(values.ends.iter().copied());
        let lengths: Vec<usize> = starts.zip(&values.ends).map(|(start, end)| end - start).collect();
        let inner = self.column(&values.ids, of)?;
        let field = Arc::new(Field::new("item", of.data_type(), true));
        let made = ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), inner, None);
        Ok(Arc::new(made.map_err(output::error)?))
    }
}

fn list_type(of: &ColumnType) -> DataType {
    DataType::List(Arc::new(Field::new("item", of.data_type(), true)))
}

impl Values {
    /// Ends all rows before this one.
    fn pad(&mut self, rows: usize) {
        self.ends.resize(self.ends.len().max(rows), self.ids.len());
    }

    /// The value of each row, where it has one at most.
    fn singles(&self) -> Vec<ValueId> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let value = |(start, end): (usize, &usize)| match start < *end {
            true => self.ids.get(start).copied().unwrap_or_default(),
            false => ValueId::UNDEF,
        };
        starts.zip(&self.ends).map(value).collect()
    }
}
