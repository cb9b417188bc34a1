//! What is known to be empty, or to do nothing, vanishes; nested joins, unions and projections become one.

use crate::cardinality::has_no_rows;
use crate::expr::Expr;
use crate::expr_vars::is_boolean;
use crate::logical::{Logical, LogicalOp as Op};
use crate::plan::{GraphScope, Slot};
use crate::statistics::Statistics;
use crate::var_set::VarSet;
use lode_rdf::Term;
use std::sync::Arc;

/// Simplifies from the leaves up.
pub(super) fn simplify(logical: Logical, stats: &dyn Statistics) -> Logical {
    if stats.is_cancelled() {
        return Logical::empty(logical.vars);
    }
    let logical = logical.map_inputs(&mut |input| simplify(input, stats));
    let vars = logical.vars.clone();
    match logical.op {
        Op::Scan(ref pattern) if has_no_rows(pattern, stats) => Logical::empty(vars),
        Op::Values { ref rows, .. } if rows.is_empty() => Logical::empty(vars),
        Op::Values { ref columns, ref rows } if columns.is_empty() && rows.len() == 1 => Logical::unit(),
        Op::Join { members, filters } => join(members, filters, vars),
        Op::LeftJoin { left, right, filter } => left_join(*left, *right, filter),
        Op::Exists { left, right, filter, negated } => exists(*left, *right, filter, negated),
        Op::Minus { left, right } => minus(*left, *right),
        Op::Filter { input, exprs } => filter(*input, exprs),
        Op::Union(branches) => union(branches, vars),
        Op::Project { input, columns } => project(*input, columns),
        Op::Extend { ref input, .. }
        | Op::Distinct(ref input)
        | Op::Reduced(ref input)
        | Op::Sort { ref input, .. }
        | Op::TripleTerm { input: Some(ref input), .. }
        | Op::Service { input: Some(ref input), .. }
            if input.is_empty() =>
        {
            Logical::empty(vars)
        }
        Op::Group { ref input, ref keys, .. } if input.is_empty() && !keys.is_empty() => Logical::empty(vars),
        Op::Slice { ref input, length, .. } if input.is_empty() || length == Some(0) => Logical::empty(vars),
        Op::LimitBy { ref input, length, .. } if input.is_empty() || length == Some(0) => {
            Logical::empty(vars)
        }
        Op::Slice { input, start: 0, length: None } | Op::LimitBy { input, start: 0, length: None, .. } => {
            *input
        }
        Op::Slice { input, start, length: Some(length) } => {
            let input = top(*input, start.saturating_add(length));
            Logical::slice(input, start, Some(length))
        }
        _ => logical,
    }
}

/// Only the first rows are wanted: a sort below, with nothing between that adds or removes rows, need not order the others.
fn top(logical: Logical, rows: usize) -> Logical {
    match logical.op {
        Op::Sort { input, keys, limit } => {
            Logical::sort(*input, keys, Some(limit.map_or(rows, |l| l.min(rows))))
        }
        Op::Project { input, columns } => Logical::project(top(*input, rows), columns),
        Op::Extend { input, var, expr } => Logical::extend(top(*input, rows), var, expr),
        op => Logical { op, ..logical },
    }
}

fn join(members: Vec<Logical>, mut filters: Vec<Expr>, vars: VarSet) -> Logical {
    let mut flat = Vec::with_capacity(members.len());
    for (i, member) in members.iter().enumerate() {
        if matches!(member.op, Op::Scan(_)) {
            // Nothing of it depends on the others, of which there may be hundreds.
            flat.push(member.clone());
            continue;
        }
        let mut others = VarSet::new();
        members.iter().enumerate().filter(|(j, _)| *j != i).for_each(|(_, m)| others.extend(&m.vars));
        flatten(drop_order(member.clone()), &others, &mut flat, &mut filters);
    }
    if flat.iter().any(Logical::is_empty) {
        return Logical::empty(vars);
    }
    let implied: Vec<bool> = (0..flat.len()).map(|i| is_implied(i, &flat)).collect();
    let mut implied = implied.into_iter();
    flat.retain(|_| !implied.next().unwrap_or(false));
    let Some(filters) = conditions(filters) else { return Logical::empty(vars) };
    match (flat.len(), filters.is_empty()) {
        (0, _) => Logical::filter(Logical::unit(), filters),
        (1, true) => flat.swap_remove(0),
        _ => Logical::join(flat, filters),
    }
}

/// The conjuncts that can fail; `None` if one never holds.
fn conditions(exprs: Vec<Expr>) -> Option<Vec<Expr>> {
    let exprs: Vec<Expr> = exprs.into_iter().flat_map(Expr::conjuncts).filter(|e| !is_always(e)).collect();
    (!exprs.iter().any(is_never)).then_some(exprs)
}

/// Adds a member, or the members of a nested join with its filters: those keep their meaning if what they mention is bound
/// inside, or not mentioned outside.
fn flatten(member: Logical, others: &VarSet, flat: &mut Vec<Logical>, filters: &mut Vec<Expr>) {
    let keeps = |exprs: &[Expr], certain: &VarSet| {
        exprs.iter().all(|e| e.vars().iter().all(|v| certain.contains(v) || !others.contains(v)))
    };
    match member.op {
        Op::Unit => {}
        Op::Join { members, filters: own } if keeps(&own, &member.certain) => {
            flat.extend(members);
            filters.extend(own);
        }
        Op::Filter { input, exprs } if keeps(&exprs, &input.certain) => {
            filters.extend(exprs);
            flatten(*input, others, flat, filters);
        }
        op => flat.push(Logical { op, ..member }),
    }
}

