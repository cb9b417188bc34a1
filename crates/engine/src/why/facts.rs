//! What is known of triples: the graphs that have them as stated, and what else a query sees.

use crate::EngineError;
use crate::inferred::inferred_graph;
use crate::options::{DefaultGraph, QueryOptions};
use crate::query::{PreparedQuery, SessionOptions, share_of};
use lode_base::memory_budget::MemoryBudget;
use lode_packed::Order;
use lode_rdf::{Kind, Term, ValueId};
use lode_sparql::plan::VisibleGraphs;
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use spargebra::Query;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Terms in the place of variables, by name.
pub(super) type Terms = BTreeMap<String, Term>;

/// Rows of ids, by the names of columns.
pub(super) struct Rows {
    pub columns: HashMap<String, usize>,
    pub rows: Vec<Vec<ValueId>>,
}

/// The data as rules see them.
pub(super) struct Facts {
    pub snapshot: Snapshot,
    /// How rules read.
    evaluation: QueryOptions,
    visible: Option<VisibleGraphs>,
    inferred: Option<ValueId>,
    pub budget: MemoryBudget,
    now: DateTime,
    terms: HashMap<ValueId, Term>,
    ids: HashMap<Term, Option<ValueId>>,
}

/// So many terms are remembered.
const REMEMBERED_MAX: usize = 1 << 14;

impl Facts {
    pub fn new(
        snapshot: Snapshot,
        evaluation: QueryOptions,
        budget: MemoryBudget,
    ) -> Result<Self, EngineError> {
        let visible = evaluation.graphs.visible(&snapshot, &evaluation.cancel)?;
        let inferred = inferred_graph(&snapshot)?;
        let (now, terms, ids) = (DateTime::now(), HashMap::new(), HashMap::new());
        Ok(Self { snapshot, evaluation, visible, inferred, budget, now, terms, ids })
    }

    pub fn check(&self) -> Result<(), EngineError> {
        self.evaluation.cancel.check().map_err(EngineError::Cancelled)
    }

    /// The id of a term of a rule.
    pub fn id(&mut self, term: &Term) -> Result<Option<ValueId>, EngineError> {
        if let Some(id) = self.ids.get(term) {
            return Ok(*id);
        }
        let id = self.snapshot.id_of(term)?;
        if self.ids.len() >= REMEMBERED_MAX {
            self.ids.clear();
        }
        self.ids.insert(term.clone(), id);
        Ok(id)
    }

    /// The term of an id.
    pub fn term(&mut self, id: ValueId) -> Result<Term, EngineError> {
        if let Some(term) = self.terms.get(&id) {
            return Ok(term.clone());
        }
        let term = self.snapshot.term(id)?;
        if self.terms.len() >= REMEMBERED_MAX {
            self.terms.clear();
        }
        self.terms.insert(id, term.clone());
        Ok(term)
    }

    /// The graphs that have a triple as stated, of those that who asks may read.
    pub fn graphs(&self, triple: &[ValueId; 3]) -> Result<Vec<ValueId>, EngineError> {
        let mut scan = self.snapshot.scan(Order::Spog, triple, 0b1000)?;
        let (mut graphs, mut columns): (Vec<ValueId>, [Vec<ValueId>; 4]) = Default::default();
        while scan.next(4096, &mut columns)? > 0 {
            self.check()?;
            graphs.extend(columns[3].drain(..).filter(|graph| self.is_stated(*graph)));
        }
        Ok(graphs)
    }

    fn is_stated(&self, graph: ValueId) -> bool {
        Some(graph) != self.inferred && self.visible.as_ref().is_none_or(|visible| visible.has(graph))
    }

    /// Whether rules read what is stated in a graph.
    fn is_read(&self, graph: ValueId) -> bool {
        match self.evaluation.default_graph {
            DefaultGraph::Separate => graph == ValueId::DEFAULT_GRAPH,
            DefaultGraph::Union => true,
        }
    }

