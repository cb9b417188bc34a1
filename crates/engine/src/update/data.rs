//! INSERT DATA and DELETE DATA.

use super::Updater;
use super::terms::{Labels, NewTerms};
use crate::EngineError;
use lode_rdf::{GraphName, Quad, Term, ValueId};
use lode_store::{Snapshot, StoreError};

impl Updater<'_> {
    /// Blank nodes are new ones, the same for the same label within the operation.
    pub(super) fn insert_data(&mut self, quads: &[Quad]) -> Result<(), EngineError> {
        let mut terms = NewTerms::new(Labels::OfText, &self.draft);
        for quad in quads {
            self.adds_to(quad.graph_name.as_ref());
            let quad = self.new_quad(quad, ValueId::DEFAULT_GRAPH, &mut terms)?;
            self.insert(quad)?;
        }
        Ok(())
    }

    /// The ids of a quad; those that are in no graph go into `default`.
    pub(super) fn new_quad(
        &mut self,
        quad: &Quad,
        default: ValueId,
        terms: &mut NewTerms,
    ) -> Result<[ValueId; 4], EngineError> {
        let draft = &mut self.draft;
        Ok([
            terms.id(draft, &quad.subject.clone().into())?,
            terms.id(draft, &quad.predicate.clone().into())?,
            terms.id(draft, &quad.object)?,
            match graph_term(&quad.graph_name) {
                Some(graph) => terms.id(draft, &graph)?,
                None => default,
            },
        ])
    }

    /// Terms that nobody knows are in no quad, and stay unknown.
    pub(super) fn delete_data(&mut self, quads: &[Quad]) -> Result<(), EngineError> {
        let snapshot = self.draft.snapshot()?;
        for quad in quads {
            match known_quad(&snapshot, quad)? {
                Some(quad) => self.delete(quad)?,
                None => self.met_unknown = true,
            }
        }
        Ok(())
    }
}

fn known_quad(snapshot: &Snapshot, quad: &Quad) -> Result<Option<[ValueId; 4]>, StoreError> {
    let terms = [quad.subject.clone().into(), quad.predicate.clone().into(), quad.object.clone()];
    let mut ids = [ValueId::DEFAULT_GRAPH; 4];
    for (id, term) in ids.iter_mut().zip(terms.into_iter().chain(graph_term(&quad.graph_name))) {
        match snapshot.id_of(&term)? {
            Some(known) => *id = known,
            None => return Ok(None),
        }
    }
    Ok(Some(ids))
}

fn graph_term(name: &GraphName) -> Option<Term> {
    match name {
        GraphName::DefaultGraph => None,
        GraphName::NamedNode(node) => Some(node.clone().into()),
        GraphName::BlankNode(node) => Some(node.clone().into()),
    }
}