/// Whether a member names graphs that a pattern of the join names as well, or bindings of some of another's variables.
fn is_implied(index: usize, members: &[Logical]) -> bool {
    if let Some(Op::Domain { columns, .. }) = members.get(index).map(|m| &m.op) {
        return members.iter().enumerate().any(|(i, m)| {
            let more = matches!(&m.op, Op::Domain { columns: others, .. } if others.len() > columns.len() || i < index);
            more && columns.iter().all(|column| m.vars.contains(*column))
        });
    }
    let Some(Op::GraphNames { slot, among }) = members.get(index).map(|m| &m.op) else { return false };
    let Slot::Var(var) = slot else { return false };
    members.iter().enumerate().any(|(i, m)| match &m.op {
        Op::Scan(pattern) => match &pattern.graph {
            GraphScope::Named { slot, among: other } => {
                *slot == Slot::Var(*var) && *other == among.as_ref().map(|graphs| Arc::clone(&graphs.ids))
            }
            _ => false,
        },
        // Of two equal members the first stays.
        Op::GraphNames { slot: other, among: others } => i < index && other == slot && others == among,
        _ => false,
    })
}

/// The order of a sub-query's rows means nothing in a join.
fn drop_order(logical: Logical) -> Logical {
    match logical.op {
        Op::Sort { input, limit: None, .. } => drop_order(*input),
        Op::Project { input, columns } => Logical::project(drop_order(*input), columns),
        op => Logical { op, ..logical },
    }
}

fn left_join(left: Logical, right: Logical, filter: Option<Expr>) -> Logical {
    let vars = left.vars.union(&right.vars);
    if left.is_empty() {
        return Logical::empty(vars);
    }
    let never = filter.as_ref().is_some_and(is_never);
    if right.is_empty() || never {
        return widened(left, &vars);
    }
    if matches!(right.op, Op::Unit) {
        return left;
    }
    Logical::left_join(left, drop_order(right), filter.filter(|f| !is_always(f)))
}

/// The same rows with these columns, unbound where the input has none.
pub(super) fn widened(input: Logical, vars: &VarSet) -> Logical {
    if input.vars == *vars { input } else { Logical::project(input, vars.as_slice().to_vec()) }
}

fn exists(left: Logical, right: Logical, filter: Option<Expr>, negated: bool) -> Logical {
    let vars = left.vars.clone();
    let never = right.is_empty() || filter.as_ref().is_some_and(is_never);
    let always = matches!(right.op, Op::Unit) && filter.as_ref().is_none_or(is_always);
    if left.is_empty() || (never && !negated) || (always && negated) {
        Logical::empty(vars)
    } else if never || always {
        left
    } else {
        Logical::exists(left, drop_order(right), filter, negated)
    }
}

fn minus(left: Logical, right: Logical) -> Logical {
    let shared = left.vars.intersect(&right.vars);
    if left.is_empty() || right.is_empty() || shared.is_empty() {
        return left;
    }
    if shared.is_subset(&left.certain) && shared.is_subset(&right.certain) {
        // Never disjoint: what is compatible is removed.
        return Logical::exists(left, drop_order(right), None, true);
    }
    Logical::minus(left, drop_order(right))
}

fn filter(input: Logical, exprs: Vec<Expr>) -> Logical {
    let vars = input.vars.clone();
    let exprs = exprs.into_iter().map(|e| settled(e, &input.certain)).collect();
    let exprs = match conditions(exprs) {
        Some(exprs) if !input.is_empty() => exprs,
        _ => return Logical::empty(vars),
    };
    match input.op {
        Op::Filter { input: inner, exprs: mut all } => {
            all.extend(exprs);
            Logical::filter(*inner, all)
        }
        op => Logical::filter(Logical { op, ..input }, exprs),
    }
}

fn union(branches: Vec<Logical>, vars: VarSet) -> Logical {
    let mut flat = Vec::with_capacity(branches.len());
    for branch in branches {
        match branch.op {
            Op::Union(inner) => flat.extend(inner),
            Op::Empty => {}
            op => flat.push(drop_order(Logical { op, ..branch })),
        }
    }
    match flat.len() {
        0 => Logical::empty(vars),
        1 => widened(flat.swap_remove(0), &vars),
        _ => widened(Logical::union(flat), &vars),
    }
}

fn project(input: Logical, columns: Vec<crate::plan::VarId>) -> Logical {
    if input.is_empty() {
        return Logical::empty(columns.into_iter().collect());
    }
    match input.op {
        // What the lower projection lacks is unbound above as well.
        Op::Project { input: inner, columns: lower }
            if columns.iter().all(|v| lower.contains(v) || !inner.vars.contains(*v)) =>
        {
            Logical::project(*inner, columns)
        }
        op => Logical::project(Logical { op, ..input }, columns),
    }
}

/// What is certainly bound needs no test.
fn settled(expr: Expr, certain: &VarSet) -> Expr {
    match expr {
        Expr::Bound(v) if certain.contains(v) => Expr::boolean(true),
        Expr::Not(inner) => match *inner {
            Expr::Bound(v) if certain.contains(v) => Expr::boolean(false),
            other => Expr::Not(Box::new(other)),
        },
        Expr::And(parts) => Expr::And(parts.into_iter().map(|p| settled(p, certain)).collect()),
        other => other,
    }
}

/// Whether a condition holds for every row.
fn is_always(expr: &Expr) -> bool {
    constant(expr) == Some(true)
}

/// Whether a condition holds for no row.
fn is_never(expr: &Expr) -> bool {
    constant(expr) == Some(false)
}

/// The outcome of a condition that is the same for all rows; an error is no success.
fn constant(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Const(Term::Literal(l)) if is_boolean(l) => match l.value() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        Expr::Coalesce(list) if list.is_empty() => Some(false),
        _ => None,
    }
}
