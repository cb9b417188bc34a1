//! Uploads: documents that are added to a graph or to the whole dataset, or take its place. Small ones are transactions, whose commits
//! share the log's syncs; large ones are bulk loads, with bounded memory. Either way all of it becomes visible at once, or nothing.

use super::graphs::existing;
use super::rules::check_kept_graph;
use super::terms::{Labels, NewTerms};
use super::{UpdateOptions, Updater, with_room, without_report};
use crate::EngineError;
use crate::graph_rules::{GraphRules, named};
use crate::options::QueryOptions;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
use lode_exec::ExecError;
use lode_packed::Order;
use lode_rdf::parse::{ParseNotes, StatementLimit};
use lode_rdf::{GraphNameRef, NamedNode, QuadRef, RdfFormat, ValueId};
use lode_store::load::{IngestError, Replace, read_document};
use lode_store::{BuildError, Commit, Graphs, LoadError, LoadOptions, Snapshot, Source, Store, load};
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::time::Instant;

/// Something to upload.
pub struct Document {
    /// For messages.
    pub name: String,
    /// Its syntax.
    pub format: RdfFormat,
    /// Its text, plain or compressed.
    pub body: DocumentBody,
    /// Bytes that it may have once it is unpacked, where it is compressed.
    pub unpacked_max: Option<u64>,
}

/// The text of a document.
pub enum DocumentBody {
    /// In memory: it can be read again.
    Bytes(Arc<[u8]>),
    /// Read once, as it comes: it is taken for a large one.
    Stream(Box<dyn Read + Send>),
}

/// What an upload is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UploadTarget {
    /// All graphs: quads stay in the graphs that they name.
    Dataset,
    /// One graph, `None` for the default graph: documents must not name others.
    Graph(Option<NamedNode>),
}

/// What must be so for a change to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UploadCondition {
    /// The database is in one of these versions.
    VersionIn(Vec<u64>),
    /// It is in none of these.
    VersionNotIn(Vec<u64>),
    /// The graph has quads, or is one that always exists.
    Exists,
    /// It has none.
    Missing,
}

/// How an upload runs.
#[derive(Debug, Clone)]
pub struct UploadOptions {
    /// What it is about.
    pub target: UploadTarget,
    /// What must be so when it is committed. Such an upload is one transaction: it fails where it has more quads than that.
    pub condition: Option<UploadCondition>,
    /// The graphs that there are for who asks, and those that may be changed. With rules, an upload to the whole dataset is one transaction.
    pub graphs: GraphRules,
    /// Whether what was there goes.
    pub replace: bool,
    /// Resolves relative IRIs.
    pub base_iri: Option<String>,
    /// Stops it.
    pub cancel: CancelToken,
    /// Quads of one transaction; more are a bulk load, and so are some of many bytes.
    pub transaction_quads_max: u64,
    /// Bytes of memory.
    pub memory_bytes: usize,
    /// The pool that these bytes count in, if any: of that a bulk load takes a quarter, or what there is.
    pub memory: Option<MemoryBudget>,
    /// Threads of a bulk load.
    pub threads: usize,
    /// How long a statement may be.
    pub statement_limit: StatementLimit,
}

/// What an upload did.
#[derive(Debug, Clone, PartialEq)]
pub struct UploadReport {
    /// Quads in the documents.
    pub quads: u64,
    /// Quads that are there now and were not before. Where a bulk load replaces: all that are there now.
    pub inserted: u64,
    /// Quads that were there before and are not now. Where a bulk load replaces: all that were there before.
    pub deleted: u64,
    /// The version of the database from now on.
    pub version: u64,
    /// How long it took.
    pub seconds: f64,
    /// Whether the graph is there now and was not before.
    pub is_new: bool,
    /// Whether it was a bulk load.
    pub is_bulk: bool,
}