    /// Whether a triple is stated where rules read it.
    pub fn is_asserted(&self, triple: &[ValueId; 3]) -> Result<bool, EngineError> {
        Ok(self.graphs(triple)?.into_iter().any(|graph| self.is_read(graph)))
    }

    /// The objects of stated triples that rules read.
    pub fn objects(&self, subject: ValueId, predicate: ValueId) -> Result<Vec<ValueId>, EngineError> {
        self.ends(Order::Psog, [predicate, subject], false)
    }

    /// The subjects of stated triples that rules read.
    pub fn subjects(&self, predicate: ValueId, object: ValueId) -> Result<Vec<ValueId>, EngineError> {
        self.ends(Order::Posg, [predicate, object], false)
    }

    /// The objects of triples that rules read, stated or inferred.
    pub fn objects_seen(&self, subject: ValueId, predicate: ValueId) -> Result<Vec<ValueId>, EngineError> {
        self.ends(Order::Psog, [predicate, subject], true)
    }

    /// What stands third in an order, behind a predicate and one end.
    fn ends(
        &self,
        order: Order,
        prefix: [ValueId; 2],
        with_inferred: bool,
    ) -> Result<Vec<ValueId>, EngineError> {
        let mut scan = self.snapshot.scan(order, &prefix, 0b1100)?;
        let (mut ends, mut columns): (Vec<ValueId>, [Vec<ValueId>; 4]) = Default::default();
        let is_seen = |graph: ValueId| match Some(graph) == self.inferred {
            true => with_inferred,
            false => self.is_stated(graph) && self.is_read(graph),
        };
        while scan.next(4096, &mut columns)? > 0 {
            self.check()?;
            let [_, _, found, graphs] = &mut columns;
            let pairs = found.drain(..).zip(graphs.drain(..));
            ends.extend(pairs.filter(|(_, graph)| is_seen(*graph)).map(|(id, _)| id));
        }
        ends.dedup();
        Ok(ends)
    }

    /// The rows of a query, with terms in the place of some of its variables; as rules see the data.
    pub fn rows(&mut self, query: &Query, terms: &Terms) -> Result<Rows, EngineError> {
        let options = self.evaluation.clone();
        self.rows_by(query, terms, &options)
    }

    /// The same of what is stated only.
    pub fn stated_rows(&mut self, query: &Query, terms: &Terms) -> Result<Rows, EngineError> {
        let options = QueryOptions { inferred: false, dataset: None, ..self.evaluation.clone() };
        self.rows_by(query, terms, &options)
    }

    /// A term as messages have it; `?` where it is not known.
    pub fn words(&mut self, id: ValueId) -> Result<String, EngineError> {
        if id.is_undef() { Ok("?".to_owned()) } else { Ok(self.term(id)?.to_string()) }
    }

    /// The same as `options` see the data.
    pub fn rows_by(
        &mut self,
        query: &Query,
        terms: &Terms,
        options: &QueryOptions,
    ) -> Result<Rows, EngineError> {
        let (budget, memos, share) = (self.budget.clone(), Arc::default(), share_of(options));
        let session = SessionOptions { budget, now: self.now, memos, share };
        let prepared = PreparedQuery::with_terms(query, terms, self.snapshot.clone(), options, session)?;
        let mut execution = prepared.execute()?;
        let (cx, vars) = (Arc::clone(execution.context()), Arc::clone(execution.vars()));
        let names = &prepared.plan().vars;
        let columns = vars.iter().enumerate().map(|(at, var)| (names.name(*var).to_owned(), at)).collect();
        let mut rows = Vec::new();
        while let Some(batch) = execution.next()? {
            for row in 0..batch.rows {
                let mut ids = Vec::with_capacity(batch.columns.len());
                for column in &batch.columns {
                    let id = column.get(row).copied().unwrap_or_default();
                    ids.push(match id.kind() {
                        // What the data do not have is no part of a triple of theirs.
                        Some(Kind::Local) => self.snapshot.id_of(&cx.term(id)?)?.unwrap_or_default(),
                        _ => id,
                    });
                }
                rows.push(ids);
            }
        }
        Ok(Rows { columns, rows })
    }
}
