//! Updates straight from the specification (SPARQL 1.1 Update sections 3 and 4): a set of quads in, a set of quads out.
//!
//! Graphs without quads do not exist, as the specification allows (section 4.1): CREATE does nothing but fail where there is the graph, DROP
//! and CLEAR are the same and always succeed.

use super::evaluator::Evaluator;
use super::options::{NaiveError, Options};
use super::scope::Scope;
use super::solution::Solution;
use crate::dataset::Dataset;
use oxrdf::{BlankNode, GraphName, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use spargebra::algebra::{GraphPattern, GraphTarget, QueryDataset};
use spargebra::term::{self, GraphNamePattern, GroundQuadPattern, QuadPattern, TriplePattern};
use spargebra::{GraphUpdateOperation, Update};
use std::collections::{HashMap, HashSet};

/// What blank nodes that WHERE makes are called; other names begin otherwise.
const MADE: &str = "naive";

/// The dataset after all operations of a request.
///
/// # Errors
///
/// As [`evaluate`](super::evaluate), and where an operation fails: then nothing has changed.
pub fn update(update: &Update, dataset: &Dataset, options: &Options) -> Result<Dataset, NaiveError> {
    let base = update.base_iri.as_ref().map(|base| base.as_str());
    let mut state = dataset.clone();
    for operation in &update.operations {
        state = apply(operation, &state, base, options)?;
    }
    Ok(state)
}

fn apply(
    operation: &GraphUpdateOperation,
    state: &Dataset,
    base: Option<&str>,
    options: &Options,
) -> Result<Dataset, NaiveError> {
    Ok(match operation {
        GraphUpdateOperation::InsertData { data } => {
            let mut names = HashMap::new();
            let quads = data.iter().map(|quad| renamed(&as_quad(quad), &mut names, &|_| true));
            state.quads().iter().cloned().chain(quads).collect()
        }
        GraphUpdateOperation::DeleteData { data } => {
            let gone: HashSet<Quad> = data.iter().map(ground_quad).collect();
            without(state, |quad| gone.contains(quad))
        }
        GraphUpdateOperation::DeleteInsert { delete, insert, using, pattern } => {
            let clauses = Clauses { delete, insert, using: using.as_ref(), pattern };
            modify(&clauses, state, base, options)?
        }
        GraphUpdateOperation::Load { silent: true, .. } => state.clone(),
        GraphUpdateOperation::Load { source, .. } => {
            return Err(NaiveError::Update(format!("nothing is loaded, not even {source}")));
        }
        GraphUpdateOperation::Create { graph, silent } => {
            let name = GraphName::from(graph.clone());
            if !silent && state.quads().iter().any(|quad| quad.graph_name == name) {
                return Err(NaiveError::Update(format!("{graph} exists")));
            }
            state.clone()
        }
        GraphUpdateOperation::Clear { graph, .. } | GraphUpdateOperation::Drop { graph, .. } => {
            without(state, |quad| match graph {
                GraphTarget::AllGraphs => true,
                GraphTarget::NamedGraphs => quad.graph_name != GraphName::DefaultGraph,
                GraphTarget::DefaultGraph => quad.graph_name == GraphName::DefaultGraph,
                GraphTarget::NamedNode(name) => quad.graph_name == name.clone().into(),
            })
        }
    })
}

fn without(state: &Dataset, gone: impl Fn(&Quad) -> bool) -> Dataset {
    state.quads().iter().filter(|quad| !gone(quad)).cloned().collect()
}

/// The clauses of an operation with WHERE.
struct Clauses<'a> {
    delete: &'a [GroundQuadPattern],
    insert: &'a [QuadPattern],
    using: Option<&'a QueryDataset>,
    pattern: &'a GraphPattern,
}

