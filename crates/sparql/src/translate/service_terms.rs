//! Terms in the place of variables, in the body of a SERVICE that stands in an EXISTS (SPARQL 1.1 section 18.6, `substitute`).
//!
//! What is sent has no row around it, so the values must be in the text. Inline data before the body would not do: a MINUS would share
//! a variable with what is before it, and a filter in a group of its own would not see the value.
//!
//! A blank node means nothing to others: no quad there has it, so a pattern with it has no solution; in an expression it is one that
//! differs from all others. A path without length leads from it to itself, and so may give a value to a label of the text.

use super::{names, path_shape};
use crate::operands;
use lode_rdf::{Literal, Term, Triple};
use spargebra::algebra::{
    AggregateExpression, Expression, Function, GraphPattern, OrderExpression, PropertyPathExpression,
};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern, Variable};
use std::collections::BTreeMap;

/// What stands in the place of variables, by name, and of labels of blank nodes, by `_:` and label.
pub(super) type Terms = BTreeMap<String, Term>;

/// `pattern` with the terms put in. Below a projection only variables that it has are replaced.
pub(super) fn replaced(mut pattern: GraphPattern, terms: &Terms) -> GraphPattern {
    if !terms.is_empty() {
        in_pattern(&mut pattern, terms);
    }
    pattern
}

fn nothing() -> GraphPattern {
    GraphPattern::Values { variables: Vec::new(), bindings: Vec::new() }
}

fn unit() -> GraphPattern {
    GraphPattern::Bgp { patterns: Vec::new() }
}

pub(super) fn in_pattern(pattern: &mut GraphPattern, terms: &Terms) {
    match with_labels(pattern, terms) {
        Some(more) => in_group(pattern, &more),
        None => in_group(pattern, terms),
    }
}

/// The terms, with those that labels of a basic graph pattern can only have; nothing where there are no such.
fn with_labels(pattern: &GraphPattern, terms: &Terms) -> Option<Terms> {
    let mut paths = Vec::new();
    let mut open = vec![pattern];
    while let Some(pattern) = open.pop() {
        match pattern {
            GraphPattern::Join { left, right } => open.extend([&**left, &**right]),
            GraphPattern::Path { subject, path, object } if path_shape::can_be_empty(path) => {
                paths.push((subject, object));
            }
            _ => {}
        }
    }
    let mut more = None;
    // Each turn gives a value to a label, or is the last.
    loop {
        let known = more.as_ref().unwrap_or(terms);
        let found = paths
            .iter()
            .find_map(|(from, to)| label_value(from, to, known).or_else(|| label_value(to, from, known)));
        let Some((label, term)) = found else { return more };
        more.get_or_insert_with(|| terms.clone()).insert(label, term);
    }
}

/// The label at one end of a path that may be empty, and the blank node of ours at the other.
fn label_value(label: &TermPattern, other: &TermPattern, terms: &Terms) -> Option<(String, Term)> {
    let TermPattern::BlankNode(_) = label else { return None };
    let term = value_of(other, terms).filter(|term| has_blank(term))?;
    let key = key_of(label)?;
    (!terms.contains_key(&key)).then(|| (key, term.clone()))
}

/// The name of what has a value: a variable, or a label.
fn key_of(end: &TermPattern) -> Option<String> {
    match end {
        TermPattern::Variable(v) => Some(v.as_str().to_owned()),
        TermPattern::BlankNode(label) => Some(label.to_string()),
        _ => None,
    }
}

fn value_of<'a>(end: &TermPattern, terms: &'a Terms) -> Option<&'a Term> {
    terms.get(&key_of(end)?)
}

