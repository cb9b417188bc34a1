//! Variable names in the algebra: which a pattern mentions anywhere, and which it certainly binds.

use crate::operands;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::BTreeSet;

/// Names, without `?`.
pub(super) type Names = BTreeSet<String>;

/// Every name that `pattern` mentions, in whatever scope: in patterns, expressions, projections, nested patterns.
pub(super) fn mentioned(pattern: &GraphPattern) -> Names {
    let mut names = Names::new();
    pattern_names(pattern, &mut names);
    names
}

/// Every name that `expr` mentions, patterns inside included.
pub(super) fn mentioned_in_expr(expr: &Expression) -> Names {
    let mut names = Names::new();
    expr_names(expr, &mut names);
    names
}

/// In-scope variables of a pattern (SPARQL 1.1 section 18.2.1), in order of first occurrence.
pub(super) fn in_scope(pattern: &GraphPattern) -> Vec<String> {
    let mut seen = Names::new();
    let mut names = Vec::new();
    pattern.on_in_scope_variable(|v| {
        if seen.insert(v.as_str().to_owned()) {
            names.push(v.as_str().to_owned());
        }
    });
    names
}

/// Names bound in every solution of `pattern`; some may be missing where that is hard to tell.
pub(super) fn certain(pattern: &GraphPattern) -> Names {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } => mentioned(pattern),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            let mut names = certain(left);
            names.extend(certain(right));
            names
        }
        GraphPattern::Union { left, right } => {
            let right = certain(right);
            certain(left).into_iter().filter(|n| right.contains(n)).collect()
        }
        GraphPattern::LeftJoin { left, .. } | GraphPattern::Minus { left, .. } => certain(left),
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => certain(inner),
        GraphPattern::Graph { name, inner } => {
            let mut names = certain(inner);
            name_of(name, &mut names);
            names
        }
        GraphPattern::Project { inner, variables } | GraphPattern::Group { inner, variables, .. } => {
            let inner = certain(inner);
            variables.iter().map(|v| v.as_str().to_owned()).filter(|n| inner.contains(n)).collect()
        }
        GraphPattern::Values { variables, bindings } => {
            let bound = |i: usize| bindings.iter().all(|row| matches!(row.get(i), Some(Some(_))));
            variables
                .iter()
                .enumerate()
                .filter(|(i, _)| bound(*i))
                .map(|(_, v)| v.as_str().to_owned())
                .collect()
        }
        GraphPattern::Service { inner, silent: false, .. } => certain(inner),
        GraphPattern::Service { silent: true, .. } => Names::new(),
        #[expect(unreachable_patterns, reason = "variants behind features that other crates may switch on")]
        _ => Names::new(),
    }
}

fn pattern_names(pattern: &GraphPattern, names: &mut Names) {
    match pattern {
        GraphPattern::Bgp { patterns } => patterns.iter().for_each(|t| triple_names(t, names)),
        GraphPattern::Path { subject, object, .. } => {
            term_names(subject, names);
            term_names(object, names);
        }
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Minus { left, right } => {
            pattern_names(left, names);
            pattern_names(right, names);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            pattern_names(left, names);
            pattern_names(right, names);
            if let Some(expr) = expression {
                expr_names(expr, names);
            }
        }
        GraphPattern::Filter { expr, inner } => {
            expr_names(expr, names);
            pattern_names(inner, names);
        }
        GraphPattern::Graph { name, inner } | GraphPattern::Service { name, inner, .. } => {
            name_of(name, names);
            pattern_names(inner, names);
        }
        GraphPattern::Extend { inner, variable, expression } => {
            names.insert(variable.as_str().to_owned());
            expr_names(expression, names);
            pattern_names(inner, names);
        }
        GraphPattern::Values { variables, .. } => {
            names.extend(variables.iter().map(|v| v.as_str().to_owned()));
        }
        GraphPattern::OrderBy { inner, expression } => {
            for key in expression {
                let (OrderExpression::Asc(e) | OrderExpression::Desc(e)) = key;
                expr_names(e, names);
            }
            pattern_names(inner, names);
        }
        GraphPattern::Project { inner, variables } => {
            names.extend(variables.iter().map(|v| v.as_str().to_owned()));
            pattern_names(inner, names);
        }
        GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => pattern_names(inner, names),
        GraphPattern::Group { inner, variables, aggregates } => {
            names.extend(variables.iter().map(|v| v.as_str().to_owned()));
            for (variable, aggregate) in aggregates {
                names.insert(variable.as_str().to_owned());
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    expr_names(expr, names);
                }
            }
            pattern_names(inner, names);
        }
        #[expect(unreachable_patterns, reason = "variants behind features that other crates may switch on")]
        _ => {}
    }
}