/// Uploads documents.
pub(crate) fn upload(
    store: &Store,
    documents: Vec<Document>,
    options: &UploadOptions,
) -> Result<UploadReport, EngineError> {
    let start = Instant::now();
    check(options)?;
    let before = quads_in(&store.snapshot(), options)?;
    let existed = options.is_unseen()
        || before > 0
        || matches!(options.target, UploadTarget::Dataset | UploadTarget::Graph(None));
    let Done { quads, commit, is_bulk } = if store.checks_commits() {
        checked(store, documents, options)?
    } else {
        unchecked(store, documents, options)?
    };
    Ok(UploadReport {
        quads,
        inserted: commit.inserted,
        deleted: commit.deleted,
        version: commit.version,
        seconds: start.elapsed().as_secs_f64(),
        is_new: !existed && commit.inserted > 0,
        is_bulk,
    })
}

/// What an upload did, and how.
struct Done {
    quads: u64,
    commit: Commit,
    is_bulk: bool,
}

/// In one transaction, whatever there is: only then what it makes can be looked at before it is committed. Its memory is the limit.
fn checked(store: &Store, documents: Vec<Document>, options: &UploadOptions) -> Result<Done, EngineError> {
    let (quads, commit) =
        in_transaction(store, documents, options, Most { quads: u64::MAX, bytes: usize::MAX })?
            .ok_or_else(|| EngineError::TooLarge("the upload is too large for one transaction".into()))?;
    Ok(Done { quads, commit, is_bulk: false })
}

/// In a transaction or in bulk, by its size.
fn unchecked(store: &Store, documents: Vec<Document>, options: &UploadOptions) -> Result<Done, EngineError> {
    let again: Option<Vec<Document>> = documents.iter().map(Document::again).collect();
    let mut done = None;
    if let Some(documents) = again {
        let most = Most { quads: options.transaction_quads_max, bytes: transaction_bytes_max(options) };
        done = in_transaction(store, documents, options, most)?;
    }
    let is_ruled = !options.graphs.is_free() && options.target == UploadTarget::Dataset;
    if done.is_none() && (options.condition.is_some() || is_ruled) {
        let what =
            if is_ruled { "an upload to all graphs under rules" } else { "an upload with a condition" };
        let message = format!(
            "{what} is one transaction of at most {} quads and {} MiB of new terms: send less, or to one graph without a condition",
            options.transaction_quads_max,
            transaction_bytes_max(options) >> 20
        );
        return Err(EngineError::TooLarge(message));
    }
    let is_bulk = done.is_none();
    let (quads, commit) = match done {
        Some(done) => done,
        None => in_bulk(store, documents, options)?,
    };
    Ok(Done { quads, commit, is_bulk })
}

impl Document {
    /// The same document, if it can be read more than once.
    fn again(&self) -> Option<Self> {
        let DocumentBody::Bytes(bytes) = &self.body else { return None };
        let body = DocumentBody::Bytes(Arc::clone(bytes));
        Some(Self { name: self.name.clone(), body, ..*self })
    }

    /// How long it is, if that is known. A compressed one is longer than that.
    fn bytes(&self) -> Option<usize> {
        let DocumentBody::Bytes(bytes) = &self.body else { return None };
        Some(bytes.len())
    }

    pub(super) fn source(self) -> Source {
        let reader: Box<dyn Read + Send> = match self.body {
            DocumentBody::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            DocumentBody::Stream(stream) => stream,
        };
        Source::reader(self.name, reader).with_format(self.format).with_unpacked_max(self.unpacked_max)
    }
}

impl UploadOptions {
    /// Whether it is about a graph that may not be read.
    fn is_unseen(&self) -> bool {
        matches!(&self.target, UploadTarget::Graph(graph) if !self.graphs.may_read(named(graph.as_ref())))
    }
}

/// Fails where the rules forbid it, whatever is there. Of documents that name graphs themselves that is told when they are read.
fn check(options: &UploadOptions) -> Result<(), EngineError> {
    let UploadTarget::Graph(graph) = &options.target else { return Ok(()) };
    let graph = named(graph.as_ref());
    options.graphs.check_add(graph)?;
    if options.replace { options.graphs.check_remove(graph) } else { Ok(()) }
}

