//! Chains of operators that may be put together in any way become balanced trees: joins, UNION, `&&`, `||`, and `/` and `|` of
//! paths. The parser makes them as deep as they are long.
//!
//! What stands in a chain keeps its sequence, so nothing else changes. Sums and products stay as they are: numbers of several types,
//! and floating-point numbers of one, add up to something else in another sequence.

use crate::operands;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression as Path,
};

/// Balances all chains of a query. Recurses over everything else.
pub(super) fn query(query: &mut Query) {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    self::pattern(pattern);
}

/// Balances all chains of a pattern.
pub(super) fn pattern(pattern: &mut GraphPattern) {
    match pattern {
        GraphPattern::Join { .. } => chain(pattern, of_patterns(split_join, join)),
        GraphPattern::Union { .. } => chain(pattern, of_patterns(split_union, union)),
        GraphPattern::Path { path, .. } => self::path(path),
        GraphPattern::Bgp { .. } | GraphPattern::Values { .. } => {}
        GraphPattern::Minus { left, right } => {
            self::pattern(left);
            self::pattern(right);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            self::pattern(left);
            self::pattern(right);
            expression.iter_mut().for_each(self::expression);
        }
        GraphPattern::Filter { expr, inner } | GraphPattern::Extend { inner, expression: expr, .. } => {
            self::expression(expr);
            self::pattern(inner);
        }
        GraphPattern::OrderBy { inner, expression } => {
            for OrderExpression::Asc(expr) | OrderExpression::Desc(expr) in expression {
                self::expression(expr);
            }
            self::pattern(inner);
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    self::expression(expr);
                }
            }
            self::pattern(inner);
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Service { inner, .. } => self::pattern(inner),
        #[expect(unreachable_patterns, reason = "variants behind features that other crates may switch on")]
        _ => {}
    }
}

fn expression(expression: &mut Expression) {
    match expression {
        Expression::Or(..) => chain(expression, of_expressions(split_or, Expression::Or)),
        Expression::And(..) => chain(expression, of_expressions(split_and, Expression::And)),
        Expression::Exists(pattern) => self::pattern(pattern),
        other => operands::each_mut(other, &mut self::expression),
    }
}

fn path(path: &mut Path) {
    match path {
        Path::NamedNode(_) | Path::NegatedPropertySet(_) => {}
        Path::Reverse(inner) | Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
            self::path(inner);
        }
        Path::Sequence(..) => chain(path, of_paths(split_sequence, Path::Sequence)),
        Path::Alternative(..) => chain(path, of_paths(split_alternative, Path::Alternative)),
    }
}

/// A node of a chain.
enum Link<T> {
    /// An operator, with its two sides.
    Operator(Box<T>, Box<T>),
    /// What stands in the chain.
    Operand(T),
}

/// A kind of chain.
struct Kind<T> {
    /// Takes an operator of the kind apart.
    split: Split<T>,
    join: Join<T>,
    /// Balances what stands in the chain.
    operand: fn(&mut T),
    /// What is in the place of the tree meanwhile.
    nothing: T,
}

/// Makes a chain a tree that is as low as can be, without recursion over its length.
fn chain<T>(place: &mut T, kind: Kind<T>) {
    let mut open = vec![std::mem::replace(place, kind.nothing)];
    let mut operands = Vec::new();
    while let Some(node) = open.pop() {
        match (kind.split)(node) {
            Link::Operator(left, right) => {
                open.push(*right);
                open.push(*left);
            }
            Link::Operand(mut operand) => {
                (kind.operand)(&mut operand);
                operands.push(operand);
            }
        }
    }
    while operands.len() > 1 {
        operands = in_pairs(operands, kind.join);
    }
    operands.into_iter().for_each(|whole| *place = whole);
}

fn in_pairs<T>(operands: Vec<T>, join: Join<T>) -> Vec<T> {
    let mut joined = Vec::with_capacity(operands.len().div_ceil(2));
    let mut operands = operands.into_iter();
    while let Some(left) = operands.next() {
        joined.push(match operands.next() {
            Some(right) => join(Box::new(left), Box::new(right)),
            None => left,
        });
    }
    joined
}

type Split<T> = fn(T) -> Link<T>;
type Join<T> = fn(Box<T>, Box<T>) -> T;

fn of_patterns(split: Split<GraphPattern>, join: Join<GraphPattern>) -> Kind<GraphPattern> {
    Kind { split, join, operand: pattern, nothing: GraphPattern::default() }
}

fn of_expressions(split: Split<Expression>, join: Join<Expression>) -> Kind<Expression> {
    Kind { split, join, operand: expression, nothing: Expression::Coalesce(Vec::new()) }
}

fn of_paths(split: Split<Path>, join: Join<Path>) -> Kind<Path> {
    Kind { split, join, operand: path, nothing: Path::NegatedPropertySet(Vec::new()) }
}

fn split_join(pattern: GraphPattern) -> Link<GraphPattern> {
    match pattern {
        GraphPattern::Join { left, right } => Link::Operator(left, right),
        other => Link::Operand(other),
    }
}

fn join(left: Box<GraphPattern>, right: Box<GraphPattern>) -> GraphPattern {
    GraphPattern::Join { left, right }
}

fn split_union(pattern: GraphPattern) -> Link<GraphPattern> {
    match pattern {
        GraphPattern::Union { left, right } => Link::Operator(left, right),
        other => Link::Operand(other),
    }
}

fn union(left: Box<GraphPattern>, right: Box<GraphPattern>) -> GraphPattern {
    GraphPattern::Union { left, right }
}

fn split_or(expression: Expression) -> Link<Expression> {
    match expression {
        Expression::Or(a, b) => Link::Operator(a, b),
        other => Link::Operand(other),
    }
}

fn split_and(expression: Expression) -> Link<Expression> {
    match expression {
        Expression::And(a, b) => Link::Operator(a, b),
        other => Link::Operand(other),
    }
}

fn split_sequence(path: Path) -> Link<Path> {
    match path {
        Path::Sequence(a, b) => Link::Operator(a, b),
        other => Link::Operand(other),
    }
}

fn split_alternative(path: Path) -> Link<Path> {
    match path {
        Path::Alternative(a, b) => Link::Operator(a, b),
        other => Link::Operand(other),
    }
}

#[cfg(test)]
mod tests;
