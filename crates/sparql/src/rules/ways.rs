//! The ways in which the body of a rule can hold, each with the triples that it takes: what explanations are made of.
//!
//! UNION and alternatives of paths are taken apart, sequences of paths are patterns with a variable between them. What cannot be taken apart (negation, aggregates,
//! LIMIT) is asked as it is, and told in words.

use super::atom::AUXILIARY;
use crate::translate::variables;
use oxiri_of_oxttl::Iri;
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern, PropertyPathExpression as Path};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern, Variable};
use std::collections::BTreeSet;

/// A body is taken apart into so many ways at most; one with more is asked as it is.
const WAYS_MAX: usize = 64;

/// One way in which a body holds.
#[derive(Debug, Clone)]
pub struct Way {
    /// What it takes.
    pub premises: Vec<Premise>,
    /// What else must be so, as SPARQL has it.
    pub conditions: Vec<String>,
    /// What finds its solutions. Patterns with predicates that sets of rules have for themselves are premises only: nothing of them is stored.
    pattern: GraphPattern,
    base_iri: Option<Iri<String>>,
}

/// Triples that a solution has read.
#[derive(Debug, Clone, PartialEq)]
pub struct Premise {
    /// The named graph that is asked, if one is.
    pub graph: Option<NamedNodePattern>,
    /// What is asked there.
    pub reads: PremiseReads,
}

/// One triple, or the way between two terms.
#[derive(Debug, Clone, PartialEq)]
pub enum PremiseReads {
    /// One.
    Triple(TriplePattern),
    /// Any number.
    Path {
        /// Where it begins.
        subject: TermPattern,
        /// Its steps.
        path: Path,
        /// Where it ends.
        object: TermPattern,
    },
}

impl Way {
    /// Whether each solution has a value of this variable that its triples have, so that a term may stand in its place. Others are computed, or may be missing.
    pub fn reads(&self, name: &str) -> bool {
        let is =
            |term: &TermPattern| matches!(term, TermPattern::Variable(variable) if variable.as_str() == name);
        let is_name = |term: &NamedNodePattern| matches!(term, NamedNodePattern::Variable(variable) if variable.as_str() == name);
        self.premises.iter().any(|premise| {
            premise.graph.as_ref().is_some_and(is_name)
                || match &premise.reads {
                    PremiseReads::Triple(triple) => {
                        is(&triple.subject) || is_name(&triple.predicate) || is(&triple.object)
                    }
                    PremiseReads::Path { subject, object, .. } => is(subject) || is(object),
                }
        })
    }

    /// What finds so many of its solutions; its columns are all variables. Pairs of variables must have the same value.
    pub fn query(&self, limit: usize, same: &[(String, String)]) -> Query {
        ask(with_same(self.pattern.clone(), same), limit, self.base_iri.clone())
    }

    /// What finds solutions of all but one premise, which must be a triple.
    pub fn query_without(&self, premise: usize, limit: usize, same: &[(String, String)]) -> Option<Query> {
        let PremiseReads::Triple(triple) = &self.premises.get(premise)?.reads else { return None };
        let mut pattern = self.pattern.clone();
        remove(&mut pattern, triple).then(|| ask(with_same(pattern, same), limit, self.base_iri.clone()))
    }
}

fn with_same(pattern: GraphPattern, same: &[(String, String)]) -> GraphPattern {
    let variable = |name: &str| Box::new(Expression::Variable(Variable::new_unchecked(name)));
    same.iter().fold(pattern, |inner, (one, other)| GraphPattern::Filter {
        expr: Expression::SameTerm(variable(one), variable(other)),
        inner: Box::new(inner),
    })
}

fn ask(pattern: GraphPattern, limit: usize, base_iri: Option<Iri<String>>) -> Query {
    let pattern = GraphPattern::Slice { inner: Box::new(pattern), start: 0, length: Some(limit) };
    Query::Ask { dataset: None, pattern, base_iri }
}

/// The ways of a body.
pub(super) fn of(body: &GraphPattern, head: &[Variable], base_iri: Option<&Iri<String>>) -> Vec<Way> {
    let outside = head.iter().map(|variable| variable.as_str().to_owned()).collect();
    let parts = Walk::default().parts(body, None, &outside);
    let parts = match parts.len() <= WAYS_MAX {
        true => parts,
        false => vec![Part::as_it_is(body)],
    };
    let way = |part: Part| {
        let Part { pattern, premises, conditions } = part;
        Way { premises, conditions, pattern, base_iri: base_iri.cloned() }
    };
    parts.into_iter().map(way).collect()
}

/// A way of a part of a body.
#[derive(Clone)]
struct Part {
    pattern: GraphPattern,
    premises: Vec<Premise>,
    conditions: Vec<String>,
}

impl Part {
    fn of(pattern: GraphPattern) -> Self {
        Self { pattern, premises: Vec::new(), conditions: Vec::new() }
    }

