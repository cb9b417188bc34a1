//! Which variables are in scope of a pattern (SPARQL 1.1 section 18.2.1), without recursion over it.

use lode_rdf::Variable;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::HashSet;
use std::rc::Rc;

/// Visits the variables in scope, each at least once.
pub(super) fn each<'p>(pattern: &'p GraphPattern, visit: &mut dyn FnMut(&'p Variable)) {
    let mut open = vec![pattern];
    while let Some(pattern) = open.pop() {
        match pattern {
            GraphPattern::Bgp { patterns } => patterns.iter().for_each(|triple| of_triple(triple, visit)),
            GraphPattern::Path { subject, object, .. } => {
                of_term(subject, visit);
                of_term(object, visit);
            }
            GraphPattern::Join { left, right }
            | GraphPattern::LeftJoin { left, right, .. }
            | GraphPattern::Lateral { left, right }
            | GraphPattern::Union { left, right } => open.extend([&**left, &**right]),
            GraphPattern::Graph { name, inner } => {
                of_name(name, visit);
                open.push(inner);
            }
            GraphPattern::Extend { inner, variable, .. } => {
                visit(variable);
                open.push(inner);
            }
            GraphPattern::Minus { left, .. } => open.push(left),
            GraphPattern::Group { variables, aggregates, .. } => {
                variables.iter().chain(aggregates.iter().map(|(variable, _)| variable)).for_each(&mut *visit);
            }
            GraphPattern::Values { variables, .. } | GraphPattern::Project { variables, .. } => {
                variables.iter().for_each(&mut *visit);
            }
            GraphPattern::Service { inner, .. }
            | GraphPattern::Filter { inner, .. }
            | GraphPattern::OrderBy { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => open.push(inner),
            #[expect(
                unreachable_patterns,
                reason = "variants behind features that other crates may switch on"
            )]
            _ => {}
        }
    }
}

/// A variable in scope of `left` to which `right` gives a value, by BIND, AS or VALUES.
pub(super) fn assigned_again<'p>(left: &'p GraphPattern, right: &'p GraphPattern) -> Option<&'p Variable> {
    let mut known = HashSet::new();
    each(left, &mut |variable| {
        known.insert(variable);
    });
    let mut open = vec![(right, Rc::new(known))];
    while let Some((pattern, known)) = open.pop() {
        let is_known = |variable: &&Variable| known.contains(*variable);
        let again = match pattern {
            GraphPattern::Extend { variable, .. } => Some(variable).filter(is_known),
            GraphPattern::Values { variables, .. } => variables.iter().find(is_known),
            GraphPattern::Group { aggregates, .. } => aggregates.iter().map(|(name, _)| name).find(is_known),
            _ => None,
        };
        if again.is_some() {
            return again;
        }
        match pattern {
            GraphPattern::Join { left, right }
            | GraphPattern::LeftJoin { left, right, .. }
            | GraphPattern::Lateral { left, right }
            | GraphPattern::Union { left, right } => {
                open.extend([(&**right, Rc::clone(&known)), (&**left, known)]);
            }
            GraphPattern::Project { inner, variables } | GraphPattern::Group { inner, variables, .. } => {
                let inside = variables.iter().filter(is_known).collect();
                open.push((inner, Rc::new(inside)));
            }
            GraphPattern::Minus { left: inner, .. }
            | GraphPattern::Extend { inner, .. }
            | GraphPattern::Graph { inner, .. }
            | GraphPattern::Service { inner, .. }
            | GraphPattern::Filter { inner, .. }
            | GraphPattern::OrderBy { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => open.push((inner, known)),
            GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
        }
    }
    None
}

fn of_name<'p>(name: &'p NamedNodePattern, visit: &mut dyn FnMut(&'p Variable)) {
    if let NamedNodePattern::Variable(variable) = name {
        visit(variable);
    }
}

fn of_term<'p>(term: &'p TermPattern, visit: &mut dyn FnMut(&'p Variable)) {
    match term {
        TermPattern::Variable(variable) => visit(variable),
        TermPattern::Triple(triple) => of_triple(triple, visit),
        TermPattern::NamedNode(_) | TermPattern::BlankNode(_) | TermPattern::Literal(_) => {}
    }
}

fn of_triple<'p>(triple: &'p TriplePattern, visit: &mut dyn FnMut(&'p Variable)) {
    of_term(&triple.subject, visit);
    of_name(&triple.predicate, visit);
    of_term(&triple.object, visit);
}
