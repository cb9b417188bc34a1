//! The answer of a query: rows, columns, or the text of a format, computed as they are asked for.

use crate::batches::{Batches, ColumnStream};
use crate::failure;
use crate::held::Held;
use crate::interruptible;
use crate::rows;
use lode_arrow::{ArrowOptions, ArrowReader, write_results};
use lode_engine::{
    CancelToken, ColumnForm, EngineError, MemoryBudget, OutputFormat, PreparedQuery, QueryResults, ResultKind,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

/// Bytes that are handed to a file of Python at once.
const WRITTEN_AT_ONCE: usize = 256 << 10;

/// A query that runs.
#[pyclass(frozen, module = "lodestore._lodestore")]
pub struct Answer {
    query: PreparedQuery,
    results: Held<Results>,
    cancel: CancelToken,
    /// For columns that are all in memory.
    memory: MemoryBudget,
}

struct Results {
    results: QueryResults,
    is_begun: bool,
}

impl Answer {
    /// Runs a query that was planned.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn run(query: PreparedQuery, cancel: CancelToken, memory: MemoryBudget) -> Result<Self, EngineError> {
        let results = Results { results: query.run()?, is_begun: false };
        Ok(Self { query, results: Held::new(results, "the answer"), cancel, memory })
    }

    /// The columns of what is left of it, which ends it.
    fn columns(&self, py: Python<'_>, form: &str) -> PyResult<ArrowReader> {
        let form = match form {
            "typed" => ColumnForm::Typed,
            "struct" => ColumnForm::Struct,
            "text" => ColumnForm::Text,
            _ => return Err(failure::new(py, "FormatError", "columns are 'typed', 'struct' or 'text'")),
        };
        let results = self.rest(py)?;
        let options = ArrowOptions { form, ..ArrowOptions::default() };
        let reader = interruptible::run(py, &self.cancel, || ArrowReader::new(results, &options))?;
        reader.map_err(|error| failure::of_engine(py, &error))
    }

    fn rest(&self, py: Python<'_>) -> PyResult<QueryResults> {
        let rest = self.results.end(py)?.map(|rest| rest.results);
        rest.ok_or_else(|| failure::new(py, "Closed", "the answer was read already: run the query again"))
    }
}

#[pymethods]
impl Answer {
    /// `solutions`, `boolean` or `graph`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.query.kind() {
            ResultKind::Solutions => "solutions",
            ResultKind::Boolean => "boolean",
            ResultKind::Graph => "graph",
        }
    }

    /// The answer of an ASK.
    fn boolean(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(matches!(self.rest(py)?, QueryResults::Boolean(true)))
    }

    /// The selected variables.
    fn variables(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let held = self.results.take(py)?;
        let names = match &held.results {
            QueryResults::Solutions(solutions) => {
                solutions.variables().iter().map(|variable| variable.as_str().to_owned()).collect()
            }
            _ => Vec::new(),
        };
        self.results.put(held);
        Ok(names)
    }

    /// What of the query is most likely not meant.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let told = || self.query.warnings().iter().map(ToString::to_string).collect();
        interruptible::run(py, &self.cancel, told)
    }

    /// The next rows (of a SELECT as tuples); none at the end.
    fn next_rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let Results { mut results, is_begun } = self.results.take(py)?;
        let ran = interruptible::run(py, &self.cancel, || {
            let read = rows::read(&mut results, !is_begun);
            (results, read)
        });
        let (results, read) = ran.inspect_err(|_| self.results.is_gone())?;
        let batches = read.map_err(|error| {
            self.results.is_gone();
            failure::of_engine(py, &error)
        })?;
        let list = match &results {
            QueryResults::Solutions(solutions) => rows::tuples(py, &batches, solutions.variables().len()),
            _ => rows::triples(py, &batches),
        };
        self.results.put(Results { results, is_begun: true });
        list
    }

    /// All columns, in memory; with plain texts, or with dictionaries of them.
    fn batches(&self, py: Python<'_>, form: &str, plain: bool) -> PyResult<Batches> {
        let mut reader = self.columns(py, form)?;
        let read = interruptible::run(py, &self.cancel, || Batches::read(&mut reader, plain, &self.memory))?;
        read.map_err(|error| failure::of_engine(py, &error))
    }

    /// A stream of columns, as the C interface of Arrow has it.
    fn stream<'py>(&self, py: Python<'py>, form: &str) -> PyResult<Bound<'py, PyCapsule>> {
        ColumnStream::new(self.columns(py, form)?, self.cancel.clone()).into_capsule(py)
    }

    /// Writes all of it into a file of Python.
    fn write(&self, py: Python<'_>, format: &str, file: Py<PyAny>) -> PyResult<u64> {
        let format = OutputFormat::from_name(format).ok_or_else(|| {
            let names = (OutputFormat::NAMES, OutputFormat::COLUMN_NAMES);
            let message = format!("unknown format {format}: use one of {}, {}", names.0, names.1);
            failure::new(py, "FormatError", &message)
        })?;
        let format = format.of_kind(self.query.kind());
        let results = self.rest(py)?;
        let mut out = BufWriter::with_capacity(WRITTEN_AT_ONCE, PythonFile(Arc::new(file)));
        let written = interruptible::run(py, &self.cancel, || {
            let rows = write_results(results, format, &mut out);
            rows.and_then(|rows| out.flush().map(|()| rows).map_err(EngineError::Output))
        });
        // What a failure has left in the buffer is not written.
        drop(out.into_parts());
        written?.map_err(|error| failure::of_engine(py, &error))
    }

    /// The plan, and what has become of it, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let text = interruptible::run(py, &self.cancel, || serde_json::to_string(&self.query.report()))?;
        text.map_err(|error| failure::new(py, "Error", &error.to_string()))
    }

    /// The plan, for people.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        interruptible::run(py, &self.cancel, || self.query.explain())
    }

    /// Ends the query, whatever runs of it: another thread that reads it finds it cancelled.
    fn close(&self, py: Python<'_>) {
        self.cancel.cancel();
        if let Ok(rest) = self.results.end(py) {
            py.detach(|| drop(rest));
        }
    }
}

/// A file of Python.
struct PythonFile(Arc<Py<PyAny>>);

impl Write for PythonFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let written = self.0.bind(py).call_method1("write", (PyBytes::new(py, bytes),))?;
            // Files that do not say how much they took have taken all.
            Ok(written.extract::<usize>().unwrap_or(bytes.len()).min(bytes.len()))
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