    /// What is not taken apart.
    fn as_it_is(pattern: &GraphPattern) -> Self {
        Self { conditions: vec![in_words(pattern)], ..Self::of(pattern.clone()) }
    }

    fn reading(pattern: GraphPattern, graph: Option<&NamedNodePattern>, reads: PremiseReads) -> Self {
        Self { premises: vec![Premise { graph: graph.cloned(), reads }], ..Self::of(pattern) }
    }

    fn wrapped(self, wrap: &dyn Fn(Box<GraphPattern>) -> GraphPattern) -> Self {
        Self { pattern: wrap(Box::new(self.pattern)), ..self }
    }

    fn with_condition(mut self, condition: String) -> Self {
        self.conditions.push(condition);
        self
    }

    fn joined(&self, other: &Self) -> Self {
        let (left, right) = (Box::new(self.pattern.clone()), Box::new(other.pattern.clone()));
        Self {
            pattern: GraphPattern::Join { left, right },
            premises: [&self.premises[..], &other.premises[..]].concat(),
            conditions: [&self.conditions[..], &other.conditions[..]].concat(),
        }
    }
}

#[derive(Default)]
struct Walk {
    fresh: usize,
}

impl Walk {
    /// The ways of a pattern in a graph; `outside`: names that other parts have.
    fn parts(
        &mut self,
        pattern: &GraphPattern,
        graph: Option<&NamedNodePattern>,
        outside: &BTreeSet<String>,
    ) -> Vec<Part> {
        match pattern {
            GraphPattern::Bgp { patterns } => vec![triples(patterns, graph)],
            GraphPattern::Path { subject, path, object } => self.path((subject, path, object), graph),
            GraphPattern::Join { left, right } => {
                let lefts = self.parts(left, graph, &with_names(outside, right));
                let rights = self.parts(right, graph, &with_names(outside, left));
                product(&lefts, &rights)
            }
            GraphPattern::Union { left, right } => {
                let mut all = self.parts(left, graph, outside);
                all.extend(self.parts(right, graph, outside));
                all
            }
            GraphPattern::Filter { .. }
            | GraphPattern::Extend { .. }
            | GraphPattern::Minus { .. }
            | GraphPattern::LeftJoin { .. }
            | GraphPattern::Lateral { .. } => self.narrowed(pattern, graph, outside),
            GraphPattern::Graph { name, inner } => {
                let mut names = outside.clone();
                if let NamedNodePattern::Variable(variable) = name {
                    names.insert(variable.as_str().to_owned());
                }
                self.inside(inner, Some(name), &names, None, &|inner| GraphPattern::Graph {
                    name: name.clone(),
                    inner,
                })
            }
            GraphPattern::Project { inner, variables: shown } => {
                let hidden =
                    names_of(inner).into_iter().filter(|name| !shown.iter().any(|v| v.as_str() == name));
                // A name that is another variable elsewhere stays inside.
                match hidden.into_iter().any(|name| outside.contains(&name)) {
                    true => vec![Part::as_it_is(pattern)],
                    false => self.parts(inner, graph, outside),
                }
            }
            GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } => {
                self.parts(inner, graph, outside)
            }
            GraphPattern::Values { .. } => vec![Part::of(pattern.clone())],
            GraphPattern::Group { .. }
            | GraphPattern::OrderBy { .. }
            | GraphPattern::Slice { .. }
            | GraphPattern::Service { .. } => vec![Part::as_it_is(pattern)],
        }
    }

    /// The ways of a pattern with something about its solutions, which stays as it is and is told in words.
    fn narrowed(
        &mut self,
        pattern: &GraphPattern,
        graph: Option<&NamedNodePattern>,
        outside: &BTreeSet<String>,
    ) -> Vec<Part> {
        match pattern {
            GraphPattern::Filter { expr, inner } => {
                let names = with_names(outside, &GraphPattern::Filter { expr: expr.clone(), inner: unit() });
                self.inside(inner, graph, &names, Some(format!("FILTER({expr})")), &|inner| {
                    GraphPattern::Filter { expr: expr.clone(), inner }
                })
            }
            GraphPattern::Extend { inner, variable, expression } => {
                let own = GraphPattern::Extend {
                    inner: unit(),
                    variable: variable.clone(),
                    expression: expression.clone(),
                };
                self.inside(inner, graph, &with_names(outside, &own), None, &|inner| GraphPattern::Extend {
                    inner,
                    variable: variable.clone(),
                    expression: expression.clone(),
                })
            }
            GraphPattern::Minus { left, right } => {
                let told = format!("MINUS {}", in_words(right));
                self.inside(left, graph, &with_names(outside, right), Some(told), &|left| {
                    GraphPattern::Minus { left, right: right.clone() }
                })
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                let told = format!("OPTIONAL {}", in_words(right));
                let (right_too, expression_too) = (right.clone(), expression.clone());
                let own =
                    GraphPattern::LeftJoin { left: unit(), right: right_too, expression: expression_too };
                self.inside(left, graph, &with_names(outside, &own), Some(told), &|left| {
                    GraphPattern::LeftJoin { left, right: right.clone(), expression: expression.clone() }
                })
            }
            GraphPattern::Lateral { left, right } => {
                let told = format!("LATERAL {}", in_words(right));
                self.inside(left, graph, &with_names(outside, right), Some(told), &|left| {
                    GraphPattern::Lateral { left, right: right.clone() }
                })
            }
            other => vec![Part::as_it_is(other)],
        }
    }

    fn inside(
        &mut self,
        inner: &GraphPattern,
        graph: Option<&NamedNodePattern>,
        outside: &BTreeSet<String>,
        told: Option<String>,
        wrap: &dyn Fn(Box<GraphPattern>) -> GraphPattern,
    ) -> Vec<Part> {
        let parts = self.parts(inner, graph, outside).into_iter().map(|part| part.wrapped(wrap));
        parts
            .map(|part| match &told {
                Some(told) => part.with_condition(told.clone()),
                None => part,
            })
            .collect()
    }

    fn path(
        &mut self,
        (subject, path, object): (&TermPattern, &Path, &TermPattern),
        graph: Option<&NamedNodePattern>,
    ) -> Vec<Part> {
        match path {
            Path::NamedNode(name) => {
                let triple = TriplePattern {
                    subject: subject.clone(),
                    predicate: name.clone().into(),
                    object: object.clone(),
                };
                vec![triples(&[triple], graph)]
            }
            Path::Reverse(inner) => self.path((object, inner, subject), graph),
            Path::Sequence(first, second) => {
                self.fresh += 1;
                // No text has such a name.
                let middle = Variable::new_unchecked(format!(".step{}", self.fresh)).into();
                let firsts = self.path((subject, first, &middle), graph);
                product(&firsts, &self.path((&middle, second, object), graph))
            }
            Path::Alternative(one, other) => {
                let mut all = self.path((subject, one, object), graph);
                all.extend(self.path((subject, other, object), graph));
                all
            }
            Path::ZeroOrMore(_) | Path::OneOrMore(_) | Path::ZeroOrOne(_) | Path::NegatedPropertySet(_) => {
                let (subject, path, object) = (subject.clone(), path.clone(), object.clone());
                let pattern = GraphPattern::Path {
                    subject: subject.clone(),
                    path: path.clone(),
                    object: object.clone(),
                };
                vec![Part::reading(pattern, graph, PremiseReads::Path { subject, path, object })]
            }
        }
    }
}

