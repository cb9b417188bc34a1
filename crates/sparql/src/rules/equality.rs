//! The rules of equality among others: `owl:sameAs` is symmetric and transitive, and whoever is the same has the same triples. Where all five are there they are
//! applied together, by groups of equal terms; each alone would find each triple once for each member of a group.

use super::Rule;
use super::shape::Shape;
use crate::update::TermTemplate;
use lode_rdf::{NamedNode, Term};
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

const SAME_AS: &str = "http://www.w3.org/2002/07/owl#sameAs";

/// The places of the rules of equality in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EqualityRules {
    /// All of them, ascending.
    pub all: Vec<usize>,
    /// The one of transitivity, by which equals are found.
    pub transitive: usize,
    /// The one of subjects, by which triples of equals are found.
    pub subject: usize,
}

/// The rules of equality in a list, where all are there.
pub fn equality(rules: &[Rule]) -> Option<EqualityRules> {
    let mut first = [None; Part::COUNT];
    let mut all = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        if let Some(part) = part(rule) {
            first[part as usize].get_or_insert(at);
            all.push(at);
        }
    }
    let has_all = first.iter().all(Option::is_some);
    let (transitive, subject) = (first[Part::Transitive as usize]?, first[Part::Subject as usize]?);
    has_all.then_some(EqualityRules { all, transitive, subject })
}

#[derive(Clone, Copy)]
enum Part {
    Subject,
    Predicate,
    Object,
    Symmetric,
    Transitive,
}

impl Part {
    const COUNT: usize = 5;
    /// By the place of a triple that is replaced.
    const PLACES: [Self; 3] = [Self::Subject, Self::Predicate, Self::Object];
}

fn part(rule: &Rule) -> Option<Part> {
    if let Shape::Transitive(property) = &rule.shape {
        return is_same_as(property).then_some(Part::Transitive);
    }
    let (GraphPattern::Bgp { patterns }, [head]) = (rule.body(), rule.head.as_slice()) else { return None };
    let triple = &head.triple;
    let is_head = |template: &TermTemplate, name: &str| match template {
        TermTemplate::Column(column) => {
            rule.variables.get(*column).is_some_and(|variable| variable.as_str() == name)
        }
        _ => false,
    };
    match patterns.as_slice() {
        [only] => {
            let (a, b) = same_as(only)?;
            let is_constant =
                matches!(&triple.predicate, TermTemplate::Const(Term::NamedNode(name)) if is_same_as(name));
            (is_constant && is_head(&triple.subject, b) && is_head(&triple.object, a))
                .then_some(Part::Symmetric)
        }
        [one, two] => {
            let ((a, b), other) = match (same_as(one), same_as(two)) {
                (Some(ends), None) => (ends, two),
                (None, Some(ends)) => (ends, one),
                _ => return None,
            };
            let names = names(other)?;
            let [s, p, o] = names;
            let at = names.iter().position(|name| *name == a)?;
            let are_distinct = s != p && p != o && s != o && !names.contains(&b);
            let mut made = names;
            made[at] = b;
            let templates = [&triple.subject, &triple.predicate, &triple.object];
            let is_made = templates.into_iter().zip(made).all(|(template, name)| is_head(template, name));
            (are_distinct && is_made).then_some(Part::PLACES[at])
        }
        _ => None,
    }
}

fn is_same_as(name: &NamedNode) -> bool {
    name.as_str() == SAME_AS
}

/// The variables of a pattern of equals.
fn same_as(pattern: &TriplePattern) -> Option<(&str, &str)> {
    let NamedNodePattern::NamedNode(name) = &pattern.predicate else { return None };
    let (a, b) = (variable(&pattern.subject)?, variable(&pattern.object)?);
    (is_same_as(name) && a != b).then_some((a, b))
}

/// The variables of a pattern that has nothing else.
fn names(pattern: &TriplePattern) -> Option<[&str; 3]> {
    let NamedNodePattern::Variable(predicate) = &pattern.predicate else { return None };
    Some([variable(&pattern.subject)?, predicate.as_str(), variable(&pattern.object)?])
}

fn variable(term: &TermPattern) -> Option<&str> {
    match term {
        TermPattern::Variable(name) => Some(name.as_str()),
        _ => None,
    }
}
