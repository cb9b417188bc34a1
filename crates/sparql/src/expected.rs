//! Tells [`Statistics`] that are far away what the planner will ask one after the other: constants of a query before it is translated, and the rows of its
//! patterns before they are counted.

use crate::cardinality;
use crate::logical::{Logical, LogicalOp};
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use spargebra::algebra::{GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// Of queries with more constants, or patterns, the others are asked as they come.
const MOST: usize = 256;

/// Tells which constants a pattern has.
pub(crate) fn terms(pattern: &GraphPattern, stats: &dyn Statistics) {
    if stats.is_far() {
        let mut found = Vec::new();
        of_pattern(pattern, &mut found);
        stats.expect_terms(&found);
    }
}

/// Tells which rows will be counted.
pub(crate) fn rows(logical: &Logical, stats: &dyn Statistics) {
    if stats.is_far() {
        let mut found = Vec::new();
        of_logical(logical, &mut found);
        stats.expect_rows(&found);
    }
}

fn of_logical(logical: &Logical, found: &mut Vec<(Order, Vec<ValueId>)>) {
    if let LogicalOp::Scan(pattern) = &logical.op {
        for prefix in cardinality::counted(pattern) {
            if found.len() < MOST && !found.contains(&prefix) {
                found.push(prefix);
            }
        }
    }
    logical.inputs().into_iter().for_each(|input| of_logical(input, found));
}

fn of_pattern(pattern: &GraphPattern, found: &mut Vec<Term>) {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.iter().for_each(|pattern| of_triple(pattern, found)),
        GraphPattern::Path { subject, path, object } => {
            [subject, object].into_iter().for_each(|term| of_term(term, found));
            of_path(path, found);
        }
        GraphPattern::Join { left, right }
        | GraphPattern::LeftJoin { left, right, .. }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            of_pattern(left, found);
            of_pattern(right, found);
        }
        GraphPattern::Graph { name, inner } => {
            of_name(name, found);
            of_pattern(inner, found);
        }
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Group { inner, .. } => of_pattern(inner, found),
        // Values are not looked up when they are planned, and services are asked what they are.
        GraphPattern::Values { .. } | GraphPattern::Service { .. } => {}
        #[expect(unreachable_patterns, reason = "variants behind features that other crates may switch on")]
        _ => {}
    }
}

fn of_triple(pattern: &TriplePattern, found: &mut Vec<Term>) {
    of_term(&pattern.subject, found);
    of_name(&pattern.predicate, found);
    of_term(&pattern.object, found);
}

fn of_term(term: &TermPattern, found: &mut Vec<Term>) {
    match term {
        TermPattern::NamedNode(iri) => push(iri.clone().into(), found),
        TermPattern::Literal(literal) => push(literal.clone().into(), found),
        TermPattern::Triple(triple) => of_triple(triple, found),
        TermPattern::BlankNode(_) | TermPattern::Variable(_) => {}
    }
}

fn of_name(name: &NamedNodePattern, found: &mut Vec<Term>) {
    if let NamedNodePattern::NamedNode(iri) = name {
        push(iri.clone().into(), found);
    }
}

fn of_path(path: &PropertyPathExpression, found: &mut Vec<Term>) {
    match path {
        PropertyPathExpression::NamedNode(iri) => push(iri.clone().into(), found),
        PropertyPathExpression::Reverse(inner)
        | PropertyPathExpression::ZeroOrMore(inner)
        | PropertyPathExpression::OneOrMore(inner)
        | PropertyPathExpression::ZeroOrOne(inner) => of_path(inner, found),
        PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => {
            of_path(a, found);
            of_path(b, found);
        }
        PropertyPathExpression::NegatedPropertySet(iris) => {
            iris.iter().for_each(|iri| push(iri.clone().into(), found));
        }
    }
}

fn push(term: Term, found: &mut Vec<Term>) {
    if found.len() < MOST && !found.contains(&term) {
        found.push(term);
    }
}
