//! Takes triple terms (RDF 1.2) apart: binds their components, or compares them.

use super::join_output::compatible;
use super::{BoxOp, Operator};
use crate::context::QueryContext;
use crate::key_filter::KeyFilter;
use lode_eval::batch::{Batch, NO_ROW, gather, position};
use lode_eval::error::ExecError;
use lode_eval::hash::IdHash;
use lode_rdf::{Kind, Term, ValueId};
use lode_sparql::VarId;
use lode_sparql::plan::TermSlot;
use std::collections::HashMap;
use std::sync::Arc;

/// Decoded triple terms that are kept.
const KNOWN_MAX: usize = 1 << 14;

#[derive(Debug, Clone, Copy)]
enum Slot {
    Const(ValueId),
    Var(VarId),
}

/// The operator.
pub(crate) struct TripleTerm {
    cx: Arc<QueryContext>,
    input: BoxOp,
    term: Option<usize>,
    slots: [Slot; 3],
    left_vars: Vec<VarId>,
    vars: Arc<[VarId]>,
    known: HashMap<ValueId, Option<[ValueId; 3]>, IdHash>,
    left: Batch,
}

impl TripleTerm {
    /// Matches the value of `term` in each row of the input against three slots.
    pub(crate) fn new(
        cx: &Arc<QueryContext>,
        (input, input_vars): (BoxOp, &[VarId]),
        term: VarId,
        [subject, predicate, object]: [&TermSlot; 3],
        vars: &Arc<[VarId]>,
    ) -> Result<Self, ExecError> {
        let slot = |slot: &TermSlot| -> Result<Slot, ExecError> {
            Ok(match slot {
                TermSlot::Const(term) => Slot::Const(cx.intern(term)?),
                TermSlot::Var(var) => Slot::Var(*var),
            })
        };
        Ok(Self {
            cx: Arc::clone(cx),
            input,
            term: position(input_vars, term),
            slots: [slot(subject)?, slot(predicate)?, slot(object)?],
            left_vars: input_vars.to_vec(),
            vars: Arc::clone(vars),
            known: HashMap::default(),
            left: Batch::default(),
        })
    }

    /// The components of a term, if it is a triple term.
    fn components(&mut self, id: ValueId) -> Result<Option<[ValueId; 3]>, ExecError> {
        if !matches!(id.kind(), Some(Kind::TripleTerm | Kind::Local)) {
            return Ok(None);
        }
        if let Some(known) = self.known.get(&id) {
            return Ok(*known);
        }
        let components = match self.cx.term(id)? {
            Term::Triple(triple) => Some([
                self.cx.intern(&triple.subject.clone().into())?,
                self.cx.intern(&triple.predicate.clone().into())?,
                self.cx.intern(&triple.object)?,
            ]),
            _ => None,
        };
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(id, components);
        Ok(components)
    }

    /// The rows that match, and the components of each.
    fn matches(&mut self) -> Result<(Vec<u32>, Vec<[ValueId; 3]>), ExecError> {
        let (mut rows, mut parts) = (Vec::new(), Vec::new());
        let Some(column) = self.term else { return Ok((rows, parts)) };
        for row in 0..self.left.rows {
            let id = self.left.columns[column][row];
            let Some(components) = self.components(id)? else { continue };
            let fits = |(i, slot): (usize, &Slot)| match slot {
                Slot::Const(id) => components[i] == *id,
                Slot::Var(var) => {
                    let bound = position(&self.left_vars, *var).map(|c| self.left.columns[c][row]);
                    let same_before = |(j, s): (usize, &Slot)| {
                        !matches!(s, Slot::Var(v) if v == var) || components[j] == components[i]
                    };
                    bound.is_none_or(|bound| compatible(bound, components[i]))
                        && self.slots[..i].iter().enumerate().all(same_before)
                }
            };
            if self.slots.iter().enumerate().all(fits) {
                rows.push(u32::try_from(row).unwrap_or(NO_ROW));
                parts.push(components);
            }
        }
        Ok((rows, parts))
    }

    fn deliver(&self, rows: &[u32], parts: &[[ValueId; 3]], out: &mut Batch) {
        for (var, column) in self.vars.iter().zip(&mut out.columns) {
            let slot = self.slots.iter().position(|slot| matches!(slot, Slot::Var(v) if v == var));
            match (slot, position(&self.left_vars, *var)) {
                // A bound variable equals the component, an unbound one receives it.
                (Some(slot), _) => column.extend(parts.iter().map(|components| components[slot])),
                (None, Some(left)) => gather(&self.left.columns[left], rows, column),
                (None, None) => column.resize(rows.len(), ValueId::UNDEF),
            }
        }
        out.rows = rows.len();
    }
}

impl Operator for TripleTerm {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        out.reset(&self.vars);
        while self.input.next(&mut self.left)? {
            self.cx.cancel.check()?;
            let (rows, parts) = self.matches()?;
            if !rows.is_empty() {
                self.deliver(&rows, &parts, out);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        self.input.skip_to(vars, key)
    }

    fn keep_keys(&mut self, var: VarId, filter: &Arc<KeyFilter>) {
        self.input.keep_keys(var, filter);
    }
}
