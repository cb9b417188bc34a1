//! Updates: a request's operations, one after the other in one transaction. All of them happen, or none.

mod data;
mod draft;
mod graphs;
mod load;
mod modify;
mod open_transaction;
#[cfg(test)]
mod quads_tests;
mod rows;
mod rules;
mod template;
mod terms;
#[cfg(test)]
mod tests;
mod upload;
mod visible;

use crate::EngineError;
use crate::graph_rules::GraphRules;
use crate::hints;
use crate::load_allow::LoadAllow;
use crate::options::QueryOptions;
use crate::text_memory::TextMemory;
use draft::Draft;
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::ValueId;
use lode_rdf::parse::{DeclaredPrefixes, StatementLimit};
use lode_sparql::parse::depth;
use lode_sparql::syntax::Form;
use lode_sparql::update::Operation;
use lode_sparql::{ParseError, PlanWarning, Update, stack, warnings};
use lode_store::{Commit, Snapshot, Store, Transaction};
use oxsdatatypes::DateTime;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub use open_transaction::{OpenTransaction, Statements};
pub use upload::{Document, DocumentBody, UploadCondition, UploadOptions, UploadReport, UploadTarget};
pub(crate) use upload::{delete_graph, graph_id, upload};

/// How a request runs.
#[derive(Clone, Default)]
pub struct UpdateOptions {
    /// As for queries. The dataset is what WHERE sees (`using-graph-uri`, `using-named-graph-uri`); with it, the request must not have
    /// USING or WITH.
    pub evaluation: QueryOptions,
    /// What LOAD may read.
    pub load: LoadAllow,
    /// How long a statement may be in what LOAD reads.
    pub statement_limit: StatementLimit,
    /// Bytes that what LOAD reads may have once it is unpacked: a few may stand for any number.
    pub unpacked_max: Option<u64>,
    /// Told how far it is.
    pub progress: Option<Arc<UpdateProgress>>,
}

/// How far an update is, for whoever watches.
#[derive(Debug, Default)]
pub struct UpdateProgress {
    operations: AtomicU64,
    changes: AtomicU64,
}

impl UpdateProgress {
    /// Operations that are done.
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Insertions and deletions so far, also of quads that are there already or are not.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }
}

/// What is told where commits bring what follows up to date, and one did not.
pub const INFERENCES_STALE: &str = "too much follows from this change for one commit: what was inferred is stale from now on; a server brings it up to date in the background, and so does lode materialise";

/// What a request did.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateReport {
    /// How many operations it had.
    pub operations: usize,
    /// Quads that are there now and were not before; all that were to be added, where some went to a graph that may not be read.
    pub inserted: u64,
    /// Quads that were there before and are not now.
    pub deleted: u64,
    /// The version of the database from now on.
    pub version: u64,
    /// Whether what was inferred, which commits bring up to date, is stale from now on, since too much followed from this one.
    pub inferences_stale: bool,
    /// How long it took.
    pub seconds: f64,
    /// What of it is most likely not meant.
    pub warnings: Arc<[PlanWarning]>,
}

/// Runs a request.
pub(crate) fn run(store: &Store, text: &str, options: &UpdateOptions) -> Result<UpdateReport, EngineError> {
    let start = Instant::now();
    let budget = options.evaluation.budget();
    let _memory = TextMemory::of_update(text, &options.evaluation.bindings, &budget)?;
    let update = lode_sparql::parse_update(text, options.evaluation.base_iri.as_deref())?;
    stack::deep(levels(&update), move || {
        check_request(&update, options, &store.snapshot())?;
        // Of data alone there is something to say only where not all of it was there.
        let before = is_data(&update).then(|| store.snapshot());
        let mut warnings = match &before {
            Some(_) => Arc::default(),
            None => warnings_of(&store.snapshot(), &update, text, &options.evaluation, &budget),
        };
        let commit = with_room(store, || commit(store, &update, options, &budget))?;
        if let Some(before) = before.filter(|_| commit.deleted < quads_to_delete(&update)) {
            warnings = warnings_of(&before, &update, text, &options.evaluation, &budget);
        }
        Ok(UpdateReport {
            operations: update.operations.len(),
            inserted: commit.inserted,
            deleted: commit.deleted,
            version: commit.version,
            inferences_stale: commit.is_stale,
            seconds: start.elapsed().as_secs_f64(),
            warnings,
        })
    })
}

