//! Templates of DELETE and INSERT, filled with the rows of a query. Ids stay ids: text is made only of terms that the query made itself,
//! and inside triple terms. What comes out unbound, or is no quad, is left out.

use super::draft::{Draft, Ids};
use super::terms::NewTerms;
use crate::EngineError;
use lode_exec::{Batch, QueryContext};
use lode_rdf::key::blank_node;
use lode_rdf::{Kind, Term, Triple, ValueId};
use lode_sparql::update::{QuadTemplate, TermTemplate, TripleTemplate};

/// Terms that the query made whose ids are remembered.
const MADE_MAX: usize = 1 << 16;

/// The templates of one clause, ready.
pub(super) struct Template<'a> {
    quads: Vec<[Slot<'a>; 4]>,
    target: Target,
}

/// What the quads are for.
pub(super) enum Target {
    /// INSERT: terms that the database does not know become known.
    Insert {
        terms: NewTerms,
        /// Ids of terms that the query made, of the last ones at least.
        made: Ids<ValueId>,
        /// The row's new blank nodes, made when first needed.
        blanks: Vec<ValueId>,
    },
    /// DELETE: what the database does not know is in no quad.
    Delete,
}

enum Slot<'a> {
    Id(ValueId),
    Column(usize),
    Blank(usize),
    Triple(&'a TripleTemplate),
}

/// Where a row is.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub cx: &'a QueryContext,
    pub batch: &'a Batch,
    pub row: usize,
}

impl<'a> Template<'a> {
    /// Looks up the constants. A quad to delete with one that nobody knows is left out.
    pub fn new(
        templates: &'a [QuadTemplate],
        mut target: Target,
        cx: &QueryContext,
        draft: &mut Draft,
    ) -> Result<Self, EngineError> {
        let mut quads = Vec::with_capacity(templates.len());
        for QuadTemplate { triple, graph } in templates {
            let mut slot = |term| slot(term, &mut target, cx, draft);
            let graph = match graph {
                Some(graph) => slot(graph)?,
                None => Some(Slot::Id(ValueId::DEFAULT_GRAPH)),
            };
            let slots = (slot(&triple.subject)?, slot(&triple.predicate)?, slot(&triple.object)?, graph);
            if let (Some(subject), Some(predicate), Some(object), Some(graph)) = slots {
                quads.push([subject, predicate, object, graph]);
            }
        }
        Ok(Self { quads, target })
    }

    /// Calls `push` with the quads of a row.
    pub fn fill(
        &mut self,
        row: Row<'_>,
        draft: &mut Draft,
        push: &mut dyn FnMut([ValueId; 4]) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        self.target.next_row();
        for slots in &self.quads {
            let mut quad = [ValueId::UNDEF; 4];
            let mut complete = true;
            for (position, (id, slot)) in quad.iter_mut().zip(slots).enumerate() {
                *id = self.target.value(slot, row, position, draft)?;
                if !fits(*id, position) {
                    complete = false;
                    break;
                }
            }
            if complete {
                push(quad)?;
            }
        }
        Ok(())
    }
}

/// A position, ready; none where nothing can come of it.
fn slot<'a>(
    term: &'a TermTemplate,
    target: &mut Target,
    cx: &QueryContext,
    draft: &mut Draft,
) -> Result<Option<Slot<'a>>, EngineError> {
    Ok(match term {
        TermTemplate::Const(term) => match target {
            Target::Insert { terms, .. } => Some(Slot::Id(terms.id(draft, term)?)),
            Target::Delete => cx.snapshot.id_of(term)?.map(Slot::Id),
        },
        TermTemplate::Column(column) => Some(Slot::Column(*column)),
        TermTemplate::Blank(number) => Some(Slot::Blank(*number as usize)),
        TermTemplate::Triple(triple) => Some(Slot::Triple(triple)),
    })
}

/// Whether a stored id may stand in a position: subject, predicate, object, graph.
fn fits(id: ValueId, position: usize) -> bool {
    match (position, id.kind()) {
        (0, kind) => matches!(kind, Some(Kind::Iri | Kind::Blank)),
        (1, kind) => kind == Some(Kind::Iri),
        (2, _) => !id.is_undef(),
        (_, kind) => id == ValueId::DEFAULT_GRAPH || matches!(kind, Some(Kind::Iri | Kind::Blank)),
    }
}

