//! What each rule asks in a round: of all triples, or about what is new.

use super::super::data::instances;
use super::super::found::Found;
use super::{Asked, Inferring};
use crate::EngineError;
use lode_rdf::{Term, ValueId};
use lode_sparql::rules::Shape;
use lode_sparql::schema::vocabulary::owl;
use lode_store::Snapshot;

impl Inferring<'_> {
    /// What a rule asks of all triples.
    pub(super) fn whole(&mut self, at: usize, snapshot: &Snapshot) -> Result<Vec<Asked>, EngineError> {
        if self.is_equality(at) {
            return Ok(vec![Asked::Equals { of_new: false }]);
        }
        let rule = &self.rules[at];
        let pairs = |property| Asked::Pairs { property, of_new: false };
        match &rule.shape {
            Shape::Usual => Ok(vec![Asked::Query(Box::new(rule.query()))]),
            Shape::Transitive(property) => {
                let property = snapshot.id_of(&Term::from(property.clone()))?;
                Ok(property.map(pairs).into_iter().collect())
            }
            Shape::TransitiveOf { .. } => {
                let transitive = self.transitive(at, snapshot)?;
                self.closed.extend(transitive.iter().map(|property| (at, *property)));
                Ok(transitive.into_iter().map(pairs).collect())
            }
        }
    }

    /// Whether a rule stands for those of equality.
    pub(super) fn is_equality(&self, at: usize) -> bool {
        self.equality.as_ref().is_some_and(|rules| rules.subject == at)
    }

    /// What a rule asks about what is new.
    pub(super) fn delta(
        &mut self,
        at: usize,
        [usual, closed]: &[Found; 2],
        snapshot: &Snapshot,
    ) -> Result<Vec<Asked>, EngineError> {
        if self.is_equality(at) {
            let same_as = snapshot.id_of(&owl("sameAs"))?;
            let is_new = |found: &Found| same_as.is_some_and(|id| found.has_ids([Some(id), None]));
            // Where nothing is the same as anything, there is nothing to look through.
            let has_groups = self.groups.as_ref().is_some_and(|groups| !groups.is_empty());
            let asked = has_groups || is_new(usual) || is_new(closed);
            return Ok(asked.then_some(Asked::Equals { of_new: true }).into_iter().collect());
        }
        match self.rules[at].shape.clone() {
            Shape::Usual => {
                let rule = &self.rules[at];
                for atom in rule.reads_whole() {
                    if usual.has(atom, snapshot)? || closed.has(atom, snapshot)? {
                        return Ok(vec![Asked::Query(Box::new(rule.query()))]);
                    }
                }
                let mut asked = Vec::new();
                for (found, (graph, _)) in [(usual, &self.new.usual), (closed, &self.new.closed)] {
                    if found.is_empty() {
                        continue;
                    }
                    for delta in rule.deltas(graph) {
                        if found.has(&delta.atom, snapshot)? {
                            asked.push(Asked::Query(Box::new(delta.query)));
                        }
                    }
                }
                Ok(asked)
            }
            Shape::Transitive(property) => {
                let property = snapshot.id_of(&Term::from(property))?;
                let new = property.filter(|property| usual.has_ids([Some(*property), None]));
                Ok(new.map(|property| Asked::Pairs { property, of_new: true }).into_iter().collect())
            }
            Shape::TransitiveOf { .. } => {
                let mut asked = Vec::new();
                for property in self.transitive(at, snapshot)? {
                    if self.closed.insert((at, property)) {
                        asked.push(Asked::Pairs { property, of_new: false });
                    } else if usual.has_ids([Some(property), None]) {
                        asked.push(Asked::Pairs { property, of_new: true });
                    }
                }
                Ok(asked)
            }
        }
    }

    /// The properties that are transitive now, for the rule of those.
    pub(super) fn transitive(&self, at: usize, snapshot: &Snapshot) -> Result<Vec<ValueId>, EngineError> {
        let Shape::TransitiveOf { class } = &self.rules[at].shape else {
            return Ok(Vec::new());
        };
        instances(class, self.graphs_read(), snapshot, &self.evaluation.cancel)
    }
}
