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
        match self.role_before(at) {
            Some(role) => self.term(subject, role, around, names),
            None => self.around_iri(subject, around, names),
        }
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
            // What is related may follow from geometries, which both have.
            Some(iri) if place_relation(&iri).is_some() => Some(Role::Subject),
            _ => self.role_at(verb, true),
        };
        // What one of the ways of a path relates may follow from geometries, too.
        let may_follow = verb.node() != Node::Iri && verb.node() != Node::Name && self.relates_places(verb);
        let around = Around { is_required: around.is_required && !may_follow, ..*around };
        for object in parts {
            match role {
                Some(role) => self.term(object, role, &around, names),
                None => self.around_iri(object, &around, names),
            }
        }
    }

    /// What the term before its properties is in quads, where it is the same for all that say it: paths may turn round.
    fn role_before(&self, triples: At<'t>) -> Option<Role> {
        let verbs = triples.children().skip(1).filter_map(At::first);
        let mut roles = verbs.map(|verb| self.role_at(verb, false)).peekable();
        let first = roles.peek().copied().unwrap_or(Some(Role::Subject));
        let (mut is_subject, mut is_same) = (false, true);
        for role in roles {
            is_subject |= role == Some(Role::Subject);
            is_same &= role == first;
        }
        if is_subject { Some(Role::Subject) } else { first.filter(|_| is_same) }
    }

    /// What the term at an end of a path is in quads; none where it may be one or another, or in none.
    fn role_at(&self, path: At<'t>, is_last: bool) -> Option<Role> {
        let plain = if is_last { Role::Object } else { Role::Subject };
        match path.node() {
            Node::Variable => Some(plain),
            Node::Iri | Node::Name | Node::Type if is_last && self.is_type(path) => Some(Role::Class),
            Node::Iri | Node::Name | Node::Type => Some(plain),
            Node::Negated if path.children().all(|step| step.node() != Node::Inverse) => Some(plain),
            Node::Parentheses => crate::stack::room(|| self.role_at(path.first()?, is_last)),
            Node::Inverse => crate::stack::room(|| self.role_at(path.first()?, !is_last)),
            Node::Repeated if is_once_or_more(path) => {
                crate::stack::room(|| self.role_at(path.first()?, is_last))
            }
            Node::Sequence => {
                let step = if is_last { path.children().last()? } else { path.first()? };
                crate::stack::room(|| self.role_at(step, is_last))
            }
            Node::Alternative => {
                let mut roles = path.children().map(|way| crate::stack::room(|| self.role_at(way, is_last)));
                let first = roles.next()?;
                first.filter(|_| roles.all(|role| role == first))
            }
            _ => None,
        }
    }

    /// A term of which, where it is an IRI, nothing is known.
    fn around_iri(&mut self, at: At<'t>, around: &Around<'_, 't>, names: &mut Names<'t>) {
        if !matches!(at.node(), Node::Iri | Node::Name) {
            self.term(at, Role::Object, around, names);
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
            Node::Repeated => !is_once_or_more(at),
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

/// Whether a repeated path takes a step at least.
fn is_once_or_more(at: At<'_>) -> bool {
    at.tokens().last().is_some_and(|last| at.tree().token_text(last) == "+")
}