fn name_of(name: &NamedNodePattern, names: &mut Names) {
    if let NamedNodePattern::Variable(v) = name {
        names.insert(v.as_str().to_owned());
    }
}

pub(super) fn triple_names(triple: &TriplePattern, names: &mut Names) {
    term_names(&triple.subject, names);
    name_of(&triple.predicate, names);
    term_names(&triple.object, names);
}

fn term_names(term: &TermPattern, names: &mut Names) {
    match term {
        TermPattern::Variable(v) => {
            names.insert(v.as_str().to_owned());
        }
        TermPattern::Triple(triple) => triple_names(triple, names),
        TermPattern::NamedNode(_) | TermPattern::BlankNode(_) | TermPattern::Literal(_) => {}
    }
}

fn expr_names(expr: &Expression, names: &mut Names) {
    match expr {
        Expression::NamedNode(_) | Expression::Literal(_) => {}
        Expression::Variable(v) | Expression::Bound(v) => {
            names.insert(v.as_str().to_owned());
        }
        Expression::Exists(pattern) => pattern_names(pattern, names),
        other => operands::each(other, &mut |e| expr_names(e, names)),
    }
}

/// Whether `is` holds for a pattern or one inside of it; those of EXISTS are not inside.
pub(super) fn any(pattern: &GraphPattern, is: &dyn Fn(&GraphPattern) -> bool) -> bool {
    let mut open = vec![pattern];
    while let Some(pattern) = open.pop() {
        if is(pattern) {
            return true;
        }
        match pattern {
            GraphPattern::Join { left, right }
            | GraphPattern::LeftJoin { left, right, .. }
            | GraphPattern::Union { left, right }
            | GraphPattern::Lateral { left, right }
            | GraphPattern::Minus { left, right } => open.extend([&**left, &**right]),
            GraphPattern::Filter { inner, .. }
            | GraphPattern::Graph { inner, .. }
            | GraphPattern::Extend { inner, .. }
            | GraphPattern::OrderBy { inner, .. }
            | GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. }
            | GraphPattern::Group { inner, .. }
            | GraphPattern::Service { inner, .. } => open.push(inner),
            GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
            #[expect(
                unreachable_patterns,
                reason = "variants behind features that other crates may switch on"
            )]
            _ => {}
        }
    }
    false
}

/// Whether an EXISTS is inside of an expression.
pub(super) fn has_exists(expr: &Expression) -> bool {
    matches!(expr, Expression::Exists(_)) || operands::of(expr).into_iter().any(has_exists)
}

/// The leaves of a tree of one binary operator, left to right, without recursion.
pub(super) fn spine<'a, T>(root: &'a T, split: impl Fn(&'a T) -> Option<(&'a T, &'a T)>) -> Vec<&'a T> {
    let mut pending = vec![root];
    let mut leaves = Vec::new();
    while let Some(node) = pending.pop() {
        match split(node) {
            Some((left, right)) => {
                pending.push(right);
                pending.push(left);
            }
            None => leaves.push(node),
        }
    }
    leaves
}
