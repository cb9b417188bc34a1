//! Update text to operations.

use super::lower::{Lowered, Lowering, Modified};
use super::{ParseError, base_iri, limits, tree, wrong_at};
use crate::stack;
use crate::update::{Graph, Modify, Operation, QuadTemplate, TermTemplate, TripleTemplate, Update};
use lode_rdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term, Triple, Variable};
use lode_syntax::Form;
use spargebra::algebra::GraphPattern;
use spargebra::term::{
    self, GraphNamePattern, GroundQuadPattern, NamedNodePattern, QuadPattern, TermPattern, TriplePattern,
};
use spargebra::{GraphUpdateOperation, Query};
use std::collections::{HashMap, HashSet};

/// Parses a SPARQL 1.1 or 1.2 update request; `base` resolves relative IRIs until the request has a BASE of its own.
///
/// # Errors
///
/// [`ParseError`] where the text is no update or `base` no IRI, or where the request is too deep or too large.
pub fn parse_update(text: &str, base: Option<&str>) -> Result<Update, ParseError> {
    let base = base_iri(base)?;
    let parsed = tree(text, Form::Update)?;
    stack::deep(limits::levels(parsed.extent), || {
        let lowered = Lowering::new(&parsed.tree, base).update();
        let lowered = lowered.map_err(|wrong| wrong_at(text, Form::Update, *wrong))?;
        let mut update = Update { operations: Vec::with_capacity(lowered.len()) };
        let mut labels = HashSet::new();
        for (at, lowered) in lowered {
            let operation = operation(lowered);
            let wrong = |message| ParseError::at(text, at.span().start..at.span().start, message);
            match &operation {
                Operation::InsertData(quads) => {
                    if let Some(label) = shared_label(quads, &mut labels) {
                        let what = "is used in two INSERT DATA operations";
                        return Err(wrong(format!("the blank node _:{label} {what}")));
                    }
                }
                Operation::Modify(modify) => {
                    super::bounded(&modify.query).map_err(|error| wrong(error.message))?;
                }
                _ => {}
            }
            update.operations.push(operation);
        }
        Ok(update)
    })
}

/// The operations of a request in the terms of the algebra alone, where COPY, MOVE and ADD are what they amount to: for who compares parsers.
///
/// # Errors
///
/// As [`parse_update`].
pub fn update_algebra(text: &str, base: Option<&str>) -> Result<Vec<GraphUpdateOperation>, ParseError> {
    parse_update(text, base)?;
    let parsed = tree(text, Form::Update)?;
    let lowered = Lowering::new(&parsed.tree, base_iri(base)?).update();
    let lowered = lowered.map_err(|wrong| wrong_at(text, Form::Update, *wrong))?;
    Ok(lowered.into_iter().flat_map(|(_, lowered)| lowered.into_algebra()).collect())
}

/// A label that an earlier INSERT DATA has used: the grammar (note 6) forbids it, because it could not mean the same node.
fn shared_label(quads: &[Quad], earlier: &mut HashSet<String>) -> Option<String> {
    let mut labels = HashSet::new();
    for quad in quads {
        note_subject(&quad.subject, &mut labels);
        note_label(&quad.object, &mut labels);
    }
    let shared = labels.iter().find(|label| earlier.contains(**label)).map(|label| (*label).to_owned());
    earlier.extend(labels.into_iter().map(str::to_owned));
    shared
}

fn note_subject<'a>(subject: &'a NamedOrBlankNode, labels: &mut HashSet<&'a str>) {
    if let NamedOrBlankNode::BlankNode(node) = subject {
        labels.insert(node.as_str());
    }
}

fn note_label<'a>(term: &'a Term, labels: &mut HashSet<&'a str>) {
    match term {
        Term::BlankNode(node) => {
            labels.insert(node.as_str());
        }
        Term::Triple(triple) => {
            note_subject(&triple.subject, labels);
            note_label(&triple.object, labels);
        }
        Term::NamedNode(_) | Term::Literal(_) => {}
    }
}

/// An operation as the engine runs it.
fn operation(lowered: Lowered) -> Operation {
    match lowered {
        Lowered::InsertData(data) => Operation::InsertData(data.into_iter().map(quad).collect()),
        Lowered::DeleteData(data) => Operation::DeleteData(data.into_iter().map(ground_quad).collect()),
        Lowered::Modify(modified) => {
            let Modified { delete, insert, using, pattern, base } = *modified;
            let mut templates = Templates::default();
            let delete = delete.into_iter().map(|quad| templates.ground_quad(quad)).collect();
            let insert = insert.iter().map(|quad| templates.quad(quad)).collect();
            let query = Query::Select { dataset: using, pattern: templates.select(pattern), base_iri: base };
            let (variables, blanks) = (templates.variables, count(templates.blanks.len()));
            Operation::Modify(Box::new(Modify { delete, insert, variables, blanks, query }))
        }
        Lowered::Load { silent, source, into } => Operation::Load { source, into, silent },
        Lowered::Clear(target) => Operation::Clear(target),
        Lowered::Create { silent, graph } => Operation::Create { graph, silent },
        Lowered::Transfer(transfer) => Operation::Transfer(transfer),
        Lowered::Nothing => Operation::Nothing,
    }
}