/// What of a request is most likely not meant, in the state that the store is in.
///
/// # Errors
/// Where it is no update.
pub(crate) fn warnings_of_text(
    store: &Store,
    text: &str,
    options: &QueryOptions,
) -> Result<Arc<[PlanWarning]>, EngineError> {
    let budget = options.budget();
    let _memory = TextMemory::of_update(text, &options.bindings, &budget)?;
    let update = lode_sparql::parse_update(text, options.base_iri.as_deref())?;
    Ok(stack::deep(levels(&update), move || warnings_of(&store.snapshot(), &update, text, options, &budget)))
}

/// Whether a request has no pattern.
fn is_data(update: &Update) -> bool {
    !update.operations.iter().any(|operation| matches!(operation, Operation::Modify(_)))
}

/// The quads of DELETE DATA.
fn quads_to_delete(update: &Update) -> u64 {
    let of = |operation: &Operation| match operation {
        Operation::DeleteData(quads) => quads.len() as u64,
        _ => 0,
    };
    update.operations.iter().map(of).sum()
}

fn warnings_of(
    snapshot: &Snapshot,
    update: &Update,
    text: &str,
    options: &QueryOptions,
    budget: &MemoryBudget,
) -> Arc<[PlanWarning]> {
    let modifies = update.operations.iter().filter_map(|operation| match operation {
        Operation::Modify(modify) => Some(&modify.query),
        _ => None,
    });
    let modifies: Vec<_> = modifies.collect();
    // What is inserted only, or cleared, needs not be there.
    if modifies.is_empty() && quads_to_delete(update) == 0 {
        return Arc::default();
    }
    let functions = warnings::of_queries(modifies, hints::KNOWN);
    let functions = PlanWarning::placed(&functions, text, Form::Update);
    match hints::of_update(text, snapshot, options, budget) {
        hints if hints.is_empty() => functions,
        hints => PlanWarning::with_hints(&functions, hints),
    }
}

/// The levels of the deepest operation's pattern.
fn levels(update: &Update) -> usize {
    let of = |operation: &Operation| match operation {
        Operation::Modify(modify) => depth::of_query(&modify.query).for_plans(),
        _ => 0,
    };
    update.operations.iter().map(of).max().unwrap_or(0)
}

/// Once more, if that may find the room on the disk that it did not find: what deletes does.
fn with_room<T>(store: &Store, mut work: impl FnMut() -> Result<T, EngineError>) -> Result<T, EngineError> {
    let before = store.reserve_releases();
    match work() {
        Err(EngineError::Store(error)) if error.is_disk_full() && store.reserve_releases() > before => work(),
        done => done,
    }
}

/// What can be told before anything is done.
fn check_request(update: &Update, options: &UpdateOptions, snapshot: &Snapshot) -> Result<(), EngineError> {
    check_dataset(update, options)?;
    rules::check(update, &options.evaluation.graphs, snapshot.has_inferences())
}

/// The protocol forbids graphs from outside where the request names its own.
fn check_dataset(update: &Update, options: &UpdateOptions) -> Result<(), EngineError> {
    let given = options.evaluation.dataset.as_ref();
    let given = given.is_some_and(|given| !(given.default.is_empty() && given.named.is_empty()));
    let named =
        |operation: &Operation| matches!(operation, Operation::Modify(modify) if modify.names_dataset());
    if given && update.operations.iter().any(named) {
        let message = "graphs are given beside the request (using-graph-uri, using-named-graph-uri), so it \
                       must not have USING, USING NAMED or WITH";
        return Err(ParseError::without_place(message.to_owned()).into());
    }
    Ok(())
}

