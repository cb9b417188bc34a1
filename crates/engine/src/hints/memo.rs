//! What is remembered of the queries of a kept plan: that there was nothing to say of one of them, so that there is nothing to say of others.
//!
//! Queries with one plan differ in constants only (`lode_sparql::template`), and what hints tell of constants follows from counts that were
//! compared when the plan was chosen. So most queries of a busy server need no second look at their text.

use super::Looked;
use lode_rdf::{NamedNode, Term};
use lode_sparql::parse::hints::{Findings, Role};
use std::sync::{Mutex, PoisonError};

/// A query, as far as it differs from others with its plan.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    /// The version that it is asked of.
    pub version: u64,
    /// A hash of the names of its variables.
    pub names: u64,
    /// Its constants, in the order of the shape.
    pub parameters: Vec<Term>,
    /// Which of them are in quads of each pattern that has them.
    pub counted: Vec<bool>,
}

/// The last query of a plan of which there was nothing to say.
#[derive(Debug, Default)]
pub(crate) struct HintMemo(Mutex<Option<Silent>>);

#[derive(Debug)]
struct Silent {
    of: Instance,
    /// Stars in its text: `SELECT *` uses each variable once less than naming them all does, and is the same plan.
    stars: usize,
    /// Constants of which more was looked at than whether they are there: which graphs have them.
    fixed: Vec<bool>,
}

impl HintMemo {
    /// Whether there is nothing to say of a query, as is known from an earlier one with as many stars in its text.
    pub fn is_silent(&self, query: &Instance, stars: usize) -> bool {
        let silent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        silent.as_ref().is_some_and(|silent| silent.stars == stars && silent.holds_for(query))
    }

    /// Remembers a query that was looked at without a word.
    pub fn looked(&self, query: &Instance, stars: usize, found: &Looked) {
        // How many solutions parts have that nothing joins differs with the constants.
        if !found.is_whole || !found.hints.is_empty() || !found.findings.unjoined.is_empty() {
            return;
        }
        let fixed = query.parameters.iter().map(|term| is_fixed(term, &found.findings)).collect();
        let silent = Silent { of: query.clone(), stars, fixed };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(silent);
    }
}

impl Silent {
    fn holds_for(&self, query: &Instance) -> bool {
        let Self { of, fixed, .. } = self;
        let same = of.version == query.version
            && of.names == query.names
            && of.parameters.len() == query.parameters.len();
        let mut parameters = of.parameters.iter().zip(&query.parameters).zip(fixed).zip(&query.counted);
        same && parameters.all(|(((old, new), fixed), counted)| {
            old == new || !fixed && is_alike(old, new) && (*counted || new.is_literal())
        })
    }
}

fn is_fixed(term: &Term, findings: &Findings) -> bool {
    let Term::NamedNode(iri) = term else { return false };
    let is_of = |iri: &NamedNode, constant: &str| iri.as_str() == constant;
    let roles = findings.constants.iter().filter(|constant| is_of(iri, &constant.iri));
    roles.into_iter().any(|constant| matches!(constant.role, Role::Predicate | Role::Class | Role::Graph))
}

/// Whether comparisons with one are as possible as with the other.
fn is_alike(old: &Term, new: &Term) -> bool {
    match (old, new) {
        (Term::NamedNode(_), Term::NamedNode(_)) => true,
        (Term::Literal(old), Term::Literal(new)) => {
            old.datatype() == new.datatype() && old.language().is_some() == new.language().is_some()
        }
        _ => false,
    }
}
