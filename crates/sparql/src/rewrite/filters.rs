//! Filters go down: to the inputs that bind their variables, as far as the meaning stays.
//!
//! A condition may move below an operator if each variable it mentions has the same value there. In a join that is so where the
//! variable is certainly bound on that side, or where no other side has it.

use super::optional::{self, Outcome};
use crate::expr::{Expr, vars_of};
use crate::logical::{Logical, LogicalOp as Op};
use crate::var_set::VarSet;

/// Rewrites `logical` under `filters`.
pub(super) fn push(logical: Logical, filters: Vec<Expr>) -> Logical {
    match logical.op {
        Op::Filter { input, exprs } => push(*input, with(filters, exprs)),
        Op::Join { members, filters: own } => join(members, with(own, filters)),
        Op::LeftJoin { left, right, filter } => left_join(*left, *right, filter, filters),
        Op::Exists { left, right, filter, negated } => {
            Logical::exists(push(*left, filters), push(*right, Vec::new()), filter, negated)
        }
        Op::Minus { left, right } => Logical::minus(push(*left, filters), push(*right, Vec::new())),
        Op::Union(branches) => {
            Logical::union(branches.into_iter().map(|b| into(b, filters.clone())).collect())
        }
        Op::Project { input, columns } => {
            let available = columns.iter().copied().collect::<VarSet>().intersect(&input.vars);
            let filters = filters.into_iter().map(|f| restricted(f, &available)).collect();
            Logical::project(push(*input, filters), columns)
        }
        Op::Distinct(input) => below(filters, |_| true, *input, Logical::distinct),
        Op::Reduced(input) => below(filters, |_| true, *input, Logical::reduced),
        Op::Sort { input, keys, limit: None } => {
            below(filters, |_| true, *input, |i| Logical::sort(i, keys, None))
        }
        Op::Extend { input, var, expr } => {
            below(filters, |f| !f.vars().contains(var), *input, |i| Logical::extend(i, var, expr))
        }
        Op::Group { input, keys, aggregates } => {
            let grouped: VarSet = keys.iter().copied().collect();
            below(
                filters,
                |f| !grouped.is_empty() && !f.vars().is_empty() && f.vars().is_subset(&grouped),
                *input,
                |i| Logical::group(i, keys, aggregates),
            )
        }
        Op::Lateral { input, pattern, bound } => {
            let certain = input.certain.clone();
            below(
                filters,
                |f| !f.vars().is_empty() && f.vars().is_subset(&certain),
                *input,
                |i| Logical::lateral(i, pattern, bound),
            )
        }
        Op::LimitBy { input, keys, start, length } => {
            let apart: VarSet = keys.iter().copied().collect();
            below(
                filters,
                |f| !f.vars().is_empty() && f.vars().is_subset(&apart),
                *input,
                |i| Logical::limit_by(i, keys, start, length),
            )
        }
        _ => Logical::filter(logical.map_inputs(&mut |i| push(i, Vec::new())), filters),
    }
}

fn with(mut all: Vec<Expr>, more: Vec<Expr>) -> Vec<Expr> {
    all.extend(more);
    all.into_iter().flat_map(Expr::conjuncts).collect()
}

fn restricted(mut expr: Expr, available: &VarSet) -> Expr {
    expr.restrict(available);
    expr
}

/// Pushes into an input that may lack some of the variables: they are unbound there.
fn into(input: Logical, filters: Vec<Expr>) -> Logical {
    let available = input.vars.clone();
    push(input, filters.into_iter().map(|f| restricted(f, &available)).collect())
}

/// Conditions that may, go below an operator; the others stay above it. What is volatile stays: fewer or more evaluations would
/// be seen.
fn below(
    filters: Vec<Expr>,
    may: impl Fn(&Expr) -> bool,
    input: Logical,
    rebuild: impl FnOnce(Logical) -> Logical,
) -> Logical {
    let (down, stay): (Vec<_>, Vec<_>) = filters.into_iter().partition(|f| may(f) && !f.is_volatile());
    Logical::filter(rebuild(into(input, down)), stay)
}

fn join(members: Vec<Logical>, filters: Vec<Expr>) -> Logical {
    let mut down: Vec<Vec<Expr>> = vec![Vec::new(); members.len()];
    let mut stay = Vec::new();
    for filter in filters {
        match target(&filter, &members) {
            Some(i) => down[i].push(filter),
            None => stay.push(filter),
        }
    }
    let members = members.into_iter().zip(down).map(|(m, fs)| into(m, fs)).collect();
    Logical::join(members, stay)
}

/// The member that a condition belongs to, if it is one that has inputs: conditions on a single pattern are placed with it when
/// the join is ordered.
fn target(filter: &Expr, members: &[Logical]) -> Option<usize> {
    let vars = filter.vars();
    if vars.is_empty() || filter.is_volatile() {
        return None;
    }
    members.iter().position(|member| {
        let composite = !matches!(
            member.op,
            Op::Scan(_)
                | Op::Values { .. }
                | Op::Path { .. }
                | Op::Ids { .. }
                | Op::Domain { .. }
                | Op::GraphNames { .. }
                | Op::ForEachGraph { .. }
                | Op::TripleTerm { .. }
                | Op::Service { .. }
                | Op::Unit
                | Op::Empty
        );
        composite && !vars.is_disjoint(&member.vars) && {
            let elsewhere = |v| members.iter().any(|m| !std::ptr::eq(m, member) && m.vars.contains(v));
            vars.iter().all(|v| member.certain.contains(v) || !elsewhere(v))
        }
    })
}

fn left_join(left: Logical, right: Logical, condition: Option<Expr>, filters: Vec<Expr>) -> Logical {
    let (right, condition) = inner_condition(&left, right, condition);
    match optional::strengthen(left, right, condition, filters) {
        Outcome::Replaced { by, filters } => push(by, filters),
        Outcome::Same { left, right, condition, filters } => {
            let may = |f: &Expr| {
                let same = |v| left.certain.contains(v) || !right.vars.contains(v);
                !f.is_volatile() && f.vars().iter().all(same)
            };
            let (down, stay): (Vec<_>, Vec<_>) = filters.into_iter().partition(may);
            let joined = Logical::left_join(into(*left, down), push(*right, Vec::new()), condition);
            Logical::filter(joined, stay)
        }
    }
}

/// Parts of an OPTIONAL's condition that only concern its own pattern become filters of that.
fn inner_condition(left: &Logical, right: Logical, condition: Option<Expr>) -> (Logical, Option<Expr>) {
    let parts = condition.map(Expr::conjuncts).unwrap_or_default();
    let own = |f: &Expr| {
        let vars = vars_of([f]);
        let same = |v| right.certain.contains(v) || !left.vars.contains(v);
        !f.is_volatile() && !vars.is_disjoint(&right.vars) && vars.iter().all(same)
    };
    let (inner, outer): (Vec<_>, Vec<_>) = parts.into_iter().partition(own);
    let right = if inner.is_empty() {
        right
    } else {
        let available = right.vars.clone();
        Logical::filter(right, inner.into_iter().map(|f| restricted(f, &available)).collect())
    };
    (right, Expr::and(outer))
}
