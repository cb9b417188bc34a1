//! Loads: documents of any size into a database.

use crate::failure;
use crate::interruptible;
use crate::open::Open;
use crate::settings::duration;
use crate::terms::iri_of_text;
use lode_engine::store::load::{
    LoadOptions, LoadProgress, LoadReport, Source, SourceReport, is_loadable, load as run,
};
use lode_engine::web::{self, WebOptions};
use lode_engine::{CancelToken, Cancelled};
use lode_rdf::RdfFormat;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// How often a server may send us elsewhere.
const REDIRECTS_MAX: u32 = 5;

/// Bytes that a file of Python is asked for at least.
const READ_AT_ONCE: usize = 64 << 10;

/// How documents are loaded.
#[derive(FromPyObject)]
pub struct LoadSettings<'py> {
    format: Option<String>,
    graph: Option<String>,
    base: Option<String>,
    lenient: bool,
    quarantine: Option<PathBuf>,
    threads: Option<usize>,
    memory: Option<usize>,
    timeout: Option<f64>,
    progress: Option<Bound<'py, PyAny>>,
}

/// Something to load, in the words of the package (`lodestore/_sources.py`).
#[derive(FromPyObject)]
struct Named<'py> {
    name: String,
    path: Option<PathBuf>,
    bytes: Option<Bound<'py, PyBytes>>,
    file: Option<Py<PyAny>>,
}

impl Named<'_> {
    fn into_source(self, py: Python<'_>, cancel: &CancelToken) -> PyResult<Source> {
        if let Some(bytes) = self.bytes {
            return Ok(Source::bytes(self.name, bytes.as_bytes()));
        }
        if let Some(file) = self.file {
            return Ok(Source::reader(
                self.name,
                Box::new(PythonReader { file, rest: Vec::new(), taken: 0, cancel: cancel.clone() }),
            ));
        }
        if let Some(path) = self.path {
            return Ok(Source::path(&path));
        }
        let options = WebOptions { redirects_max: REDIRECTS_MAX, timeout: None };
        web::source(&self.name, options).map_err(|error| failure::new(py, "LoadError", &error))
    }
}

/// Whether a file of this name is RDF, as its name tells.
#[pyfunction]
pub fn is_loadable_name(name: &str) -> bool {
    is_loadable(name)
}

/// The format of this name.
///
/// # Errors
/// `FormatError` where there is none.
pub fn format_named(py: Python<'_>, name: &str) -> PyResult<RdfFormat> {
    RdfFormat::from_name(name).ok_or_else(|| {
        let message = format!("unknown format {name}: use nt, nq, ttl, trig, rdf or jsonld");
        failure::new(py, "FormatError", &message)
    })
}

/// Loads.
///
/// # Errors
/// Those of the engine, as exceptions. Nothing is loaded then.
pub fn load<'py>(
    py: Python<'py>,
    open: &Open,
    sources: &[Bound<'py, PyAny>],
    settings: LoadSettings<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (options, watched) = options(py, open, &settings)?;
    let cancel = options.cancel.clone();
    let named = sources.iter().map(|source| source.extract::<Named<'_>>()?.into_source(py, &cancel));
    let sources = named.collect::<PyResult<Vec<_>>>()?;
    let progress = Arc::new(LoadProgress::default());
    let database = &open.database;
    let tick = || match &watched {
        Some(watcher) => tell(watcher, &progress),
        None => Ok(()),
    };
    let loaded =
        interruptible::run_with(py, &cancel, tick, || run(database.store(), sources, options, &progress))?;
    report(py, &loaded.map_err(|error| failure::of_load(py, &error))?)
}

fn options<'py>(
    py: Python<'py>,
    open: &Open,
    settings: &LoadSettings<'py>,
) -> PyResult<(LoadOptions, Option<Bound<'py, PyAny>>)> {
    let graph = settings.graph.as_deref().map(|graph| iri_of_text(py, "graph", graph)).transpose()?;
    let default = LoadOptions::default();
    let options = LoadOptions {
        format: settings.format.as_deref().map(|name| format_named(py, name)).transpose()?,
        base_iri: settings.base.clone(),
        lenient: settings.lenient,
        quarantine: settings.quarantine.as_ref().map(|path| quarantine(py, path)).transpose()?,
        threads: settings.threads.map_or(default.threads, |threads| threads.max(1)),
        memory_bytes: settings.memory.unwrap_or_else(|| default.memory_bytes.min(open.memory.pool().limit())),
        cancel: CancelToken::new(duration(py, "timeout", settings.timeout)?),
        graph,
        ..default
    };
    Ok((options, settings.progress.clone()))
}

/// A new file: what is there could be one of the sources.
fn quarantine(py: Python<'_>, path: &PathBuf) -> PyResult<Box<dyn io::Write + Send>> {
    match File::create_new(path) {
        Ok(file) => Ok(Box::new(BufWriter::new(file))),
        Err(error) => {
            let message = format!("quarantine {}: {error}; give the name of a new file", path.display());
            Err(failure::new(py, "LoadError", &message))
        }
    }
}

/// Calls who watches.
fn tell(watcher: &Bound<'_, PyAny>, progress: &LoadProgress) -> PyResult<()> {
    let sample = progress.sample();
    let dict = PyDict::new(watcher.py());
    dict.set_item("stage", sample.stage.name())?;
    dict.set_item("quads", sample.quads)?;
    dict.set_item("bytes_read", sample.bytes_read)?;
    dict.set_item("bytes_total", sample.bytes_total)?;
    watcher.call1((dict,)).map(drop)
}

fn report<'py>(py: Python<'py>, report: &LoadReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("quads", report.quads)?;
    dict.set_item("added", report.added)?;
    dict.set_item("duplicates", report.duplicates)?;
    dict.set_item("existing", report.existing)?;
    dict.set_item("quarantined", report.quarantined)?;
    let failed = |source: &SourceReport| {
        let why = source.failed.as_ref().map(|(why, _)| why.clone());
        (source.name.clone(), source.quads, source.bad, why)
    };
    dict.set_item("files", report.sources.iter().map(failed).collect::<Vec<_>>())?;
    Ok(dict)
}

/// A file of Python, which is read as the load goes on.
struct PythonReader {
    file: Py<PyAny>,
    /// What it has given beyond what was asked for, and how much of it was taken.
    rest: Vec<u8>,
    taken: usize,
    /// Of the load: who reads a file that gives little at once looks at it seldom.
    cancel: CancelToken,
}

impl PythonReader {
    fn fill(&mut self, bytes_max: usize) -> io::Result<()> {
        if self.cancel.check() == Err(Cancelled::ByRequest) {
            return Err(io::Error::other("cancelled"));
        }
        Python::attach(|py| {
            let read = self.file.bind(py).call_method1("read", (bytes_max.max(READ_AT_ONCE),))?;
            let Ok(bytes) = read.cast::<PyBytes>() else {
                return Err(io::Error::other("a file to load must be open for bytes (mode 'rb')"));
            };
            self.rest.clear();
            self.rest.extend_from_slice(bytes.as_bytes());
            self.taken = 0;
            Ok(())
        })
    }
}

impl Read for PythonReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.rest.len() {
            self.fill(buffer.len())?;
        }
        let rest = self.rest.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) else { return Ok(0) };
        to.copy_from_slice(from);
        self.taken += count;
        Ok(count)
    }
}
