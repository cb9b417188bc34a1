//! The forms of a body in which one of its patterns reads what is new, and nothing else.
//!
//! Each solution that was not there before has at least one triple that is new, so it is a solution of the form for that triple's pattern. Others
//! read all triples, the new ones among them: a solution with several new triples is found several times, which costs a little and is no mistake.

use super::atom::Atom;
use crate::update::{QuadTemplate, TermTemplate};
use lode_rdf::{NamedNode, Term, Variable};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// One form.
#[derive(Debug, Clone)]
pub struct Delta {
    /// Which new triples it is about: without any it finds nothing.
    pub atom: Atom,
    /// Its query.
    pub query: Query,
}

/// The forms of a pattern; `new` is the graph of what is new.
pub(super) fn forms(pattern: &GraphPattern, new: &NamedNode) -> Vec<(Atom, GraphPattern)> {
    let inside = |inner: &GraphPattern, wrap: &dyn Fn(Box<GraphPattern>) -> GraphPattern| {
        let forms = forms(inner, new).into_iter();
        forms.map(|(atom, form)| (atom, wrap(Box::new(form)))).collect()
    };
    match pattern {
        GraphPattern::Bgp { patterns } => {
            (0..patterns.len()).filter_map(|at| confined(patterns, at, new)).collect()
        }
        GraphPattern::Join { left, right } => {
            let mut all: Vec<_> = inside(left, &|left| GraphPattern::Join { left, right: right.clone() });
            all.extend::<Vec<_>>(inside(right, &|right| GraphPattern::Join { left: left.clone(), right }));
            all
        }
        GraphPattern::Union { left, right } => {
            let mut all = forms(left, new);
            all.extend(forms(right, new));
            all
        }
        GraphPattern::Filter { expr, inner } => {
            inside(inner, &|inner| GraphPattern::Filter { expr: expr.clone(), inner })
        }
        GraphPattern::Extend { inner, variable, expression } => inside(inner, &|inner| {
            GraphPattern::Extend { inner, variable: variable.clone(), expression: expression.clone() }
        }),
        GraphPattern::Project { inner, variables } => {
            inside(inner, &|inner| GraphPattern::Project { inner, variables: variables.clone() })
        }
        GraphPattern::Distinct { inner } => inside(inner, &|inner| GraphPattern::Distinct { inner }),
        GraphPattern::Reduced { inner } => inside(inner, &|inner| GraphPattern::Reduced { inner }),
        GraphPattern::Minus { left, right } => {
            inside(left, &|left| GraphPattern::Minus { left, right: right.clone() })
        }
        GraphPattern::Lateral { left, right } => {
            inside(left, &|left| GraphPattern::Lateral { left, right: right.clone() })
        }
        GraphPattern::LeftJoin { left, right, expression } => inside(left, &|left| GraphPattern::LeftJoin {
            left,
            right: right.clone(),
            expression: expression.clone(),
        }),
        GraphPattern::Path { .. }
        | GraphPattern::Graph { .. }
        | GraphPattern::Values { .. }
        | GraphPattern::Group { .. }
        | GraphPattern::OrderBy { .. }
        | GraphPattern::Slice { .. }
        | GraphPattern::Service { .. } => Vec::new(),
    }
}

fn confined(patterns: &[TriplePattern], at: usize, new: &NamedNode) -> Option<(Atom, GraphPattern)> {
    let one = patterns.get(at)?;
    let graph = in_graph(vec![one.clone()], new);
    let others: Vec<_> = patterns
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .map(|(_, pattern)| pattern.clone())
        .collect();
    let form = match others.is_empty() {
        true => graph,
        false => GraphPattern::Join {
            left: Box::new(graph),
            right: Box::new(GraphPattern::Bgp { patterns: others }),
        },
    };
    Some((Atom::of_pattern(one), form))
}

/// The pattern that a triple of a head is made by.
pub(super) fn pattern_of(quad: &QuadTemplate, variables: &[Variable]) -> Option<TriplePattern> {
    let term = |term: &TermTemplate| match term {
        TermTemplate::Column(column) => variables.get(*column).cloned().map(TermPattern::Variable),
        TermTemplate::Const(Term::NamedNode(name)) => Some(name.clone().into()),
        TermTemplate::Const(Term::Literal(literal)) => Some(literal.clone().into()),
        TermTemplate::Const(_) | TermTemplate::Blank(_) | TermTemplate::Triple(_) => None,
    };
    let triple = &quad.triple;
    let predicate = match term(&triple.predicate)? {
        TermPattern::NamedNode(name) => NamedNodePattern::NamedNode(name),
        TermPattern::Variable(name) => NamedNodePattern::Variable(name),
        _ => return None,
    };
    Some(TriplePattern { subject: term(&triple.subject)?, predicate, object: term(&triple.object)? })
}

/// Patterns in the graph of what is new.
pub(super) fn in_graph(patterns: Vec<TriplePattern>, new: &NamedNode) -> GraphPattern {
    GraphPattern::Graph {
        name: NamedNodePattern::NamedNode(new.clone()),
        inner: Box::new(GraphPattern::Bgp { patterns }),
    }
}

/// Puts variables in the place of blank nodes: in a basic graph pattern they mean the same, and it is going to be two of them.
pub(super) fn without_blank_nodes(pattern: &mut GraphPattern) {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.iter_mut().for_each(rename_in_triple),
        GraphPattern::Path { subject, object, .. } => {
            rename(subject);
            rename(object);
        }
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::LeftJoin { left, right, .. } => {
            without_blank_nodes(left);
            without_blank_nodes(right);
        }
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner } => without_blank_nodes(inner),
        // Not taken apart.
        GraphPattern::Group { .. }
        | GraphPattern::OrderBy { .. }
        | GraphPattern::Slice { .. }
        | GraphPattern::Values { .. }
        | GraphPattern::Service { .. } => {}
    }
}

fn rename_in_triple(triple: &mut TriplePattern) {
    rename(&mut triple.subject);
    rename(&mut triple.object);
}

fn rename(term: &mut TermPattern) {
    match term {
        // No text has such a name.
        TermPattern::BlankNode(node) => {
            *term = TermPattern::Variable(Variable::new_unchecked(format!("_:{}", node.as_str())));
        }
        TermPattern::Triple(triple) => rename_in_triple(triple),
        TermPattern::NamedNode(_) | TermPattern::Literal(_) | TermPattern::Variable(_) => {}
    }
}
