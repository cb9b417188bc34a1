//! DESCRIBE: the specification leaves open what describes a term; here it is the concise bounded description.

use super::evaluator::Evaluator;
use oxrdf::{NamedOrBlankNode, Term, Triple};
use std::collections::HashSet;

impl Evaluator<'_> {
    /// All triples of the default graph whose subject is one of the terms, and, where an object is a blank node, its description too.
    pub(super) fn describe(&self, terms: impl IntoIterator<Item = Term>) -> Vec<Triple> {
        let mut open: Vec<NamedOrBlankNode> = terms.into_iter().filter_map(|t| t.try_into().ok()).collect();
        let mut done = HashSet::new();
        let mut triples = Vec::new();
        while let Some(node) = open.pop() {
            if !done.insert(node.clone()) {
                continue;
            }
            for triple in self.default.iter().filter(|t| t.subject == node) {
                if let Term::BlankNode(b) = &triple.object {
                    open.push(b.clone().into());
                }
                triples.push(triple.clone());
            }
        }
        triples
    }
}
