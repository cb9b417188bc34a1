//! Update text to operations: the parser's, made into ours, one by one.

use super::operations::{self, Request};
use super::{ParseError, aggregates, booleans, explained, group_keys, limits, parser};
use crate::stack;
use crate::update::{
    Graph, GraphTarget, Modify, Operation, QuadTemplate, TermTemplate, Transfer, TransferKind,
    TripleTemplate, Update,
};
use lode_rdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term, Triple, Variable};
use lode_syntax::Form;
use spargebra::algebra::{self, GraphPattern};
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
    let request = Request::cut(text)
        .map_err(|at| ParseError::at_offset(text, at, "expected an operation before this".to_owned()))
        .map_err(|error| explained::of(text, Form::Update, error))?;
    let mut update = Update { operations: Vec::new() };
    let mut labels = HashSet::new();
    for source in request.operations(text) {
        let source = source.map_err(|at| {
            let message = "too many declarations hold for too many operations: divide the request";
            ParseError::at_offset(text, at, message.to_owned())
        })?;
        let Some(operation) = parse_one(text, &source, base)? else { continue };
        if let Operation::InsertData(quads) = &operation
            && let Some(label) = shared_label(quads, &mut labels)
        {
            let message = format!("the blank node _:{label} is used in two INSERT DATA operations");
            return Err(ParseError::at_offset(text, source.offset, message));
        }
        update.operations.push(operation);
    }
    Ok(update)
}

/// One operation; none where there are declarations only.
fn parse_one(
    request: &str,
    source: &operations::Operation,
    base: Option<&str>,
) -> Result<Option<Operation>, ParseError> {
    let text = source.text.as_str();
    let at = |offset, message| ParseError::at_offset(request, source.offset_in_request(offset), message);
    // Operators make no trees where there are no patterns, but signs and names may look like them.
    let is_data = source.words[1] == "data";
    let extent = limits::check(text, is_data).map_err(|problem| at(problem.offset, problem.message))?;
    if let Some(found) = aggregates::misplaced(text) {
        let error = at(found.offset, found.message.to_owned());
        return Err(ParseError { help: found.help.to_owned(), ..error });
    }
    let lowered = booleans::in_lower_case(text);
    let text = &*group_keys::as_calls(&lowered);
    let parser = parser(base)?;
    stack::deep(extent.levels(), || {
        let parsed = parser.parse_update(text).map_err(|error| {
            let error = ParseError::from_parser(text, &error.to_string());
            let is_placed = error.line > 0;
            let error =
                if is_placed { at(offset_of(text, error.line, error.column), error.message) } else { error };
            explained::of(request, Form::Update, error)
        })?;
        let mut operation = operation(source, parsed);
        if let Some(Operation::Modify(modify)) = &mut operation {
            super::bounded(&mut modify.query).map_err(|error| at(0, error.message))?;
        }
        Ok(operation)
    })
}

/// The byte that a line and a column mean, both from 1.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = text.get(before..).unwrap_or("");
    before + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
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

/// Our operation, of the parser's: COPY, MOVE and ADD are several of these, or none.
fn operation(source: &operations::Operation, parsed: spargebra::Update) -> Option<Operation> {
    let base_iri = parsed.base_iri;
    let kind = match source.words[0].as_str() {
        "add" => Some(TransferKind::Add),
        "copy" => Some(TransferKind::Copy),
        "move" => Some(TransferKind::Move),
        _ => None,
    };
    let mut parsed = parsed.operations.into_iter();
    if let Some(kind) = kind {
        let silent = source.words[1] == "silent";
        return Some(parsed.find_map(|part| transfer(kind, silent, part)).unwrap_or(Operation::Nothing));
    }
    Some(match parsed.next()? {
        GraphUpdateOperation::InsertData { data } => {
            Operation::InsertData(data.into_iter().map(quad).collect())
        }
        GraphUpdateOperation::DeleteData { data } => {
            Operation::DeleteData(data.into_iter().map(ground_quad).collect())
        }
        GraphUpdateOperation::DeleteInsert { delete, insert, using, pattern } => {
            let mut templates = Templates::default();
            let delete = delete.into_iter().map(|quad| templates.ground_quad(quad)).collect();
            let insert = insert.iter().map(|quad| templates.quad(quad)).collect();
            let query = Query::Select { dataset: using, pattern: templates.select(*pattern), base_iri };
            let (variables, blanks) = (templates.variables, count(templates.blanks.len()));
            Operation::Modify(Box::new(Modify { delete, insert, variables, blanks, query }))
        }
        GraphUpdateOperation::Load { silent, source, destination } => {
            Operation::Load { source, into: graph(destination), silent }
        }
        GraphUpdateOperation::Create { silent, graph } => Operation::Create { graph, silent },
        GraphUpdateOperation::Clear { graph, .. } | GraphUpdateOperation::Drop { graph, .. } => {
            Operation::Clear(match graph {
                algebra::GraphTarget::NamedNode(name) => GraphTarget::One(Some(name)),
                algebra::GraphTarget::DefaultGraph => GraphTarget::One(None),
                algebra::GraphTarget::NamedGraphs => GraphTarget::Named,
                algebra::GraphTarget::AllGraphs => GraphTarget::All,
            })
        }
    })
}

/// The operation that a COPY, MOVE or ADD is, from that of its parts that copies.
fn transfer(kind: TransferKind, silent: bool, part: GraphUpdateOperation) -> Option<Operation> {
    let GraphUpdateOperation::DeleteInsert { insert, pattern, .. } = part else { return None };
    let to = match insert.into_iter().next()?.graph_name {
        GraphNamePattern::NamedNode(name) => Some(name),
        _ => None,
    };
    let from = match *pattern {
        GraphPattern::Graph { name: NamedNodePattern::NamedNode(name), .. } => Some(name),
        _ => None,
    };
    Some(Operation::Transfer(Transfer { kind, from, to, silent }))
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
