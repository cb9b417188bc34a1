//! An open database.

use crate::EngineError;
use crate::options::{OpenOptions, QueryOptions};
use crate::query::PreparedQuery;
use crate::results::QueryResults;
use crate::update::{self, UpdateOptions, UpdateReport};
use lode_base::mem_vfs::MemVfs;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use lode_store::{Snapshot, Store, WriteOptions};
use std::path::Path;
use std::sync::Arc;

/// A database that is open for queries, updates and loads; shared by threads behind an `Arc`.
#[derive(Debug)]
pub struct Database {
    store: Store,
}

impl Database {
    /// Opens an existing database.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self, EngineError> {
        Ok(Self { store: Store::open(Arc::new(RealVfs), path, options.cache_bytes)? })
    }

    /// Opens a database, or makes an empty one where there is none.
    pub fn create_or_open(path: &Path, options: &OpenOptions) -> Result<Self, EngineError> {
        Self::create_on(Arc::new(RealVfs), path, options)
    }

    /// A new, empty database in memory: the same files, in no file system.
    pub fn in_memory() -> Result<Self, EngineError> {
        Self::in_memory_with(WriteOptions::default())
    }

    /// The same, and says how updates are written.
    pub fn in_memory_with(write: WriteOptions) -> Result<Self, EngineError> {
        let (vfs, cache_bytes) = (Arc::new(MemVfs::default()), OpenOptions::default().cache_bytes);
        Ok(Self { store: Store::open_for_writing(vfs, Path::new("/db"), cache_bytes, write)? })
    }

    /// Opens or makes a database on any file system.
    pub fn create_on(vfs: Arc<dyn Vfs>, path: &Path, options: &OpenOptions) -> Result<Self, EngineError> {
        Ok(Self { store: Store::create_or_open(vfs, path, options.cache_bytes)? })
    }

    /// The store below, for loads, checks, dumps and figures.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The current version.
    pub fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    /// Parses and plans a query over the current version.
    pub fn prepare(&self, text: &str, options: &QueryOptions) -> Result<PreparedQuery, EngineError> {
        PreparedQuery::new(text, self.snapshot(), options)
    }

    /// Parses, plans and runs a query over the current version.
    pub fn query(&self, text: &str, options: &QueryOptions) -> Result<QueryResults, EngineError> {
        self.prepare(text, options)?.run()
    }

    /// Runs an update request: all of its operations, in one transaction, or none. Durable when it returns.
    pub fn update(&self, text: &str, options: &UpdateOptions) -> Result<UpdateReport, EngineError> {
        update::run(&self.store, text, options)
    }
}
