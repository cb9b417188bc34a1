//! Arguments of calls that can never be right, as far as a query tells: constants, and variables that are resources wherever they have a value.

use super::Argument;
use super::shown::shown;
use crate::stack;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, Variable};

/// What a function is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given<'a> {
    /// A literal: its text and its datatype, `rdf:langString` of one with a language.
    Literal(&'a str, &'a str),
    /// An IRI.
    Iri(&'a str),
    /// An IRI or a blank node.
    Resource,
}

/// What an argument is, if that is known: of a variable that it may be no literal.
pub(super) fn given(argument: &Expression) -> Option<Given<'_>> {
    match argument {
        Expression::Literal(literal) => Some(Given::Literal(literal.value(), literal.datatype().as_str())),
        Expression::NamedNode(iri) => Some(Given::Iri(iri.as_str())),
        Expression::Variable(_) => Some(Given::Resource),
        _ => None,
    }
}

/// How such an argument is shown.
pub(super) fn shown_argument(argument: &Expression) -> Option<Argument> {
    match argument {
        Expression::Literal(literal) => Some(Argument::Text(shown(literal.value()))),
        Expression::NamedNode(iri) => Some(Argument::Iri(shown(iri.as_str()))),
        Expression::Variable(variable) => Some(Argument::Variable(shown(variable.as_str()))),
        _ => None,
    }
}

/// Whether a variable has a value in each solution of a pattern, and never a literal: it is the subject of a triple.
pub(super) fn is_resource(pattern: &GraphPattern, variable: &Variable) -> bool {
    stack::room(|| match pattern {
        GraphPattern::Bgp { patterns } => patterns.iter().any(|triple| {
            matches!(&triple.subject, TermPattern::Variable(subject) if subject == variable)
                || matches!(&triple.predicate, NamedNodePattern::Variable(property) if property == variable)
        }),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            is_resource(left, variable) || is_resource(right, variable)
        }
        GraphPattern::Union { left, right } => is_resource(left, variable) && is_resource(right, variable),
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => is_resource(inner, variable),
        GraphPattern::Project { inner, variables } => {
            variables.contains(variable) && is_resource(inner, variable)
        }
        // Paths of no step have literals at both ends.
        _ => false,
    })
}