fn commit(
    store: &Store,
    update: &Update,
    options: &UpdateOptions,
    budget: &MemoryBudget,
) -> Result<Commit, EngineError> {
    let blind = |operation: &Operation| {
        matches!(operation, Operation::InsertData(_) | Operation::DeleteData(_) | Operation::Nothing)
    };
    if update.operations.iter().all(blind) && !store.commits_look() {
        let mut updater =
            Updater::new(store.begin_blind()?.with_cancel(&options.evaluation.cancel), options, budget);
        updater.run(update)?;
        if !updater.met_unknown {
            return updater.commit();
        }
        // A term that nobody knew then may be known by the time of the commit: who deletes it must have the write lock.
    }
    let mut updater = Updater::new(store.begin(&options.evaluation.cancel)?, options, budget);
    updater.run(update)?;
    let prefixes = std::mem::take(&mut updater.prefixes);
    let commit = updater.commit()?;
    if options.evaluation.graphs.is_free() && commit.inserted > 0 {
        store.keep_prefixes(prefixes.iter());
    }
    Ok(commit)
}

/// A refusal as it is told to who may not read all graphs: its reasons may be in others.
fn without_report(error: EngineError, rules: &GraphRules) -> EngineError {
    match error {
        EngineError::Refused(_) if !rules.reads_all() => {
            EngineError::Refused("the change is refused by a check of the data; nothing was changed".into())
        }
        other => other,
    }
}

/// Changes between two looks at the cancel token.
const CHANGES_UNCHECKED: usize = 1024;

/// A request on its way.
struct Updater<'a> {
    draft: Draft,
    options: &'a UpdateOptions,
    budget: MemoryBudget,
    now: DateTime,
    /// DELETE DATA had a term that the database does not know.
    met_unknown: bool,
    /// Quads that were to be inserted.
    added: u64,
    /// Some of them into a graph that may not be read: how many of them are new is not told.
    adds_unseen: bool,
    /// Declared by what was read.
    prefixes: DeclaredPrefixes,
}

impl<'a> Updater<'a> {
    fn new(transaction: Transaction, options: &'a UpdateOptions, budget: &MemoryBudget) -> Self {
        Self::over(Draft::new(transaction, budget), options, budget)
    }

    fn over(draft: Draft, options: &'a UpdateOptions, budget: &MemoryBudget) -> Self {
        let (budget, now) = (budget.clone(), DateTime::now());
        Self {
            draft,
            options,
            budget,
            now,
            met_unknown: false,
            added: 0,
            adds_unseen: false,
            prefixes: DeclaredPrefixes::default(),
        }
    }

    fn run(&mut self, update: &Update) -> Result<(), EngineError> {
        for operation in &update.operations {
            self.check()?;
            self.operation(operation)?;
            if let Some(progress) = &self.options.progress {
                progress.operations.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.check()
    }

    fn operation(&mut self, operation: &Operation) -> Result<(), EngineError> {
        match operation {
            Operation::InsertData(quads) => self.insert_data(quads),
            Operation::DeleteData(quads) => self.delete_data(quads),
            Operation::Modify(modify) => self.modify(modify),
            Operation::Load { source, into, silent } => self.load(source, into, *silent),
            Operation::Clear(target) => self.clear(target),
            Operation::Create { graph, silent } => self.create(graph, *silent),
            Operation::Transfer(transfer) => self.transfer(transfer),
            Operation::Nothing => Ok(()),
        }
    }

    fn insert(&mut self, quad: [ValueId; 4]) -> Result<(), EngineError> {
        self.watch()?;
        self.added += 1;
        self.draft.insert(quad)
    }

    fn delete(&mut self, quad: [ValueId; 4]) -> Result<(), EngineError> {
        self.watch()?;
        self.draft.delete(quad)
    }

    /// Now and then looks whether to stop, and tells how far it is.
    fn watch(&self) -> Result<(), EngineError> {
        let changes = self.draft.changes();
        if changes.is_multiple_of(CHANGES_UNCHECKED) {
            self.check()?;
            if let Some(progress) = &self.options.progress {
                progress.changes.store(changes as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), EngineError> {
        self.options.evaluation.cancel.check().map_err(EngineError::Cancelled)
    }

    fn commit(self) -> Result<Commit, EngineError> {
        let rules = &self.options.evaluation.graphs;
        let mut commit = self.draft.commit().map_err(|error| without_report(error, rules))?;
        if self.adds_unseen {
            commit.inserted = self.added;
        }
        Ok(commit)
    }
}
