//! The shapes graph: triples in memory, looked up by subject.

use crate::error::ShaclError;
use crate::places::Places;
use crate::vocabulary::{OWL_IMPORTS, RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, RDFS_SUB_CLASS_OF, sh};
use lode_engine::{MemoryBudget, Reservation};
use lode_rdf::parse::{ParseOptions, parse_with_lines};
use lode_rdf::{
    BlankNode, NamedNode, NamedNodeRef, NamedOrBlankNode, QuadRef, RdfFormat, Term, TermRef, Triple,
    TripleRef,
};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// More bytes of terms than this are refused: shapes are in memory, outside of the budgets of queries.
const BYTES_MAX: usize = 64 << 20;
/// What a triple takes beside its terms' text, about.
const BYTES_PER_TRIPLE: usize = 100;
/// What the shapes and the queries that are made of a graph take beside it, for each of its bytes, about (measured with 5 MB of small shapes).
const MEMORY_PER_BYTE: usize = 5;
/// A budget is asked for so much at once.
const RESERVED_BYTES: usize = 64 << 10;

/// The triples of one or more documents, or of a graph.
#[derive(Debug, Default)]
pub struct ShapesGraph {
    by_subject: HashMap<NamedOrBlankNode, Vec<(NamedNode, Term)>>,
    /// All subjects, as they came.
    subjects: Vec<NamedOrBlankNode>,
    places: Places,
    bytes: usize,
    /// For the graph and for what is made of it.
    memory: Option<Reservation>,
}

impl ShapesGraph {
    /// An empty graph whose triples, and the shapes and queries that are made of them, are counted in a budget.
    pub fn within(budget: &MemoryBudget) -> Self {
        Self { memory: Some(budget.reserve_empty()), ..Self::default() }
    }

    /// Where what is said of which node, for who keeps what was made of the graph.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// What is counted, for who keeps what was made of the graph.
    pub(crate) fn into_parts(self) -> (Places, Option<Reservation>) {
        (self.places, self.memory)
    }

