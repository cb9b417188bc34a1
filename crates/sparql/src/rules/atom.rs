//! What a pattern or a head says of the triples it is about: enough to tell whether one can be about triples of the other.

use crate::update::{QuadTemplate, TermTemplate};
use lode_rdf::{NamedNode, Term};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// How the names of predicates begin that sets of rules use for themselves: nothing of them stays.
pub const AUXILIARY: &str = "urn:lodestore:rules:";

pub(super) const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// Triples with a predicate and an object; `None`: any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Atom {
    /// The predicate.
    pub predicate: Option<NamedNode>,
    /// The object.
    pub object: Option<Term>,
}

impl Atom {
    /// All triples.
    pub const ANY: Self = Self { predicate: None, object: None };

    /// Those of a predicate.
    pub fn of(predicate: NamedNode) -> Self {
        Self { predicate: Some(predicate), object: None }
    }

    /// Those that a pattern may match.
    pub(super) fn of_pattern(pattern: &TriplePattern) -> Self {
        let predicate = match &pattern.predicate {
            NamedNodePattern::NamedNode(name) => Some(name.clone()),
            NamedNodePattern::Variable(_) => None,
        };
        let object = match &pattern.object {
            TermPattern::NamedNode(name) => Some(name.clone().into()),
            TermPattern::Literal(literal) => Some(literal.clone().into()),
            TermPattern::BlankNode(_) | TermPattern::Variable(_) | TermPattern::Triple(_) => None,
        };
        Self { predicate, object }
    }

    /// Those that a template may make.
    pub(super) fn of_template(template: &QuadTemplate) -> Self {
        let constant = |term: &TermTemplate| match term {
            TermTemplate::Const(term) => Some(term.clone()),
            _ => None,
        };
        let predicate = match constant(&template.triple.predicate) {
            Some(Term::NamedNode(name)) => Some(name),
            _ => None,
        };
        Self { predicate, object: constant(&template.triple.object) }
    }

    /// Whether a triple may be one of both.
    pub fn meets(&self, other: &Self) -> bool {
        fn fit<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            !matches!((a, b), (Some(a), Some(b)) if a != b)
        }
        fit(self.predicate.as_ref(), other.predicate.as_ref())
            && fit(self.object.as_ref(), other.object.as_ref())
    }
}
