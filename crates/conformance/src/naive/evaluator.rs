//! What an evaluation knows besides the pattern: the query's dataset, the step counter, the clock; and the query forms.

use super::options::{NaiveError, Options};
use super::scope::{Graph, Scope};
use super::solution::{Solution, Solutions};
use crate::answer::Answer;
use crate::dataset::Dataset;
use oxiri::Iri;
use oxrdf::{BlankNode, NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use oxsdatatypes::DateTime;
use spargebra::Query;
use spargebra::algebra::{GraphPattern, QueryDataset};
use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

/// One query's evaluation.
pub(super) struct Evaluator<'a> {
    pub(super) options: &'a Options,
    pub(super) default: Graph,
    pub(super) named: Vec<(NamedOrBlankNode, Graph)>,
    pub(super) base: Option<Iri<String>>,
    pub(super) now: DateTime,
    steps: Rc<Cell<u64>>,
    numbers: Rc<Cell<u64>>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        dataset: &Dataset,
        clause: Option<&QueryDataset>,
        base: Option<&str>,
        options: &'a Options,
    ) -> Self {
        let (default, named) = active_dataset(dataset, clause, options.union_default_graph);
        Self {
            options,
            default,
            named,
            base: base.and_then(|b| Iri::parse(b.to_owned()).ok()),
            now: DateTime::now(),
            steps: Rc::new(Cell::new(options.steps_max)),
            numbers: Rc::new(Cell::new(0)),
        }
    }

    /// The same evaluation over another dataset: the far side of a SERVICE.
    pub(super) fn at_service(&self, dataset: &Dataset) -> Self {
        let (default, named) = active_dataset(dataset, None, false);
        Self {
            options: self.options,
            default,
            named,
            base: self.base.clone(),
            now: self.now,
            steps: Rc::clone(&self.steps),
            numbers: Rc::clone(&self.numbers),
        }
    }

    /// Counts one step.
    pub(super) fn step(&self) -> Result<(), NaiveError> {
        let left = self.steps.get().checked_sub(1).ok_or(NaiveError::StepLimit)?;
        self.steps.set(left);
        Ok(())
    }

    /// A number not given before.
    pub(super) fn number(&self) -> u64 {
        self.numbers.set(self.numbers.get() + 1);
        self.numbers.get()
    }

    /// A blank node that is in no dataset.
    pub(super) fn fresh_blank_node(&self) -> BlankNode {
        BlankNode::new_unchecked(format!("naive{}", self.number()))
    }

    pub(super) fn query(&self, query: &Query) -> Result<Answer, NaiveError> {
        match query {
            Query::Select { pattern, .. } => {
                let variables = visible_variables(pattern);
                let rows = self
                    .top(pattern)?
                    .into_iter()
                    .map(|s| variables.iter().map(|v| s.get(v).cloned()).collect())
                    .collect();
                Ok(Answer::Solutions { variables, rows })
            }
            Query::Ask { pattern, .. } => Ok(Answer::Boolean(!self.top(pattern)?.is_empty())),
            Query::Construct { template, pattern, .. } => {
                Ok(Answer::Graph(self.construct(template, &self.top(pattern)?)))
            }
            Query::Describe { pattern, .. } => {
                let terms: HashSet<Term> =
                    self.top(pattern)?.into_iter().flat_map(Solution::into_values).collect();
                Ok(Answer::Graph(self.describe(terms)))
            }
        }
    }

    fn top(&self, pattern: &GraphPattern) -> Result<Solutions, NaiveError> {
        let outer = Solution::new();
        self.pattern(pattern, &Scope { graph: &self.default, outer: &outer })
    }
}

/// The columns of a SELECT: those of its projection.
fn visible_variables(pattern: &GraphPattern) -> Vec<Variable> {
    match pattern {
        GraphPattern::Project { variables, .. } => variables.clone(),
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => visible_variables(inner),
        other => {
            let mut variables = Vec::new();
            other.on_in_scope_variable(|v| {
                if !variables.contains(v) {
                    variables.push(v.clone());
                }
            });
            variables
        }
    }
}

/// The dataset that the query asks for (SPARQL 1.1 section 13.2): with FROM or FROM NAMED nothing but the graphs named there.
fn active_dataset(
    dataset: &Dataset,
    clause: Option<&QueryDataset>,
    union: bool,
) -> (Graph, Vec<(NamedOrBlankNode, Graph)>) {
    let mut named: Vec<(NamedOrBlankNode, Graph)> = dataset
        .graph_names()
        .into_iter()
        .map(|n| {
            let triples = dataset.graph(&n.clone().into());
            (n, Rc::new(triples))
        })
        .collect();
    let Some(clause) = clause else {
        let default = if union { merged(dataset, |_| true) } else { dataset.default_graph() };
        return (Rc::new(default), named);
    };
    let default = merged(dataset, |name| matches!(name, Some(n) if clause.default.contains(n)));
    // WITH names a default graph, and leaves the named graphs.
    let Some(allowed) = &clause.named else { return (Rc::new(default), named) };
    named.retain(|(n, _)| matches!(n, NamedOrBlankNode::NamedNode(n) if allowed.contains(n)));
    // A graph that is listed is in the dataset, with triples or without.
    for name in allowed {
        let name = NamedOrBlankNode::from(name.clone());
        if named.iter().all(|(known, _)| *known != name) {
            named.push((name, Rc::new(Vec::new())));
        }
    }
    (Rc::new(default), named)
}

/// The merge of several graphs as one set of triples. Blank nodes are the store's own, so they need no renaming.
fn merged(dataset: &Dataset, wanted: impl Fn(Option<&NamedNode>) -> bool) -> Vec<Triple> {
    let mut seen = HashSet::new();
    let mut triples = Vec::new();
    for quad in dataset.quads() {
        let name = match &quad.graph_name {
            oxrdf::GraphName::NamedNode(n) => Some(n),
            _ => None,
        };
        let triple = Triple::from(quad.clone());
        if wanted(name) && seen.insert(triple.clone()) {
            triples.push(triple);
        }
    }
    triples
}
