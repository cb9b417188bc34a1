//! What the body of a rule reads, and how: by patterns of which each can be confined to what is new; as a whole, by paths; or in a way that must see all there will
//! ever be, because more triples can mean fewer solutions.

use super::atom::Atom;
use crate::operands;
use lode_rdf::Variable;
use spargebra::algebra::{
    AggregateExpression, Expression, Function, GraphPattern, OrderExpression, PropertyPathExpression as Path,
};
use spargebra::term::{NamedNodePattern, TermPattern};
use std::collections::HashSet;

/// What a body reads.
#[derive(Debug, Clone, Default)]
pub(super) struct Reads {
    /// By patterns.
    pub patterns: Vec<Atom>,
    /// By paths and the like: more triples mean more solutions.
    pub whole: Vec<Atom>,
    /// What must be complete before: by NOT EXISTS, MINUS, OPTIONAL, aggregates, LIMIT.
    pub below: Vec<Atom>,
    /// Whether it reads named graphs.
    pub graphs: bool,
    /// Whether it makes terms, by expressions or aggregates.
    pub makes: bool,
    /// Variables that patterns bind in every solution.
    bound: HashSet<Variable>,
}

/// How the part of a body is read that a walk is in.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Pattern,
    Whole,
    Below,
}

impl Reads {
    /// What a body reads; the error says what it must not have.
    pub fn of(body: &GraphPattern) -> Result<Self, String> {
        let mut reads = Self::default();
        bound(body, &mut reads.bound);
        reads.pattern(body, How::Pattern)?;
        Ok(reads)
    }

    fn add(&mut self, atom: Atom, how: How) {
        let list = match how {
            How::Pattern => &mut self.patterns,
            How::Whole => &mut self.whole,
            How::Below => &mut self.below,
        };
        if !list.contains(&atom) {
            list.push(atom);
        }
    }

    /// The same cases as in `delta.rs`: what has no form of its own there must not be read as by a pattern here.
    fn pattern(&mut self, pattern: &GraphPattern, how: How) -> Result<(), String> {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                patterns.iter().for_each(|triple| self.add(Atom::of_pattern(triple), how));
                Ok(())
            }
            GraphPattern::Path { subject, path, object } => {
                let how = if how == How::Pattern { How::Whole } else { how };
                // No step at all leads from each term that there is to itself: whatever is new may bring one, where neither end is known otherwise.
                let is_open = |end: &TermPattern| matches!(end, TermPattern::Variable(name) if !self.bound.contains(name));
                if may_be_empty(path) && is_open(subject) && is_open(object) {
                    self.add(Atom::ANY, how);
                }
                self.path(path, how);
                Ok(())
            }
            GraphPattern::Join { left, right } | GraphPattern::Union { left, right } => {
                self.pattern(left, how)?;
                self.pattern(right, how)
            }
            GraphPattern::Filter { expr, inner } => {
                self.expression(expr)?;
                self.pattern(inner, how)
            }
            GraphPattern::Extend { inner, expression, .. } => {
                let is_known = matches!(
                    expression,
                    Expression::Variable(_) | Expression::NamedNode(_) | Expression::Literal(_)
                );
                self.makes |= !is_known;
                self.expression(expression)?;
                self.pattern(inner, how)
            }
            GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner } => self.pattern(inner, how),
            GraphPattern::Minus { left, right } | GraphPattern::Lateral { left, right } => {
                self.pattern(left, how)?;
                self.pattern(right, How::Below)
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                expression.iter().try_for_each(|expr| self.expression(expr))?;
                self.pattern(left, how)?;
                self.pattern(right, How::Below)
            }
            GraphPattern::Group { inner, aggregates, .. } => {
                self.makes |= !aggregates.is_empty();
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                        self.expression(expr)?;
                    }
                }
                self.pattern(inner, How::Below)
            }
            GraphPattern::OrderBy { inner, expression } => {
                for OrderExpression::Asc(expr) | OrderExpression::Desc(expr) in expression {
                    self.expression(expr)?;
                }
                self.pattern(inner, How::Below)
            }
            GraphPattern::Slice { inner, .. } => self.pattern(inner, How::Below),
            // Nothing is ever inferred there.
            GraphPattern::Graph { name, inner } => {
                if let NamedNodePattern::NamedNode(name) = name
                    && name.as_str().starts_with(RESERVED)
                {
                    return Err(format!("GRAPH {name} is the program's own"));
                }
                self.graphs = true;
                Reads::default().pattern(inner, How::Below)
            }
            GraphPattern::Values { .. } => Ok(()),
            GraphPattern::Service { .. } => {
                Err("SERVICE asks elsewhere, where nobody tells what changes".to_owned())
            }
        }
    }

    fn path(&mut self, path: &Path, how: How) {
        match path {
            Path::NamedNode(name) => self.add(Atom::of(name.clone()), how),
            Path::Reverse(inner) | Path::OneOrMore(inner) => self.path(inner, how),
            Path::ZeroOrMore(inner) | Path::ZeroOrOne(inner) => self.path(inner, how),
            Path::Sequence(left, right) | Path::Alternative(left, right) => {
                self.path(left, how);
                self.path(right, how);
            }
            Path::NegatedPropertySet(_) => self.add(Atom::ANY, how),
        }
    }

    fn expression(&mut self, expr: &Expression) -> Result<(), String> {
        match expr {
            Expression::Exists(pattern) => return self.pattern(pattern, How::Below),
            Expression::FunctionCall(function, _) => {
                if let Some(name) = never_the_same(function) {
                    return Err(format!("{name} gives something else each time, so there would be no end"));
                }
            }
            _ => {}
        }
        operands::of(expr).into_iter().try_for_each(|operand| self.expression(operand))
    }
}

/// Variables that are bound in every solution of a pattern, by triples.
fn bound(pattern: &GraphPattern, variables: &mut HashSet<Variable>) {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            let names = patterns.iter().flat_map(|triple| [&triple.subject, &triple.object]);
            variables.extend(names.filter_map(|term| match term {
                TermPattern::Variable(name) => Some(name.clone()),
                _ => None,
            }));
        }
        GraphPattern::Join { left, right } => {
            bound(left, variables);
            bound(right, variables);
        }
        GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. } => bound(inner, variables),
        _ => {}
    }
}

/// Whether a path may have no step at all.
fn may_be_empty(path: &Path) -> bool {
    match path {
        Path::ZeroOrMore(_) | Path::ZeroOrOne(_) => true,
        Path::NamedNode(_) | Path::NegatedPropertySet(_) => false,
        Path::Reverse(inner) | Path::OneOrMore(inner) => may_be_empty(inner),
        Path::Sequence(left, right) => may_be_empty(left) && may_be_empty(right),
        Path::Alternative(left, right) => may_be_empty(left) || may_be_empty(right),
    }
}

/// How the names of graphs begin that the program has for itself.
const RESERVED: &str = "urn:lodestore:";

fn never_the_same(function: &Function) -> Option<&'static str> {
    Some(match function {
        Function::Rand => "RAND()",
        Function::Now => "NOW()",
        Function::Uuid => "UUID()",
        Function::StrUuid => "STRUUID()",
        Function::BNode => "BNODE()",
        _ => return None,
    })
}