/// A pattern that is part of a group: a label has the same value in all of a join.
fn in_group(pattern: &mut GraphPattern, terms: &Terms) {
    match pattern {
        GraphPattern::Join { left, right } => {
            in_group(left, terms);
            in_group(right, terms);
            // Groups that a path has left empty go: a text has no such joins.
            if **left == unit() {
                *pattern = std::mem::replace(right, unit());
            } else if **right == unit() {
                *pattern = std::mem::replace(left, unit());
            }
        }
        GraphPattern::Bgp { patterns } => {
            let can_match = patterns.iter_mut().all(|triple| in_triple(triple, terms).is_some());
            if !can_match {
                *pattern = nothing();
            }
        }
        GraphPattern::Path { subject, path, object } => {
            let (from, to) = (end(subject, terms), end(object, terms));
            if let (Some(from), Some(to)) = (from, to) {
                (*subject, *object) = (from, to);
            } else {
                let itself = blank_itself((subject, object), path, terms);
                *pattern = itself;
            }
        }
        GraphPattern::Union { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Minus { left, right } => {
            in_pattern(left, terms);
            in_pattern(right, terms);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            in_pattern(left, terms);
            in_pattern(right, terms);
            expression.iter_mut().for_each(|expr| in_expression(expr, terms));
        }
        GraphPattern::Filter { expr, inner } => {
            in_expression(expr, terms);
            in_pattern(inner, terms);
        }
        GraphPattern::Extend { inner, variable, expression } => {
            in_expression(expression, terms);
            in_pattern(inner, terms);
            if let Some(term) = terms.get(variable.as_str()) {
                let expression = std::mem::replace(expression, Expression::Literal(Literal::from(false)));
                let inner = std::mem::replace(&mut **inner, unit());
                *pattern = GraphPattern::Filter { expr: agrees(expression, term), inner: Box::new(inner) };
            }
        }
        GraphPattern::Graph { name, inner } => {
            in_pattern(inner, terms);
            if in_name(name, terms).is_none() {
                *pattern = nothing();
            }
        }
        GraphPattern::Service { name, inner, .. } => {
            in_pattern(inner, terms);
            // An endpoint that is no IRI is none: whoever evaluates this says so of the variable.
            let _ = in_name(name, terms);
        }
        GraphPattern::Values { variables, bindings } => in_values(variables, bindings, terms),
        GraphPattern::OrderBy { inner, expression } => {
            for OrderExpression::Asc(expr) | OrderExpression::Desc(expr) in expression {
                in_expression(expr, terms);
            }
            in_pattern(inner, terms);
        }
        GraphPattern::Project { inner, variables } => {
            let mut visible = terms.clone();
            visible.retain(|name, _| variables.iter().any(|v| v.as_str() == name));
            in_pattern(inner, &visible);
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    in_expression(expr, terms);
                }
            }
            in_pattern(inner, terms);
        }
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => {
            in_pattern(inner, terms);
        }
        #[expect(unreachable_patterns, reason = "variants behind features that other crates may switch on")]
        _ => {}
    }
}

/// A path from or to a blank node of ours: one without length leads from it to itself, others lead nowhere.
fn blank_itself(
    (subject, object): (&TermPattern, &TermPattern),
    path: &PropertyPathExpression,
    terms: &Terms,
) -> GraphPattern {
    if !path_shape::can_be_empty(path) {
        return nothing();
    }
    let (from, to) = (value_of(subject, terms), value_of(object, terms));
    match (from, to, subject, object) {
        (Some(from), Some(to), ..) if from == to => unit(),
        (Some(term), None, _, TermPattern::Variable(other))
        | (None, Some(term), TermPattern::Variable(other), _) => GraphPattern::Extend {
            inner: Box::new(unit()),
            variable: other.clone(),
            expression: in_words(term),
        },
        _ => nothing(),
    }
}

/// A column whose variable is replaced goes, with the rows that have another value there.
fn in_values(variables: &mut Vec<Variable>, bindings: &mut Vec<Vec<Option<GroundTerm>>>, terms: &Terms) {
    let values: Vec<Option<&Term>> = variables.iter().map(|v| terms.get(v.as_str())).collect();
    bindings.retain(|row| {
        row.iter().zip(&values).all(|(cell, value)| match (cell, value) {
            (Some(cell), Some(value)) => Term::from(cell.clone()) == **value,
            _ => true,
        })
    });
    for row in bindings {
        let mut stays = values.iter().map(Option::is_none);
        row.retain(|_| stays.next().unwrap_or(true));
    }
    variables.retain(|v| !terms.contains_key(v.as_str()));
}

