//! From ids back to terms: tables of terms for solutions, triples for CONSTRUCT and DESCRIBE, a truth value for ASK.

use crate::answer::Unanswered;
use crate::context::QueryContext;
use crate::execution::Execution;
use crate::fresh_blank::blank_of;
use crate::operator::BoxOp;
use crate::operators::construct::Construct;
use crate::operators::describe::Describe;
use crate::operators::distinct::{Distinct, DistinctSpec};
use crate::shared::Shared;
use crate::terms::{VisitTerm, answer_terms};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_eval::expr::texts::{TextCounter, Texts};
use lode_eval::text_bytes::TextBytes;
use lode_rdf::{Kind, Term, TripleRef, ValueId};
use lode_sparql::{QueryForm, VarId};
use std::sync::Arc;

/// The terms of a batch, each distinct one of a column once.
#[derive(Debug)]
pub struct TermBatch {
    columns: Vec<TermColumn>,
    rows: usize,
    _texts: Texts,
}

impl TermBatch {
    /// The terms of all columns of a batch. The dictionary is read in the order of its blocks.
    ///
    /// # Errors
    ///
    /// Where the query was cancelled, has no memory for what is computed, or the store cannot be read.
    pub fn new(cx: &QueryContext, batch: &Batch) -> Result<Self, ExecError> {
        // All columns at once; what cannot be asked for is an error once it is read.
        let _asked = cx.snapshot.ask_for_terms(batch.columns.iter().flatten().copied());
        let mut texts = TextCounter::new(cx);
        let columns = batch.columns.iter().map(|ids| TermColumn::new(cx, ids, &mut texts));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok(Self { columns, rows: batch.rows, _texts: texts.finish() })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The term in a row and column; `None` where unbound.
    pub fn get(&self, row: usize, column: usize) -> Option<&Term> {
        self.columns.get(column)?.get(row)
    }

    /// The rows as triples, if these are of a CONSTRUCT or DESCRIBE.
    pub fn triples(&self) -> impl Iterator<Item = TripleRef<'_>> {
        (0..self.rows).filter_map(|row| self.triple(row))
    }

    fn triple(&self, row: usize) -> Option<TripleRef<'_>> {
        let subject = match self.get(row, 0)? {
            Term::NamedNode(node) => node.as_ref().into(),
            Term::BlankNode(node) => node.as_ref().into(),
            _ => return None,
        };
        let Term::NamedNode(predicate) = self.get(row, 1)? else { return None };
        Some(TripleRef { subject, predicate: predicate.as_ref(), object: self.get(row, 2)?.as_ref() })
    }
}

/// The terms of a column.
#[derive(Debug)]
struct TermColumn {
    terms: Vec<Term>,
    /// By row, an index into `terms` plus one; 0 is unbound.
    rows: Vec<u32>,
}

