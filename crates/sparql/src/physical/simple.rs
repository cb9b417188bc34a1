//! The straightforward plan: joins in the order of the query, hash joins only. For tests, and for comparison.

use super::lower;
use super::lowering::Lowering;
use super::node::{self, Planned};
use crate::cardinality::{estimate, scan_orders, with_order};
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp, QuadPattern};
use crate::plan::{JoinKind, TermSlot};
use crate::statistics::Statistics;
use crate::var_set::VarSet;
use lode_packed::Order;

/// The one plan of `logical`: what looks at costs is done in another way, all else as [`lower::lower`] does it.
pub(super) fn lower(lowering: &Lowering<'_>, logical: &Logical, interest: &VarSet) -> Vec<Planned> {
    let input = |logical: &Logical| lowering.best(logical, interest);
    let joined = |left, right, kind, filter: Option<&Expr>| {
        node::hash_join(input(left), input(right), kind, filter.cloned())
    };
    vec![match &logical.op {
        LogicalOp::Scan(pattern) => scan(pattern, lowering.stats),
        LogicalOp::Join { members, filters } => join(members, filters, &input),
        LogicalOp::LeftJoin { left, right, filter } => joined(left, right, JoinKind::Left, filter.as_ref()),
        LogicalOp::Exists { left, right, filter, negated } => {
            let kind = if *negated { JoinKind::Anti } else { JoinKind::Semi };
            joined(left, right, kind, filter.as_ref())
        }
        LogicalOp::Minus { left, right } => joined(left, right, JoinKind::Minus, None),
        LogicalOp::Filter { input: rows, exprs } => node::filter(input(rows), exprs.clone()),
        LogicalOp::TripleTerm { input: None, term, subject, predicate, object } => {
            node::triple_term(node::unit(), *term, [subject.clone(), predicate.clone(), object.clone()])
        }
        LogicalOp::Group { input: rows, keys, aggregates } => {
            node::group(input(rows), keys.clone(), aggregates.clone())
        }
        _ => return lower::lower(lowering, logical, interest),
    }]
}

fn scan(pattern: &QuadPattern, stats: &dyn Statistics) -> Planned {
    let found = estimate(pattern, stats);
    let order = scan_orders(pattern).first().copied().unwrap_or(Order::Spog);
    node::scan(with_order(pattern, order), found.rows, found.read, found.distinct)
}

fn join(members: &[Logical], filters: &[Expr], input: &dyn Fn(&Logical) -> Planned) -> Planned {
    let mut joined: Option<Planned> = None;
    for member in members {
        joined = Some(match (joined, &member.op) {
            (Some(rows), LogicalOp::TripleTerm { input: None, term, subject, predicate, object }) => {
                let slots: [TermSlot; 3] = [subject.clone(), predicate.clone(), object.clone()];
                node::triple_term(rows, *term, slots)
            }
            (None, _) => input(member),
            (Some(rows), _) => node::hash_join(rows, input(member), JoinKind::Inner, None),
        });
    }
    node::filter(joined.unwrap_or_else(node::unit), filters.to_vec())
}
