//! Triples, and what stands for several: lists, blank nodes with properties, reified triples, annotations, paths.

use super::links::{Link, triple_of};
use super::wanted::{Search, Wanted};
use super::{Lowering, Result, Wrong};
use crate::text_search::Property;
use lode_rdf::{BlankNode, Variable};
use lode_syntax::{At, Node};
use oxrdf::vocab::rdf;
use spargebra::algebra::PropertyPathExpression as Path;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// What stands between subject and object.
#[derive(Clone)]
enum Verb {
    Variable(Variable),
    Path(Path),
    Search(Box<Wanted>),
}

/// An object, with what its triple is reified as.
struct Object {
    term: TermPattern,
    reifiers: Vec<TermPattern>,
}

/// Properties and objects whose subject is not there yet.
type Properties = Vec<(Verb, Object)>;

impl<'t> Lowering<'t> {
    /// The triples of a subject.
    pub(super) fn triples(&mut self, at: At<'t>, out: &mut Vec<Link>) -> Result<()> {
        let mut parts = at.children();
        let Some(subject) = parts.next() else { return Ok(()) };
        if subject.node() == Node::ReifiedTriple {
            let mut own = Vec::new();
            let term = self.node(subject, &mut own)?;
            let properties = self.properties(parts, out)?;
            out.append(&mut own);
            return link(term, properties, at, out);
        }
        if subject.node() == Node::Collection && self.is_searched(parts.clone()) {
            let subjects = self.search_subjects(subject)?;
            for (verb, _) in self.properties(parts, out)? {
                let Verb::Search(wanted) = verb else {
                    let help = "give the subject of the list to them in triples of their own";
                    return Err(Wrong::at(at, "text:query stands beside other properties").help(help));
                };
                let search = Search { subjects: subjects.clone(), wanted: *wanted, span: at.span() };
                out.push(Link::Search(Box::new(search)));
            }
            return Ok(());
        }
        let term = self.node(subject, out)?;
        let properties = self.properties(parts, out)?;
        link(term, properties, at, out)
    }

    /// Whether one of these properties is `text:query`, so that a list before it is no list.
    fn is_searched(&self, mut parts: impl Iterator<Item = At<'t>>) -> bool {
        parts.any(|part| {
            let verb = part.first().filter(|verb| matches!(verb.node(), Node::Iri | Node::Name));
            let iri = verb.and_then(|verb| self.iri(verb).ok());
            iri.is_some_and(|iri| self.search_property(&iri) == Some(Property::Query))
        })
    }

    /// Properties; the triples of what is nested in them are made at once.
    fn properties(
        &mut self,
        parts: impl Iterator<Item = At<'t>> + Clone,
        out: &mut Vec<Link>,
    ) -> Result<Properties> {
        let mut properties = Vec::with_capacity(objects(parts.clone()));
        for part in parts {
            let mut inside = part.children();
            let Some(verb) = inside.next() else { continue };
            let verb = self.verb(verb)?;
            if let Verb::Path(Path::NamedNode(name)) = &verb
                && let Some(property) = self.search_property(name)
            {
                for object in inside {
                    let wanted = self.search_object(property, object)?;
                    let object = Object { term: rdf::NIL.into_owned().into(), reifiers: Vec::new() };
                    properties.push((Verb::Search(Box::new(wanted)), object));
                }
                continue;
            }
            let mut inside = inside.peekable();
            while let Some(object) = inside.next() {
                let term = self.node(object, out)?;
                let mut reifiers = Vec::new();
                while let Some(note) =
                    inside.next_if(|next| matches!(next.node(), Node::Reifier | Node::Annotation))
                {
                    let reifier = match note.node() {
                        Node::Reifier => note.first().map(|term| self.term(term)).transpose()?,
                        _ => None,
                    };
                    let reifier = reifier.unwrap_or_else(|| BlankNode::default().into());
                    let block = match note.node() {
                        Node::Annotation => Some(note),
                        _ => inside.next_if(|next| next.node() == Node::Annotation),
                    };
                    if let Some(block) = block {
                        let mut nested = Vec::new();
                        let notes = self.properties(block.children(), &mut nested)?;
                        link(reifier.clone(), notes, block, out)?;
                        out.append(&mut nested);
                    }
                    reifiers.push(reifier);
                }
                properties.push((verb.clone(), Object { term, reifiers }));
            }
        }
        Ok(properties)
    }

    fn verb(&mut self, at: At<'t>) -> Result<Verb> {
        Ok(match at.node() {
            Node::Variable => Verb::Variable(Self::variable(at)),
            _ => Verb::Path(self.path(at)?),
        })
    }

    /// A term that may have triples of its own.
    fn node(&mut self, at: At<'t>, out: &mut Vec<Link>) -> Result<TermPattern> {
        match at.node() {
            Node::BlankProperties if at.first().is_some() => {
                let properties = self.properties(at.children(), out)?;
                let node = TermPattern::from(BlankNode::default());
                link(node.clone(), properties, at, out)?;
                Ok(node)
            }
            Node::Collection if at.first().is_some() => self.collection(at, out),
            Node::ReifiedTriple => self.reified_triple(at, out),
            _ => self.term(at),
        }
    }