fn triples(patterns: &[TriplePattern], graph: Option<&NamedNodePattern>) -> Part {
    let is_stored = |triple: &&TriplePattern| match &triple.predicate {
        NamedNodePattern::NamedNode(name) => !name.as_str().starts_with(AUXILIARY),
        NamedNodePattern::Variable(_) => true,
    };
    let stored = patterns.iter().filter(is_stored).cloned().collect();
    let premise = |triple: &TriplePattern| Premise {
        graph: graph.cloned(),
        reads: PremiseReads::Triple(triple.clone()),
    };
    let premises = patterns.iter().map(premise).collect();
    Part { premises, ..Part::of(GraphPattern::Bgp { patterns: stored }) }
}

/// Each of some ways with each of others; where they are too many, too many come out, and not all.
fn product(lefts: &[Part], rights: &[Part]) -> Vec<Part> {
    let pairs = lefts.iter().flat_map(|left| rights.iter().map(move |right| left.joined(right)));
    pairs.take(WAYS_MAX + 1).collect()
}

fn unit() -> Box<GraphPattern> {
    Box::new(GraphPattern::Bgp { patterns: Vec::new() })
}

fn names_of(pattern: &GraphPattern) -> BTreeSet<String> {
    variables(&Query::Ask { dataset: None, pattern: pattern.clone(), base_iri: None })
}

fn with_names(outside: &BTreeSet<String>, pattern: &GraphPattern) -> BTreeSet<String> {
    outside.union(&names_of(pattern)).cloned().collect()
}

fn in_words(pattern: &GraphPattern) -> String {
    format!("{{ {pattern} }}")
}

/// Takes a triple out of the patterns that are joined; whether it was there.
fn remove(pattern: &mut GraphPattern, triple: &TriplePattern) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            let before = patterns.len();
            patterns.retain(|one| one != triple);
            patterns.len() < before
        }
        GraphPattern::Join { left, right } => remove(left, triple) || remove(right, triple),
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Graph { inner, .. } => remove(inner, triple),
        GraphPattern::Minus { left, .. } | GraphPattern::Lateral { left, .. } => remove(left, triple),
        GraphPattern::LeftJoin { left, .. } => remove(left, triple),
        _ => false,
    }
}
