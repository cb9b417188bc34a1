//! SERVICE: rows from elsewhere, joined with the input.

use super::hash_table::{HashTable, Prober};
use super::join_output::{JoinOutput, Pairs};
use super::{BoxOp, Operator};
use crate::batch::{Batch, position};
use crate::context::{QueryContext, ServiceRows};
use crate::error::ExecError;
use crate::held::cover;
use lode_rdf::{BlankNode, NamedOrBlankNode, Term, Triple, ValueId};
use lode_sparql::plan::{JoinCondition, TermSlot};
use lode_sparql::{JoinKind, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The operator.
pub(crate) struct Service {
    cx: Arc<QueryContext>,
    input: Option<BoxOp>,
    endpoint: End,
    query: String,
    silent: bool,
    /// Result columns.
    right_vars: Arc<[VarId]>,
    shared: Vec<usize>,
    output: JoinOutput,
    prober: Prober,
    tables: BTreeMap<ValueId, Arc<HashTable>>,
    left: Batch,
    /// The left rows being joined, all with the same endpoint, and the rows they meet.
    part: Option<(Batch, Arc<HashTable>)>,
    row: usize,
    pairs: Pairs,
}

enum End {
    Const(Term),
    Left(Option<usize>),
}

impl Service {
    /// Joins `input` (without: one row without columns) with the result of a query sent to `endpoint`.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        input: Option<(BoxOp, &[VarId])>,
        endpoint: &TermSlot,
        (query, silent): (&str, bool),
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let (input, left_vars) = match input {
            Some((input, vars)) => (Some(input), vars),
            None => (None, &[] as &[VarId]),
        };
        let endpoint = match endpoint {
            TermSlot::Const(term) => End::Const(term.clone()),
            TermSlot::Var(var) => End::Left(position(left_vars, *var)),
        };
        let right_vars = Arc::clone(vars);
        let both: Vec<VarId> = left_vars.iter().filter(|var| vars.contains(var)).copied().collect();
        let columns = |vars: &[VarId]| both.iter().filter_map(|var| position(vars, *var)).collect();
        let condition = JoinCondition { maybe: both.clone(), ..JoinCondition::default() };
        let mut left = Batch::new(left_vars.into());
        left.rows = usize::from(input.is_none());
        Ok(Self {
            cx: Arc::clone(cx),
            input,
            endpoint,
            query: query.to_owned(),
            silent,
            shared: columns(&right_vars),
            output: JoinOutput::new(JoinKind::Inner, &condition, left_vars, &right_vars, vars),
            prober: Prober::new(Vec::new(), columns(left_vars), false, false),
            right_vars,
            tables: BTreeMap::new(),
            left,
            part: None,
            row: 0,
            pairs: Pairs::default(),
        })
    }

    /// The endpoint of a left row.
    fn endpoint(&self, row: usize) -> Result<ValueId, ExecError> {
        Ok(match &self.endpoint {
            End::Const(term) => self.cx.intern(term)?,
            End::Left(Some(column)) => self.left.columns[*column][row],
            End::Left(None) => ValueId::UNDEF,
        })
    }

    /// Takes the next left rows of one endpoint.
    fn next_part(&mut self) -> Result<(), ExecError> {
        let endpoint = self.endpoint(self.row)?;
        let mut end = self.row + 1;
        while end < self.left.rows && self.endpoint(end)? == endpoint {
            end += 1;
        }
        let table = self.table(endpoint)?;
        let mut part = Batch::new(Arc::clone(&self.left.vars));
        part.append_range(&self.left, self.row, end);
        self.row = end;
        self.prober.begin();
        self.prober.change_table();
        self.output.begin();
        self.part = Some((part, table));
        Ok(())
    }

    /// The rows of an endpoint, asked for once.
    fn table(&mut self, endpoint: ValueId) -> Result<Arc<HashTable>, ExecError> {
        if let Some(table) = self.tables.get(&endpoint) {
            return Ok(Arc::clone(table));
        }
        let mut rows = Batch::new(Arc::clone(&self.right_vars));
        match self.ask(endpoint) {
            Ok((names, result)) => self.add_rows(&names, &result, &mut rows)?,
            Err(_) if self.silent => {
                // One row that binds nothing.
                rows.columns.iter_mut().for_each(|column| column.push(ValueId::UNDEF));
                rows.rows = 1;
            }
            Err(error) => return Err(error),
        }
        let mut reservation = self.cx.budget.reserve(0)?;
        cover(&mut reservation, rows.bytes())?;
        let shared = self.shared.clone();
        let table = Arc::new(HashTable::new(&self.cx, rows, Vec::new(), shared, vec![reservation]));
        self.tables.insert(endpoint, Arc::clone(&table));
        Ok(table)
    }

    fn ask(&self, endpoint: ValueId) -> Result<ServiceRows, ExecError> {
        let term = if endpoint.is_undef() { None } else { Some(self.cx.term(endpoint)?) };
        let name = match &term {
            Some(Term::NamedNode(name)) => name.as_str(),
            _ => "",
        };
        let failed = |message: String| ExecError::Service { endpoint: name.to_owned(), message };
        if name.is_empty() {
            return Err(failed("the endpoint is no IRI".into()));
        }
        let Some(service) = &self.cx.service else {
            return Err(failed("federated queries are not allowed".into()));
        };
        self.cx.cancel.check()?;
        service.query(name, &self.query).map_err(failed)
    }

    fn add_rows(
        &self,
        names: &[String],
        result: &[Vec<Option<Term>>],
        rows: &mut Batch,
    ) -> Result<(), ExecError> {
        let answer = self.cx.local.fresh(1);
        for (var, column) in self.right_vars.iter().zip(&mut rows.columns) {
            let source = names.iter().position(|name| name == self.cx.vars.name(*var));
            for row in result {
                let term = source.and_then(|source| row.get(source)).and_then(Option::as_ref);
                column.push(match term {
                    Some(term) => self.cx.intern(&as_foreign(term, answer))?,
                    None => ValueId::UNDEF,
                });
            }
        }
        rows.rows = result.len();
        Ok(())
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

impl Operator for Service {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        self.output.reset(out);
        loop {
            self.cx.cancel.check()?;
            if let Some((part, table)) = self.part.take() {
                self.pairs.clear();
                let max = self.cx.batch_rows;
                self.prober.candidates(&self.cx, &table, &part, &mut self.pairs, max);
                self.cx.cancel.check()?;
                self.output.emit(&part, &table.rows, &self.pairs, out);
                if !self.prober.is_done(&part) {
                    self.part = Some((part, table));
                }
                if out.rows > 0 {
                    return Ok(true);
                }
            } else if self.row < self.left.rows {
                self.next_part()?;
            } else {
                self.row = 0;
                let Some(input) = &mut self.input else {
                    self.left.rows = 0;
                    return Ok(false);
                };
                if !input.next(&mut self.left)? {
                    return Ok(false);
                }
            }
        }
    }
}
