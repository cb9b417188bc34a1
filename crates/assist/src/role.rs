//! What may stand at a place of a tree.

use crate::schema::TYPE;
use lode_syntax::{At, Node, Tree};

/// What may stand at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    /// The subject of a triple: a variable or a term; a pattern may begin here.
    Subject,
    /// A predicate, or, in a path, a part of one.
    Predicate { in_path: bool },
    /// The object of `a`.
    Class,
    /// Another object, of this predicate.
    Object(Option<String>),
    /// A term of data: no variable.
    Value,
    /// A graph; an IRI where no variable may be.
    Graph { or_variable: bool },
    /// A value in an expression, where aggregates may be or not.
    Expression { aggregates: bool },
    /// A variable that the patterns have.
    Variable,
    /// The resource of a DESCRIBE.
    Resource,
    /// A datatype.
    Datatype,
    /// A name that PREFIX declares.
    PrefixName,
    /// What a prefix stands for.
    PrefixIri(String),
    /// A keyword and nothing else.
    Keyword,
}

/// The nodes from the root to the smallest around a token.
pub(crate) fn path_to<'t>(tree: &'t Tree<'t>, token: usize) -> Vec<At<'t>> {
    let mut path = vec![tree.root()];
    while let Some(last) = path.last() {
        let Some(next) = last.children().find(|child| child.tokens().contains(&token)) else { break };
        path.push(next);
    }
    path
}

/// The role of the last node of a path.
pub(crate) fn role_of(path: &[At<'_>], iri_of: &dyn Fn(&str) -> Option<String>) -> Option<Role> {
    let (leaf, above) = path.split_last()?;
    let parent = above.last()?;
    let place = parent.children().position(|child| child.index() == leaf.index())?;
    Some(match (parent.node(), place) {
        (Node::Triples, 0) | (Node::ReifiedTriple | Node::TripleTerm, 0) => Role::Subject,
        (Node::Property, 0) | (Node::ReifiedTriple | Node::TripleTerm, 1) => {
            Role::Predicate { in_path: false }
        }
        (Node::Property, _) => {
            let verb = parent.first()?;
            let predicate =
                matches!(verb.node(), Node::Iri | Node::Name).then(|| iri_of(verb.text())).flatten();
            let is_class = verb.node() == Node::Type || predicate.as_deref() == Some(TYPE);
            if is_class { Role::Class } else { Role::Object(predicate) }
        }
        (Node::Collection | Node::ReifiedTriple | Node::TripleTerm | Node::Reifier, _) => Role::Object(None),
        (Node::Alternative | Node::Sequence | Node::Inverse | Node::Repeated | Node::Negated, _) => {
            Role::Predicate { in_path: true }
        }
        (Node::Graph | Node::QuadsOfGraph, 0) => Role::Graph { or_variable: true },
        (Node::From | Node::With | Node::Clear | Node::Create | Node::Target, _) => {
            Role::Graph { or_variable: false }
        }
        (Node::Describe, _) => Role::Resource,
        (Node::Row, _) => Role::Value,
        (Node::Values, place) if place > 0 => Role::Value,
        (Node::Selection | Node::Values, _) => Role::Variable,
        (Node::As | Node::Bind, 1) => Role::Variable,
        (Node::Literal, _) => Role::Datatype,
        (Node::Parentheses, _) => role_in_parentheses(above)?,
        (
            Node::Filter
            | Node::Having
            | Node::Order
            | Node::OrderBy
            | Node::GroupBy
            | Node::As
            | Node::Bind
            | Node::Or
            | Node::And
            | Node::Comparison
            | Node::In
            | Node::Sum
            | Node::Product
            | Node::Unary
            | Node::Call
            | Node::IriCall
            | Node::Aggregate,
            _,
        ) => expression(above),
        _ => return None,
    })
}

/// Parentheses are around paths and around expressions.
fn role_in_parentheses(above: &[At<'_>]) -> Option<Role> {
    let around = above.iter().rev().find(|node| node.node() != Node::Parentheses)?;
    Some(match around.node() {
        Node::Property
        | Node::Alternative
        | Node::Sequence
        | Node::Inverse
        | Node::Repeated
        | Node::Negated => Role::Predicate { in_path: true },
        _ => expression(above),
    })
}

fn expression(above: &[At<'_>]) -> Role {
    let nearest = above.iter().rev().map(|node| node.node()).find(|node| {
        matches!(
            node,
            Node::Filter
                | Node::Bind
                | Node::GroupBy
                | Node::Aggregate
                | Node::Selection
                | Node::Having
                | Node::OrderBy
        )
    });
    let aggregates = matches!(nearest, Some(Node::Selection | Node::Having | Node::OrderBy));
    Role::Expression { aggregates }
}
