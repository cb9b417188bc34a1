//! What the form of a property path tells.

use spargebra::algebra::PropertyPathExpression as PathExpr;

/// Whether a path can match without any triple: then its ends range over all terms of the graph.
pub(super) fn can_be_empty(path: &PathExpr) -> bool {
    match path {
        PathExpr::NamedNode(_) | PathExpr::NegatedPropertySet(_) => false,
        PathExpr::Reverse(p) | PathExpr::OneOrMore(p) => can_be_empty(p),
        PathExpr::Sequence(a, b) => can_be_empty(a) && can_be_empty(b),
        PathExpr::Alternative(a, b) => can_be_empty(a) || can_be_empty(b),
        PathExpr::ZeroOrMore(_) | PathExpr::ZeroOrOne(_) => true,
    }
}

/// Whether a path is taken apart wholly, into joins, unions and scans.
pub(super) fn is_plain(path: &PathExpr) -> bool {
    match path {
        PathExpr::NamedNode(_) | PathExpr::NegatedPropertySet(_) => true,
        PathExpr::Reverse(p) => is_plain(p),
        PathExpr::Sequence(a, b) | PathExpr::Alternative(a, b) => is_plain(a) && is_plain(b),
        PathExpr::ZeroOrMore(_) | PathExpr::OneOrMore(_) | PathExpr::ZeroOrOne(_) => false,
    }
}
