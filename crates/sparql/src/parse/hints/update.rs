//! Updates: the patterns of each operation are looked at as those of queries are. What is looked up in the data is of the state before the request, so
//! of what an earlier operation may have made nothing is said; nor of what an operation makes.

use super::found::{Deleted, FOUND_MAX, Findings, InGraph, Role};
use super::walk::{Around, Names, Place, Walk};
use crate::parse::lower::Lowering;
use crate::parse::{base_iri, vocabulary};
use lode_rdf::Term;
use lode_syntax::{At, Form, Node};
use std::collections::BTreeSet;

/// What there is to say of an update; nothing of a text that is none, or is long.
pub fn findings_of_update(text: &str, base: Option<&str>) -> Findings {
    let Ok(base) = base_iri(base) else { return Findings::default() };
    if text.len() > super::BYTES_MAX {
        return Findings::default();
    }
    let parsed = lode_syntax::parse(text, Form::Update, vocabulary());
    if !parsed.diagnostics.is_empty() {
        return Findings::default();
    }
    let mut walk = Walk::new(Lowering::new(&parsed.tree, base));
    let mut made = Made::default();
    for at in parsed.tree.root().children() {
        match at.node() {
            Node::Base | Node::Prefix | Node::Version => {
                if walk.lowering.declaration(at).is_err() {
                    return Findings::default();
                }
            }
            _ => walk.operation(at, &mut made),
        }
    }
    walk.found.prefixes = walk.lowering.prefixes();
    walk.found.hints.sort_by_key(|hint| hint.span.start);
    walk.found
}

/// What the operations so far may have made.
#[derive(Default)]
struct Made {
    /// There was one.
    any: bool,
    /// It may be anything.
    all: bool,
    iris: BTreeSet<String>,
}

impl<'t> Walk<'t> {
    fn operation(&mut self, at: At<'t>, made: &mut Made) {
        let (constants, unjoined) = (self.found.constants.len(), self.found.unjoined.len());
        self.bound.clear();
        self.in_triples.clear();
        self.has_dataset = false;
        match at.node() {
            Node::Modify => self.modify(at),
            Node::DeleteWhere => {
                if let Some(quads) = at.first().and_then(|clause| clause.child(Node::Quads)) {
                    self.parts(quads, &Around::new(&Names::new()));
                }
            }
            Node::DeleteData => {
                if let Some(quads) = at.first().and_then(|clause| clause.child(Node::Quads)) {
                    // In which graph each triple is looked for is told of the triple.
                    self.has_dataset = true;
                    self.parts(quads, &Around::new(&Names::new()));
                    if !made.any {
                        self.deleted(quads, None);
                    }
                }
                self.found.unjoined.truncate(unjoined);
            }
            _ => {}
        }
        self.told_unbound();
        self.misspelt(at.tree(), at.tokens());
        // Not before the names of this operation are told apart: others may use them.
        if made.any {
            self.found.unjoined.truncate(unjoined);
        }
        let earlier = self.found.constants.split_off(constants);
        let known = earlier.into_iter().filter(|constant| !made.all && !made.iris.contains(&constant.iri));
        self.found.constants.extend(known);
        self.makes(at, made);
    }

    fn modify(&mut self, at: At<'t>) {
        let using = || at.children().filter(|part| part.node() == Node::From);
        for iri in using().filter_map(At::first) {
            self.constant(iri, Role::Graph, InGraph::Any, true);
        }
        self.has_dataset = using().next().is_some();
        let (group, deletes, inserts) =
            (at.child(Node::Group), at.child(Node::Delete), at.child(Node::Insert));
        let with = at.child(Node::With).and_then(At::first);
        if let Some(with) = with {
            let is_asked = !self.has_dataset && group.is_some_and(is_of_default_graph);
            // One that is only inserted into may be new.
            if is_asked || inserts.is_none() {
                self.constant(with, Role::Graph, InGraph::Any, true);
            }
        }
        let graph = with.filter(|_| !self.has_dataset).map_or(InGraph::Default, InGraph::Named);
        let nothing = Names::new();
        let around = Around { graph, ..Around::new(&nothing) };
        let names = group.map(|group| self.group(group, &around)).unwrap_or_default();
        for quads in deletes.into_iter().flat_map(|clause| clause.child(Node::Quads)) {
            self.made_of(quads, &names, Place::Deleted);
            for of_graph in quads.children().filter(|part| part.node() == Node::QuadsOfGraph) {
                if let Some(graph) = of_graph.first() {
                    self.constant(graph, Role::Graph, InGraph::Any, false);
                }
            }
        }
        for quads in inserts.into_iter().flat_map(|clause| clause.child(Node::Quads)) {
            self.made_of(quads, &names, Place::Made);
        }
    }

    /// The triples of DELETE DATA, of a graph or of the default graph.
    fn deleted(&mut self, at: At<'t>, graph: Option<&str>) {
        for part in at.children() {
            match part.node() {
                Node::QuadsOfGraph => {
                    let name = part.first().and_then(|name| self.iri_of(name));
                    crate::stack::room(|| self.deleted(part, name.as_deref()));
                }
                Node::Triples => self.deleted_of_subject(part, graph),
                _ => {}
            }
        }
    }

    fn deleted_of_subject(&mut self, triples: At<'t>, graph: Option<&str>) {
        let mut parts = triples.children();
        let Some(subject) = parts.next().and_then(|subject| self.term_of(subject)) else { return };
        for property in parts {
            let mut parts = property.children();
            let Some(predicate) = parts.next().and_then(|verb| self.iri_of(verb)) else { continue };
            let predicate = Term::from(lode_rdf::NamedNode::new_unchecked(predicate));
            for at in parts {
                let Some(object) = self.term_of(at).filter(|_| self.found.deleted.len() < FOUND_MAX) else {
                    continue;
                };
                let (subject, predicate) = (subject.clone(), predicate.clone());
                let graph = graph.map(str::to_owned);
                self.found.deleted.push(Deleted { span: at.span(), subject, predicate, object, graph });
            }
        }
    }

    /// Notes what an operation may make.
    fn makes(&self, at: At<'t>, made: &mut Made) {
        made.any = true;
        match at.node() {
            Node::InsertData => self.iris_in(at, made),
            Node::Modify => {
                let Some(clause) = at.child(Node::Insert) else { return };
                let mut variables = Names::new();
                self.all_of(clause, &mut variables);
                made.all |= !variables.is_empty();
                self.iris_in(clause, made);
                at.child(Node::With).into_iter().for_each(|with| self.iris_in(with, made));
            }
            Node::Create => self.iris_in(at, made),
            Node::Load | Node::Transfer => made.all = true,
            _ => {}
        }
    }

    fn iris_in(&self, at: At<'t>, made: &mut Made) {
        made.iris.extend(self.iri_of(at));
        for child in at.children() {
            crate::stack::room(|| self.iris_in(child, made));
        }
    }
}

/// Whether a pattern has triples that no GRAPH says the graph of.
fn is_of_default_graph(at: At<'_>) -> bool {
    match at.node() {
        Node::Triples => true,
        Node::Graph | Node::Service => false,
        _ => at.children().any(|child| crate::stack::room(|| is_of_default_graph(child))),
    }
}
