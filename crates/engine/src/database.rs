//! An open database.

use crate::EngineError;
use crate::caches::Caches;
use crate::options::{OpenOptions, QueryOptions};
use crate::query::PreparedQuery;
use crate::results::QueryResults;
use crate::update::{self, Document, UpdateOptions, UpdateReport, UploadOptions, UploadReport};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use lode_rdf::{NamedNode, ValueId};
use lode_store::{Commit, OpenFiles, Snapshot, Store, WriteOptions};
use std::path::Path;
use std::sync::Arc;

/// A database that is open for queries, updates and loads; shared by threads behind an `Arc`.
#[derive(Debug)]
pub struct Database {
    store: Store,
    caches: Caches,
}

impl Database {
    fn of(store: Store, options: &OpenOptions) -> Self {
        Self { store, caches: Caches::new(options) }
    }

    /// Opens an existing database.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self, EngineError> {
        Ok(Self::of(Store::open(Arc::new(RealVfs), path, options.cache())?, options))
    }

    /// The same, and says when the files of segments are opened: who asks little of many segments reads few of them. Until all are open
    /// ([`Database::hold_files`]), what another process replaces meanwhile may be missing, or seem damaged.
    pub fn open_for_reading(
        path: &Path,
        options: &OpenOptions,
        files: OpenFiles,
    ) -> Result<Self, EngineError> {
        let store = Store::open_for_reading(Arc::new(RealVfs), path, options.cache(), files)?;
        Ok(Self::of(store, options))
    }

    /// Opens all files of the current version that are not open yet.
    pub fn hold_files(&self) -> Result<(), EngineError> {
        Ok(self.store.hold_files()?)
    }

    /// Opens an existing database for writing.
    pub fn open_for_writing(
        path: &Path,
        options: &OpenOptions,
        write: WriteOptions,
    ) -> Result<Self, EngineError> {
        let store = Store::open_existing(Arc::new(RealVfs), path, options.cache(), write)?;
        Ok(Self::of(store, options))
    }

    /// Opens a database for writing, or makes an empty one where there is nothing at all.
    pub fn create_or_open_for_writing(
        path: &Path,
        options: &OpenOptions,
        write: WriteOptions,
    ) -> Result<Self, EngineError> {
        let store = Store::open_for_writing(Arc::new(RealVfs), path, options.cache(), write)?;
        Ok(Self::of(store, options))
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
        let (vfs, options) = (Arc::new(MemVfs::default()), OpenOptions::default());
        Ok(Self::of(Store::open_for_writing(vfs, Path::new("/db"), options.cache(), write)?, &options))
    }

    /// Opens or makes a database on any file system.
    pub fn create_on(vfs: Arc<dyn Vfs>, path: &Path, options: &OpenOptions) -> Result<Self, EngineError> {
        Ok(Self::of(Store::create_or_open(vfs, path, options.cache())?, options))
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
        PreparedQuery::with_cache(text, self.snapshot(), options, &self.caches)
    }

    /// Parses a query and, if the last runs of queries like it were short ([`PreparedQuery::ran`] was told so), takes their plan: a query
    /// that asks nobody else and is likely done within half a millisecond, though nothing promises it. `None` of all others.
    pub fn prepare_short(
        &self,
        text: &str,
        options: &QueryOptions,
    ) -> Result<Option<PreparedQuery>, EngineError> {
        PreparedQuery::short(text, self.snapshot(), options, &self.caches)
    }

    /// Parses and plans a query over a version that is held, such as a named snapshot.
    pub fn prepare_at(
        &self,
        snapshot: Snapshot,
        text: &str,
        options: &QueryOptions,
    ) -> Result<PreparedQuery, EngineError> {
        PreparedQuery::new(text, snapshot, options)
    }

    /// The version that has a name, or the current one.
    pub fn snapshot_at(&self, name: Option<&str>) -> Result<Snapshot, EngineError> {
        name.map_or_else(|| Ok(self.snapshot()), |name| Ok(self.store.at(name)?))
    }

    /// Parses, plans and runs a query over the current version.
    pub fn query(&self, text: &str, options: &QueryOptions) -> Result<QueryResults, EngineError> {
        self.prepare(text, options)?.run()
    }

    /// Runs an update request: all of its operations, in one transaction, or none. Durable when it returns.
    pub fn update(&self, text: &str, options: &UpdateOptions) -> Result<UpdateReport, EngineError> {
        update::run(&self.store, text, options)
    }

    /// Adds documents to a graph or to the whole dataset, or puts them in its place, in one step. Durable when it returns.
    pub fn upload(
        &self,
        documents: Vec<Document>,
        options: &UploadOptions,
    ) -> Result<UploadReport, EngineError> {
        update::upload(&self.store, documents, options)
    }

    /// The id of a graph (`None`: the default graph) in a version; none where it has no quads there. The default graph always exists.
    pub fn graph_id(
        &self,
        snapshot: &Snapshot,
        graph: Option<&NamedNode>,
    ) -> Result<Option<ValueId>, EngineError> {
        update::graph_id(snapshot, graph)
    }

    /// Removes all quads of a graph; none where there is no such graph.
    pub fn delete_graph(
        &self,
        graph: Option<&NamedNode>,
        cancel: &CancelToken,
    ) -> Result<Option<Commit>, EngineError> {
        update::delete_graph(&self.store, graph, cancel)
    }
}
