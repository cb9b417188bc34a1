//! Rules that have code of their own: transitive ones. Applied like others they would find each pair once for each way between its ends.

use crate::update::{QuadTemplate, TermTemplate};
use lode_rdf::{NamedNode, Term, Variable};
use oxrdf::vocab::rdf;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// How a rule is applied.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// By its queries.
    Usual,
    /// `?x P ?y . ?y P ?z` gives `?x P ?z`.
    Transitive(NamedNode),
    /// The same of each property of a class.
    TransitiveOf {
        /// The class.
        class: Term,
    },
}

/// The shape of a rule.
pub(super) fn of(body: &GraphPattern, head: &[QuadTemplate], variables: &[Variable]) -> Shape {
    of_patterns(body, head, variables).unwrap_or(Shape::Usual)
}

fn of_patterns(body: &GraphPattern, head: &[QuadTemplate], variables: &[Variable]) -> Option<Shape> {
    let (GraphPattern::Bgp { patterns }, [head]) = (body, head) else { return None };
    let column = |term: &TermTemplate| match term {
        TermTemplate::Column(column) => variables.get(*column),
        _ => None,
    };
    let (from, to) = (column(&head.triple.subject)?, column(&head.triple.object)?);
    let is_type =
        |pattern: &TriplePattern| pattern.predicate == NamedNodePattern::NamedNode(rdf::TYPE.into());
    let (typed, steps): (Vec<_>, Vec<_>) =
        patterns.iter().partition(|pattern| patterns.len() == 3 && is_type(pattern));
    let [one, two] = steps.as_slice() else { return None };
    let (first, second) = if is_variable(&one.subject, from) { (one, two) } else { (two, one) };
    let TermPattern::Variable(middle) = &first.object else { return None };
    let is_chain = is_variable(&first.subject, from)
        && is_variable(&second.subject, middle)
        && is_variable(&second.object, to)
        && first.predicate == second.predicate
        && from != to
        && from != middle
        && to != middle;
    if !is_chain {
        return None;
    }
    match (&first.predicate, typed.as_slice()) {
        (NamedNodePattern::NamedNode(property), []) => {
            let same = matches!(&head.triple.predicate, TermTemplate::Const(Term::NamedNode(name)) if name == property);
            same.then(|| Shape::Transitive(property.clone()))
        }
        (NamedNodePattern::Variable(property), [typed]) => {
            let TermPattern::NamedNode(class) = &typed.object else { return None };
            let same = column(&head.triple.predicate) == Some(property)
                && is_variable(&typed.subject, property)
                && ![from, to, middle].contains(&property);
            same.then(|| Shape::TransitiveOf { class: class.clone().into() })
        }
        _ => None,
    }
}

fn is_variable(term: &TermPattern, variable: &Variable) -> bool {
    matches!(term, TermPattern::Variable(other) if other == variable)
}
