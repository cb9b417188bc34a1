//! Constants of patterns, which may be in no quad.

use super::found::{Constant, FOUND_MAX, InGraph, Role};
use super::walk::{Around, Names, Walk, name};
use crate::place_search::place_relation;
use crate::text_search::Property;
use lode_rdf::Term;
use lode_syntax::{At, Node};
use oxrdf::vocab::rdf;

impl<'t> Walk<'t> {
    /// An IRI, if it is one.
    pub(super) fn iri_of(&self, at: At<'t>) -> Option<String> {
        let is_iri = matches!(at.node(), Node::Iri | Node::Name | Node::Type);
        is_iri.then(|| self.lowering.iri(at).ok()).flatten().map(lode_rdf::NamedNode::into_string)
    }

    /// A constant of a pattern, if it is an IRI.
    pub(super) fn constant(&mut self, at: At<'t>, role: Role, graph: InGraph<At<'t>>, is_required: bool) {
        if self.found.constants.len() >= FOUND_MAX {
            return;
        }
        let Some(iri) = self.iri_of(at) else { return };
        // Whether something is there is what ASK may be for.
        let is_required = is_required && !self.is_ask;
        let graph = graph.map(|name| self.iri_of(name));
        let has_dataset = self.has_dataset;
        let found = Constant { iri, role, span: at.span(), is_required, graph, has_dataset };
        let is_new =
            |known: &Constant| (&known.iri, known.role, &known.graph) != (&found.iri, role, &found.graph);
        if self.found.constants.iter().all(is_new) {
            self.found.constants.push(found);
        }
    }

    /// The triples of a subject: their variables, and their constants.
    pub(super) fn triples(&mut self, at: At<'t>, around: &Around<'_, 't>, names: &mut Names<'t>) {
        let mut parts = at.children();
        let Some(subject) = parts.next() else { return };
        self.term(subject, Role::Subject, around, names);
        for property in parts {
            self.property(property, around, names);
        }
        self.in_triples.extend(&*names);
    }

    fn property(&mut self, at: At<'t>, around: &Around<'_, 't>, names: &mut Names<'t>) {
        let mut parts = at.children();
        let Some(verb) = parts.next() else { return };
        if let Some(search) = self.iri_of(verb).and_then(|iri| Property::of(&iri)) {
            // A search: neither its property nor what is in its list is in the data, but for the properties whose values are searched.
            for object in parts {
                match object.node() {
                    Node::Variable => {
                        names.insert(name(object));
                    }
                    Node::Collection if search == Property::Query => {
                        let properties = object
                            .children()
                            .take_while(|part| matches!(part.node(), Node::Iri | Node::Name));
                        properties.for_each(|part| self.constant(part, Role::Predicate, around.graph, false));
                    }
                    _ => {}
                }
            }
            return;
        }
        self.verb(verb, around, around.is_required, names);
        self.open(verb, around);
        let role = match self.iri_of(verb) {
            _ if self.is_type(verb) => Role::Class,
            // What is related may follow from geometries, which both have.
            Some(iri) if place_relation(&iri).is_some() => Role::Subject,
            _ => Role::Object,
        };
        // What one of the ways of a path relates may follow from geometries, too.
        let may_follow = verb.node() != Node::Iri && verb.node() != Node::Name && self.relates_places(verb);
        let around = Around { is_required: around.is_required && !may_follow, ..*around };
        for object in parts {
            self.term(object, role, &around, names);
        }
    }

    /// Notes the first pattern of the default graph that any triple may match, or any with a class.
    fn open(&mut self, verb: At<'t>, around: &Around<'_, 't>) {
        let is_open = matches!(verb.node(), Node::Variable | Node::Type);
        let is_asked = around.is_required && !self.is_ask && !self.has_dataset;
        if is_open && is_asked && matches!(around.graph, InGraph::Default) && self.found.open.is_none() {
            self.found.open = Some(verb.span());
        }
    }

    /// Whether a property of a path relates places.
    fn relates_places(&self, at: At<'t>) -> bool {
        match at.node() {
            Node::Iri | Node::Name => self.iri_of(at).is_some_and(|iri| place_relation(&iri).is_some()),
            Node::Variable | Node::Negated => false,
            _ => at.children().any(|part| crate::stack::room(|| self.relates_places(part))),
        }
    }

    /// Whether a verb is rdf:type.
    pub(super) fn is_type(&self, verb: At<'t>) -> bool {
        verb.node() == Node::Type || self.iri_of(verb).is_some_and(|iri| iri == rdf::TYPE.as_str())
    }

    fn verb(&mut self, at: At<'t>, around: &Around<'_, 't>, is_required: bool, names: &mut Names<'t>) {
        let is_one_of_many = match at.node() {
            Node::Variable => {
                names.insert(name(at));
                return;
            }
            Node::Iri | Node::Name => return self.constant(at, Role::Predicate, around.graph, is_required),
            // What a path does not have need not be there.
            Node::Negated => return,
            Node::Repeated => at.tokens().last().is_some_and(|last| at.tree().token_text(last) != "+"),
            Node::Alternative => true,
            _ => false,
        };
        for child in at.children() {
            crate::stack::room(|| self.verb(child, around, is_required && !is_one_of_many, names));
        }
    }

    fn term(&mut self, at: At<'t>, role: Role, around: &Around<'_, 't>, names: &mut Names<'t>) {
        match at.node() {
            Node::Variable => {
                names.insert(name(at));
            }
            Node::Iri | Node::Name => self.constant(at, role, around.graph, around.is_required),
            Node::BlankProperties | Node::Annotation => {
                for property in at.children() {
                    crate::stack::room(|| self.property(property, around, names));
                }
            }
            Node::Collection => {
                for member in at.children() {
                    crate::stack::room(|| self.term(member, Role::Object, around, names));
                }
            }
            // Terms of terms.
            _ => self.all_of(at, names),
        }
    }

    /// A constant as a term.
    pub(super) fn term_of(&self, at: At<'t>) -> Option<Term> {
        match at.node() {
            Node::Iri | Node::Name => Some(self.lowering.iri(at).ok()?.into()),
            Node::Literal | Node::Number | Node::Boolean => Some(self.lowering.literal(at).ok()?.into()),
            _ => None,
        }
    }
}
