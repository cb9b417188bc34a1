//! The database of a call.

use crate::answer::Answer;
use crate::failure;
use crate::interruptible;
use crate::load::{self, LoadSettings};
use crate::open::Open;
use crate::quads::{PatternOfTerms, QuadReader, graphs};
use crate::serve::{NativeServer, ServeSettings};
use crate::settings::{OpenSettings, RunSettings, duration};
use crate::terms;
use crate::transaction::NativeTransaction;
use lode_engine::{CancelToken, EngineError, UpdateReport};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// The database of a call.
#[pyclass(frozen, module = "lodestore._lodestore")]
pub struct NativeDatabase(RwLock<Option<Arc<Open>>>);

impl NativeDatabase {
    fn open(&self, py: Python<'_>) -> PyResult<Arc<Open>> {
        // What is guarded here is whole at any time.
        let open = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        open.ok_or_else(|| failure::new(py, "Closed", "the database was closed: open it again"))
    }

    fn take(&self) -> Option<Arc<Open>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for NativeDatabase {
    fn drop(&mut self) {
        if let Some(open) = self.take() {
            // Its threads may be about to log.
            Python::attach(|py| py.detach(|| drop(open)));
        }
    }
}

#[pymethods]
impl NativeDatabase {
    /// Opens a database; without a path one in memory.
    #[new]
    fn new(py: Python<'_>, path: Option<PathBuf>, settings: OpenSettings) -> PyResult<Self> {
        let opened =
            interruptible::run(py, &CancelToken::default(), || Open::new(path.as_deref(), &settings))?;
        let open = opened.map_err(|error| failure::of_engine(py, &error))?;
        Ok(Self(RwLock::new(Some(Arc::new(open)))))
    }

    fn query(&self, py: Python<'_>, text: &str, settings: RunSettings<'_>) -> PyResult<Answer> {
        let open = self.open(py)?;
        let options = settings.query_options(py, &open.memory)?;
        let at = settings.at;
        let answered = interruptible::run(py, &options.cancel, || {
            let query = match &at {
                None => open.database.prepare(text, &options)?,
                Some(name) => {
                    open.database.prepare_at(open.database.snapshot_at(Some(name))?, text, &options)?
                }
            };
            Answer::run(query, options.cancel.clone(), open.memory.pool().part(options.memory_bytes))
        })?;
        answered.map_err(|error| failure::of_engine(py, &error))
    }

    /// The plan for people, or as JSON.
    fn explain(&self, py: Python<'_>, text: &str, settings: RunSettings<'_>, json: bool) -> PyResult<String> {
        let open = self.open(py)?;
        let options = settings.query_options(py, &open.memory)?;
        let at = settings.at;
        let told = interruptible::run(py, &options.cancel, || {
            let snapshot = open.database.snapshot_at(at.as_deref())?;
            let query = open.database.prepare_at(snapshot, text, &options)?;
            if json {
                return serde_json::to_string(&query.report())
                    .map_err(|error| EngineError::Format(error.to_string()));
            }
            Ok(query.explain())
        })?;
        told.map_err(|error| failure::of_engine(py, &error))
    }

    fn quads(&self, py: Python<'_>, pattern: PatternOfTerms<'_>) -> PyResult<QuadReader> {
        let (open, pattern) = (self.open(py)?, pattern.pattern()?);
        let reader = py.detach(|| QuadReader::new(&open.database.snapshot(), &pattern));
        reader.map_err(|error| failure::of_engine(py, &error))
    }

    fn graphs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let open = self.open(py)?;
        let found = interruptible::run(py, &CancelToken::default(), || graphs(&open.database.snapshot()))?;
        terms::list(py, &found.map_err(|error| failure::of_engine(py, &error))?)
    }

    fn update<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        settings: RunSettings<'_>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let open = self.open(py)?;
        let options = settings.update_options(py, &open.memory)?;
        let cancel = options.evaluation.cancel.clone();
        let done = interruptible::run(py, &cancel, || open.database.update(text, &options))?;
        update_report(py, &done.map_err(|error| failure::of_engine(py, &error))?)
    }

    fn load<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<Bound<'py, PyAny>>,
        settings: LoadSettings<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        load::load(py, &*self.open(py)?, &sources, settings)
    }

    /// Begins a transaction, which has the write lock from then on.
    fn begin(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<NativeTransaction> {
        let timeout = duration(py, "timeout", timeout)?;
        NativeTransaction::begin(py, &*self.open(py)?, timeout)
    }

    fn serve(&self, py: Python<'_>, settings: ServeSettings) -> PyResult<NativeServer> {
        NativeServer::start(py, &*self.open(py)?, settings)
    }

    fn quad_count(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.open(py)?.database.snapshot().quad_count())
    }

    fn version(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.open(py)?.database.snapshot().version_number())
    }

    fn is_writable(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.database.store().is_writable())
    }

    fn is_closed(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn close(&self, py: Python<'_>) {
        let open = self.take();
        py.detach(|| drop(open));
    }
}

fn update_report<'py>(py: Python<'py>, report: &UpdateReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("operations", report.operations)?;
    dict.set_item("inserted", report.inserted)?;
    dict.set_item("deleted", report.deleted)?;
    dict.set_item("version", report.version)?;
    dict.set_item("seconds", report.seconds)?;
    let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    dict.set_item("warnings", warnings)?;
    Ok(dict)
}