/// `None`: no quad matches any more.
pub(super) fn in_triple(triple: &mut TriplePattern, terms: &Terms) -> Option<()> {
    triple.subject = end(&triple.subject, terms)?;
    in_name(&mut triple.predicate, terms)?;
    triple.object = end(&triple.object, terms)?;
    Some(())
}

fn end(term: &TermPattern, terms: &Terms) -> Option<TermPattern> {
    match term {
        TermPattern::Variable(_) | TermPattern::BlankNode(_) => match value_of(term, terms) {
            Some(value) if has_blank(value) => None,
            Some(value) => Some(value.clone().into()),
            None => Some(term.clone()),
        },
        TermPattern::Triple(triple) => {
            let mut triple = triple.clone();
            in_triple(&mut triple, terms)?;
            Some(TermPattern::Triple(triple))
        }
        TermPattern::NamedNode(_) | TermPattern::Literal(_) => Some(term.clone()),
    }
}

/// `None`: the term is no IRI.
fn in_name(name: &mut NamedNodePattern, terms: &Terms) -> Option<()> {
    let NamedNodePattern::Variable(v) = name else { return Some(()) };
    match terms.get(v.as_str()) {
        None => Some(()),
        Some(Term::NamedNode(iri)) => {
            *name = iri.clone().into();
            Some(())
        }
        Some(_) => None,
    }
}

fn has_blank(term: &Term) -> bool {
    match term {
        Term::BlankNode(_) => true,
        Term::Triple(triple) => triple.subject.is_blank_node() || has_blank(&triple.object),
        Term::NamedNode(_) | Term::Literal(_) => false,
    }
}

fn in_expression(expr: &mut Expression, terms: &Terms) {
    match expr {
        Expression::Variable(v) => {
            if let Some(term) = terms.get(v.as_str()) {
                *expr = in_words(term);
            }
        }
        Expression::Bound(v) => {
            if terms.contains_key(v.as_str()) {
                *expr = Expression::Literal(Literal::from(true));
            }
        }
        Expression::Exists(pattern) => in_pattern(pattern, terms),
        other => operands::each_mut(other, &mut |operand| in_expression(operand, terms)),
    }
}

/// An expression with the value of a term. Calls of BNODE with one label give one blank node, in one solution.
pub(super) fn in_words(term: &Term) -> Expression {
    let call = |function, arguments| Expression::FunctionCall(function, arguments);
    match term {
        Term::NamedNode(iri) => iri.clone().into(),
        Term::Literal(literal) => literal.clone().into(),
        Term::BlankNode(blank) => {
            call(Function::BNode, vec![Literal::new_simple_literal(blank.as_str()).into()])
        }
        Term::Triple(triple) => {
            let Triple { subject, predicate, object } = &**triple;
            let subject = Term::from(subject.clone());
            call(Function::Triple, vec![in_words(&subject), predicate.clone().into(), in_words(object)])
        }
    }
}

/// Whether a BIND to a replaced variable has its value, or none.
fn agrees(expression: Expression, term: &Term) -> Expression {
    let same = Expression::SameTerm(Box::new(expression), Box::new(in_words(term)));
    Expression::Coalesce(vec![same, Literal::from(true).into()])
}

/// The terms of those variables that a pattern mentions.
pub(super) fn of(pattern: &GraphPattern, term_of: impl Fn(&str) -> Option<Term>) -> Terms {
    let mentioned = names::mentioned(pattern).into_iter();
    mentioned.filter_map(|name| Some((name.to_owned(), term_of(&name)?))).collect()
}
