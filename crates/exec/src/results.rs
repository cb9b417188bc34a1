//! From ids back to terms: tables of terms for solutions, triples for CONSTRUCT and DESCRIBE, a truth value for ASK.

use crate::batch::Batch;
use crate::context::QueryContext;
use crate::error::ExecError;
use crate::execution::Execution;
use crate::operators::BoxOp;
use crate::operators::construct::Construct;
use crate::operators::describe::Describe;
use crate::operators::distinct::{Distinct, DistinctSpec};
use crate::shared::Shared;
use lode_rdf::{BlankNode, Kind, NamedOrBlankNode, Term, Triple, ValueId};
use lode_sparql::{QueryForm, VarId};
use std::sync::Arc;

/// The terms of a column: each distinct one once.
#[derive(Debug, Clone, Default)]
pub struct TermColumn {
    terms: Vec<Term>,
    /// By row, an index into `terms` plus one; 0 is unbound.
    rows: Vec<u32>,
}

impl TermColumn {
    /// The term of a row; `None` is unbound.
    pub fn get(&self, row: usize) -> Option<&Term> {
        let index = self.rows.get(row)?.checked_sub(1)?;
        self.terms.get(index as usize)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The terms of all columns of a batch. The dictionary is read in the order of its blocks.
pub fn batch_terms(cx: &QueryContext, batch: &Batch) -> Result<Vec<TermColumn>, ExecError> {
    batch.columns.iter().map(|column| column_terms(cx, column)).collect()
}

/// The terms of one column.
pub fn column_terms(cx: &QueryContext, column: &[ValueId]) -> Result<TermColumn, ExecError> {
    let mut distinct: Vec<ValueId> = column.iter().copied().filter(|id| !id.is_undef()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut terms: Vec<Option<Term>> = vec![None; distinct.len()];
    let (mut stored, mut places) = (Vec::new(), Vec::new());
    for (place, id) in distinct.iter().enumerate() {
        match id.kind() {
            Some(Kind::Special) => terms[place] = Some(Term::BlankNode(blank_of(*id))),
            Some(Kind::Local) => terms[place] = Some(cx.term(*id)?),
            _ => {
                stored.push(*id);
                places.push(place);
            }
        }
    }
    cx.snapshot.terms(&stored, &mut |index, term| {
        if let Some(place) = places.get(index) {
            terms[*place] = Some(term);
        }
        Ok(())
    })?;
    let row = |id: &ValueId| distinct.binary_search(id).map_or(0, |i| u32::try_from(i + 1).unwrap_or(0));
    let rows = column.iter().map(row).collect();
    let missing = || ExecError::Internal("a term was not delivered".into());
    let terms = terms.into_iter().map(|term| term.ok_or_else(missing)).collect::<Result<_, _>>()?;
    Ok(TermColumn { terms, rows })
}

/// Fresh blank nodes of a CONSTRUCT are ids that no table holds: of the special kind, after its two marks.
const FIRST_BLANK: u64 = 2;

/// The id of a fresh blank node.
pub(crate) fn fresh_blank(number: u64) -> ValueId {
    ValueId::new(Kind::Special, (FIRST_BLANK + number).min(lode_rdf::value_id::PAYLOAD_MAX))
}

/// The term of a fresh blank node. Those of the store are called `b` and a number, so these must not be.
pub(crate) fn fresh_blank_term(number: u64) -> BlankNode {
    BlankNode::new_unchecked(format!("c{number}"))
}

pub(crate) fn blank_of(id: ValueId) -> BlankNode {
    fresh_blank_term(id.payload().saturating_sub(FIRST_BLANK))
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
        Ok(Self { shared, triples })
    }

    /// The next triples as ids, in columns subject, predicate, object; `None` at the end. Their subjects are IRIs or blank nodes, their
    /// predicates IRIs.
    pub fn next_ids(&mut self) -> Result<Option<Batch>, ExecError> {
        let shared = Arc::clone(&self.shared);
        let (_at_work, answer) = (shared.counters.work(), shared.counters.answer());
        let mut batch = Batch::default();
        Ok(answer.measure(|| self.triples.next(&mut batch))?.then_some(batch))
    }

    /// A step that makes what is answered of `rows` triples: terms of ids, and their text.
    pub fn make_answer<T>(&self, rows: usize, step: impl FnOnce(&QueryContext) -> T) -> T {
        let (_at_work, answer) = (self.shared.counters.work(), self.shared.counters.answer());
        answer.batch(rows);
        answer.measure(|| step(&self.shared.cx))
    }

    /// The next triples; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "it can fail, and iterators go on after an error")]
    pub fn next(&mut self) -> Result<Option<Vec<Triple>>, ExecError> {
        let Some(batch) = self.next_ids()? else { return Ok(None) };
        self.make_answer(batch.rows, |cx| triples(cx, &batch)).map(Some)
    }
}

fn triples(cx: &QueryContext, batch: &Batch) -> Result<Vec<Triple>, ExecError> {
    let columns = batch_terms(cx, batch)?;
    let mut triples = Vec::with_capacity(batch.rows);
    for row in 0..batch.rows {
        let [subject, predicate, object] = [0, 1, 2].map(|i| columns.get(i).and_then(|c| c.get(row)));
        let subject = match subject {
            Some(Term::NamedNode(node)) => NamedOrBlankNode::NamedNode(node.clone()),
            Some(Term::BlankNode(node)) => NamedOrBlankNode::BlankNode(node.clone()),
            _ => continue,
        };
        if let (Some(Term::NamedNode(predicate)), Some(object)) = (predicate, object) {
            triples.push(Triple { subject, predicate: predicate.clone(), object: object.clone() });
        }
    }
    Ok(triples)
}
