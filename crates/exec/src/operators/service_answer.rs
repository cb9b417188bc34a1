//! The answer to a block's request, joined with the block's rows as it comes.

use super::hash_table::{HashTable, Prober};
use super::join_output::{JoinOutput, Pairs};
use super::service_block::Block;
use crate::context::QueryContext;
use crate::profile::NodeCounters;
use crate::reservation::cover;
use crate::service::{Place, ServiceAnswer, ServiceError, ServiceRows};
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, gather, position};
use lode_eval::error::ExecError;
use lode_rdf::{BlankNode, NamedOrBlankNode, Term, Triple, ValueId};
use lode_sparql::plan::JoinCondition;
use lode_sparql::{Expr, JoinKind, ServiceCall, VarId};
use std::sync::Arc;

/// Rows of an answer between two looks at the cancel token.
const ROWS_UNCHECKED: usize = 1 << 8;

/// How answers are joined with blocks, whichever of them.
pub(super) struct AnswerJoin {
    cx: Arc<QueryContext>,
    counters: Arc<NodeCounters>,
    kind: JoinKind,
    silent: bool,
    /// Columns of the answer, and those that are bound in each row.
    answer_vars: Arc<[VarId]>,
    certain: Vec<usize>,
    /// For each column of the output, where it is among those of the left rows.
    from_left: Vec<Option<usize>>,
    /// Shared columns among those of the left rows, and of the answer.
    shared: (Vec<usize>, Vec<usize>),
    output: JoinOutput,
    pairs: Pairs,
}

impl AnswerJoin {
    /// For left rows and answers of these columns.
    pub(super) fn new(
        cx: &Arc<QueryContext>,
        counters: &Arc<NodeCounters>,
        (left, call): (&[VarId], &ServiceCall),
        (kind, filter): (JoinKind, Option<&Expr>),
        vars: &Arc<[VarId]>,
    ) -> Self {
        let answer = call.columns.as_slice();
        let both: Vec<VarId> = answer.iter().filter(|var| left.contains(var)).copied().collect();
        let columns = |vars: &[VarId]| both.iter().filter_map(|var| position(vars, *var)).collect();
        let shared = (columns(left), columns(answer));
        let condition = JoinCondition { maybe: both.clone(), filter: filter.cloned(), on: Vec::new() };
        Self {
            cx: Arc::clone(cx),
            counters: Arc::clone(counters),
            kind,
            silent: call.silent,
            answer_vars: answer.into(),
            certain: call.certain.iter().filter_map(|var| position(answer, *var)).collect(),
            from_left: vars.iter().map(|var| position(left, *var)).collect(),
            shared,
            output: JoinOutput::new(JoinKind::Inner, &condition, answer, left, vars),
            pairs: Pairs::default(),
        }
    }

    /// Empties `out` and gives it the join's columns.
    pub(super) fn reset(&self, out: &mut Batch) {
        self.output.reset(out);
    }

    /// An answer of one row that binds nothing: the empty solution.
    fn empty_solution(&self) -> Batch {
        let mut rows = Batch::new(Arc::clone(&self.answer_vars));
        rows.columns.iter_mut().for_each(|column| column.push(ValueId::UNDEF));
        rows.rows = 1;
        rows
    }