    fn collection(&mut self, at: At<'t>, out: &mut Vec<Link>) -> Result<TermPattern> {
        let mut members = Vec::new();
        for member in at.children() {
            let mut own = Vec::new();
            members.push((self.node(member, &mut own)?, own));
        }
        let mut rest = TermPattern::from(rdf::NIL.into_owned());
        for (member, mut own) in members.into_iter().rev() {
            let node = TermPattern::from(BlankNode::default());
            out.push(Link::Triple(triple_of(node.clone(), rdf::FIRST.into_owned(), member)));
            out.push(Link::Triple(triple_of(node.clone(), rdf::REST.into_owned(), rest)));
            rest = node;
            out.append(&mut own);
        }
        Ok(rest)
    }

    fn reified_triple(&mut self, at: At<'t>, out: &mut Vec<Link>) -> Result<TermPattern> {
        let (mut of_subject, mut of_object) = (Vec::new(), Vec::new());
        let mut parts = at.children();
        let (Some(subject), Some(verb), Some(object)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Wrong::at(at, "a triple has three parts"));
        };
        let subject = self.node(subject, &mut of_subject)?;
        let predicate = self.name_or_variable(verb)?;
        let object = self.node(object, &mut of_object)?;
        let reifier = parts.next().and_then(At::first).map(|term| self.term(term)).transpose()?;
        let reifier = reifier.unwrap_or_else(|| BlankNode::default().into());
        let triple = TriplePattern { subject, predicate, object };
        out.push(Link::Triple(triple_of(reifier.clone(), rdf::REIFIES.into_owned(), triple)));
        out.append(&mut of_subject);
        out.append(&mut of_object);
        Ok(reifier)
    }

    /// `<<( ... )>>`.
    pub(super) fn triple_term(&mut self, at: At<'t>) -> Result<TriplePattern> {
        let mut parts = at.children();
        let (Some(subject), Some(verb), Some(object)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Wrong::at(at, "a triple has three parts"));
        };
        let (subject, predicate) = (self.term(subject)?, self.name_or_variable(verb)?);
        Ok(TriplePattern { subject, predicate, object: self.term(object)? })
    }

    /// The triples of a template, which has no paths.
    pub(super) fn template(&mut self, triples: impl Iterator<Item = At<'t>>) -> Result<Vec<TriplePattern>> {
        let triples = triples.collect::<Vec<_>>();
        let mut links = Vec::with_capacity(triples_of(triples.iter().copied()));
        for at in triples {
            self.triples(at, &mut links)?;
        }
        Ok(links.into_iter().filter_map(Link::triple).collect())
    }
}

/// How many objects properties have; notes on them count as such.
fn objects<'t>(properties: impl Iterator<Item = At<'t>>) -> usize {
    properties.map(|property| property.children().skip(1).count()).sum()
}

/// How many triples these are, without those of what is nested in them.
pub(super) fn triples_of<'t>(subjects: impl Iterator<Item = At<'t>>) -> usize {
    subjects.map(|subject| objects(subject.children().skip(1))).sum()
}

/// Triples of a subject and its properties.
fn link(subject: TermPattern, properties: Properties, at: At<'_>, out: &mut Vec<Link>) -> Result<()> {
    for (verb, object) in properties {
        match verb {
            Verb::Variable(variable) => triple(subject.clone(), variable.into(), object, out),
            Verb::Path(path) => along(subject.clone(), path, object, at, out)?,
            Verb::Search(wanted) => {
                let search = Search { subjects: vec![subject.clone()], wanted: *wanted, span: at.span() };
                out.push(Link::Search(Box::new(search)));
            }
        }
    }
    Ok(())
}

fn triple(subject: TermPattern, predicate: NamedNodePattern, object: Object, out: &mut Vec<Link>) {
    let triple = TriplePattern { subject, predicate, object: object.term };
    for reifier in object.reifiers {
        out.push(Link::Triple(triple_of(reifier, rdf::REIFIES.into_owned(), triple.clone())));
    }
    out.push(Link::Triple(triple));
}

/// A path as triples where it is a sequence of properties (SPARQL 1.1 section 18.2.2.4).
fn along(subject: TermPattern, path: Path, object: Object, at: At<'_>, out: &mut Vec<Link>) -> Result<()> {
    let is_simple = matches!(&path, Path::NamedNode(_) | Path::Reverse(_));
    if !is_simple && !object.reifiers.is_empty() {
        let help = "a triple is reified, and a path is none: write the property itself";
        return Err(Wrong::at(at, "an annotation on a path").help(help));
    }
    match path {
        Path::NamedNode(name) => triple(subject, name.into(), object, out),
        Path::Reverse(path) => {
            let turned = Object { term: subject, reifiers: object.reifiers };
            along(object.term, *path, turned, at, out)?;
        }
        Path::Sequence(first, second) => {
            let middle = TermPattern::from(BlankNode::default());
            let end = Object { term: middle.clone(), reifiers: Vec::new() };
            along(subject, *first, end, at, out)?;
            along(middle, *second, object, at, out)?;
        }
        path => out.push(Link::Path { subject, path, object: object.term }),
    }
    Ok(())
}
