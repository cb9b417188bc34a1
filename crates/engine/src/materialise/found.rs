//! What of a round is new, as far as it tells which rules can find something more.

use super::gather::Triple;
use crate::EngineError;
use lode_rdf::{Term, ValueId};
use lode_sparql::rules::Atom;
use lode_store::Snapshot;
use std::collections::HashSet;

/// Predicates with their objects, of which no more are told apart than this.
const PAIRS_MAX: usize = 1 << 16;

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
        for [_, p, o] in triples {
            found.predicates.insert(*p);
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

    /// Whether there are some with a predicate.
    pub fn has_predicate(&self, predicate: ValueId) -> bool {
        self.predicates.contains(&predicate)
    }

    /// Whether there may be triples of these.
    pub fn has(&self, atom: &Atom, snapshot: &Snapshot) -> Result<bool, EngineError> {
        let Some(predicate) = &atom.predicate else {
            return Ok(match (&atom.object, &self.pairs) {
                (Some(object), Some(pairs)) => {
                    let object = snapshot.id_of(object)?;
                    object.is_some_and(|object| pairs.iter().any(|(_, other)| *other == object))
                }
                _ => !self.is_empty(),
            });
        };
        let Some(predicate) = snapshot.id_of(&Term::from(predicate.clone()))? else { return Ok(false) };
        if !self.predicates.contains(&predicate) {
            return Ok(false);
        }
        Ok(match (&atom.object, &self.pairs) {
            (Some(object), Some(pairs)) => {
                let object = snapshot.id_of(object)?;
                object.is_some_and(|object| pairs.contains(&(predicate, object)))
            }
            _ => true,
        })
    }
}
