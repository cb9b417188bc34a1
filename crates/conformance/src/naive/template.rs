//! CONSTRUCT templates (SPARQL 1.1 section 16.2.1).

use super::evaluator::Evaluator;
use super::solution::Solution;
use oxrdf::{BlankNode, Term, Triple};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::HashMap;

impl Evaluator<'_> {
    /// The template filled with every solution; triples that come out incomplete or ill-formed are left out.
    pub(super) fn construct(&self, template: &[TriplePattern], solutions: &[Solution]) -> Vec<Triple> {
        let mut triples = Vec::new();
        for solution in solutions {
            let mut blank_nodes = HashMap::new();
            for pattern in template {
                triples.extend(self.fill_triple(pattern, solution, &mut blank_nodes));
            }
        }
        triples
    }

    pub(super) fn fill_triple(
        &self,
        pattern: &TriplePattern,
        solution: &Solution,
        blank_nodes: &mut HashMap<BlankNode, BlankNode>,
    ) -> Option<Triple> {
        let subject = self.fill(&pattern.subject, solution, blank_nodes)?;
        let predicate = match &pattern.predicate {
            NamedNodePattern::NamedNode(n) => Term::from(n.clone()),
            NamedNodePattern::Variable(v) => solution.get(v).cloned()?,
        };
        let object = self.fill(&pattern.object, solution, blank_nodes)?;
        Triple::from_terms(subject, predicate, object).ok()
    }

    fn fill(
        &self,
        pattern: &TermPattern,
        solution: &Solution,
        blank_nodes: &mut HashMap<BlankNode, BlankNode>,
    ) -> Option<Term> {
        match pattern {
            TermPattern::NamedNode(n) => Some(n.clone().into()),
            TermPattern::Literal(l) => Some(l.clone().into()),
            TermPattern::Variable(v) => solution.get(v).cloned(),
            TermPattern::BlankNode(b) => {
                Some(blank_nodes.entry(b.clone()).or_insert_with(|| self.fresh_blank_node()).clone().into())
            }
            TermPattern::Triple(t) => self.fill_triple(t, solution, blank_nodes).map(Term::from),
        }
    }
}