/// Section 4.2.4: the solutions, then the quads to delete, then those to insert.
fn modify(
    clauses: &Clauses<'_>,
    state: &Dataset,
    base: Option<&str>,
    options: &Options,
) -> Result<Dataset, NaiveError> {
    let evaluator = Evaluator::new(state, clauses.using, base, options);
    let outer = Solution::new();
    let scope = Scope { graph: &evaluator.default, outer: &outer };
    let solutions = evaluator.pattern(clauses.pattern, &scope)?;
    let (mut gone, mut added) = (HashSet::new(), Vec::new());
    let mut made = HashMap::new();
    for solution in &solutions {
        for template in clauses.delete {
            let template = QuadPattern {
                subject: template.subject.clone().into(),
                predicate: template.predicate.clone(),
                object: template.object.clone().into(),
                graph_name: template.graph_name.clone(),
            };
            gone.extend(fill(&evaluator, &template, solution, &mut HashMap::new()));
        }
        // Blank nodes of the template are new ones for each solution.
        let mut labels = HashMap::new();
        for template in clauses.insert {
            let quad = fill(&evaluator, template, solution, &mut labels);
            added.extend(quad.map(|quad| renamed(&quad, &mut made, &|label| label.starts_with(MADE))));
        }
    }
    let left = without(state, |quad| gone.contains(quad));
    Ok(left.quads().iter().cloned().chain(added).collect())
}

fn fill(
    evaluator: &Evaluator<'_>,
    template: &QuadPattern,
    solution: &Solution,
    labels: &mut HashMap<BlankNode, BlankNode>,
) -> Option<Quad> {
    let triple = TriplePattern {
        subject: template.subject.clone(),
        predicate: template.predicate.clone(),
        object: template.object.clone(),
    };
    let triple = evaluator.fill_triple(&triple, solution, labels)?;
    let graph = match &template.graph_name {
        GraphNamePattern::DefaultGraph => GraphName::DefaultGraph,
        GraphNamePattern::NamedNode(name) => name.clone().into(),
        GraphNamePattern::Variable(variable) => match solution.get(variable)? {
            Term::NamedNode(name) => name.clone().into(),
            Term::BlankNode(node) => node.clone().into(),
            _ => return None,
        },
    };
    Some(triple.in_graph(graph))
}

/// The quad with new names for the blank nodes whose labels are not to stay.
fn renamed(quad: &Quad, names: &mut HashMap<BlankNode, BlankNode>, goes: &dyn Fn(&str) -> bool) -> Quad {
    let mut name = |node: &BlankNode| {
        if !goes(node.as_str()) {
            return node.clone();
        }
        names.entry(node.clone()).or_insert_with(fresh).clone()
    };
    Quad {
        subject: match &quad.subject {
            NamedOrBlankNode::BlankNode(node) => name(node).into(),
            named => named.clone(),
        },
        predicate: quad.predicate.clone(),
        object: renamed_term(&quad.object, &mut name),
        graph_name: match &quad.graph_name {
            GraphName::BlankNode(node) => name(node).into(),
            other => other.clone(),
        },
    }
}

fn renamed_term(term: &Term, name: &mut dyn FnMut(&BlankNode) -> BlankNode) -> Term {
    match term {
        Term::BlankNode(node) => name(node).into(),
        Term::Triple(triple) => {
            let subject = match &triple.subject {
                NamedOrBlankNode::BlankNode(node) => name(node).into(),
                named => named.clone(),
            };
            let object = renamed_term(&triple.object, name);
            Triple { subject, predicate: triple.predicate.clone(), object }.into()
        }
        other => other.clone(),
    }
}

/// A name that nothing else has.
fn fresh() -> BlankNode {
    BlankNode::new_unchecked(format!("new{}", BlankNode::default().as_str()))
}

fn as_quad(quad: &term::Quad) -> Quad {
    Quad {
        subject: quad.subject.clone(),
        predicate: quad.predicate.clone(),
        object: quad.object.clone(),
        graph_name: graph_name(&quad.graph_name),
    }
}

fn ground_quad(quad: &term::GroundQuad) -> Quad {
    Quad {
        subject: NamedNode::clone(&quad.subject).into(),
        predicate: quad.predicate.clone(),
        object: quad.object.clone().into(),
        graph_name: graph_name(&quad.graph_name),
    }
}

fn graph_name(name: &term::GraphName) -> GraphName {
    match name {
        term::GraphName::NamedNode(name) => name.clone().into(),
        term::GraphName::DefaultGraph => GraphName::DefaultGraph,
    }
}
