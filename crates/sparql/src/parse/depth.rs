//! How deep the algebra of a query is, found without recursion: all that comes after the parser walks it, most of it recursively.

use crate::operands;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression,
};
use spargebra::term::{GroundTerm, TermPattern, TriplePattern};

/// The most levels that the algebra of a query may have. Each OPTIONAL, MINUS, BIND and each operator of a sum is a level more than
/// those before it; chains of joins, UNION, `&&`, `||`, `|` and `/` are balanced before they are counted.
pub const DEPTH_MAX: usize = 2_500;

/// The most triple patterns and property paths of a query, all groups together.
pub const PATTERNS_MAX: usize = 10_000;

/// How large the algebra of a query is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Levels.
    pub levels: usize,
    /// Triple patterns, and predicates of property paths.
    pub patterns: usize,
}

impl Size {
    /// Levels that walks over its plan may need room for: patterns joined with each other may come one on top of the other.
    pub fn for_plans(self) -> usize {
        self.levels + self.patterns.min(crate::joins::MEMBERS_MAX)
    }
}

/// A node of the tree.
#[derive(Clone, Copy)]
enum Node<'a> {
    Pattern(&'a GraphPattern),
    Expression(&'a Expression),
    Path(&'a PropertyPathExpression),
    Triple(&'a TriplePattern),
    Ground(&'a GroundTerm),
}

/// The size of a query's algebra.
pub fn of_query(query: &Query) -> Size {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let mut size = of_pattern(pattern);
    if let Query::Construct { template, .. } = query {
        let terms = size_of(template.iter().map(|triple| (Node::Triple(triple), 1)).collect());
        size.levels = size.levels.max(terms.levels);
    }
    size
}

/// The size of a pattern.
pub fn of_pattern(pattern: &GraphPattern) -> Size {
    size_of(vec![(Node::Pattern(pattern), 1)])
}

fn size_of(mut open: Vec<(Node<'_>, usize)>) -> Size {
    let mut size = Size::default();
    while let Some((node, level)) = open.pop() {
        size.levels = size.levels.max(level);
        size.patterns += match node {
            Node::Pattern(GraphPattern::Bgp { patterns }) => patterns.len(),
            Node::Path(
                PropertyPathExpression::NamedNode(_) | PropertyPathExpression::NegatedPropertySet(_),
            ) => 1,
            _ => 0,
        };
        each_child(node, &mut |child| open.push((child, level + 1)));
    }
    size
}

fn each_child<'a>(node: Node<'a>, visit: &mut dyn FnMut(Node<'a>)) {
    match node {
        Node::Pattern(pattern) => of_graph_pattern(pattern, visit),
        Node::Expression(expression) => of_expression(expression, visit),
        Node::Path(path) => match path {
            PropertyPathExpression::NamedNode(_) | PropertyPathExpression::NegatedPropertySet(_) => {}
            PropertyPathExpression::Reverse(inner)
            | PropertyPathExpression::ZeroOrMore(inner)
            | PropertyPathExpression::OneOrMore(inner)
            | PropertyPathExpression::ZeroOrOne(inner) => visit(Node::Path(inner)),
            PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => {
                visit(Node::Path(a));
                visit(Node::Path(b));
            }
        },
        Node::Triple(triple) => of_terms([&triple.subject, &triple.object], visit),
        Node::Ground(GroundTerm::Triple(triple)) => visit(Node::Ground(&triple.object)),
        Node::Ground(GroundTerm::NamedNode(_) | GroundTerm::Literal(_)) => {}
    }
}

fn of_graph_pattern<'a>(pattern: &'a GraphPattern, visit: &mut dyn FnMut(Node<'a>)) {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            for triple in patterns {
                of_terms([&triple.subject, &triple.object], visit);
            }
        }
        GraphPattern::Path { subject, path, object } => {
            of_terms([subject, object], visit);
            visit(Node::Path(path));
        }
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Minus { left, right } => {
            visit(Node::Pattern(left));
            visit(Node::Pattern(right));
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            visit(Node::Pattern(left));
            visit(Node::Pattern(right));
            expression.iter().for_each(|expression| visit(Node::Expression(expression)));
        }
        GraphPattern::Filter { expr, inner } | GraphPattern::Extend { inner, expression: expr, .. } => {
            visit(Node::Expression(expr));
            visit(Node::Pattern(inner));
        }
        GraphPattern::OrderBy { inner, expression } => {
            for OrderExpression::Asc(expr) | OrderExpression::Desc(expr) in expression {
                visit(Node::Expression(expr));
            }
            visit(Node::Pattern(inner));
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    visit(Node::Expression(expr));
                }
            }
            visit(Node::Pattern(inner));
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Service { inner, .. } => visit(Node::Pattern(inner)),
        GraphPattern::Values { bindings, .. } => {
            for term in bindings.iter().flatten().flatten() {
                if matches!(term, GroundTerm::Triple(_)) {
                    visit(Node::Ground(term));
                }
            }
        }
        #[expect(unreachable_patterns, reason = "variants behind features that other crates may switch on")]
        _ => {}
    }
}

fn of_terms<'a>(terms: [&'a TermPattern; 2], visit: &mut dyn FnMut(Node<'a>)) {
    for term in terms {
        if let TermPattern::Triple(triple) = term {
            visit(Node::Triple(triple));
        }
    }
}

fn of_expression<'a>(expression: &'a Expression, visit: &mut dyn FnMut(Node<'a>)) {
    if let Expression::Exists(pattern) = expression {
        visit(Node::Pattern(pattern));
    }
    operands::each(expression, &mut |operand| visit(Node::Expression(operand)));
}
