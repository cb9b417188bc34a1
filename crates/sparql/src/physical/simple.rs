//! The straightforward plan: joins in the order of the query, hash joins only. For tests, and for comparison.

use super::leaves;
use super::node::{self, Planned};
use crate::cardinality::{constant_prefix, estimate, scan_orders};
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp, QuadPattern};
use crate::plan::{JoinKind, ScanPattern, TermSlot};
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_packed::order::Position;

/// Lowers without looking at costs.
pub(super) fn lower(logical: &Logical, stats: &dyn Statistics) -> Planned {
    let input = |l: &Logical| lower(l, stats);
    match &logical.op {
        LogicalOp::Scan(pattern) => scan(pattern, stats),
        LogicalOp::Join { members, filters } => join(members, filters, stats),
        LogicalOp::LeftJoin { left, right, filter } => {
            node::hash_join(input(left), input(right), JoinKind::Left, filter.clone())
        }
        LogicalOp::Exists { left, right, filter, negated } => {
            let kind = if *negated { JoinKind::Anti } else { JoinKind::Semi };
            node::hash_join(input(left), input(right), kind, filter.clone())
        }
        LogicalOp::Minus { left, right } => node::hash_join(input(left), input(right), JoinKind::Minus, None),
        LogicalOp::Filter { input: inner, exprs } => node::filter(input(inner), exprs.clone()),
        LogicalOp::Extend { input: inner, var, expr } => {
            let bound = logical.certain.contains(*var);
            node::extend(input(inner), *var, expr.clone(), bound)
        }
        LogicalOp::TripleTerm { input: inner, term, subject, predicate, object } => {
            let rows = inner.as_deref().map_or_else(node::unit, input);
            node::triple_term(rows, *term, [subject.clone(), predicate.clone(), object.clone()])
        }
        LogicalOp::Union(branches) => {
            let branches = branches.iter().map(input).collect();
            node::union(branches, &logical.vars, &logical.certain)
        }
        LogicalOp::Project { input: inner, columns } => node::project(input(inner), columns.clone()),
        LogicalOp::Distinct(inner) => node::distinct(input(inner)),
        LogicalOp::Reduced(inner) => node::reduced(input(inner)),
        LogicalOp::Sort { input: inner, keys, limit } => node::sort(input(inner), keys.clone(), *limit),
        LogicalOp::Slice { input: inner, start, length } => node::slice(input(inner), *start, *length),
        LogicalOp::LimitBy { input: inner, keys, start, length } => {
            node::limit_by(input(inner), keys.clone(), *start, *length)
        }
        LogicalOp::Group { input: inner, keys, aggregates } => {
            node::group(input(inner), keys.clone(), aggregates.clone())
        }
        LogicalOp::Service { input: None, call } => node::service(call),
        LogicalOp::Service { input: Some(inner), call } => {
            node::service_join(input(inner), call, JoinKind::Inner, None)
        }
        LogicalOp::Unit
        | LogicalOp::Empty
        | LogicalOp::Values { .. }
        | LogicalOp::Domain { .. }
        | LogicalOp::GraphNames { .. }
        | LogicalOp::Path { .. }
        | LogicalOp::ForEachGraph { .. }
        | LogicalOp::Spool { .. } => leaves::lower(logical, stats),
    }
}

fn scan(pattern: &QuadPattern, stats: &dyn Statistics) -> Planned {
    let found = estimate(pattern, stats);
    let order = scan_orders(pattern).first().copied().unwrap_or(Order::Spog);
    node::scan(with_order(pattern, order), found.rows, found.read, found.distinct)
}

/// A pattern with its permutation.
pub(super) fn with_order(pattern: &QuadPattern, order: Order) -> ScanPattern {
    let QuadPattern { subject, predicate, object, graph, objects } = pattern.clone();
    let first_free = order.positions().get(constant_prefix(pattern, order).len()).copied();
    let within = objects.filter(|_| first_free == Some(Position::O));
    ScanPattern { subject, predicate, object, graph, order, within }
}

fn join(members: &[Logical], filters: &[Expr], stats: &dyn Statistics) -> Planned {
    let mut joined: Option<Planned> = None;
    for member in members {
        joined = Some(match (joined, &member.op) {
            (Some(rows), LogicalOp::TripleTerm { input: None, term, subject, predicate, object }) => {
                let slots: [TermSlot; 3] = [subject.clone(), predicate.clone(), object.clone()];
                node::triple_term(rows, *term, slots)
            }
            (None, _) => lower(member, stats),
            (Some(rows), _) => node::hash_join(rows, lower(member, stats), JoinKind::Inner, None),
        });
    }
    node::filter(joined.unwrap_or_else(node::unit), filters.to_vec())
}
