//! An open database, with what works on it beside calls.

use crate::settings::{OpenSettings, SharedMemory};
use lode_engine::store::{Compactor, Maintenance};
use lode_engine::{Database, EngineError, Upkeeper};
use pyo3::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// A database with what works on it beside calls. Those who use it hold it; with the last of them it is closed.
pub struct Open {
    // What ends first comes first.
    pub compactor: Option<Arc<Compactor>>,
    pub upkeeper: Option<Arc<Upkeeper>>,
    pub maintenance: Option<Arc<Maintenance>>,
    pub database: Arc<Database>,
    pub memory: SharedMemory,
}

impl Open {
    /// Opens one; without a path one in memory.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn new(path: Option<&Path>, settings: &OpenSettings) -> Result<Self, EngineError> {
        let memory = SharedMemory::new(settings);
        let database = match path {
            None => Database::in_memory_with(memory.write_options())?,
            Some(path) => on_disk(path, settings, &memory)?,
        };
        let (mut compactor, mut upkeeper, mut maintenance) = (None, None, None);
        let store = database.store();
        if store.is_writable() {
            maintenance = Some(Arc::new(Maintenance::start(store, Box::new(tell))?));
            compactor = Some(Arc::new(Compactor::start(store, memory.background_options())?));
            upkeeper = Some(Arc::new(Upkeeper::start(store, memory.upkeeper_options())?));
        }
        Ok(Self { compactor, upkeeper, maintenance, database: Arc::new(database), memory })
    }
}

fn on_disk(path: &Path, settings: &OpenSettings, memory: &SharedMemory) -> Result<Database, EngineError> {
    let (options, write) = (memory.open_options(), memory.write_options());
    if settings.read_only {
        Database::open(path, &options)
    } else if settings.create {
        Database::create_or_open_for_writing(path, &options, write)
    } else {
        Database::open_for_writing(path, &options, write)
    }
}

/// What is told of the database beside answers goes to the log of Python. Threads that tell must not be waited for with the interpreter's
/// lock held.
fn tell(line: &str) {
    Python::try_attach(|py| {
        let logged = py
            .import("logging")
            .and_then(|logging| logging.call_method1("getLogger", ("lodestore",)))
            .and_then(|logger| logger.call_method1("warning", ("%s", line)));
        // There is nobody else to tell.
        drop(logged);
    });
}
