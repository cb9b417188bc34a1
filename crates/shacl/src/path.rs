//! Property paths: from the shapes graph, to SPARQL, and to the structure that a report repeats.

use crate::graph::{ShapesGraph, shown};
use crate::vocabulary::{RDF_FIRST, RDF_REST};
use lode_rdf::{NamedNode, NamedOrBlankNode, Term};
use std::fmt;

/// Paths in paths.
const DEPTH_MAX: usize = 50;
/// Steps of one path.
const STEPS_MAX: usize = 1_000;

/// A property path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Path {
    /// A property.
    Predicate(NamedNode),
    /// Backwards.
    Inverse(Box<Path>),
    /// One after the other.
    Sequence(Vec<Path>),
    /// One or the other.
    Alternative(Vec<Path>),
    /// Any number of times.
    ZeroOrMore(Box<Path>),
    /// At least once.
    OneOrMore(Box<Path>),
    /// At most once.
    ZeroOrOne(Box<Path>),
}

impl Path {
    /// Reads a path, or says what is wrong with it.
    pub(crate) fn read(graph: &ShapesGraph, term: &Term) -> Result<Self, String> {
        Self::read_in(graph, term, 0, &mut 0)
    }

    fn read_in(graph: &ShapesGraph, term: &Term, depth: usize, steps: &mut usize) -> Result<Self, String> {
        *steps += 1;
        if depth > DEPTH_MAX {
            return Err(format!("the path is deeper than {DEPTH_MAX} levels, or contains itself"));
        }
        if *steps > STEPS_MAX {
            return Err(format!("the path has more than {STEPS_MAX} steps"));
        }
        let node = match term {
            Term::NamedNode(name) => return Ok(Self::Predicate(name.clone())),
            Term::BlankNode(node) => NamedOrBlankNode::from(node.clone()),
            other => return Err(format!("{} is no path: name a property", shown(other))),
        };
        let mut members = |head: &Term| -> Result<Vec<Self>, String> {
            let list = graph.list(head)?;
            if list.len() < 2 {
                return Err("a sequence or an alternative of paths has two members at least".into());
            }
            list.into_iter().map(|member| Self::read_in(graph, member, depth + 1, steps)).collect()
        };
        let is_list = graph.values(&node, RDF_FIRST).chain(graph.values(&node, RDF_REST)).next().is_some();
        if is_list {
            return Ok(Self::Sequence(members(term)?));
        }
        if let Some(head) = graph.of(&node, "alternativePath").first() {
            return Ok(Self::Alternative(members(head)?));
        }
        let kinds: [(&str, fn(Box<Self>) -> Self); 4] = [
            ("inversePath", Self::Inverse),
            ("zeroOrMorePath", Self::ZeroOrMore),
            ("oneOrMorePath", Self::OneOrMore),
            ("zeroOrOnePath", Self::ZeroOrOne),
        ];
        for (local, made) in kinds {
            match graph.of(&node, local).as_slice() {
                [] => {}
                [inner] => return Ok(made(Box::new(Self::read_in(graph, inner, depth + 1, steps)?))),
                _ => return Err(format!("sh:{local} has more than one value")),
            }
        }
        Err("the blank node is no path: it is no list, and has none of sh:alternativePath, sh:inversePath, \
             sh:zeroOrMorePath, sh:oneOrMorePath and sh:zeroOrOnePath"
            .into())
    }

    /// Whether a node is a value of itself, even one that is not in the graph: then it must be known before the path is followed.
    pub(crate) fn may_be_empty(&self) -> bool {
        match self {
            Self::Predicate(_) => false,
            Self::Inverse(inner) | Self::OneOrMore(inner) => inner.may_be_empty(),
            Self::Sequence(members) => members.iter().all(Self::may_be_empty),
            Self::Alternative(members) => members.iter().any(Self::may_be_empty),
            Self::ZeroOrMore(_) | Self::ZeroOrOne(_) => true,
        }
    }

    /// Whether each value is there once for each focus node, as triples are.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Self::Predicate(_) => true,
            Self::Inverse(inner) => matches!(**inner, Self::Predicate(_)),
            _ => false,
        }
    }
}

/// As in SPARQL: whatever stands before or behind it.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, members: &[Self], mark: &str| {
            let texts: Vec<String> = members.iter().map(ToString::to_string).collect();
            write!(f, "({})", texts.join(mark))
        };
        match self {
            Self::Predicate(name) => write!(f, "{name}"),
            Self::Inverse(inner) => write!(f, "(^{inner})"),
            Self::Sequence(members) => joined(f, members, "/"),
            Self::Alternative(members) => joined(f, members, "|"),
            Self::ZeroOrMore(inner) => write!(f, "({inner}*)"),
            Self::OneOrMore(inner) => write!(f, "({inner}+)"),
            Self::ZeroOrOne(inner) => write!(f, "({inner}?)"),
        }
    }
}
