//! Terms in the place of a whole query's variables: its parameters. They are put into the algebra, so that no value can mean anything but
//! itself, whatever is in it.
//!
//! A parameter has its value wherever its name stands, also in sub-selects that do not hand it on; where the query computes a value for it, rows
//! with another one vanish. What is selected of parameters is their values.

use super::names::{mentioned, triple_names};
use super::service_terms::{Terms, in_pattern, in_triple, in_words};
use crate::operands;
use lode_rdf::Term;
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};
use spargebra::term::Variable;
use std::collections::BTreeSet;

/// The name of a key that all rows have: no text has it.
const ALL_ROWS: &str = "all rows";

/// The query with terms in the place of variables, by name.
pub fn bind(mut query: Query, bindings: &[(String, Term)]) -> Query {
    let terms: Terms = bindings.iter().cloned().collect();
    match &mut query {
        Query::Select { pattern, .. } | Query::Describe { pattern, .. } | Query::Ask { pattern, .. } => {
            selected(pattern, &terms);
        }
        Query::Construct { template, pattern, .. } => {
            selected(pattern, &terms);
            template.retain_mut(|triple| {
                let is_subject = |term: &spargebra::term::TermPattern| {
                    !matches!(term, spargebra::term::TermPattern::Literal(_))
                };
                in_triple(triple, &terms).is_some() && is_subject(&triple.subject)
            });
        }
    }
    query
}

/// The names of all variables of a query, in whatever scope.
pub fn variables(query: &Query) -> BTreeSet<String> {
    match query {
        Query::Select { pattern, .. } | Query::Describe { pattern, .. } | Query::Ask { pattern, .. } => {
            mentioned(pattern)
        }
        Query::Construct { template, pattern, .. } => {
            let mut names = mentioned(pattern);
            template.iter().for_each(|triple| triple_names(triple, &mut names));
            names
        }
    }
}

/// The outermost pattern, whose columns are those of the answer.
fn selected(pattern: &mut GraphPattern, terms: &Terms) {
    match pattern {
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => selected(inner, terms),
        GraphPattern::Project { inner, variables } => {
            open(inner, terms);
            in_pattern(inner, terms);
            for variable in variables {
                let Some(term) = terms.get(variable.as_str()) else { continue };
                extend(inner, variable.clone(), in_words(term));
            }
        }
        other => {
            open(other, terms);
            in_pattern(other, terms);
        }
    }
}

fn extend(pattern: &mut GraphPattern, variable: Variable, expression: Expression) {
    let unit = GraphPattern::Bgp { patterns: Vec::new() };
    let inner = Box::new(std::mem::replace(pattern, unit));
    *pattern = GraphPattern::Extend { inner, variable, expression };
}

/// Puts the terms into sub-selects, from the innermost on, and takes parameters out of what they hand on and group by.
fn open(pattern: &mut GraphPattern, terms: &Terms) {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            open(left, terms);
            open(right, terms);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            open(left, terms);
            open(right, terms);
            expression.iter_mut().for_each(|expr| open_expression(expr, terms));
        }
        GraphPattern::Filter { expr, inner } => {
            open_expression(expr, terms);
            open(inner, terms);
        }
        GraphPattern::Extend { inner, expression, .. } => {
            open_expression(expression, terms);
            open(inner, terms);
        }
        GraphPattern::OrderBy { inner, expression } => {
            for OrderExpression::Asc(expr) | OrderExpression::Desc(expr) in expression {
                open_expression(expr, terms);
            }
            open(inner, terms);
        }
        GraphPattern::Project { inner, variables } => {
            open(inner, terms);
            in_pattern(inner, terms);
            variables.retain(|variable| !terms.contains_key(variable.as_str()));
        }
        GraphPattern::Group { inner, variables, aggregates } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    open_expression(expr, terms);
                }
            }
            open(inner, terms);
            let had_keys = !variables.is_empty();
            variables.retain(|variable| !terms.contains_key(variable.as_str()));
            if had_keys && variables.is_empty() {
                // Without any key there would be a group of no rows, too.
                let key = Variable::new_unchecked(ALL_ROWS);
                variables.push(key.clone());
                extend(inner, key, Expression::Literal(true.into()));
            }
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Service { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => open(inner, terms),
    }
}

fn open_expression(expr: &mut Expression, terms: &Terms) {
    match expr {
        Expression::Exists(pattern) => open(pattern, terms),
        other => operands::each_mut(other, &mut |operand| open_expression(operand, terms)),
    }
}