    /// Adds the triples of a document. Blank nodes of different documents are different; in formats with graphs, all graphs count.
    ///
    /// # Errors
    /// [`ShaclError::Document`] where the document is not what its format allows; else as [`Self::insert`].
    pub fn add_document(
        &mut self,
        name: &str,
        format: RdfFormat,
        text: &[u8],
        options: &ParseOptions,
    ) -> Result<(), ShaclError> {
        let number = self.places.begin(name);
        let mut inserted = Ok(());
        parse_with_lines(format, text, options, &mut |quad: QuadRef<'_>, line| {
            let triple = in_document(quad, number);
            self.places.note(&triple.subject, number, line);
            inserted = self.insert(triple);
            if inserted.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .map_err(|error| ShaclError::Document { document: name.to_owned(), message: error.to_string() })?;
        inserted
    }

    /// Adds a triple as it is.
    ///
    /// # Errors
    /// [`ShaclError::TooLarge`] where the graph becomes too large, [`ShaclError::Memory`] where the budget has no memory for it.
    pub fn insert(&mut self, triple: Triple) -> Result<(), ShaclError> {
        self.bytes += BYTES_PER_TRIPLE + triple.predicate.as_str().len() + text_bytes(&triple.object);
        if self.bytes > BYTES_MAX {
            return Err(too_large());
        }
        let taken = self.bytes * MEMORY_PER_BYTE;
        if let Some(memory) = self.memory.as_mut().filter(|memory| memory.bytes() < taken) {
            let more = taken - memory.bytes() + RESERVED_BYTES;
            memory.grow(more)?;
        }
        let Self { by_subject, subjects, .. } = self;
        let said = by_subject.entry(triple.subject).or_insert_with_key(|subject| {
            subjects.push(subject.clone());
            Vec::new()
        });
        // Graphs are sets; lists of what one subject says are short, but for hostile ones.
        let is_new = said.len() > 1_000
            || said
                .iter()
                .all(|(predicate, object)| (predicate, object) != (&triple.predicate, &triple.object));
        if is_new {
            said.push((triple.predicate, triple.object));
        }
        Ok(())
    }

    /// All triples, as they came, those of a subject together.
    pub fn triples(&self) -> impl Iterator<Item = TripleRef<'_>> {
        self.subjects.iter().flat_map(|subject| {
            let said = self.said(subject).iter();
            said.map(move |(predicate, object)| TripleRef::new(subject, predicate, object))
        })
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    /// All subjects, as they came.
    pub(crate) fn subjects(&self) -> &[NamedOrBlankNode] {
        &self.subjects
    }

    /// What a subject says.
    pub(crate) fn said(&self, subject: &NamedOrBlankNode) -> &[(NamedNode, Term)] {
        self.by_subject.get(subject).map_or(&[], Vec::as_slice)
    }

    /// The values of a property.
    pub(crate) fn values<'g>(
        &'g self,
        subject: &NamedOrBlankNode,
        property: NamedNodeRef<'_>,
    ) -> impl Iterator<Item = &'g Term> {
        self.said(subject).iter().filter(move |(named, _)| named.as_ref() == property).map(|(_, value)| value)
    }

    /// The values of a property of SHACL.
    pub(crate) fn of(&self, subject: &NamedOrBlankNode, local: &str) -> Vec<&Term> {
        let property = sh(local);
        self.values(subject, property.as_ref()).collect()
    }

    /// Whether a subject has a type, or one below it.
    pub(crate) fn is_a(&self, subject: &NamedOrBlankNode, class: NamedNodeRef<'_>) -> bool {
        let class: Term = class.into_owned().into();
        let mut seen = HashSet::new();
        let mut open: Vec<&Term> = self.values(subject, RDF_TYPE).collect();
        while let Some(found) = open.pop() {
            if *found == class {
                return true;
            }
            if let Some(node) = as_node(found)
                && seen.insert(found)
            {
                open.extend(self.values(&node, RDFS_SUB_CLASS_OF));
            }
        }
        false
    }

    /// What subjects import (`owl:imports`) of which nothing is said here.
    pub(crate) fn missing_imports(&self) -> impl Iterator<Item = &Term> {
        let imported = self.subjects.iter().flat_map(|subject| self.values(subject, OWL_IMPORTS));
        let is_known = |name: &str| sh("").as_str().trim_end_matches('#') == name.trim_end_matches('#');
        imported.filter(move |value| match value {
            Term::NamedNode(name) if is_known(name.as_str()) => false,
            value => as_node(value).is_none_or(|node| self.said(&node).is_empty()),
        })
    }

    /// The members of a list, or what is wrong with it.
    pub(crate) fn list(&self, head: &Term) -> Result<Vec<&Term>, String> {
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        let mut at = head.clone();
        while at.as_ref() != TermRef::from(RDF_NIL) {
            let node = as_node(&at).filter(|node| !self.said(node).is_empty());
            let Some(node) = node else {
                return Err(format!("{} is no list: write ( ... )", shown(&at)));
            };
            let first: Vec<&Term> = self.values(&node, RDF_FIRST).collect();
            let rest: Vec<&Term> = self.values(&node, RDF_REST).collect();
            let ([first], [rest]) = (first.as_slice(), rest.as_slice()) else {
                return Err("a member of the list does not have one rdf:first and one rdf:rest".into());
            };
            members.push(*first);
            if !seen.insert(node) {
                return Err("the list has no end".into());
            }
            at = (*rest).clone();
        }
        Ok(members)
    }
}

/// A term as a subject, if it can be one.
pub(crate) fn as_node(term: &Term) -> Option<NamedOrBlankNode> {
    match term {
        Term::NamedNode(name) => Some(name.clone().into()),
        Term::BlankNode(node) => Some(node.clone().into()),
        _ => None,
    }
}

/// A term for messages.
pub(crate) fn shown(term: &Term) -> String {
    term.to_string()
}

fn too_large() -> ShaclError {
    ShaclError::TooLarge(format!(
        "the shapes graph takes more than {} MiB of memory: are these shapes, and no data?",
        BYTES_MAX >> 20
    ))
}

fn text_bytes(term: &Term) -> usize {
    match term {
        Term::NamedNode(name) => name.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len() + literal.datatype().as_str().len(),
        Term::Triple(_) => BYTES_PER_TRIPLE * 4,
    }
}

/// A triple whose blank nodes are those of a document.
fn in_document(quad: QuadRef<'_>, document: usize) -> Triple {
    let node = |node: BlankNode| match document {
        0 => node,
        _ => BlankNode::new_unchecked(format!("{}d{document}", node.as_str())),
    };
    let mut triple = quad.into_owned();
    if let NamedOrBlankNode::BlankNode(subject) = triple.subject {
        triple.subject = node(subject).into();
    }
    if let Term::BlankNode(object) = triple.object {
        triple.object = node(object).into();
    }
    Triple { subject: triple.subject, predicate: triple.predicate, object: triple.object }
}
