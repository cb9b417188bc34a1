//! What the package says of how something is to be done: attributes of its own small classes (`lodestore/_settings.py`).

use crate::failure;
use crate::terms;
use lode_engine::store::{BackgroundOptions, WriteOptions};
use lode_engine::{
    CancelToken, DefaultGraph, HttpService, HttpServiceOptions, LoadAllow, MemoryBudget, OpenOptions, QueryOptions, Reasoning, UpdateOptions, UpkeeperOptions, machine_memory_bytes,
};
use lode_rdf::NamedNode;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Where nobody can tell what the machine has.
const DEFAULT_BYTES: usize = 3 << 30;
/// No memory is less than this.
const MEMORY_BYTES_MIN: usize = 16 << 20;
/// Longer than anybody waits: a time beyond it is none.
const SECONDS_MAX: f64 = 1e9;

/// How a database is opened.
#[derive(FromPyObject)]
pub struct OpenSettings {
    pub create: bool,
    pub read_only: bool,
    /// Bytes that queries, changes and the cache take together; half of what the machine has unless told.
    pub memory: Option<usize>,
    pub cache: Option<usize>,
}

/// The memory of an open database.
#[derive(Clone)]
pub struct SharedMemory {
    pool: MemoryBudget,
    cache_bytes: usize,
}

impl SharedMemory {
    pub fn new(settings: &OpenSettings) -> Self {
        let half = || machine_memory_bytes().and_then(|bytes| usize::try_from(bytes / 2).ok());
        let bytes = settings.memory.or_else(half).unwrap_or(DEFAULT_BYTES).max(MEMORY_BYTES_MIN);
        let cache_bytes = settings.cache.unwrap_or(bytes / 2).min(bytes);
        Self { pool: MemoryBudget::new(bytes), cache_bytes }
    }

    /// The pool.
    pub fn pool(&self) -> &MemoryBudget {
        &self.pool
    }

    pub fn open_options(&self) -> OpenOptions {
        OpenOptions {
            cache_bytes: self.cache_bytes,
            memory: Some(self.pool.clone()),
            ..OpenOptions::default()
        }
    }

    pub fn write_options(&self) -> WriteOptions {
        let default = WriteOptions::default();
        let part = self.pool.limit() / 8;
        WriteOptions {
            delta_bytes_max: default.delta_bytes_max.min(part),
            logged_bytes_max: default.logged_bytes_max.min(part),
            memory_bytes: default.memory_bytes.min(part),
            memory: self.pool.clone(),
            ..default
        }
    }

    pub fn background_options(&self) -> BackgroundOptions {
        let default = BackgroundOptions::default();
        let memory_bytes = default.memory_bytes.min(self.pool.limit() / 4);
        BackgroundOptions { memory_bytes, memory: self.pool.clone(), ..default }
    }

    /// How to bring inferences up to date in the background: on one thread.
    pub fn upkeeper_options(&self) -> UpkeeperOptions {
        let default = UpkeeperOptions::default();
        let memory_bytes = default.evaluation.memory_bytes.min(self.pool.limit() / 2);
        let memory = Some(self.pool.clone());
        let evaluation = QueryOptions { memory_bytes, memory, ..default.evaluation };
        UpkeeperOptions { evaluation, ..default }
    }

    /// Defaults of queries.
    pub fn query_options(&self) -> QueryOptions {
        let (memory_bytes, memory) = (self.pool.limit(), Some(self.pool.clone()));
        QueryOptions { memory_bytes, memory, ..QueryOptions::default() }
    }
}

/// How a query or an update runs.
#[derive(FromPyObject)]
pub struct RunSettings<'py> {
    base: Option<String>,
    union_default_graph: bool,
    default_graphs: Vec<String>,
    named_graphs: Vec<String>,
    /// Rules, by their names.
    reason: Option<String>,
    schema_graphs: Vec<String>,
    timeout: Option<f64>,
    memory: Option<usize>,
    threads: Option<usize>,
    rows_max: Option<u64>,
    bindings: Vec<(String, Bound<'py, PyAny>)>,
    allow_service: Vec<String>,
    allow_load: Vec<String>,
    /// The name of a snapshot.
    pub at: Option<String>,
}

impl RunSettings<'_> {
    /// For queries.
    ///
    /// # Errors
    /// Where a name is no IRI, a binding no term, or the time-out no time.
    pub fn query_options(&self, py: Python<'_>, memory: &SharedMemory) -> PyResult<QueryOptions> {
        let mut options = memory.query_options();
        options.base_iri.clone_from(&self.base);
        if self.union_default_graph {
            options.default_graph = DefaultGraph::Union;
        }
        let set = options.set_dataset(&self.default_graphs, &self.named_graphs);
        set.map_err(|error| failure::of_engine(py, &error))?;
        options.reasoning = self.reasoning()?;
        options.cancel = CancelToken::new(duration(py, "timeout", self.timeout)?);
        options.memory_bytes =
            self.memory.map_or(options.memory_bytes, |bytes| bytes.min(options.memory_bytes));
        options.threads = self.threads.map_or(options.threads, |threads| threads.max(1));
        options.rows_max = self.rows_max;
        for (name, value) in &self.bindings {
            options.bindings.push((name.clone(), terms::term(value)?));
        }
        if !self.allow_service.is_empty() {
            let service = HttpService::new(HttpServiceOptions {
                allowed: self.allow_service.clone(),
                ..HttpServiceOptions::default()
            });
            options.service =
                Some(Arc::new(service.map_err(|error| failure::new(py, "QueryError", &error))?));
        }
        Ok(options)
    }

    /// What follows and is found, too.
    fn reasoning(&self) -> PyResult<Option<Reasoning>> {
        let wrong = |error: String| PyValueError::new_err(error);
        let rules = self.reason.as_deref().map(str::parse).transpose().map_err(wrong)?;
        let graph = |name: &String| {
            NamedNode::new(name).map_err(|error| wrong(format!("schema_graphs: {name:?} is no IRI: {error}")))
        };
        let graphs = self.schema_graphs.iter().map(graph).collect::<PyResult<_>>()?;
        Ok(rules.and_then(Reasoning::by).map(|reasoning| Reasoning { graphs, ..reasoning }))
    }

    /// For updates.
    ///
    /// # Errors
    /// Like [`RunSettings::query_options`]; where a path of what LOAD may read is not there.
    pub fn update_options(&self, py: Python<'_>, memory: &SharedMemory) -> PyResult<UpdateOptions> {
        let evaluation = self.query_options(py, memory)?;
        let load = LoadAllow::new(&self.allow_load);
        let load = load.map_err(|error| failure::new(py, "LoadError", &format!("allow_load: {error}")))?;
        Ok(UpdateOptions { evaluation, load, ..UpdateOptions::default() })
    }
}

/// Seconds as a time.
///
/// # Errors
/// `ValueError` where they are none.
pub fn duration(_: Python<'_>, what: &str, seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(seconds) = seconds.filter(|seconds| *seconds < SECONDS_MAX) else { return Ok(None) };
    let time = Duration::try_from_secs_f64(seconds);
    let wrong = |error| PyValueError::new_err(format!("{what}: {error}"));
    time.map(Some).map_err(wrong)
}
