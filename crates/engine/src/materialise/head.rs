//! The head of a rule, filled with the rows of its body. Ids stay ids; only terms that a rule itself has made are looked at.

use super::gather::Triple;
use crate::EngineError;
use lode_exec::{Batch, QueryContext};
use lode_rdf::{Kind, Term, ValueId};
use lode_sparql::rules::Rule;
use lode_sparql::update::TermTemplate;
use lode_store::Transaction;
use std::collections::HashMap;

/// Terms that a rule made whose ids are remembered.
const MADE_MAX: usize = 1 << 14;

#[derive(Clone, Copy)]
enum Slot {
    Id(ValueId),
    Column(usize),
}

/// A head, ready.
pub(super) struct Head {
    triples: Vec<[Slot; 3]>,
    /// Stored ids of terms that the query made.
    made: HashMap<ValueId, ValueId>,
}

impl Head {
    pub fn new(rule: &Rule, transaction: &mut Transaction) -> Result<Self, EngineError> {
        let mut triples = Vec::with_capacity(rule.head.len());
        for quad in &rule.head {
            let mut slots = [Slot::Id(ValueId::UNDEF); 3];
            let terms = [&quad.triple.subject, &quad.triple.predicate, &quad.triple.object];
            for (slot, term) in slots.iter_mut().zip(terms) {
                *slot = match term {
                    TermTemplate::Column(column) => Slot::Column(*column),
                    TermTemplate::Const(term) => Slot::Id(transaction.intern(term)?.unwrap_or_default()),
                    // No rule has them.
                    TermTemplate::Blank(_) | TermTemplate::Triple(_) => Slot::Id(ValueId::UNDEF),
                };
            }
            triples.push(slots);
        }
        Ok(Self { triples, made: HashMap::new() })
    }

    /// The triples of a row. What would be none (a literal as a subject, a variable without a value) is left out.
    pub fn fill(
        &mut self,
        (batch, row): (&Batch, usize),
        cx: &QueryContext,
        transaction: &mut Transaction,
        out: &mut Vec<Triple>,
    ) -> Result<(), EngineError> {
        for slots in &self.triples {
            let mut triple = [ValueId::UNDEF; 3];
            for (id, slot) in triple.iter_mut().zip(slots) {
                *id = match slot {
                    Slot::Id(id) => *id,
                    Slot::Column(column) => {
                        let id = batch.columns.get(*column).and_then(|column| column.get(row)).copied();
                        match id.unwrap_or_default() {
                            local if local.kind() == Some(Kind::Local) => {
                                stored(local, &mut self.made, cx, transaction)?
                            }
                            id => id,
                        }
                    }
                };
            }
            let [s, p, o] = triple;
            let is_triple = matches!(s.kind(), Some(Kind::Iri | Kind::Blank))
                && p.kind() == Some(Kind::Iri)
                && !o.is_undef();
            if is_triple {
                out.push(triple);
            }
        }
        Ok(())
    }
}

fn stored(
    id: ValueId,
    made: &mut HashMap<ValueId, ValueId>,
    cx: &QueryContext,
    transaction: &mut Transaction,
) -> Result<ValueId, EngineError> {
    if let Some(stored) = made.get(&id) {
        return Ok(*stored);
    }
    let term: Term = cx.term(id)?;
    let stored = transaction.intern(&term)?.unwrap_or_default();
    if made.len() >= MADE_MAX {
        made.clear();
    }
    made.insert(id, stored);
    Ok(stored)
}