/// The same of a term.
fn term_fits(term: &Term, position: usize) -> bool {
    match position {
        0 | 3 => matches!(term, Term::NamedNode(_) | Term::BlankNode(_)),
        1 => matches!(term, Term::NamedNode(_)),
        _ => true,
    }
}

impl Target {
    fn next_row(&mut self) {
        if let Self::Insert { blanks, .. } = self {
            blanks.clear();
        }
    }

    fn value(
        &mut self,
        slot: &Slot<'_>,
        row: Row<'_>,
        position: usize,
        draft: &mut Draft,
    ) -> Result<ValueId, EngineError> {
        match slot {
            Slot::Id(id) => Ok(*id),
            Slot::Column(column) => {
                let id = row.id(*column);
                if id.kind() == Some(Kind::Local) { self.made(id, row, position, draft) } else { Ok(id) }
            }
            Slot::Blank(number) => self.blank(*number, draft),
            Slot::Triple(triple) => {
                let Some(triple) = self.triple(triple, row, draft)? else { return Ok(ValueId::UNDEF) };
                let term = Term::Triple(Box::new(triple));
                match self {
                    Self::Insert { terms, .. } => terms.id(draft, &term),
                    Self::Delete => Ok(row.cx.snapshot.id_of(&term)?.unwrap_or_default()),
                }
            }
        }
    }

    /// The stored id of a term that the query made. Those that are stored already have none of the query's ids.
    fn made(
        &mut self,
        id: ValueId,
        row: Row<'_>,
        position: usize,
        draft: &mut Draft,
    ) -> Result<ValueId, EngineError> {
        let Self::Insert { terms, made, .. } = self else { return Ok(ValueId::UNDEF) };
        if let Some(stored) = made.get(&id) {
            return Ok(stored);
        }
        let term = row.cx.term(id)?;
        if !term_fits(&term, position) {
            return Ok(ValueId::UNDEF);
        }
        let stored = terms.id(draft, &term)?;
        if made.len() >= MADE_MAX || made.insert(id, stored, 0).is_err() {
            made.clear();
        }
        Ok(stored)
    }

    fn blank(&mut self, number: usize, draft: &mut Draft) -> Result<ValueId, EngineError> {
        let Self::Insert { blanks, .. } = self else { return Ok(ValueId::UNDEF) };
        if blanks.len() <= number {
            blanks.resize(number + 1, ValueId::UNDEF);
        }
        let Some(id) = blanks.get_mut(number) else { return Ok(ValueId::UNDEF) };
        if id.is_undef() {
            *id = draft.fresh_blank()?;
        }
        Ok(*id)
    }

    fn triple(
        &mut self,
        template: &TripleTemplate,
        row: Row<'_>,
        draft: &mut Draft,
    ) -> Result<Option<Triple>, EngineError> {
        let mut term = |template| self.term(template, row, draft);
        let (Some(subject), Some(predicate), Some(object)) =
            (term(&template.subject)?, term(&template.predicate)?, term(&template.object)?)
        else {
            return Ok(None);
        };
        Ok(Triple::from_terms(subject, predicate, object).ok())
    }

    fn term(
        &mut self,
        template: &TermTemplate,
        row: Row<'_>,
        draft: &mut Draft,
    ) -> Result<Option<Term>, EngineError> {
        Ok(match template {
            TermTemplate::Const(term) => Some(term.clone()),
            TermTemplate::Column(column) => match row.id(*column) {
                id if id.is_undef() => None,
                id => Some(row.cx.term(id)?),
            },
            TermTemplate::Blank(number) => {
                let id = self.blank(*number as usize, draft)?;
                (!id.is_undef()).then(|| blank_node(id).into())
            }
            TermTemplate::Triple(triple) => self.triple(triple, row, draft)?.map(Term::from),
        })
    }
}

impl Row<'_> {
    pub fn id(self, column: usize) -> ValueId {
        let column = self.batch.columns.get(column);
        column.and_then(|column| column.get(self.row)).copied().unwrap_or_default()
    }
}
