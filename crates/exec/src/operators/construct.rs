//! CONSTRUCT: the template's triples for each row, as rows of three ids. What is no RDF triple is left out.

use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::fresh_blank::{fresh_blank, fresh_blank_term};
use lode_eval::batch::{Batch, NO_ROW};
use lode_eval::error::ExecError;
use lode_rdf::{Kind, NamedOrBlankNode, Term, Triple, ValueId};
use lode_sparql::VarId;
use lode_sparql::plan::{ConstructTerm, ConstructTriple};
use std::sync::Arc;

/// A position of the template, ready.
enum Slot {
    Const(ValueId),
    /// The variable's column; `None`: never bound.
    Var(Option<usize>),
    Blank(u64),
    Triple(ConstructTriple),
}

/// The operator.
pub(crate) struct Construct {
    cx: Arc<QueryContext>,
    input: BoxOp,
    template: Vec<[Slot; 3]>,
    /// Blank nodes per row.
    blanks: u64,
    /// The number of the first row of `rows`.
    first_row: u64,
    rows: Batch,
    row: usize,
    vars: Arc<[VarId]>,
}

impl Construct {
    /// Over `input` with columns `input_vars`; delivers `vars`: subject, predicate, object.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        input: BoxOp,
        input_vars: &[VarId],
        template: &[ConstructTriple],
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let mut blanks = 0;
        let slot = |term: &ConstructTerm| -> Result<Slot, ExecError> {
            Ok(match term {
                ConstructTerm::Const(term) => Slot::Const(cx.intern(term)?),
                ConstructTerm::Var(var) => Slot::Var(lode_eval::batch::position(input_vars, *var)),
                ConstructTerm::Blank(number) => Slot::Blank(u64::from(*number)),
                ConstructTerm::Triple(triple) => Slot::Triple((**triple).clone()),
            })
        };
        let ready = template
            .iter()
            .map(|t| Ok([slot(&t.subject)?, slot(&t.predicate)?, slot(&t.object)?]))
            .collect::<Result<Vec<_>, ExecError>>()?;
        template.iter().for_each(|triple| count_blanks(triple, &mut blanks));
        Ok(Self {
            cx: Arc::clone(cx),
            input,
            template: ready,
            blanks,
            first_row: 0,
            rows: Batch::default(),
            row: 0,
            vars: Arc::clone(vars),
        })
    }

    fn value(&self, slot: &Slot, row: usize) -> Result<ValueId, ExecError> {
        let first_blank = (self.first_row + row as u64) * self.blanks;
        Ok(match slot {
            Slot::Const(id) => *id,
            Slot::Var(column) => column.map_or(ValueId::UNDEF, |c| self.rows.columns[c][row]),
            Slot::Blank(number) => fresh_blank(first_blank + number),
            Slot::Triple(triple) => match self.triple_term(triple, row, first_blank)? {
                Some(triple) => self.cx.intern(&Term::Triple(Box::new(triple)))?,
                None => ValueId::UNDEF,
            },
        })
    }

    fn term(&self, term: &ConstructTerm, row: usize, first_blank: u64) -> Result<Option<Term>, ExecError> {
        Ok(match term {
            ConstructTerm::Const(term) => Some(term.clone()),
            ConstructTerm::Var(var) => match self.rows.column(*var).map(|column| column[row]) {
                Some(id) if !id.is_undef() => Some(self.cx.term(id)?),
                _ => None,
            },
            ConstructTerm::Blank(number) => {
                Some(Term::BlankNode(fresh_blank_term(first_blank + u64::from(*number))))
            }
            ConstructTerm::Triple(triple) => {
                self.triple_term(triple, row, first_blank)?.map(|triple| Term::Triple(Box::new(triple)))
            }
        })
    }

    fn triple_term(
        &self,
        triple: &ConstructTriple,
        row: usize,
        first_blank: u64,
    ) -> Result<Option<Triple>, ExecError> {
        let subject = match self.term(&triple.subject, row, first_blank)? {
            Some(Term::NamedNode(node)) => NamedOrBlankNode::NamedNode(node),
            Some(Term::BlankNode(node)) => NamedOrBlankNode::BlankNode(node),
            _ => return Ok(None),
        };
        let Some(Term::NamedNode(predicate)) = self.term(&triple.predicate, row, first_blank)? else {
            return Ok(None);
        };
        let object = self.term(&triple.object, row, first_blank)?;
        Ok(object.map(|object| Triple { subject, predicate, object }))
    }

    fn is_triple(&self, [subject, predicate, object]: [ValueId; 3]) -> Result<bool, ExecError> {
        let subject_fits = match subject.kind() {
            Some(Kind::Iri | Kind::Blank) => true,
            Some(Kind::Special) => !subject.is_undef(),
            Some(Kind::Local) => {
                matches!(self.cx.term(subject)?, Term::NamedNode(_) | Term::BlankNode(_))
            }
            _ => false,
        };
        let predicate_fits = match predicate.kind() {
            Some(Kind::Iri) => true,
            Some(Kind::Local) => matches!(self.cx.term(predicate)?, Term::NamedNode(_)),
            _ => false,
        };
        Ok(subject_fits && predicate_fits && !object.is_undef())
    }
}

fn count_blanks(triple: &ConstructTriple, blanks: &mut u64) {
    for term in [&triple.subject, &triple.predicate, &triple.object] {
        match term {
            ConstructTerm::Blank(number) => *blanks = (*blanks).max(u64::from(*number) + 1),
            ConstructTerm::Triple(triple) => count_blanks(triple, blanks),
            ConstructTerm::Const(_) | ConstructTerm::Var(_) => {}
        }
    }
}

impl Operator for Construct {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        while out.rows < self.cx.batch_rows {
            if self.row >= self.rows.rows {
                self.cx.cancel.check()?;
                self.first_row += self.rows.rows as u64;
                self.row = 0;
                if !self.input.next(&mut self.rows)? {
                    self.rows.clear();
                    break;
                }
            }
            for [subject, predicate, object] in &self.template {
                let triple = [
                    self.value(subject, self.row)?,
                    self.value(predicate, self.row)?,
                    self.value(object, self.row)?,
                ];
                if self.is_triple(triple)? {
                    out.columns.iter_mut().zip(triple).for_each(|(column, id)| column.push(id));
                    out.rows += 1;
                }
            }
            self.row += 1;
        }
        debug_assert!(out.rows < NO_ROW as usize);
        Ok(out.rows > 0)
    }
}
