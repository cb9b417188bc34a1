//! What of a round is new, as far as it tells which rules can find something more.

use super::gather::Triple;
use crate::EngineError;
use lode_rdf::{Term, ValueId};
use lode_sparql::rules::Atom;
use lode_store::Snapshot;
use std::collections::HashSet;

/// Predicates with their objects, of which no more are told apart than this.
const PAIRS_MAX: usize = 1 << 16;
/// Predicates at hand.
const AT_HAND: usize = 64;

/// Predicates of new triples, and what they are about.
#[derive(Debug, Default)]
pub(super) struct Found {
    predicates: HashSet<ValueId>,
    /// With their objects; none where they are too many.
    pairs: Option<HashSet<(ValueId, ValueId)>>,
}

impl Found {
    pub fn of(triples: &[Triple]) -> Self {
        let mut found = Self { predicates: HashSet::new(), pairs: Some(HashSet::new()) };
        // Most triples have one of few predicates: those need no look into the set.
        let mut at_hand = [ValueId::UNDEF; AT_HAND];
        for [_, p, o] in triples {
            let last = &mut at_hand[p.payload() as usize % AT_HAND];
            if *last != *p {
                *last = *p;
                found.predicates.insert(*p);
            }
            if let Some(pairs) = &mut found.pairs {
                pairs.insert((*p, *o));
            }
            if found.pairs.as_ref().is_some_and(|pairs| pairs.len() > PAIRS_MAX) {
                found.pairs = None;
            }
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.predicates.is_empty()
    }

    /// Whether there may be triples of these.
    pub fn has(&self, atom: &Atom, snapshot: &Snapshot) -> Result<bool, EngineError> {
        let predicate = atom.predicate.clone().map(Term::from);
        let mut ids = [None; 2];
        for (id, term) in ids.iter_mut().zip([predicate.as_ref(), atom.object.as_ref()]) {
            if let Some(term) = term {
                match snapshot.id_of(term)? {
                    Some(known) => *id = Some(known),
                    None => return Ok(false),
                }
            }
        }
        Ok(self.has_ids(ids))
    }

    /// Whether there may be triples with a predicate and an object, where these are given.
    pub fn has_ids(&self, [predicate, object]: [Option<ValueId>; 2]) -> bool {
        if predicate.is_some_and(|predicate| !self.predicates.contains(&predicate)) {
            return false;
        }
        match (predicate, object, &self.pairs) {
            (Some(predicate), Some(object), Some(pairs)) => pairs.contains(&(predicate, object)),
            (None, Some(object), Some(pairs)) => pairs.iter().any(|(_, other)| *other == object),
            _ => !self.is_empty(),
        }
    }
}