impl TermColumn {
    fn new(cx: &QueryContext, column: &[ValueId], texts: &mut TextCounter<'_>) -> Result<Self, ExecError> {
        let mut distinct: Vec<ValueId> = column.iter().copied().filter(|id| !id.is_undef()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut terms: Vec<Option<Term>> = vec![None; distinct.len()];
        let (mut stored, mut places) = (Vec::new(), Vec::new());
        let mut keep = |place: usize, term: Term| {
            let counted = texts.add(term.text_bytes());
            if let Some(slot) = terms.get_mut(place) {
                *slot = Some(term);
            }
            counted
        };
        for (place, id) in distinct.iter().enumerate() {
            match id.kind() {
                Some(Kind::Special) => keep(place, Term::BlankNode(blank_of(*id)))?,
                Some(Kind::Local) => keep(place, cx.term(*id)?)?,
                _ => {
                    stored.push(*id);
                    places.push(place);
                }
            }
        }
        cx.snapshot.terms::<ExecError>(&stored, &mut |index, term| match places.get(index) {
            Some(place) => keep(*place, term),
            None => Ok(()),
        })?;
        let row = |id: &ValueId| distinct.binary_search(id).map_or(0, |i| u32::try_from(i + 1).unwrap_or(0));
        let rows = column.iter().map(row).collect();
        let missing = || ExecError::Internal("a term was not delivered".into());
        let terms = terms.into_iter().map(|term| term.ok_or_else(missing)).collect::<Result<_, _>>()?;
        Ok(Self { terms, rows })
    }

    fn get(&self, row: usize) -> Option<&Term> {
        let index = self.rows.get(row)?.checked_sub(1)?;
        self.terms.get(index as usize)
    }
}

/// What a query answers.
pub enum QueryResult {
    /// SELECT.
    Solutions(Execution),
    /// ASK.
    Boolean(bool),
    /// CONSTRUCT, DESCRIBE.
    Graph(Graph),
}

impl Execution {
    /// The query's answer in its form. ASK runs here, all else as it is read.
    ///
    /// # Errors
    ///
    /// Where an operator fails: the query was cancelled, memory ran out where nothing can be spilled, or the store, a
    /// temporary file or an endpoint fails.
    pub fn into_result(mut self) -> Result<QueryResult, ExecError> {
        let plan = Arc::clone(self.plan());
        Ok(match &plan.form {
            QueryForm::Select(_) => QueryResult::Solutions(self),
            QueryForm::Ask => {
                self.shared().counters.answer().batch(1);
                QueryResult::Boolean(self.next()?.is_some())
            }
            QueryForm::Construct(template) => {
                let shared = Arc::clone(self.shared());
                let (vars, input_vars) = (triple_vars(), Arc::clone(self.vars()));
                let construct = Construct::new(&shared.cx, self.into_root(), &input_vars, template, &vars)?;
                QueryResult::Graph(Graph::new(shared, Box::new(construct))?)
            }
            QueryForm::Describe(resources) => {
                let shared = Arc::clone(self.shared());
                let (vars, input_vars) = (triple_vars(), Arc::clone(self.vars()));
                let describe = Describe::new(&shared, self.into_root(), &input_vars, resources, &vars)?;
                QueryResult::Graph(Graph::new(shared, Box::new(describe))?)
            }
        })
    }
}

/// Columns of triples: any three, since no operator sees them beside a query's variables.
fn triple_vars() -> Arc<[VarId]> {
    [VarId(0), VarId(1), VarId(2)].into()
}

/// The triples of a CONSTRUCT or DESCRIBE, each once.
pub struct Graph {
    shared: Arc<Shared>,
    triples: BoxOp,
    unanswered: Unanswered,
}

impl Graph {
    fn new(shared: Arc<Shared>, triples: BoxOp) -> Result<Self, ExecError> {
        let spec = DistinctSpec {
            cx: Arc::clone(&shared.cx),
            area: Arc::clone(&shared.area),
            counters: Arc::clone(shared.counters.answer()),
            vars: triple_vars(),
            ordered: false,
        };
        let triples = Box::new(Distinct::new(spec, triples));
        Ok(Self { shared, triples, unanswered: Unanswered::default() })
    }

    /// Calls `make` with the next triples as ids, in columns subject, predicate, object; `None` at the end. Their subjects are IRIs or
    /// blank nodes, their predicates IRIs. Where `make` has no memory for all of them, it is called again with fewer.
    ///
    /// # Errors
    ///
    /// Where an operator fails: the query was cancelled, memory ran out where nothing can be spilled, or the store, a
    /// temporary file or an endpoint fails. What `make` returns, where fewer rows do not help.
    pub fn answer<T>(
        &mut self,
        make: impl FnMut(&QueryContext, &Batch) -> Result<T, ExecError>,
    ) -> Result<Option<T>, ExecError> {
        let Self { shared, triples, unanswered } = self;
        let next = || {
            let (_at_work, answer) = (shared.counters.work(), shared.counters.answer());
            let mut batch = Batch::default();
            Ok(answer.measure(|| triples.next(&mut batch))?.then_some(batch))
        };
        unanswered.answer(shared, next, make)
    }

    /// Like [`Execution::terms`].
    ///
    /// # Errors
    ///
    /// Like [`Execution::terms`].
    pub fn terms(&self, ids: &[ValueId], visit: &mut VisitTerm<'_>) -> Result<(), ExecError> {
        answer_terms(&self.shared, ids, visit)
    }

    /// The context that they are made in.
    pub fn context(&self) -> &Arc<QueryContext> {
        &self.shared.cx
    }

    /// The next triples; `None` at the end.
    ///
    /// # Errors
    ///
    /// Where an operator fails: the query was cancelled, memory ran out where nothing can be spilled, or the store, a
    /// temporary file or an endpoint fails.
    #[expect(clippy::should_implement_trait, reason = "it can fail, and iterators go on after an error")]
    pub fn next(&mut self) -> Result<Option<TermBatch>, ExecError> {
        self.answer(TermBatch::new)
    }
}
