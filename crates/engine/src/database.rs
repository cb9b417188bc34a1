//! An open database.

use crate::EngineError;
use crate::caches::Caches;
use crate::graph_rules::GraphRules;
use crate::materialise::{self, CaughtUp, KeptInferences, MaterialiseOptions, MaterialiseReport};
use crate::options::{OpenOptions, QueryOptions};
use crate::query::PreparedQuery;
use crate::results::QueryResults;
use crate::update::{
    self, Document, OpenTransaction, UpdateOptions, UpdateReport, UploadCondition, UploadOptions,
    UploadReport,
};
use crate::why::{self, Consistency, Explanation, Goal, WhyOptions};
use lode_base::cancel::CancelToken;
use lode_base::device_vfs::{DeviceModel, DeviceVfs};
use lode_base::mem_vfs::MemVfs;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use lode_rdf::{NamedNode, ValueId};
use lode_sparql::PlanWarning;
use lode_store::{Commit, OpenFiles, Snapshot, Store, WriteOptions};
use std::path::Path;
use std::sync::Arc;

/// A database that is open for queries, updates and loads; shared by threads behind an `Arc`.
#[derive(Debug)]
pub struct Database {
    store: Store,
    caches: Caches,
}

/// The files of a database of this machine, wherever they are.
pub(crate) fn files_of(path: &Path) -> Result<Arc<dyn Vfs>, EngineError> {
    Ok(lode_store::striped(&RealVfs::shared(), path)?)
}

impl Database {
    fn of(store: Store, options: &OpenOptions) -> Self {
        materialise::keep_up(&store);
        Self { store, caches: Caches::new(options) }
    }

