//! Basic graph patterns by brute force: every triple is tried for every pattern (SPARQL 1.1 section 18.3.1).

use super::evaluator::Evaluator;
use super::options::NaiveError;
use super::scope::Scope;
use super::solution::{Solution, Solutions, blank_variable};
use oxrdf::{Term, Triple, Variable};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

impl Evaluator<'_> {
    pub(super) fn basic(
        &self,
        patterns: &[TriplePattern],
        scope: &Scope<'_>,
    ) -> Result<Solutions, NaiveError> {
        let mut solutions = vec![Solution::new()];
        for pattern in patterns {
            let mut next = Vec::new();
            for solution in &solutions {
                for triple in scope.graph.iter() {
                    self.step()?;
                    let mut extended = solution.clone();
                    if match_triple(pattern, triple, scope.outer, &mut extended) {
                        next.push(extended);
                    }
                }
            }
            solutions = next;
        }
        Ok(solutions)
    }
}

fn match_triple(pattern: &TriplePattern, triple: &Triple, outer: &Solution, solution: &mut Solution) -> bool {
    match_predicate(&pattern.predicate, triple, outer, solution)
        && match_term(&pattern.subject, &triple.subject.clone().into(), outer, solution)
        && match_term(&pattern.object, &triple.object, outer, solution)
}

fn match_predicate(
    pattern: &NamedNodePattern,
    triple: &Triple,
    outer: &Solution,
    solution: &mut Solution,
) -> bool {
    match pattern {
        NamedNodePattern::NamedNode(n) => *n == triple.predicate,
        NamedNodePattern::Variable(v) => match_variable(v, &triple.predicate.clone().into(), outer, solution),
    }
}

/// Whether a term fits a position of a pattern; binds what is not bound yet. Variables that `outer` binds stand for their values:
/// they were replaced by them (`substitute`, section 18.6) and occur in no solution.
pub(super) fn match_term(
    pattern: &TermPattern,
    term: &Term,
    outer: &Solution,
    solution: &mut Solution,
) -> bool {
    match pattern {
        TermPattern::NamedNode(n) => matches!(term, Term::NamedNode(t) if t == n),
        TermPattern::Literal(l) => matches!(term, Term::Literal(t) if t == l),
        TermPattern::BlankNode(b) => bind(&blank_variable(b), term, solution),
        TermPattern::Variable(v) => match_variable(v, term, outer, solution),
        TermPattern::Triple(p) => matches!(term, Term::Triple(t) if match_triple(p, t, outer, solution)),
    }
}

fn match_variable(variable: &Variable, term: &Term, outer: &Solution, solution: &mut Solution) -> bool {
    match outer.get(variable) {
        Some(value) => value == term,
        None => bind(variable, term, solution),
    }
}

fn bind(variable: &Variable, term: &Term, solution: &mut Solution) -> bool {
    match solution.get(variable) {
        Some(value) => value == term,
        None => {
            solution.insert(variable.clone(), term.clone());
            true
        }
    }
}

/// The term that a position stands for, if it holds no variables.
pub(super) fn ground(pattern: &TermPattern, outer: &Solution) -> Option<Term> {
    match pattern {
        TermPattern::NamedNode(n) => Some(n.clone().into()),
        TermPattern::Literal(l) => Some(l.clone().into()),
        TermPattern::BlankNode(_) => None,
        TermPattern::Variable(v) => outer.get(v).cloned(),
        TermPattern::Triple(t) => {
            let predicate = match &t.predicate {
                NamedNodePattern::NamedNode(n) => Term::from(n.clone()),
                NamedNodePattern::Variable(v) => outer.get(v).cloned()?,
            };
            let triple = Triple::from_terms(ground(&t.subject, outer)?, predicate, ground(&t.object, outer)?);
            triple.ok().map(Term::from)
        }
    }
}