/// Quads that an upload may replace; of a graph that may not be read none.
fn quads_in(snapshot: &Snapshot, options: &UploadOptions) -> Result<u64, EngineError> {
    let all = snapshot.quad_count();
    Ok(match &options.target {
        _ if options.is_unseen() => 0,
        UploadTarget::Dataset => all,
        UploadTarget::Graph(None) => all - snapshot.count(Order::Gspo, &[])?,
        UploadTarget::Graph(graph) => match existing(snapshot, graph)? {
            Some(id) => snapshot.count(Order::Gspo, &[id])?,
            None => 0,
        },
    })
}

/// Bytes of new terms of one transaction; with more an upload is a bulk load, whose memory they do not fill.
const TRANSACTION_BYTES_MAX: usize = 64 << 20;

fn transaction_bytes_max(options: &UploadOptions) -> usize {
    TRANSACTION_BYTES_MAX.min(options.memory_bytes / 8)
}

impl UploadCondition {
    /// Fails where it does not hold, of a graph if that is there, in a version that nobody else can change.
    fn check(
        &self,
        snapshot: &Snapshot,
        graph: Option<ValueId>,
        rules: &GraphRules,
    ) -> Result<(), EngineError> {
        let version = snapshot.version_number();
        // Whose graphs are not all is not told of versions.
        let is_one = |versions: &[u64]| rules.reads_all() && versions.contains(&version);
        let (holds, found) = match self {
            Self::VersionIn(versions) => (is_one(versions), "the database has changed since"),
            Self::VersionNotIn(versions) => (!is_one(versions), "the database has not changed since"),
            Self::Exists => (graph.is_some(), "there is no such graph"),
            Self::Missing => (graph.is_none(), "there is such a graph"),
        };
        if holds { Ok(()) } else { Err(EngineError::Condition(found.to_owned())) }
    }
}

/// What one transaction may hold: quads, and bytes of new terms.
#[derive(Clone, Copy)]
struct Most {
    quads: u64,
    bytes: usize,
}

/// Uploads in one transaction; none, and nothing changed, where there are more quads than that, or longer ones than fit.
fn in_transaction(
    store: &Store,
    documents: Vec<Document>,
    options: &UploadOptions,
    most: Most,
) -> Result<Option<(u64, Commit)>, EngineError> {
    let evaluation = QueryOptions {
        cancel: options.cancel.clone(),
        memory_bytes: options.memory_bytes,
        memory: options.memory.clone(),
        graphs: options.graphs.clone(),
        ..QueryOptions::default()
    };
    let update = UpdateOptions { evaluation, ..UpdateOptions::default() };
    // Who removes what others may add meanwhile must have the write lock.
    let transaction = if options.replace || options.condition.is_some() || store.commits_look() {
        store.begin(&options.cancel)?
    } else {
        store.begin_blind()?.with_cancel(&options.cancel)
    };
    let mut transaction = transaction;
    if let Some(condition) = &options.condition {
        let snapshot = transaction.snapshot()?;
        let graph = match &options.target {
            UploadTarget::Dataset => Some(ValueId::DEFAULT_GRAPH),
            UploadTarget::Graph(graph) => graph_id(&snapshot, graph.as_ref(), &options.graphs)?,
        };
        condition.check(&snapshot, graph, &options.graphs)?;
    }
    let mut updater = Updater::new(transaction, &update, &update.evaluation.budget());
    let graph = updater.prepare(options)?;
    let (mut quads, mut notes) = (0, ParseNotes::default());
    for document in documents {
        let mut terms = NewTerms::new(Labels::OfText, &updater.draft);
        let name = document.name.clone();
        let read = read_document(
            document.source(),
            options.base_iri.as_deref(),
            options.statement_limit,
            &options.cancel,
            &mut notes,
            &mut |quad| {
                quads += 1;
                if quads > most.quads || updater.draft.new_term_bytes() > most.bytes {
                    return Err(Stop::TooMuch);
                }
                if graph.is_some() {
                    check_graph(&quad, &name)?;
                } else {
                    updater.rules().check_add(quad.graph_name)?;
                    updater.adds_to(quad.graph_name);
                }
                let default = graph.unwrap_or(ValueId::DEFAULT_GRAPH);
                let quad = updater.new_quad(&quad.into_owned(), default, &mut terms)?;
                Ok(updater.insert(quad)?)
            },
        );
        match read {
            Ok(_) => {}
            Err(Stop::TooMuch) => return Ok(None),
            Err(Stop::Failed(error)) => return Err(error),
        }
    }
    let commit = updater.commit()?;
    // Who may not change everything names nothing for others.
    if options.graphs.is_free() && commit.inserted > 0 {
        store.keep_prefixes(notes.prefixes.iter());
    }
    Ok(Some((quads, commit)))
}