    /// Opens an existing database.
    ///
    /// # Errors
    /// Where there is no database, it is of another version of the format, or a file cannot be read or is damaged.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self, EngineError> {
        Ok(Self::of(Store::open(files_of(path)?, path, options.cache())?, options))
    }

    /// The same, and says when the files of segments are opened: who asks little of many segments reads few of them. Until all are open
    /// ([`Database::hold_files`]), what another process replaces meanwhile may be missing, or seem damaged.
    ///
    /// # Errors
    /// Like [`Database::open`], of the files that are opened at once.
    pub fn open_for_reading(
        path: &Path,
        options: &OpenOptions,
        files: OpenFiles,
    ) -> Result<Self, EngineError> {
        let store = Store::open_for_reading(files_of(path)?, path, options.cache(), files)?;
        Ok(Self::of(store, options))
    }

    /// Opens all files of the current version that are not open yet.
    ///
    /// # Errors
    /// Where a file cannot be opened or is damaged.
    pub fn hold_files(&self) -> Result<(), EngineError> {
        Ok(self.store.hold_files()?)
    }

    /// Opens an existing database for writing.
    ///
    /// # Errors
    /// Like [`Database::open`]; where another process writes to the database, it is a backup, or its log cannot be read or written.
    pub fn open_for_writing(
        path: &Path,
        options: &OpenOptions,
        write: WriteOptions,
    ) -> Result<Self, EngineError> {
        let store = Store::open_existing(files_of(path)?, path, options.cache(), write)?;
        Ok(Self::of(store, options))
    }

    /// Opens a database for writing, or makes an empty one where there is nothing at all.
    ///
    /// # Errors
    /// Like [`Database::open_for_writing`], but for a path where nothing is: there the folder may not be made, or hold other files.
    pub fn create_or_open_for_writing(
        path: &Path,
        options: &OpenOptions,
        write: WriteOptions,
    ) -> Result<Self, EngineError> {
        Self::create_on_for_writing(files_of(path)?, path, options, write)
    }

    /// Opens a database, or makes an empty one where there is none.
    ///
    /// # Errors
    /// Like [`Database::open`], but for a path where nothing is: there files may not be written.
    pub fn create_or_open(path: &Path, options: &OpenOptions) -> Result<Self, EngineError> {
        Self::create_on(files_of(path)?, path, options)
    }

    /// A new, empty database in memory: the same files, in no file system.
    ///
    /// # Errors
    /// Never by itself: there is no file system that could refuse.
    pub fn in_memory() -> Result<Self, EngineError> {
        Self::in_memory_with(WriteOptions::default())
    }

    /// The same, and says how updates are written.
    ///
    /// # Errors
    /// Like [`Database::in_memory`].
    pub fn in_memory_with(write: WriteOptions) -> Result<Self, EngineError> {
        let options = OpenOptions::default();
        Self::create_on_for_writing(Arc::new(MemVfs::default()), Path::new("/db"), &options, write)
    }

    /// Opens a database on any file system for writing, or makes an empty one.
    ///
    /// # Errors
    /// Like [`Database::create_or_open_for_writing`].
    pub fn create_on_for_writing(
        vfs: Arc<dyn Vfs>,
        path: &Path,
        options: &OpenOptions,
        write: WriteOptions,
    ) -> Result<Self, EngineError> {
        Ok(Self::of(Store::open_for_writing(vfs, path, options.cache(), write)?, options))
    }

    /// Opens or makes a database on any file system.
    ///
    /// # Errors
    /// Like [`Database::create_or_open`].
    pub fn create_on(vfs: Arc<dyn Vfs>, path: &Path, options: &OpenOptions) -> Result<Self, EngineError> {
        Ok(Self::of(Store::create_or_open(vfs, path, options.cache())?, options))
    }

    /// Opens an existing database on any file system for reading.
    ///
    /// # Errors
    /// Like [`Database::open_for_reading`].
    pub fn open_on(
        vfs: Arc<dyn Vfs>,
        path: &Path,
        options: &OpenOptions,
        files: OpenFiles,
    ) -> Result<Self, EngineError> {
        Ok(Self::of(Store::open_for_reading(vfs, path, options.cache(), files)?, options))
    }

    /// Opens an existing database whose files are read as from a device that is emulated: for benchmarks.
    ///
    /// # Errors
    /// Like [`Database::open`].
    pub fn open_emulated(
        path: &Path,
        options: &OpenOptions,
        device: DeviceModel,
    ) -> Result<Self, EngineError> {
        let vfs = Arc::new(DeviceVfs::new(files_of(path)?, device));
        Ok(Self::of(Store::open(vfs, path, options.cache())?, options))
    }

    /// The store below, for loads, checks, dumps and figures.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The current version: what is asked of it later is answered as if nothing had changed.
    ///
    /// ```
    /// # use lode_engine::{Database, QueryOptions, QueryResults, UpdateOptions};
    /// # fn main() -> Result<(), lode_engine::EngineError> {
    /// let database = Database::in_memory()?;
    /// let before = database.snapshot();
    /// database.update("INSERT DATA { <a:s> <a:p> 1 }", &UpdateOptions::default())?;
    /// let asked = database.prepare_at(before, "ASK { ?s ?p ?o }", &QueryOptions::default())?;
    /// assert!(matches!(asked.run()?, QueryResults::Boolean(false)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    /// Parses and plans a query over the current version.
    ///
    /// # Errors
    /// [`EngineError::Syntax`] where the text is not SPARQL, [`EngineError::Plan`] where it cannot be planned; where planning was cancelled,
    /// needs more memory than it may take, or cannot read the store.
    pub fn prepare(&self, text: &str, options: &QueryOptions) -> Result<PreparedQuery, EngineError> {
        PreparedQuery::with_cache(text, self.snapshot(), options, &self.caches)
    }

    /// Parses a query and, if the last runs of queries like it were short ([`PreparedQuery::ran`] was told so), takes their plan, or plans it
    /// where plans of its kind cannot be kept: a query that asks nobody else and is likely done within half a millisecond, though nothing
    /// promises it. `None` of all others.
    ///
    /// # Errors
    /// Like [`Database::prepare`].
    pub fn prepare_short(
        &self,
        text: &str,
        options: &QueryOptions,
    ) -> Result<Option<PreparedQuery>, EngineError> {
        PreparedQuery::short(text, self.snapshot(), options, &self.caches)
    }

    /// Parses and plans a query over a version that is held, such as a named snapshot.
    ///
    /// # Errors
    /// Like [`Database::prepare`].
    pub fn prepare_at(
        &self,
        snapshot: Snapshot,
        text: &str,
        options: &QueryOptions,
    ) -> Result<PreparedQuery, EngineError> {
        PreparedQuery::new(text, snapshot, options)
    }

    /// The version that has a name, or the current one.
    ///
    /// # Errors
    /// Where there is no snapshot of this name, or its files cannot be opened.
    pub fn snapshot_at(&self, name: Option<&str>) -> Result<Snapshot, EngineError> {
        name.map_or_else(|| Ok(self.snapshot()), |name| Ok(self.store.at(name)?))
    }

    /// Parses, plans and runs a query over the current version.
    ///
    /// ```
    /// # use lode_engine::{Database, QueryOptions, QueryResults};
    /// # fn main() -> Result<(), lode_engine::EngineError> {
    /// let database = Database::in_memory()?;
    /// let results = database.query("SELECT (1 + 1 AS ?sum) {}", &QueryOptions::default())?;
    /// let QueryResults::Solutions(mut solutions) = results else { panic!("a SELECT") };
    /// let rows = solutions.collect_rows()?;
    /// assert_eq!(rows[0][0].as_ref().map(ToString::to_string).as_deref(), Some(TWO));
    /// # const TWO: &str = "\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>";
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Database::prepare`] and [`PreparedQuery::run`].
    pub fn query(&self, text: &str, options: &QueryOptions) -> Result<QueryResults, EngineError> {
        self.prepare(text, options)?.run()
    }

    /// Runs an update request: all of its operations, in one transaction, or none. Durable when it returns.
    ///
    /// ```
    /// # use lode_engine::{Database, UpdateOptions};
    /// # fn main() -> Result<(), lode_engine::EngineError> {
    /// let database = Database::in_memory()?;
    /// let request = "INSERT DATA { <a:s> <a:p> 1, 2 } ; DELETE WHERE { ?s ?p 1 }";
    /// let report = database.update(request, &UpdateOptions::default())?;
    /// assert_eq!((report.operations, report.inserted, report.deleted), (2, 1, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Where the text is not SPARQL or an operation cannot be done or may not (LOAD); where the update was cancelled, needs more memory than it may
    /// take, or the store refuses it, as one does that was opened for reading or whose disk is full. Nothing was changed then, unless the error is
    /// [`InDoubt`](lode_store::StoreError::InDoubt).
    pub fn update(&self, text: &str, options: &UpdateOptions) -> Result<UpdateReport, EngineError> {
        update::run(&self.store, text, options)
    }

    /// Adds what follows by rules, in place of what was inferred before. The rules stay with the database.
    ///
    /// ```
    /// # use lode_engine::{Database, MaterialiseOptions, QueryOptions, QueryResults, RuleSource, UpdateOptions};
    /// # fn main() -> Result<(), lode_engine::EngineError> {
    /// let database = Database::in_memory()?;
    /// let data = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    ///             INSERT DATA { <e:Cat> rdfs:subClassOf <e:Animal> . <e:tom> a <e:Cat> }";
    /// database.update(data, &UpdateOptions::default())?;
    /// let rules = vec![RuleSource::Set("rdfs".to_owned())];
    /// let report = database.materialise(&MaterialiseOptions { rules, ..MaterialiseOptions::default() })?;
    /// assert_eq!(report.inferred, 1);
    /// let asked = database.query("ASK { <e:tom> a <e:Animal> }", &QueryOptions::default())?;
    /// assert!(matches!(asked, QueryResults::Boolean(true)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`EngineError::Rules`] where rules are wrong, contradict each other, have no end, or there are none; where the work was cancelled, needs more
    /// memory than it may take, or the store cannot be read or refuses to change. Nothing was changed then, unless the error is
    /// [`InDoubt`](lode_store::StoreError::InDoubt).
    pub fn materialise(&self, options: &MaterialiseOptions) -> Result<MaterialiseReport, EngineError> {
        materialise::materialise(&self.store, options)
    }

    /// Removes all that was inferred, and the rules; how many triples there were.
    ///
    /// # Errors
    /// Like [`Database::materialise`].
    pub fn drop_inferences(&self, options: &QueryOptions) -> Result<u64, EngineError> {
        materialise::drop_inferences(&self.store, options)
    }

    /// Brings what was inferred up to date, as an [`Upkeeper`](crate::Upkeeper) does: of the version of the moment, while others go on committing, by what has changed where that can be. Nothing is
    /// done where nothing has changed since.
    ///
    /// # Errors
    /// Where the work was cancelled, needs more memory than it may take, or the store cannot be read or written. Nothing was changed then, unless the error is
    /// [`InDoubt`](lode_store::StoreError::InDoubt).
    pub fn catch_up(&self, options: &QueryOptions) -> Result<CaughtUp, EngineError> {
        materialise::catch_up(&self.store, options, &materialise::Remembered::default())
    }

    /// What is known of the inferences of a version; none where no rules were ever applied, or they were dropped.
    ///
    /// # Errors
    /// Where a dictionary cannot be read.
    pub fn inferences(&self, snapshot: &Snapshot) -> Result<Option<KeptInferences>, EngineError> {
        KeptInferences::of(snapshot)
    }

    /// Why a triple holds in a version: from what is stated, by the rules that the database keeps and those of reasoning at run time; or that it does not.
    ///
    /// ```
    /// # use lode_engine::{Database, Goal, MaterialiseOptions, RuleSource, UpdateOptions, WhyOptions};
    /// # fn main() -> Result<(), lode_engine::EngineError> {
    /// let database = Database::in_memory()?;
    /// let data = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    ///             INSERT DATA { <e:Cat> rdfs:subClassOf <e:Animal> . <e:tom> a <e:Cat> }";
    /// database.update(data, &UpdateOptions::default())?;
    /// let rules = vec![RuleSource::Set("rdfs".to_owned())];
    /// database.materialise(&MaterialiseOptions { rules, ..MaterialiseOptions::default() })?;
    /// let goal = Goal::parse("<e:tom> a <e:Animal>", &lode_rdf::serialize::Prefixes::default())?;
    /// let explanation = database.why(database.snapshot(), &goal, &WhyOptions::default())?;
    /// let step = &explanation.proofs[0].steps[0];
    /// assert_eq!(step.rule.as_ref().map(|rule| rule.name.as_str()), Some("rdfs9"));
    /// assert_eq!(step.premises.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Where the work was cancelled, needs more memory than it may take, or the store cannot be read; where the rules are not understood.
    pub fn why(
        &self,
        snapshot: Snapshot,
        goal: &Goal,
        options: &WhyOptions,
    ) -> Result<Explanation, EngineError> {
        why::why(snapshot, goal, options, &self.caches)
    }

    /// What of a version is contradictory, by those of its rules that say so.
    ///
    /// # Errors
    /// Like [`Database::why`].
    pub fn consistency(&self, snapshot: Snapshot, options: &WhyOptions) -> Result<Consistency, EngineError> {
        why::consistency(snapshot, options, &self.caches)
    }

    /// What of an update is most likely not meant, without doing it.
    ///
    /// # Errors
    /// Where the text is not SPARQL, or its memory is not there.
    pub fn update_warnings(
        &self,
        text: &str,
        options: &QueryOptions,
    ) -> Result<Arc<[PlanWarning]>, EngineError> {
        update::warnings_of_text(&self.store, text, options)
    }

    /// Begins a transaction over several requests: it waits for the write lock, and has it until it ends. Its changes take of the memory that
    /// `options` name; their `cancel` ends the wait, and later the transaction.
    ///
    /// # Errors
    /// Where the database was opened for reading, its log has failed, or the wait was cancelled.
    pub fn begin(&self, options: &QueryOptions) -> Result<OpenTransaction, EngineError> {
        OpenTransaction::begin(&self.store, options)
    }

    /// Adds documents to a graph or to the whole dataset, or puts them in its place, in one step. Durable when it returns.
    ///
    /// # Errors
    /// Where a document is not well-formed or cannot be read; else like [`Database::update`].
    pub fn upload(
        &self,
        documents: Vec<Document>,
        options: &UploadOptions,
    ) -> Result<UploadReport, EngineError> {
        update::upload(&self.store, documents, options)
    }

    /// The id of a graph (`None`: the default graph) in a version; none where it has no quads there, or may not be read. The default graph
    /// always exists.
    ///
    /// # Errors
    /// Where a dictionary cannot be read.
    pub fn graph_id(
        &self,
        snapshot: &Snapshot,
        graph: Option<&NamedNode>,
        rules: &GraphRules,
    ) -> Result<Option<ValueId>, EngineError> {
        update::graph_id(snapshot, graph, rules)
    }

    /// Removes all quads of a graph, if the condition holds; none where there is no such graph.
    ///
    /// # Errors
    /// Where the work was cancelled, or the store cannot be read or refuses to change, as in [`Database::update`].
    pub fn delete_graph(
        &self,
        graph: Option<&NamedNode>,
        condition: Option<&UploadCondition>,
        rules: &GraphRules,
        cancel: &CancelToken,
    ) -> Result<Option<Commit>, EngineError> {
        update::delete_graph(&self.store, graph, condition, rules, cancel)
    }
}
