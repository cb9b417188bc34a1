//! Rules: what follows from quads, written as `CONSTRUCT ... WHERE` or `INSERT ... WHERE`, which people know already.
//!
//! `ASK ...` is a rule without a head: where it has a solution, the data are contradictory. A text has several, with `;` between them ([`parse_rules`]); a set is such a text that comes with the program ([`RuleSet`]). Rules are put into
//! strata ([`strata()`]): what one rule negates or counts must be complete before, so it comes from an earlier stratum. Within a stratum the forms of a
//! rule's body ([`Rule::deltas`]) say how to find only what is new: in each, one pattern reads what came last, the others read all.

mod atom;
mod delta;
mod equality;
mod n3;
mod reads;
mod sets;
mod shape;
mod strata;
#[cfg(test)]
mod tests;
mod text;
mod ways;

pub use atom::{AUXILIARY, Atom};
pub use delta::Delta;
pub use equality::{EqualityRules, equality};
pub use n3::parse_n3_rules;
pub use sets::{RuleSet, run_time};
pub use shape::Shape;
pub use strata::{Stratum, strata};
pub use text::{RULES_MAX, parse_rules};
pub use ways::{Premise, PremiseReads, Way};

use crate::parse::ParseError;
use crate::update::QuadTemplate;
use lode_rdf::{NamedNode, Variable};
use oxiri_of_oxttl::Iri;
use reads::Reads;
use spargebra::Query;
use spargebra::algebra::GraphPattern;

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What it is called in messages.
    pub name: String,
    /// The line of its text where it begins, from 1.
    pub line: usize,
    /// The triples that follow; their variables are columns of the body. None: what the body finds must not be.
    pub head: Vec<QuadTemplate>,
    /// The variables of the head: the columns of its queries.
    pub variables: Vec<Variable>,
    /// Its WHERE.
    body: GraphPattern,
    base_iri: Option<Iri<String>>,
    /// What the head may add.
    writes: Vec<Atom>,
    reads: Reads,
    /// Whether it is one of those that have code of their own.
    pub shape: Shape,
}

impl Rule {
    /// The query whose rows are those of the whole body.
    pub fn query(&self) -> Query {
        self.select(self.body.clone())
    }

    /// How to find what follows from new triples, which are in the graph `new` as well as where all are: a query for each pattern of the body.
    pub fn deltas(&self, new: &NamedNode) -> Vec<Delta> {
        let forms = delta::forms(&self.body, new);
        forms.into_iter().map(|(atom, form)| Delta { atom, query: self.select(form) }).collect()
    }

    /// What its body reads in other ways than by patterns that [`Rule::deltas`] replaces: where some of that is new the whole body must be read again.
    pub fn reads_whole(&self) -> &[Atom] {
        &self.reads.whole
    }

    /// What its body reads that must be complete before: where some of that comes or goes, solutions may go or come.
    pub fn reads_below(&self) -> &[Atom] {
        &self.reads.below
    }

    /// Whether its body reads named graphs, in which nothing is ever inferred.
    pub fn reads_graphs(&self) -> bool {
        self.reads.graphs
    }

    /// Whether its body makes terms that were nowhere before, perhaps: only by such rules there may be no end.
    pub fn makes_terms(&self) -> bool {
        self.reads.makes
    }

    /// Its WHERE.
    pub fn body(&self) -> &GraphPattern {
        &self.body
    }

    /// The query whose rows are those of its body whose triple of the head `at` is in the graph `wanted`.
    pub fn query_for(&self, at: usize, wanted: &NamedNode) -> Option<Query> {
        let triple = delta::pattern_of(self.head.get(at)?, &self.variables)?;
        let wanted = delta::in_graph(vec![triple], wanted);
        Some(self.select(GraphPattern::Join { left: Box::new(wanted), right: Box::new(self.body.clone()) }))
    }

    /// Triples that its head may add.
    pub fn writes(&self) -> &[Atom] {
        &self.writes
    }

    /// Whether it is about the vocabulary and not about what uses it, as far as that can be told: such rules have little to read, and others that read
    /// what they add have less to do twice.
    pub fn is_early(&self) -> bool {
        let is_clear = |atom: &Atom| atom.predicate.as_ref().is_some_and(|p| p.as_str() != atom::TYPE);
        self.writes.iter().all(is_clear) && self.reads().all(|atom| atom.predicate.is_some())
    }

    /// All that its body reads.
    pub fn reads(&self) -> impl Iterator<Item = &Atom> {
        [&self.reads.patterns, &self.reads.whole, &self.reads.below].into_iter().flatten()
    }

    /// Whether it says that data are contradictory, and adds nothing.
    pub fn is_contradiction(&self) -> bool {
        self.head.is_empty()
    }

    /// The ways in which its body can hold.
    pub fn ways(&self) -> Vec<Way> {
        ways::of(&self.body, &self.variables, self.base_iri.as_ref())
    }

    fn select(&self, pattern: GraphPattern) -> Query {
        let project = GraphPattern::Project { inner: Box::new(pattern), variables: self.variables.clone() };
        Query::Select {
            dataset: None,
            pattern: GraphPattern::Reduced { inner: Box::new(project) },
            base_iri: self.base_iri.clone(),
        }
    }
}

/// Why a text has no rules that can be applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RuleError {
    /// It is not what the grammar says.
    #[error("{0}")]
    Syntax(Box<ParseError>),
    /// A rule says what no rule may.
    #[error("rule {name} (line {line}): {message}")]
    Rule {
        /// Which.
        name: String,
        /// Where it begins.
        line: usize,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// There are too many, or none.
    #[error("{0}")]
    Text(String),
}

impl RuleError {
    fn of(name: &str, line: usize, message: impl Into<String>) -> Self {
        Self::Rule { name: name.to_owned(), line, message: message.into() }
    }
}