fn graph(name: term::GraphName) -> Graph {
    match name {
        term::GraphName::NamedNode(name) => Some(name),
        term::GraphName::DefaultGraph => None,
    }
}

fn quad(quad: term::Quad) -> Quad {
    let graph_name = graph(quad.graph_name).map_or(GraphName::DefaultGraph, GraphName::NamedNode);
    Quad { subject: quad.subject, predicate: quad.predicate, object: quad.object, graph_name }
}

fn ground_quad(quad: term::GroundQuad) -> Quad {
    let graph_name = graph(quad.graph_name).map_or(GraphName::DefaultGraph, GraphName::NamedNode);
    Quad {
        subject: quad.subject.into(),
        predicate: quad.predicate,
        object: Term::from(quad.object),
        graph_name,
    }
}

/// The variables and blank nodes of an operation's templates.
#[derive(Default)]
struct Templates {
    columns: HashMap<Variable, usize>,
    variables: Vec<Variable>,
    blanks: HashMap<BlankNode, u32>,
}

impl Templates {
    fn ground_quad(&mut self, quad: GroundQuadPattern) -> QuadTemplate {
        self.quad(&QuadPattern {
            subject: quad.subject.into(),
            predicate: quad.predicate,
            object: quad.object.into(),
            graph_name: quad.graph_name,
        })
    }

    fn quad(&mut self, quad: &QuadPattern) -> QuadTemplate {
        let triple = TripleTemplate {
            subject: self.term(&quad.subject),
            predicate: self.predicate(&quad.predicate),
            object: self.term(&quad.object),
        };
        let graph = match &quad.graph_name {
            GraphNamePattern::NamedNode(name) => Some(TermTemplate::Const(name.clone().into())),
            GraphNamePattern::DefaultGraph => None,
            GraphNamePattern::Variable(variable) => Some(self.variable(variable)),
        };
        QuadTemplate { triple, graph }
    }

    fn triple(&mut self, triple: &TriplePattern) -> TermTemplate {
        let template = TripleTemplate {
            subject: self.term(&triple.subject),
            predicate: self.predicate(&triple.predicate),
            object: self.term(&triple.object),
        };
        match (&template.subject, &template.predicate, &template.object) {
            (TermTemplate::Const(s), TermTemplate::Const(p), TermTemplate::Const(o)) => {
                match Triple::from_terms(s.clone(), p.clone(), o.clone()) {
                    Ok(triple) => TermTemplate::Const(triple.into()),
                    Err(_) => TermTemplate::Triple(Box::new(template)),
                }
            }
            _ => TermTemplate::Triple(Box::new(template)),
        }
    }

    fn predicate(&mut self, predicate: &NamedNodePattern) -> TermTemplate {
        match predicate {
            NamedNodePattern::NamedNode(name) => TermTemplate::Const(name.clone().into()),
            NamedNodePattern::Variable(variable) => self.variable(variable),
        }
    }

    fn term(&mut self, term: &TermPattern) -> TermTemplate {
        match term {
            TermPattern::NamedNode(name) => TermTemplate::Const(name.clone().into()),
            TermPattern::Literal(literal) => TermTemplate::Const(literal.clone().into()),
            TermPattern::BlankNode(node) => {
                let next = count(self.blanks.len());
                TermTemplate::Blank(*self.blanks.entry(node.clone()).or_insert(next))
            }
            TermPattern::Variable(variable) => self.variable(variable),
            TermPattern::Triple(triple) => self.triple(triple),
        }
    }

    fn variable(&mut self, variable: &Variable) -> TermTemplate {
        let next = self.variables.len();
        let column = *self.columns.entry(variable.clone()).or_insert(next);
        if column == next {
            self.variables.push(variable.clone());
        }
        TermTemplate::Column(column)
    }

    /// The pattern with these variables as columns.
    fn select(&self, pattern: GraphPattern) -> GraphPattern {
        let project = GraphPattern::Project { inner: Box::new(pattern), variables: self.variables.clone() };
        // Only new blank nodes tell equal solutions apart.
        let blanks = !self.blanks.is_empty();
        if blanks { project } else { GraphPattern::Reduced { inner: Box::new(project) } }
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
