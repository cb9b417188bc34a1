//! A transaction over several requests: it has the write lock from its beginning to its end, and sees what it has done.

use super::terms::{Labels, NewTerms};
use super::upload::Document;
use super::{Draft, UpdateOptions, Updater, check_request, levels, without_report};
use crate::EngineError;
use crate::graph_rules::GraphRules;
use crate::options::QueryOptions;
use crate::quad_pattern::QuadPattern;
use crate::text_memory::TextMemory;
use lode_base::memory_budget::MemoryBudget;
use lode_rdf::key::blank_node;
use lode_rdf::parse::ParseNotes;
use lode_rdf::{BlankNode, GraphName, Quad, QuadRef, Term, ValueId};
use lode_sparql::stack;
use lode_store::load::{IngestError, read_document};
use lode_store::{Commit, LoadError, Snapshot, Store};
use std::collections::HashMap;

/// The transaction. Other writers wait until it ends; dropped without a commit it leaves everything as it was. After a request that failed
/// in the middle it is rolled back, and takes no more.
pub struct OpenTransaction {
    /// None once a request has failed.
    draft: Option<Draft>,
    budget: MemoryBudget,
    /// Of who has begun it.
    graphs: GraphRules,
    /// Quads that were to be inserted, and whether some of them went to a graph that may not be read: how many are new is not told then.
    added: u64,
    adds_unseen: bool,
}

/// What becomes of the statements of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements {
    /// They are added; blank nodes are new ones.
    Add,
    /// They are removed, those that name no graph from all: what was there before the document. `sesame:wildcard` stands for any term (RDF4J).
    Remove,
}

impl OpenTransaction {
    /// Waits for the write lock. The changes take of the memory that `options` name.
    pub(crate) fn begin(store: &Store, options: &QueryOptions) -> Result<Self, EngineError> {
        let budget = options.budget();
        let draft = Draft::new(store.begin(&options.cancel)?, &budget);
        let graphs = options.graphs.clone();
        Ok(Self { draft: Some(draft), budget, graphs, added: 0, adds_unseen: false })
    }

    /// The state that it has made so far, for queries.
    ///
    /// # Errors
    /// Where a request has failed; where a file cannot be read or is damaged.
    pub fn snapshot(&mut self) -> Result<Snapshot, EngineError> {
        self.draft.as_mut().ok_or_else(failed)?.snapshot()
    }

    /// Runs an update request in it.
    ///
    /// # Errors
    /// Where the text is not SPARQL, which changes nothing; else like [`Database::update`](crate::Database::update), and the transaction is rolled
    /// back.
    pub fn update(&mut self, text: &str, options: &UpdateOptions) -> Result<(), EngineError> {
        let _memory =
            TextMemory::of_update(text, &options.evaluation.bindings, &options.evaluation.budget())?;
        let update = lode_sparql::parse_update(text, options.evaluation.base_iri.as_deref())?;
        stack::deep(levels(&update), || {
            let snapshot = self.snapshot()?;
            check_request(&update, options, &snapshot)?;
            self.within(options, |updater| updater.run(&update))
        })
    }

    /// Adds or removes the statements of a document: in these graphs, or where none is named in those that it names itself.
    ///
    /// # Errors
    /// Where the document is not well-formed or cannot be read, and where a request has failed; the transaction is rolled back.
    pub fn statements(
        &mut self,
        what: Statements,
        document: Document,
        graphs: &[GraphName],
        options: &UpdateOptions,
    ) -> Result<(), EngineError> {
        self.within(options, |updater| updater.statements(what, document, graphs))
    }

    /// A new blank node. Its label means it for as long as the database is open.
    ///
    /// # Errors
    /// Where a request has failed.
    pub fn new_blank(&mut self) -> Result<BlankNode, EngineError> {
        Ok(blank_node(self.draft.as_mut().ok_or_else(failed)?.fresh_blank()?))
    }

    /// Inserts quads. Labels of blank nodes that the database has given, in answers or by [`OpenTransaction::new_blank`], mean its nodes; each
    /// other label means a new one.
    ///
    /// # Errors
    /// Like [`OpenTransaction::remove`].
    pub fn insert(&mut self, quads: &[Quad], options: &UpdateOptions) -> Result<(), EngineError> {
        self.within(options, |updater| {
            let mut terms = NewTerms::new(Labels::OfSolutions, &updater.draft);
            quads.iter().try_for_each(|quad| updater.insert_quad(quad, &mut terms))
        })
    }

    /// Removes the quads of a pattern.
    ///
    /// # Errors
    /// Where a file cannot be read, the work was cancelled or needs more memory than it may take, and where a request has failed; the transaction
    /// is rolled back.
    pub fn remove(&mut self, pattern: &QuadPattern, options: &UpdateOptions) -> Result<(), EngineError> {
        self.within(options, |updater| {
            let before = updater.draft.snapshot()?;
            updater.remove(pattern, &before, &mut HashMap::new())
        })
    }

