//! What is on the left restricts what is read on the right.
//!
//! `A OPTIONAL { B }` with few rows in A and a B of several patterns: joining B with the distinct bindings that A has for the
//! shared variables leaves all matches as they are, and spares reading all of B. A is then run twice, so it must be cheap.

use super::lowering::Lowering;
use super::node::Planned;
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp};
use crate::plan::VarId;
use crate::var_set::VarSet;

/// The left must cost at most this part of the right.
const CHEAP_PART: f64 = 0.2;
/// A pattern on the left must have at most this part of the terms that the right has.
const FEW_PART: f64 = 0.25;

/// The right side restricted to what can match the left, if that may pay.
pub(super) fn reduced(
    left: &Logical,
    left_plan: &Planned,
    right: &Logical,
    right_plans: &[Planned],
    lowering: &Lowering<'_>,
) -> Option<Logical> {
    let right_cost = right_plans.first()?.node.cost;
    if left_plan.node.cost > right_cost * CHEAP_PART || !can_be_restricted(right) {
        return None;
    }
    let shared: VarSet = left.vars.intersect(&right.vars);
    let keys = shared.intersect(&left.certain).intersect(&right.certain);
    if keys.is_empty() || keys != shared {
        return None;
    }
    let source = core(left, &keys);
    if is_volatile(source) {
        return None;
    }
    let bindings = Logical::distinct(Logical::project(source.clone(), keys.as_slice().to_vec()));
    let bindings = crate::rewrite::pruned(bindings, &keys);
    let reduced = restricted(right, &keys, &bindings)?;
    let cost = lowering.best(&reduced, &VarSet::new()).node.cost;
    (cost < right_cost).then_some(reduced)
}

/// Whether joining a pattern with bindings could spare anything: it is a join, or asks another endpoint. One with a domain is restricted
/// already.
fn can_be_restricted(right: &Logical) -> bool {
    match &right.op {
        LogicalOp::Join { members, .. } => {
            let is_domain = |member: &Logical| matches!(member.op, LogicalOp::Domain { .. });
            (members.len() > 1 || asks_others(right)) && !members.iter().any(is_domain)
        }
        _ => asks_others(right),
    }
}

fn asks_others(logical: &Logical) -> bool {
    matches!(logical.op, LogicalOp::Service { input: None, .. })
        || logical.inputs().into_iter().any(asks_others)
}

/// A pattern joined with distinct `bindings` of `keys`, which it binds in each row: so that only leaves rows out, and may be done below what
/// looks at one row after the other.
fn restricted(right: &Logical, keys: &VarSet, bindings: &Logical) -> Option<Logical> {
    if !keys.is_subset(&right.certain) {
        return None;
    }
    let below = |input: &Logical| restricted(input, keys, bindings);
    Some(match &right.op {
        LogicalOp::Join { members, filters } => {
            let all = std::iter::once(bindings).chain(members).cloned().collect();
            Logical::join(all, filters.clone())
        }
        LogicalOp::Filter { input, exprs } => Logical::filter(below(input)?, exprs.clone()),
        LogicalOp::Extend { input, var, expr } => Logical::extend(below(input)?, *var, expr.clone()),
        LogicalOp::Project { input, columns } => Logical::project(below(input)?, columns.clone()),
        LogicalOp::Union(branches) => Logical::union(branches.iter().map(below).collect::<Option<Vec<_>>>()?),
        _ => Logical::join(vec![bindings.clone(), right.clone()], Vec::new()),
    })
}

/// A pattern on the right confined to the terms that one pattern on the left allows for a shared variable, if those are few:
/// `?x a :Rare ... FILTER NOT EXISTS { ?x :p ?y }` needs the `:p` of rare things only. The left need not be cheap, as only that one
/// pattern of it is read twice.
pub(super) fn confined(
    left: &Logical,
    right: &Logical,
    right_plans: &[Planned],
    lowering: &Lowering<'_>,
) -> Option<Logical> {
    let (LogicalOp::Scan(_), Some(plan)) = (&right.op, right_plans.first()) else { return None };
    let mut best: Option<(f64, VarId, &Logical)> = None;
    for var in left.vars.intersect(&right.vars).intersect(&left.certain).iter() {
        let mut found = Vec::new();
        binders(left, var, &mut found);
        for binder in found.into_iter().filter(|binder| *binder != right) {
            let rows = lowering.best(binder, &VarSet::new()).node.rows;
            let part = rows / plan.distinct_of(var);
            if part <= FEW_PART && best.is_none_or(|(least, ..)| part < least) {
                best = Some((part, var, binder));
            }
        }
    }
    let (_, var, binder) = best?;
    let terms = Logical::distinct(Logical::project(binder.clone(), vec![var]));
    let terms = crate::rewrite::pruned(terms, &std::iter::once(var).collect());
    Some(Logical::join(vec![terms, right.clone()], Vec::new()))
}

/// Patterns of which every row of `logical` has a match, with its `var`.
fn binders<'a>(logical: &'a Logical, var: VarId, found: &mut Vec<&'a Logical>) {
    if !logical.certain.contains(var) {
        return;
    }
    match &logical.op {
        LogicalOp::Scan(_) => found.push(logical),
        LogicalOp::Join { members, .. } => members.iter().for_each(|member| binders(member, var, found)),
        LogicalOp::LeftJoin { left, .. }
        | LogicalOp::Exists { left, .. }
        | LogicalOp::Minus { left, .. }
        | LogicalOp::Filter { input: left, .. }
        | LogicalOp::Distinct(left)
        | LogicalOp::Reduced(left)
        | LogicalOp::Project { input: left, .. } => binders(left, var, found),
        LogicalOp::Extend { input, var: new, .. } if *new != var => binders(input, var, found),
        LogicalOp::Group { input, keys, .. } if keys.contains(&var) => binders(input, var, found),
        _ => {}
    }
}

/// The part of a pattern that binds the keys. What only adds columns or removes rows can be left out: more bindings than the left
/// has do no harm, and a chain of OPTIONALs must not repeat itself in each of them.
fn core<'a>(logical: &'a Logical, keys: &VarSet) -> &'a Logical {
    match &logical.op {
        LogicalOp::LeftJoin { left, .. } | LogicalOp::Minus { left, .. } | LogicalOp::Exists { left, .. }
            if keys.is_subset(&left.certain) =>
        {
            core(left, keys)
        }
        LogicalOp::Extend { input, .. } | LogicalOp::Project { input, .. }
            if keys.is_subset(&input.certain) =>
        {
            core(input, keys)
        }
        _ => logical,
    }
}

/// Whether running a plan twice could give different rows, or would ask others twice.
fn is_volatile(logical: &Logical) -> bool {
    let own = match &logical.op {
        LogicalOp::Service { .. }
        | LogicalOp::Slice { .. }
        | LogicalOp::LimitBy { .. }
        | LogicalOp::Lateral { .. }
        | LogicalOp::ForEachGraph { .. } => true,
        // Whatever the sequence, the rows are the same.
        LogicalOp::Sort { .. } => false,
        _ => logical.exprs().into_iter().any(Expr::is_volatile),
    };
    own || logical.inputs().into_iter().any(is_volatile)
}
