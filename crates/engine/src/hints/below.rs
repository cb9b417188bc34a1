//! What is said of classes and properties where others are below them: that reasoning finds what those have, and, of who reasons, nothing that may
//! follow.

use super::{Candidate, Look, grouped};
use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use lode_sparql::parse::hints::{Constant, HintKind, Role};
use lode_sparql::schema::vocabulary::rdfs;
use lode_store::StoreError;
use std::collections::HashSet;

/// So many classes or properties below one are looked at.
const BELOW_MAX: usize = 500;
/// What these vocabularies say of their own terms follows without being said.
const VOCABULARIES: [&str; 3] = [
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2002/07/owl#",
];

impl Look<'_> {
    /// Whether something with a constant may follow, though no quad has it in its place: only of what is nowhere nothing does.
    pub(super) fn may_follow(&self, constant: &Constant) -> Result<bool, StoreError> {
        if VOCABULARIES.iter().any(|start| constant.iri.starts_with(start)) {
            return Ok(true);
        }
        // What follows is in the graph of that from which it follows.
        let Some(id) = self.id_of(&constant.iri)?.filter(|_| constant.role != Role::Graph) else {
            return Ok(false);
        };
        for role in [Role::Subject, Role::Predicate, Role::Object] {
            if self.count(role, id)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Says of a class or a property without quads that others below it have some; whether that was said.
    pub(super) fn only_below(&mut self, constant: &Constant) -> Result<bool, StoreError> {
        let Some((iri, count)) = self.most_below(constant)? else { return Ok(false) };
        let (name, below) = (self.found.short(&constant.iri), self.found.short(&iri));
        let message = match constant.role {
            Role::Class => format!("no triple says that anything is of the class {name}"),
            _ => format!("no triple has the predicate {name}"),
        };
        let help = format!(
            "{below}, below it, has {}: --reason hierarchies (over HTTP reason=hierarchies) finds them",
            grouped(count)
        );
        self.hint(HintKind::OnlyBelow, constant, message, help);
        Ok(true)
    }

    /// The class or property below one that has most, and how many.
    fn most_below(&self, constant: &Constant) -> Result<Option<(String, u64)>, StoreError> {
        let (Some(relation), Some(start)) = (self.relation(constant.role)?, self.id_of(&constant.iri)?)
        else {
            return Ok(None);
        };
        let (mut seen, mut next) = (HashSet::from([start]), vec![start]);
        let mut most = None;
        while let Some(above) = next.pop() {
            for id in self.directly_below(relation, above)? {
                if self.is_over() || seen.len() > BELOW_MAX {
                    return Ok(None);
                }
                if !seen.insert(id) {
                    continue;
                }
                next.push(id);
                let count = self.count(constant.role, id)?;
                if count > most.map_or(0, |(_, most)| most) {
                    most = Some((id, count));
                }
            }
        }
        let Some((id, count)) = most else { return Ok(None) };
        match self.snapshot.term(id)? {
            Term::NamedNode(iri) => Ok(Some((iri.into_string(), count))),
            // Nobody could tell which it is.
            _ => Ok(None),
        }
    }

    /// What says that one class, or property, is below another.
    fn relation(&self, role: Role) -> Result<Option<ValueId>, StoreError> {
        match role {
            Role::Class => self.snapshot.id_of(&rdfs("subClassOf")),
            Role::Predicate => self.snapshot.id_of(&rdfs("subPropertyOf")),
            _ => Ok(None),
        }
    }

    fn directly_below(&self, relation: ValueId, above: ValueId) -> Result<Vec<ValueId>, StoreError> {
        let mut columns: [Vec<ValueId>; 4] = Default::default();
        let mut scan = self.snapshot.scan(Order::Posg, &[relation, above], 0b0100)?;
        scan.next(BELOW_MAX, &mut columns)?;
        let [_, _, subjects, _] = columns;
        Ok(subjects)
    }

    /// The classes or properties that have others below them.
    pub(super) fn uppers(&self, role: Role) -> Result<Vec<Candidate>, StoreError> {
        match self.relation(role)? {
            Some(relation) => self.distinct(Order::Posg, &[relation]),
            None => Ok(Vec::new()),
        }
    }
}
