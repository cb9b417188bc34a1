//! A guess at the rows of a remote pattern, about whose data nothing is known: by what it says itself.
//!
//! What matters is whether the pattern can be asked for wholly, or only with the bindings that are here: a pattern without any constant but
//! its predicates may be as large as the other database, one with a name in it hardly is.

use lode_rdf::NamedNodeRef;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern};

/// A pattern with no constants but predicates.
const OPEN: f64 = 1_000_000.0;
/// The members of a class.
const CLASS: f64 = 100_000.0;
/// What has a certain value.
const OF_VALUE: f64 = 1_000.0;
/// What is said about one thing.
const OF_SUBJECT: f64 = 100.0;

/// So many rows, roughly.
pub(super) fn guess(pattern: &GraphPattern) -> f64 {
    match pattern {
        GraphPattern::Bgp { patterns } if patterns.is_empty() => 1.0,
        GraphPattern::Bgp { patterns } => patterns
            .iter()
            .map(|triple| {
                let is_type = |name: &NamedNodePattern| matches!(name, NamedNodePattern::NamedNode(iri) if iri.as_ref() == TYPE);
                of_triple(&triple.subject, &triple.object, is_type(&triple.predicate))
            })
            .fold(OPEN, f64::min),
        GraphPattern::Path { subject, object, .. } => of_triple(subject, object, false),
        GraphPattern::Join { left, right } => guess(left).min(guess(right)),
        GraphPattern::Union { left, right } => guess(left) + guess(right),
        GraphPattern::Values { bindings, .. } => bindings.len() as f64,
        GraphPattern::Group { variables, .. } if variables.is_empty() => 1.0,
        GraphPattern::Slice { inner, length, .. } => {
            guess(inner).min(length.map_or(f64::INFINITY, |length| length as f64))
        }
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Lateral { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Group { inner, .. }
        | GraphPattern::Service { inner, .. } => guess(inner),
    }
}

const TYPE: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");

fn of_triple(subject: &TermPattern, object: &TermPattern, is_type: bool) -> f64 {
    let is_constant =
        |term: &TermPattern| matches!(term, TermPattern::NamedNode(_) | TermPattern::Literal(_));
    match (is_constant(subject), is_constant(object)) {
        (true, _) => OF_SUBJECT,
        (false, true) if is_type => CLASS,
        (false, true) => OF_VALUE,
        (false, false) => OPEN,
    }
}