impl Updater<'_> {
    /// Clears what is to be replaced; the graph that quads go to, if it is one.
    fn prepare(&mut self, options: &UploadOptions) -> Result<Option<ValueId>, EngineError> {
        let graph = match &options.target {
            UploadTarget::Dataset => None,
            UploadTarget::Graph(None) => Some(ValueId::DEFAULT_GRAPH),
            UploadTarget::Graph(Some(name)) => Some(self.graph_id(name)?),
        };
        if let UploadTarget::Graph(graph) = &options.target {
            self.adds_to(named(graph.as_ref()));
        }
        match graph {
            Some(graph) if options.replace => self.clear_graphs(Graphs::One(graph))?,
            None if options.replace => self.clear_visible(true)?,
            _ => {}
        }
        Ok(graph)
    }
}

/// Why a transaction ended early.
enum Stop {
    TooMuch,
    Failed(EngineError),
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

impl From<IngestError> for Stop {
    fn from(error: IngestError) -> Self {
        LoadError::from(error).into()
    }
}

impl From<LoadError> for Stop {
    fn from(error: LoadError) -> Self {
        Self::Failed(error.into())
    }
}

/// A document for one graph must not name others.
fn check_graph(quad: &QuadRef<'_>, name: &str) -> Result<(), LoadError> {
    if quad.graph_name == GraphNameRef::DefaultGraph {
        return Ok(());
    }
    Err(IngestError::NamesGraph { source_name: name.to_owned() }.into())
}

/// The least memory for a bulk load.
const BULK_BYTES_MIN: usize = 16 << 20;
/// So many times the memory of its texts is more than a bulk load needs.
const BULK_TIMES: usize = 64;

/// Memory for a bulk load of texts of so many bytes (none: of a stream): `usual`, but no more than a quarter of the pool, and than half of
/// what others have left of it, so that there is some for those that come.
fn bulk_memory(
    options: &UploadOptions,
    text_bytes: Option<usize>,
    usual: usize,
) -> Result<(usize, Option<Reservation>), EngineError> {
    let usual = usual.min(options.memory_bytes);
    let Some(pool) = &options.memory else { return Ok((usual, None)) };
    let of_texts = text_bytes.map_or(usize::MAX, |bytes| bytes.saturating_mul(BULK_TIMES));
    let bytes = usual.min(pool.limit() / 4).min(pool.free() / 2).min(of_texts).max(BULK_BYTES_MIN);
    let held = pool.reserve(bytes).map_err(|error| EngineError::Execution(ExecError::OutOfMemory(error)))?;
    Ok((bytes, Some(held)))
}

/// The error of a load that needs more memory than it got: where it would get enough, of `usual` bytes, if others had not taken so much of the
/// pool, that is said.
fn whose_memory(error: LoadError, usual: usize, pool: Option<&MemoryBudget>) -> EngineError {
    if let (LoadError::Build(BuildError::Memory { bytes, .. }), Some(pool)) = (&error, pool)
        && *bytes <= usual.min(pool.limit() / 4)
    {
        let (requested, limit) = (*bytes, pool.limit());
        // They may have given some back by now.
        let others = pool.used().max(limit / 32);
        return EngineError::Execution(ExecError::OutOfMemory(OutOfBudget {
            requested,
            used: others,
            limit,
            others,
        }));
    }
    error.into()
}

fn in_bulk(
    store: &Store,
    documents: Vec<Document>,
    options: &UploadOptions,
) -> Result<(u64, Commit), EngineError> {
    let (graph, replaced) = match &options.target {
        UploadTarget::Graph(graph) => (graph.clone(), Replace::Graph),
        UploadTarget::Dataset => (None, Replace::All),
    };
    let default = LoadOptions::default();
    let text_bytes = documents.iter().map(Document::bytes).sum();
    let default_bytes = default.memory_bytes;
    let (memory_bytes, _held) = bulk_memory(options, text_bytes, default_bytes)?;
    let load_options = LoadOptions {
        threads: options.threads,
        memory_bytes,
        base_iri: options.base_iri.clone(),
        statement_limit: Some(options.statement_limit),
        graph,
        one_graph: options.target != UploadTarget::Dataset,
        replace: options.replace.then_some(replaced),
        cancel: options.cancel.clone(),
        ..default
    };
    let sources = documents.into_iter().map(Document::source).collect();
    let alone = default_bytes.min(options.memory_bytes);
    let report = load(store, sources, load_options, &Arc::default())
        .map_err(|error| whose_memory(error, alone, options.memory.as_ref()))?;
    let version = store.snapshot().version_number();
    let added = if options.is_unseen() { report.quads } else { report.added };
    let is_stale = store.snapshot().inferences().is_some_and(|known| !known.is_current());
    Ok((report.quads, Commit { inserted: added, deleted: report.removed, version, is_stale }))
}

/// The id of a graph; none where it has no quads, or may not be read. The default graph always exists.
pub(crate) fn graph_id(
    snapshot: &Snapshot,
    graph: Option<&NamedNode>,
    rules: &GraphRules,
) -> Result<Option<ValueId>, EngineError> {
    if graph.is_some() && !rules.may_read(named(graph)) {
        return Ok(None);
    }
    Ok(existing(snapshot, &graph.cloned())?)
}

/// Removes all quads of a graph, if the condition holds; none where there is no such graph.
pub(crate) fn delete_graph(
    store: &Store,
    graph: Option<&NamedNode>,
    condition: Option<&UploadCondition>,
    rules: &GraphRules,
    cancel: &CancelToken,
) -> Result<Option<Commit>, EngineError> {
    rules.check_remove(named(graph))?;
    with_room(store, || {
        let mut transaction = store.begin(cancel)?;
        let snapshot = transaction.snapshot()?;
        let found = graph_id(&snapshot, graph, rules)?;
        if found.is_some() && snapshot.has_inferences() {
            check_kept_graph(named(graph))?;
        }
        if let Some(condition) = condition {
            condition.check(&snapshot, found, rules)?;
        }
        let Some(id) = found else { return Ok(None) };
        transaction.clear(Graphs::One(id))?;
        let commit = transaction.commit().map_err(|error| without_report(error.into(), rules))?;
        Ok(Some(commit))
    })
}

#[cfg(test)]
mod tests {
    //! Whose memory it is that is missing.
    use super::*;

    #[test]
    fn a_load_that_would_fit_alone_may_come_again() {
        let pool = MemoryBudget::new(256 << 20);
        let _others = pool.reserve(200 << 20).expect("memory");
        let missing = |bytes| LoadError::Build(BuildError::Memory { what: "terms", bytes });
        let EngineError::Execution(ExecError::OutOfMemory(told)) =
            whose_memory(missing(40 << 20), 1 << 30, Some(&pool))
        else {
            panic!("not told")
        };
        assert!(told.is_for_others(), "{told:?}");
        for (bytes, usual, pool) in
            [(65 << 20, 1 << 30, Some(&pool)), (40 << 20, 32 << 20, Some(&pool)), (1, 1 << 30, None)]
        {
            let told = whose_memory(missing(bytes), usual, pool);
            assert!(
                matches!(told, EngineError::Load(LoadError::Build(BuildError::Memory { .. }))),
                "{told:?}"
            );
        }
    }
}