    /// The ids of an answer's rows; `false`: a variable is unbound that the pattern binds.
    fn add_ids(&self, answer: u64, from: &ServiceRows, rows: &mut Batch) -> Result<bool, ExecError> {
        let source = |var: &VarId| from.variables.iter().position(|name| name == self.cx.vars.name(*var));
        let sources: Vec<Option<usize>> = self.answer_vars.iter().map(source).collect();
        for (number, row) in from.rows.iter().enumerate() {
            if number % ROWS_UNCHECKED == 0 {
                self.cx.cancel.check()?;
            }
            for (source, column) in sources.iter().zip(&mut rows.columns) {
                let term = source.and_then(|source| row.get(source)).and_then(Option::as_ref);
                column.push(match term {
                    Some(term) => self.cx.intern(&as_foreign(term, answer))?,
                    None => ValueId::UNDEF,
                });
            }
            rows.rows += 1;
            if self.certain.iter().any(|column| rows.columns[*column].last().is_none_or(|id| id.is_undef())) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends left rows, with nothing else bound.
    fn emit_left(&self, left: &Batch, rows: &[u32], out: &mut Batch) {
        for (source, column) in self.from_left.iter().zip(&mut out.columns) {
            match source {
                Some(source) => gather(&left.columns[*source], rows, column),
                None => column.resize(out.rows + rows.len(), ValueId::UNDEF),
            }
        }
        out.rows += rows.len();
    }
}

/// A request on its way, or its answer.
pub(super) struct Asked {
    /// None: there is no more of it.
    answer: Option<Box<dyn ServiceAnswer>>,
    endpoint: String,
    received: u64,
    /// Its blank nodes are none of any other answer's.
    number: u64,
    rows: Batch,
    reservation: Reservation,
    prober: Prober,
    block: Joined,
    /// For each row of the block, whether it has met one of the answer: where the join's kind asks.
    matched: Vec<bool>,
    /// Rows of the block that have been looked at again.
    settled: usize,
    _place: Option<Place>,
}

/// A block, before the first rows of its answer are there and after.
enum Joined {
    Block(Option<Block>),
    Table(Box<HashTable>),
}

impl Asked {
    /// The answer to a block's request.
    pub(super) fn new(
        join: &AnswerJoin,
        block: Block,
        endpoint: String,
        (answer, place): (Box<dyn ServiceAnswer>, Place),
    ) -> Self {
        Self { answer: Some(answer), endpoint, _place: Some(place), ..Self::none(join, block) }
    }

    /// For a block whose endpoint cannot be asked, silently.
    pub(super) fn failed(join: &AnswerJoin, block: Block) -> Self {
        Self { rows: join.empty_solution(), ..Self::none(join, block) }
    }

    /// For a block that matches nothing.
    pub(super) fn none(join: &AnswerJoin, block: Block) -> Self {
        let right = &join.shared.1;
        Self {
            answer: None,
            endpoint: String::new(),
            received: 0,
            number: join.cx.local.fresh(1),
            rows: Batch::new(Arc::clone(&join.answer_vars)),
            reservation: join.cx.budget.reserve_empty(),
            prober: Prober::new(Vec::new(), right.clone(), false, false),
            matched: if join.kind == JoinKind::Inner { Vec::new() } else { vec![false; block.rows.rows] },
            block: Joined::Block(Some(block)),
            settled: 0,
            _place: None,
        }
    }

    /// Appends joined rows; `false`: there are no more.
    pub(super) fn next(&mut self, join: &mut AnswerJoin, out: &mut Batch) -> Result<bool, ExecError> {
        if let Joined::Block(block) = &mut self.block {
            let Some(block) = block.take() else { return Ok(false) };
            let reservations = vec![block.reservation];
            let shared = join.shared.0.clone();
            let table = HashTable::new(&join.cx, block.rows, Vec::new(), shared, reservations);
            self.block = Joined::Table(Box::new(table));
            self.prober.begin();
        }
        while self.prober.is_done(&self.rows) {
            if !self.read(join)? {
                return Ok(self.settle(join, out));
            }
            self.prober.begin();
        }
        let Joined::Table(table) = &self.block else { return Ok(false) };
        join.pairs.clear();
        self.prober.candidates(&join.cx, table, &self.rows, &mut join.pairs, join.cx.batch_rows)?;
        // Of a query that is cancelled the index may be incomplete.
        join.cx.cancel.check()?;
        join.output.filter(&join.cx, &self.rows, &table.rows, &mut join.pairs)?;
        for row in &join.pairs.right {
            if let Some(matched) = self.matched.get_mut(*row as usize) {
                *matched = true;
            }
        }
        if matches!(join.kind, JoinKind::Inner | JoinKind::Left) {
            join.output.emit(&self.rows, &table.rows, &join.pairs, out);
        }
        Ok(true)
    }

    /// Reads the next rows; what fails silently is read wholly before any of it counts.
    fn read(&mut self, join: &AnswerJoin) -> Result<bool, ExecError> {
        self.rows.clear();
        let Some(answer) = &mut self.answer else { return Ok(false) };
        loop {
            let part = answer.next();
            let received = answer.bytes_received();
            join.counters.receive(received - self.received);
            self.received = received;
            match part {
                Ok(Some(part)) => {
                    if !join.add_ids(self.number, &part, &mut self.rows)? {
                        let message = "answered with a row that lacks a variable that the pattern binds";
                        return Err(self.error(ServiceError::Failed(message.to_owned())));
                    }
                    let bytes = self.rows.bytes();
                    cover(&mut self.reservation, bytes)?;
                    join.counters.hold(bytes);
                    if !join.silent && self.rows.rows > 0 {
                        return Ok(true);
                    }
                }
                Ok(None) => break,
                Err(ServiceError::Failed(_)) if join.silent => {
                    self.rows = join.empty_solution();
                    break;
                }
                Err(error) => return Err(self.error(error)),
            }
        }
        self.answer = None;
        Ok(self.rows.rows > 0)
    }

    fn error(&self, error: ServiceError) -> ExecError {
        match error {
            ServiceError::Failed(message) => ExecError::Service { endpoint: self.endpoint.clone(), message },
            ServiceError::Cancelled(cancelled) => cancelled.into(),
            ServiceError::OutOfMemory(error) => error.into(),
        }
    }

    /// What becomes of rows of the block for what they have met, or not: a batch of them.
    fn settle(&mut self, join: &AnswerJoin, out: &mut Batch) -> bool {
        let Joined::Table(table) = &self.block else { return false };
        let wanted = match join.kind {
            JoinKind::Left | JoinKind::Anti => false,
            JoinKind::Semi => true,
            JoinKind::Inner | JoinKind::Minus => return false,
        };
        let end = self.matched.len().min(self.settled + join.cx.batch_rows);
        let rows: Vec<u32> = (self.settled..end)
            .filter(|row| self.matched[*row] == wanted)
            .filter_map(|row| u32::try_from(row).ok())
            .collect();
        join.emit_left(&table.rows, &rows, out);
        self.settled = end;
        end < self.matched.len()
    }
}

/// The term with blank nodes that are this answer's alone: whatever they are called there, they are none of the database's.
fn as_foreign(term: &Term, answer: u64) -> Term {
    let node = |node: &BlankNode| BlankNode::new_unchecked(format!("r{answer:x}x{}", node.as_str()));
    match term {
        Term::BlankNode(blank) => node(blank).into(),
        Term::Triple(triple) => {
            let subject = match &triple.subject {
                NamedOrBlankNode::BlankNode(blank) => node(blank).into(),
                named => named.clone(),
            };
            let object = as_foreign(&triple.object, answer);
            Triple { subject, predicate: triple.predicate.clone(), object }.into()
        }
        other => other.clone(),
    }
}