    fn within(
        &mut self,
        options: &UpdateOptions,
        work: impl FnOnce(&mut Updater<'_>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let draft = self.draft.take().ok_or_else(failed)?;
        let mut updater = Updater::over(draft, options, &self.budget);
        work(&mut updater)?;
        self.added += updater.added;
        self.adds_unseen |= updater.adds_unseen;
        self.draft = Some(updater.draft);
        Ok(())
    }

    /// Makes all of it durable and visible.
    ///
    /// # Errors
    /// Where a request has failed, or the store refuses it. Nothing was changed then, unless the error is
    /// [`InDoubt`](lode_store::StoreError::InDoubt).
    pub fn commit(self) -> Result<Commit, EngineError> {
        let graphs = self.graphs.clone();
        self.commit_for(&graphs)
    }

    /// The same for who may read these graphs, where it was begun with other rules: why a check refuses it is told to who may read all.
    ///
    /// # Errors
    /// Like [`OpenTransaction::commit`].
    pub fn commit_for(self, graphs: &GraphRules) -> Result<Commit, EngineError> {
        let commit = self.draft.ok_or_else(failed)?.commit();
        let commit = commit.map_err(|error| without_report(error, graphs))?;
        Ok(if self.adds_unseen { Commit { inserted: self.added, ..commit } } else { commit })
    }
}

fn failed() -> EngineError {
    EngineError::Update(
        "a request of this transaction has failed, so that it was rolled back: begin another one".to_owned(),
    )
}

/// Stands for any term in statements that are to be removed.
const ANY: &str = "http://www.openrdf.org/schema/sesame#wildcard";

/// What a statement to be removed stands for.
fn pattern(quad: &Quad, graphs: &[GraphName]) -> QuadPattern {
    let given =
        |term: Term| Some(term).filter(|term| !matches!(term, Term::NamedNode(name) if name.as_str() == ANY));
    let graphs = match (graphs, &quad.graph_name) {
        ([], GraphName::NamedNode(name)) if name.as_str() == ANY => Vec::new(),
        // As RDF4J has it: who names no graph means all.
        ([], GraphName::DefaultGraph) => Vec::new(),
        ([], own) => vec![own.clone()],
        (graphs, _) => graphs.to_vec(),
    };
    QuadPattern {
        subject: given(quad.subject.clone().into()),
        predicate: given(quad.predicate.clone().into()),
        object: given(quad.object.clone()),
        graphs,
    }
}

impl Updater<'_> {
    fn statements(
        &mut self,
        what: Statements,
        document: Document,
        graphs: &[GraphName],
    ) -> Result<(), EngineError> {
        let (cancel, base) =
            (self.options.evaluation.cancel.clone(), self.options.evaluation.base_iri.clone());
        let limit = self.options.statement_limit;
        let mut terms = NewTerms::new(Labels::OfText, &self.draft);
        let before = self.draft.snapshot()?;
        let mut known = HashMap::new();
        let each = &mut |quad: QuadRef<'_>| {
            let quad = quad.into_owned();
            match what {
                Statements::Remove => {
                    let removed = pattern(&quad, graphs);
                    Ok::<_, Stop>(self.remove(&removed, &before, &mut known)?)
                }
                Statements::Add if graphs.is_empty() => Ok(self.insert_quad(&quad, &mut terms)?),
                Statements::Add => Ok(graphs.iter().try_for_each(|graph| {
                    self.insert_quad(&Quad { graph_name: graph.clone(), ..quad.clone() }, &mut terms)
                })?),
            }
        };
        read_document(document.source(), base.as_deref(), limit, &cancel, &mut ParseNotes::default(), each)
            .map_err(|Stop(error)| error)?;
        Ok(())
    }

    /// Removes what there is of a pattern for who asks, if all of it may be removed.
    fn remove(
        &mut self,
        pattern: &QuadPattern,
        before: &Snapshot,
        known: &mut HashMap<ValueId, ()>,
    ) -> Result<(), EngineError> {
        let rules = self.rules().clone();
        pattern.graphs.iter().try_for_each(|graph| rules.check_remove(graph.as_ref()))?;
        let cancel = self.options.evaluation.cancel.clone();
        pattern.for_each_id(before, &rules, &cancel, |quad| {
            self.check_found(quad[3], before, known)?;
            self.delete(quad)
        })
    }

    fn insert_quad(&mut self, quad: &Quad, terms: &mut NewTerms) -> Result<(), EngineError> {
        self.rules().check_add(quad.graph_name.as_ref())?;
        self.adds_to(quad.graph_name.as_ref());
        let quad = self.new_quad(quad, ValueId::DEFAULT_GRAPH, terms)?;
        self.insert(quad)
    }
}

/// Why reading ended early.
struct Stop(EngineError);

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Self {
        Self(error)
    }
}

impl From<IngestError> for Stop {
    fn from(error: IngestError) -> Self {
        Self(LoadError::from(error).into())
    }
}
