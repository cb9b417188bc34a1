//! A transaction over several requests.

use crate::answer::Answer;
use crate::failure;
use crate::held::Held;
use crate::interruptible;
use crate::load::format_named;
use crate::open::Open;
use crate::quads::{PatternOfTerms, QuadReader, graphs};
use crate::settings::{RunSettings, SharedMemory};
use crate::terms;
use lode_engine::{
    CancelToken, Database, Document, DocumentBody, EngineError, OpenTransaction, Statements, UpdateOptions,
};
use lode_rdf::{GraphName, Quad};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;
use std::time::Duration;

/// An open transaction. Dropped without a commit it leaves everything as it was.
#[pyclass(frozen, module = "lodestore._lodestore")]
pub struct NativeTransaction {
    transaction: Held<OpenTransaction>,
    // Not all that is open: who drops that must not hold the interpreter's lock.
    database: Arc<Database>,
    memory: SharedMemory,
    /// Of the transaction as a whole.
    cancel: CancelToken,
}

/// A quad of Python: subject, predicate, object, and the graph's name or `None`.
type QuadOfTerms<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);
/// A document, in the words of the package.
#[derive(FromPyObject)]
pub struct DocumentSettings {
    name: String,
    bytes: Vec<u8>,
    format: String,
    graph: Option<String>,
    base: Option<String>,
}

impl NativeTransaction {
    /// Waits for the write lock.
    ///
    /// # Errors
    /// Where the database is read-only, or the time-out has passed.
    pub fn begin(py: Python<'_>, open: &Open, timeout: Option<Duration>) -> PyResult<Self> {
        let cancel = CancelToken::new(timeout);
        let mut options = open.memory.query_options();
        options.cancel = cancel.clone();
        let begun = interruptible::run(py, &cancel, || open.database.begin(&options))?;
        let begun = begun.map_err(|error| failure::of_engine(py, &error))?;
        let (database, memory) = (Arc::clone(&open.database), open.memory.clone());
        Ok(Self { transaction: Held::new(begun, "the transaction"), database, memory, cancel })
    }

    /// Does something in it. Where that is interrupted, the transaction is rolled back.
    fn within<T: Send>(
        &self,
        py: Python<'_>,
        cancel: &CancelToken,
        work: impl FnOnce(&mut OpenTransaction) -> Result<T, EngineError> + Send,
    ) -> PyResult<T> {
        let mut transaction = self.transaction.take(py)?;
        let ran = interruptible::run(py, cancel, move || {
            let done = work(&mut transaction);
            (transaction, done)
        });
        let (transaction, done) = ran.inspect_err(|_| self.transaction.is_gone())?;
        self.transaction.put(transaction);
        done.map_err(|error| failure::of_engine(py, &error))
    }

    fn update_options(&self) -> UpdateOptions {
        let mut evaluation = self.memory.query_options();
        evaluation.cancel = self.cancel.clone();
        UpdateOptions { evaluation, ..UpdateOptions::default() }
    }
}

#[pymethods]
impl NativeTransaction {
    fn query(&self, py: Python<'_>, text: &str, settings: RunSettings<'_>) -> PyResult<Answer> {
        let options = settings.query_options(py, &self.memory)?;
        let (database, pool) = (&self.database, self.memory.pool());
        self.within(py, &options.cancel, |transaction| {
            let query = database.prepare_at(transaction.snapshot()?, text, &options)?;
            Answer::run(query, options.cancel.clone(), pool.part(options.memory_bytes))
        })
    }

    fn update(&self, py: Python<'_>, text: &str, settings: RunSettings<'_>) -> PyResult<()> {
        let options = settings.update_options(py, &self.memory)?;
        let cancel = options.evaluation.cancel.clone();
        self.within(py, &cancel, |transaction| transaction.update(text, &options))
    }

    /// Adds the statements of a document.
    fn load(&self, py: Python<'_>, document: DocumentSettings) -> PyResult<()> {
        let format = format_named(py, &document.format)?;
        let graph =
            document.graph.as_deref().map(|graph| terms::iri_of_text(py, "graph", graph)).transpose()?;
        let graphs: Vec<GraphName> = graph.into_iter().map(GraphName::from).collect();
        let mut options = self.update_options();
        options.evaluation.base_iri = document.base;
        let body = DocumentBody::Bytes(document.bytes.into());
        let document = Document { name: document.name, format, body, unpacked_max: None };
        self.within(py, &self.cancel, |transaction| {
            transaction.statements(Statements::Add, document, &graphs, &options)
        })
    }

    /// Inserts quads.
    fn insert(&self, py: Python<'_>, quads: Vec<QuadOfTerms<'_>>) -> PyResult<()> {
        let quad = |(subject, predicate, object, graph): &QuadOfTerms<'_>| {
            Ok(Quad {
                subject: terms::node(subject)?,
                predicate: terms::iri(predicate)?,
                object: terms::term(object)?,
                graph_name: terms::graph(graph.as_ref())?,
            })
        };
        let quads = quads.iter().map(quad).collect::<PyResult<Vec<_>>>()?;
        let options = self.update_options();
        self.within(py, &self.cancel, |transaction| transaction.insert(&quads, &options))
    }

    /// Removes the quads of a pattern.
    fn remove(&self, py: Python<'_>, pattern: PatternOfTerms<'_>) -> PyResult<()> {
        let (pattern, options) = (pattern.pattern()?, self.update_options());
        self.within(py, &self.cancel, |transaction| transaction.remove(&pattern, &options))
    }

    fn quads(&self, py: Python<'_>, pattern: PatternOfTerms<'_>) -> PyResult<QuadReader> {
        let pattern = pattern.pattern()?;
        self.within(py, &self.cancel, |transaction| QuadReader::new(&transaction.snapshot()?, &pattern))
    }

    fn graphs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = self.within(py, &self.cancel, |transaction| graphs(&transaction.snapshot()?))?;
        terms::list(py, &found)
    }

    /// New blank nodes.
    fn new_blanks<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        let nodes = self.within(py, &self.cancel, |transaction| {
            (0..count).map(|_| Ok(transaction.new_blank()?.into())).collect::<Result<Vec<_>, EngineError>>()
        })?;
        terms::list(py, &nodes)
    }

    fn has_ended(&self) -> bool {
        self.transaction.has_ended()
    }

    /// Makes it durable; inserted and deleted quads, and the version.
    fn commit(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let Some(transaction) = self.transaction.end(py)? else {
            return Err(failure::new(py, "Closed", "the transaction has ended"));
        };
        let done = interruptible::run(py, &self.cancel, || transaction.commit())?;
        let commit = done.map_err(|error| failure::of_engine(py, &error))?;
        Ok((commit.inserted, commit.deleted, commit.version))
    }

    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        let transaction = self.transaction.end(py)?;
        py.detach(|| drop(transaction));
        Ok(())
    }
}
